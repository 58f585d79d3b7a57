"""What of a plan could vary the next time: the files, dates, columns, texts and numbers in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel

from ..domain.errors import InvalidInput
from ..domain.plan import Plan
from .saving import MAX_NAME_LENGTH, as_a_whole
from .template import MAX_PARAMETERS, Kind, places, texts_of
from .workflow import NAME, Parameters

Nature = Literal["file", "date", "column", "text", "number"]

_ENDINGS = (
    "csv|tsv|parquet|feather|jsonl?|xlsx?|ods|txt|md|html|pdf|png|svg|jpg|py|ipynb|sql|sqlite|db|"
    "duckdb|ya?ml|toml|pkl|np[yz]|zip|gz"
)
_PATH = re.compile(rf"(?<![\w./-])(?:[\w-]+/)*[\w-][\w.-]*\.(?:{_ENDINGS})(?![\w/])")
_DATE = re.compile(
    r"(?<![\w-])\d{4}-\d{2}(?:-\d{2})?(?![\w-])|(?<![\w.])\d{1,2}\.\d{1,2}\.\d{4}(?!\w)"
)
_CODE = re.compile(r"`([^`\n]{1,80})`")
_QUOTED = re.compile(r'"([^"\n]{1,80})"|“([^”\n]{1,80})”|(?<!\w)\'([^\'\n]{1,80})\'(?!\w)')
_NUMBER = re.compile(r"(?:\b([A-Za-z]{3,20})[ =]+)?(?<![\w.,-])(-?\d+(?:[.,]\d+)*)(?![\w.]*\w|-\d)")
_NOT_NAMES = {"the", "and", "for", "from", "with", "into", "than"}


class OfferedParameter(BaseModel):
    """A value that stands in a plan, with a name it could have."""

    name: str
    value: str
    type: Kind
    nature: Nature


def offered_parameters(plan: Plan) -> list[OfferedParameter]:
    """All that can be saved as a parameter, the likeliest to vary first."""
    texts = list(texts_of(plan))
    taken, offers = places(plan), dict[str, OfferedParameter]()
    for nature, value, hint in _found(plan, texts):
        value = value.strip()
        if not value or value in offers or not _stands_in(value, texts):
            continue
        name = _free(hint or nature, taken)
        taken.add(name)
        kind: Kind = "text"
        if nature == "file":
            kind = "notebook" if value.endswith(".ipynb") else "path"
        offers[value] = OfferedParameter(name=name, value=value, type=kind, nature=nature)
    return list(offers.values())[:MAX_PARAMETERS]


def chosen_parameters(
    words: Iterable[str], offers: Iterable[OfferedParameter]
) -> list[dict[str, str]]:
    """Parse what the user typed: `name=value` for a value of the plan, or the name of an offer."""
    known = {offer.name: offer.value for offer in offers}
    chosen = []
    for word in words:
        name, equals, value = word.partition("=")
        if not equals and name not in known:
            could = f" It could be: {', '.join(known)}." if known else ""
            why = f"Write parameters as name=value, not '{word}'.{could}"
            raise InvalidInput(why, code="bad_parameters")
        chosen.append({"name": name, "value": value if equals else known[name]})
    return chosen


def _found(plan: Plan, texts: list[str]) -> Iterator[tuple[Nature, str, str]]:
    """Each with a name that its context suggests, if any."""
    for path in (path for step in plan.steps for path in step.files):
        yield "file", path, _file_hint(path)
    for path in (match[0] for text in texts for match in _PATH.finditer(text)):
        yield "file", path, _file_hint(path)
    yield from (("date", match[0], "") for text in texts for match in _DATE.finditer(text))
    for expectation in (expected for step in plan.steps for expected in step.expects):
        yield "column", expectation.column or "", ""
    yield from (("column", match[1], "") for text in texts for match in _CODE.finditer(text))
    for match in (match for text in texts for match in _QUOTED.finditer(text)):
        yield "text", next(filter(None, match.groups())), ""
    bare = (_NUMBERLESS.sub(" ", text) for text in texts)
    for match in (match for text in bare for match in _NUMBER.finditer(text)):
        word = (match[1] or "").lower()
        if word not in ("step", "steps"):
            yield "number", match[2], "" if word in _NOT_NAMES else word


_NUMBERLESS = re.compile("|".join(pattern.pattern for pattern in (_PATH, _DATE, _CODE, _QUOTED)))
"""What contains numbers that are part of something else."""


def _file_hint(path: str) -> str:
    return "notebook" if path.endswith(".ipynb") else ""


def _stands_in(value: str, texts: list[str]) -> bool:
    """Whether it would be found when it is to be replaced."""
    return any(re.search(as_a_whole(value), text) for text in texts)


def _free(hint: str, taken: set[str]) -> str:
    base = hint if NAME.fullmatch(hint) and len(hint) < MAX_NAME_LENGTH else "value"
    base = f"{base}_value" if hasattr(Parameters, base) else base
    candidates = (base if n == 1 else f"{base}_{n}" for n in range(1, len(taken) + 2))
    return next(name for name in candidates if name not in taken)
