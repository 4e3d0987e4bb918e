"""What the site's builder does to pages: a list may follow a line of text, as on GitHub and in CommonMark."""

import re

_FENCE = re.compile(r" *(```|~~~)")
_ITEM = re.compile(r" *([*+-]|[0-9]+\.) ")


def spaced(markdown: str) -> str:
    """Put an empty line before each list that follows a line of text, and before its first indented formula.

    >>> spaced("text:\\n* one\\n* two\\nmore")
    'text:\\n\\n* one\\n* two\\nmore'
    """
    made: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        before = made[-1] if made else ""
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _ITEM.match(line) and before.strip() and not _ITEM.match(before) and before[:1] != " ":
            made.append("")
        made.append(line)
    return "\n".join(made)


def on_page_markdown(markdown: str, **_: object) -> str:
    """Change a page before it is built; the builder calls this by its name."""
    return spaced(markdown)
