"""Words that mean something only together: spans of time, gaps, columns of yes and no, orders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .lexicon import PHRASES
from .names import EXACT, TableNames, flag_value
from .periods import MONTHS, SEASONS
from .slots import Tag
from .tokens import Token, word_set

_ORDINALS = {
    word: number
    for number, stem in enumerate(("erst", "zweit", "dritt", "viert"), 1)
    for word in (f"{stem}es", f"{stem}en")
} | {"first": 1, "second": 2, "third": 3, "fourth": 4}
_DECADE = re.compile(r"(19|20)?(\d0)(?:s|er|ern)")
_NONE = word_set("no without lacking ohne kein keine keinen keiner")
_ARTICLES = word_set("a an any the known einen eine ein den die das")
_HAVE = word_set("have has had with haben hat hatten mit")
_ANY = word_set("a an any einen eine ein einem einer")
_IS = word_set("is was are were = : ist war")
_SORTS = word_set("order arrange ordne")
_POLITE = word_set("please pls can could you bitte and then the")


class IdiomTagger:
    def __init__(self, tokens: Sequence[Token], names: TableNames) -> None:
        self.tokens = tokens
        self.names = names

    def _plain(self, at: int) -> str:
        return self.tokens[at].plain if 0 <= at < len(self.tokens) else ""

    def _idiom(self, at: int) -> tuple[Tag, int] | None:
        return (
            self._span(at) or self._decade(at) or self._gap(at) or self._flag(at) or self._sort(at)
        )

    def _span(self, at: int) -> tuple[Tag, int] | None:
        """A month, quarter or season, with or without year."""
        token = self.tokens[at]
        kind, number = "month", MONTHS.get(token.plain, 0)
        length = 1
        if token.plain in ("q1", "q2", "q3", "q4"):
            kind, number = "quarter", int(token.plain[1])
        elif token.plain in _ORDINALS and self._plain(at + 1) in ("quarter", "quartal"):
            kind, number, length = "quarter", _ORDINALS[token.plain], 2
        elif token.plain in ("quarter", "quartal") and self._plain(at + 1) in list("1234"):
            kind, number, length = "quarter", int(self._plain(at + 1)), 2
        elif token.plain in SEASONS and self._is_season(at):
            kind, number = "season", SEASONS[token.plain]
        if not number or (token.plain == "may" and not self._is_may(at)):
            return None
        after = at + length + (self._plain(at + length) in ("of", ",", "in", "'"))
        year = self._plain(after)
        has_year = len(year) == 4 and year.isdigit()
        if kind == "season":
            length = after - at + 1 if has_year else 1
            return Tag(kind, str(number), value=year if has_year else ""), length
        if has_year:
            whole = f"{year}-Q{number}" if kind == "quarter" else f"{year}-{number:02d}"
            return Tag("span", whole), after - at + 1
        return Tag(kind, str(number)), length

    def _is_season(self, at: int) -> bool:
        """Not a column, a value, or the verb `fall`."""
        word, before = self._plain(at), self._plain(at - 1)
        if self.names.exact([word]) or self.names.value([word]):
            return False
        return word != "fall" or before in ("in", "last", "this", "of", "during", "the", "every")

    def _is_may(self, at: int) -> bool:
        """The month, not the verb."""
        before = self._plain(at - 1) if at else ""
        near = ("in", "of", "for", "since", "than", "with", "from", "to", "and", "vs", "until")
        return self.tokens[at].text == "May" or before in (*near, "last") or not before

    def _gap(self, at: int) -> tuple[Tag, int] | None:
        """`No score`, `without a department`: rows that lack a value; `have a score`: others."""
        is_none = self._plain(at) in _NONE
        if not is_none and not (self._plain(at) in _HAVE and self._plain(at + 1) in _ANY):
            return None
        first = at + 1 + (self._plain(at + 1) in _ARTICLES)
        for length in (3, 2, 1):
            words = [self._plain(first + n) for n in range(length)]
            found = self.names.exact(words) if all(words) else None
            after = self._phrase(first + length)[0] if found else None
            if found and (is_none or after is None or after.kind == "by"):
                kind = "gap" if is_none else "no gap"
                return Tag(kind, found.name, score=found.score), first + length - at
        return None

    def _flag(self, at: int) -> tuple[Tag, int] | None:
        """A boolean column as a predicate: `passed`, `not active`, `paid is no`."""
        found = self._flag_named(at) if self.tokens[at].kind == "word" else None
        column = self.names.table.column(found[0]) if found else None
        if found is None or column is None:
            return None
        name, value = found
        is_name = self.names.exact([self._plain(at)]) is not None
        there = at + 1 + (self._plain(at + 1) in _IS)
        said = flag_value(column, self._plain(there)) if is_name else ""
        tag = Tag("flag", name, value=said or value, score=EXACT, plural=is_name)
        return tag, there - at + 1 if said else 1

    def _flag_named(self, at: int) -> tuple[str, str] | None:
        word = self._plain(at)
        if word in self.names.flags or self._phrase(at)[0] or self.names.exact([word]):
            return self.names.flags.get(word)
        return self.names.flag(word)

    def _decade(self, at: int) -> tuple[Tag, int] | None:
        """`The 90s`, `die 1990er`."""
        found = _DECADE.fullmatch(self._plain(at))
        if found is None:
            return None
        century = found[1] or ("20" if found[2] < "3" else "19")
        return Tag("decade", f"{century}{found[2]}"), 1

    def _sort(self, at: int) -> tuple[Tag, int] | None:
        """`Order sales by revenue`: a verb here, not a noun."""
        if self._plain(at) not in _SORTS or any(
            token.plain not in _POLITE for token in self.tokens[:at]
        ):
            return None
        ahead = [token.plain for token in self.tokens[at + 1 : at + 8]]
        is_verb = bool({"by", "nach"} & set(ahead)) and "per" not in ahead
        return (Tag("sort"), 1) if is_verb else None

    def _phrase(self, at: int) -> tuple[Tag | None, int]:
        for words, tag in PHRASES.get(self._plain(at), ()):
            if all(self._plain(at + n) == word for n, word in enumerate(words)):
                kind, _, detail = tag.partition(":")
                return Tag(kind, detail), len(words)
        return None, 1
