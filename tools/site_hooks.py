"""What the site's builder does to pages: lists may follow a line of text, and the theory says where its code is.

The builder calls `on_page_markdown` by its name.
"""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[1] / "docs"
_FENCE = re.compile(r" *(```|~~~)")
_ITEM = re.compile(r" *([*+-]|[0-9]+\.) ")
_ROW = re.compile(r"^\| §([0-9.]+) \| `([^`]+)` \| ([^|]+) \| ([^|]+) \|$", re.M)
_HEADING = re.compile(r"^#+ ([0-9]+(?:\.[0-9]+)?)[. ]")


def spaced(markdown: str) -> str:
    """Put an empty line before each list that follows a line of text, as GitHub and CommonMark read it.

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


def with_places(markdown: str, theory_map: str, reference: str) -> str:
    """Put under each heading of the theory the code that implements it, linked where it is public, and its tests."""
    public = set(re.findall(r"^::: (\S+)$", reference, re.M))
    places: dict[str, list[str]] = {}
    tests: dict[str, list[str]] = {}
    for section, file, names, judges in _ROW.findall(theory_map):
        module = "semialg_fibers." + file.removesuffix(".py").replace("/", ".")
        for name in re.findall(r"`([^`]+)`", names):
            address = f"{module}.{name}"
            words = f"`{file}`: `{name}`"
            places.setdefault(section, []).append(f"[{words}][{address}]" if address in public else words)
        tests.setdefault(section, []).extend(re.findall(r"`[^`]+`", judges))
    made = []
    for line in markdown.split("\n"):
        made.append(line)
        heading = _HEADING.match(line)
        if heading and heading[1] in places:
            section = heading[1]
            made += ["", f'??? note "Code and tests of §{section}"', ""]
            made += [f"    * {place}" for place in places[section]]
            made += [f"    * tests: {', '.join(dict.fromkeys(tests[section]))}", ""]
    return "\n".join(made)


def on_page_markdown(markdown: str, page: object = None, **_: object) -> str:
    """Change a page before it is built."""
    if getattr(getattr(page, "file", None), "src_uri", "") == "theory.md":
        read = [(DOCS / name).read_text(encoding="utf-8") for name in ("theory_map.md", "api.md")]
        return with_places(spaced(markdown), *read)
    return spaced(markdown)
