"""For the reference on the site: examples in docstrings are code, wherever they stand."""

from typing import Any

import griffe


def fenced(text: str) -> str:
    """Put each run of lines from `>>>` to an empty line into a code block.

    >>> print(fenced("Text." + chr(10) * 2 + ">" * 3 + " 1" + chr(10) + "1").replace(chr(96), "~"))
    Text.
    <BLANKLINE>
    ~~~python
    >>> 1
    1
    ~~~
    """
    made: list[str] = []
    inside = False
    for line in text.split("\n"):
        if not inside and line.startswith(">>> "):
            made.append("```python")
            inside = True
        elif inside and not line.strip():
            made.append("```")
            inside = False
        made.append(line)
    return "\n".join([*made, "```"] if inside else made)


class Examples(griffe.Extension):
    """Called by the builder for each object that has a docstring."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change its docstring."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)
