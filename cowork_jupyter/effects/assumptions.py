from __future__ import annotations

import re

from ..domain.figures import MAX_ASSUMPTIONS, Assumption

_HEADING = re.compile(
    r"(?:#{1,6} )?(?:\*\*|__)? ?(?:(?:My|Key|Meine|Die) )?(?:Assumptions?|Annahmen?)"
    r"(?: (?:made|I made|used|getroffen))? ?:? ?(?:\*\*|__)? ?:?",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t>]*(?:[-*+•]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$")
_NONE = re.compile(r"(?:none|no assumptions|keine?)\b.{0,20}", re.IGNORECASE)


def assumptions_in(text: str) -> list[Assumption]:
    """Parse the list under the last `Assumptions` heading, in any language of the interface.

    The heading may be Markdown, bold, or a line with a colon. Indented lines continue an item; the
    list ends at any other text.
    """
    lines = text.splitlines()
    headings = [at for at, line in enumerate(lines) if _is_heading(line)]
    if not headings:
        return []
    items: list[str] = []
    for line in lines[headings[-1] + 1 :]:
        if item := _ITEM.match(line):
            items.append(item[1])
        elif items and line[:1] in (" ", "\t") and line.strip():
            items[-1] += f" {line.strip()}"
        elif line.strip():
            break
    stated = [item.strip()[:2000] for item in items if not _NONE.fullmatch(item.strip())]
    return [Assumption.model_validate(item) for item in stated[:MAX_ASSUMPTIONS]]


def _is_heading(line: str) -> bool:
    words = " ".join(line.strip(" \t>").split())
    return len(line) < 200 and _HEADING.fullmatch(words) is not None
