"""Forms of sentences: patterns of tags, of which every tag has to be used."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from .tags import Tag

_TOKEN = re.compile(r"<(\w+)|>|[a-z]+|\s+|.")
_SLOTS = {
    "GROUP": "(number|date|text|period)",
    "SIDE": "(value|span|quoted)",
    "COLUMN": "(number|date|text)",
    "COLUMNS": "(number|date|text)(and?(number|date|text))*",
    "EITHER": "(number|date|text)((and|or)?(number|date|text))*",
    "BY": "(by<groups(number|date|text|period)(and?by?(number|date|text|period))*>)",
}
_LINKS = ("and", "or", "vs", "with", "to", "on", "by")
_KINDS: dict[str, str] = {}


def _sign(kind: str) -> str:
    """One character for a kind of tag."""
    return _KINDS.setdefault(kind, chr(0xE000 + len(_KINDS)))


@lru_cache(maxsize=512)
def pattern(form: str) -> re.Pattern[str]:
    """A form is a regular expression over kinds of tags; `<slot …>` names a part of it."""
    for name, meant in _SLOTS.items():
        form = re.sub(rf"\b{name}\b", meant, form)

    def compiled(match: re.Match[str]) -> str:
        if match[1]:
            return f"(?P<{match[1]}>"
        if match[0] == ">":
            return ")"
        return _sign(match[0]) if match[0].isalpha() else match[0].strip()

    return re.compile(_TOKEN.sub(compiled, form))


class Tags(tuple[Tag, ...]):
    """Tags, and a sign for each of them, which forms are matched with."""

    @cached_property
    def signs(self) -> str:
        return "".join(_sign(tag.kind) for tag in self)


@dataclass(frozen=True)
class Match:
    tags: Sequence[Tag]
    found: re.Match[str]

    def all(self, slot: str, *kinds: str) -> list[Tag]:
        """The tags of a slot: of these kinds, else all that do not only link others."""
        if slot not in self.found.re.groupindex or self.found.start(slot) < 0:
            return []
        begin, end = self.found.span(slot)
        tags = self.tags[begin:end]
        return [tag for tag in tags if (tag.kind in kinds if kinds else tag.kind not in _LINKS)]

    def first(self, slot: str, *kinds: str) -> Tag | None:
        return next(iter(self.all(slot, *kinds)), None)

    def names(self, slot: str, *kinds: str) -> list[str]:
        return [tag.name for tag in self.all(slot, *kinds)]


def whole(form: str, tags: Tags) -> Match | None:
    found = pattern(form).fullmatch(tags.signs)
    return Match(tags, found) if found else None


def begins(form: str, tags: Tags, at: int) -> Match | None:
    """The form from this place on; its match tells where it ends."""
    found = pattern(form).match(tags.signs, at)
    return Match(tags, found) if found else None
