"""What a request asks its answer to be: a form, such as `@mean[value]` or `MEAN=value`, and files.

Models compute the right number and then lose it: they repeat the form without its value, or leave
the form or the file out. All of that can be seen without a model.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

_MARKED = re.compile(r"(@\w{1,60}\[)([^\]\n]{0,80})\]")
_ASSIGNED = re.compile(
    r"\b([A-Za-z]\w{0,40}(?:= ?(?=(?:value|number|name|answer|result|x|n)\b)|[=:] ?(?=<\w)))"
)
_CUE = re.compile(r"\b(?:end|answer|reply|respond|finish|form|format|print)\b", re.IGNORECASE)
_UNFILLED = frozenset({"", "value", "nan", "none", "…", "..."})

MAX_FILES = 8
_VERB = re.compile(
    r"\b(?:write|save|export|store|create|convert|produce|generate|schreib\w*|speicher\w*)\b",
    re.IGNORECASE,
)
_FILE = re.compile(
    r"(?<![\w./-])(?<!\(['\"])"  # not what a call in quoted code is given
    r"[\w./-]+\.(?:csv|tsv|jsonl?|xlsx|parquet|png|svg|pdf|md|txt|html|ipynb|py)\b",
    re.IGNORECASE,
)
_CALLS = {
    "csv": "table.to_csv({path!r}, index=False)",
    "xlsx": "table.to_excel({path!r}, index=False)",
    "parquet": "table.to_parquet({path!r})",
    "json": "table.to_json({path!r})",
    **dict.fromkeys(("png", "svg", "pdf"), "fig.savefig({path!r})"),
    "ipynb": "nbformat.write(notebook, {path!r})",
}


@dataclass(frozen=True)
class AnswerForm:
    """`slots` maps how each requested form begins to the placeholder in it."""

    slots: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: str) -> AnswerForm:
        slots: dict[str, str] = {}
        for opening, slot in _MARKED.findall(request):
            slots.setdefault(opening, slot.strip().lower())  # later ones are special cases
        for sentence in re.split(r"(?<=[.!?])\s", request):
            if _CUE.search(sentence):
                slots |= dict.fromkeys(_ASSIGNED.findall(sentence), "value")
        return cls(slots)

    @property
    def wanted(self) -> list[str]:
        return self.missing("")

    def repair(self, answer: str) -> str:
        """Put back the `@` that small models forget: `count[7]` becomes `@count[7]`."""
        for opening in self.slots:
            if opening.startswith("@") and opening not in answer:
                answer = re.sub(rf"(?<![\w@]){re.escape(opening[1:])}", opening, answer)
        return answer

    def is_met(self, answer: str) -> bool:
        """Whether any forms are requested and the answer fills all of them."""
        return bool(self.slots) and not self.missing(answer)

    def missing(self, answer: str) -> list[str]:
        return [
            f"{opening}…{']' * opening.endswith('[')}"
            for opening, slot in self.slots.items()
            if _value_behind(opening, answer) in _UNFILLED | {slot}
        ]


def _value_behind(opening: str, answer: str) -> str:
    """The value of the last occurrence; a template's braces count as empty."""
    _, marker, rest = answer.rpartition(opening)
    if not marker:
        return ""
    value = re.match(r"[^\]\n]*" if opening.endswith("[") else r"\S*", rest)
    text = value[0].strip(" `'\"*.,").lower() if value else ""
    return "" if text.startswith(("{", "<")) else text


def named_files(text: str) -> list[str]:
    return list(dict.fromkeys(_FILE.findall(text)))


def wanted_files(request: str, exists: Callable[[str], bool]) -> tuple[str, ...]:
    verb = _VERB.search(request)
    if verb is None:
        return ()
    named = dict.fromkeys(_FILE.findall(request, verb.end()))
    return tuple(path for path in named if not exists(path))[:MAX_FILES]


def how_to_write(path: str) -> str:
    """Example code for such a file: small models do not think of it by themselves."""
    ending = path.rpartition(".")[2].lower()
    return _CALLS.get(ending, "Path({path!r}).write_text(text)").format(path=path)
