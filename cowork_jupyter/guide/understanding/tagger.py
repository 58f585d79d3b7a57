"""Tag the words of a request with their meaning for one table, from left to right."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from ..file_names import is_table
from ..tables import date_format_of
from .idioms import IdiomTagger
from .lexicon import NUMBERS, PHRASES, STOP_WORDS, VAGUE_WORDS, WORDS
from .names import EXACT, MAX_WORDS, ColumnMatch, TableNames, measures
from .periods import MONTHS
from .slots import Tag
from .synonyms import COMPARATIVES, COMPARISONS, SUPERLATIVES, VERB_COLUMNS, is_additive
from .tokens import Token, normalize, stems, word_set, words_of


def split_compounds(tokens: Sequence[Token], names: TableNames) -> list[Token]:
    found: list[Token] = []
    for token in tokens:
        parts = _parts(token, names) if token.kind == "word" and len(token.plain) > 7 else ()
        found += [Token("word", part, normalize(part)) for part in parts] or [token]
    return found


def _parts(token: Token, names: TableNames) -> tuple[str, ...]:
    word = token.plain
    if word in PHRASES or names.exact([word]) or names.value([word]) or len(word) > 40:
        return ()
    for at in range(len(word) - 3, 2, -1):
        start, end = word[:at], word[at:]
        for stem in (start, start.removesuffix("s")):
            is_left = stem in PHRASES or names.exact([stem])
            is_right = end in PHRASES or names.exact([end])
            if is_left and is_right and (names.exact([stem]) or names.exact([end])):
                return stem, end
            if len(stem) > 5 and stem in PHRASES and names.similar(end):
                return stem, end
    return ()


_STRONG = ("aggregate", "chart", "rank", "verb", "how many", "how much")
# filler words, unless the table has a column for them
_SAYING = word_set("value values amount cost costs wert betrag total income pay time old date day")
NAMED_TABLE_SCORE = 100.0  # score of a table that is named
_THIS = word_set("this current dieser dieses diesen diese diesem")
TABLE_NAME_SCORE = 5.0  # score of words in a file name
_MAX_UNKNOWN = 25  # limits the search for misspellings, which is slow


_PERIODS = [Tag("period", period) for period in ("day", "week", "month", "quarter", "year")]


class Tagger(IdiomTagger):
    def __init__(self, tokens: Sequence[Token], names: TableNames) -> None:
        super().__init__(tokens, names)
        self._misspelled = 0

    def tags(self) -> list[Tag]:
        found: list[Tag] = []
        at = 0
        while at < len(self.tokens):
            tag, length = self._at(at)
            text = " ".join(token.text for token in self.tokens[at : at + length])
            found.append(replace(tag, text=text))
            at += length
        return found

    def _at(self, at: int) -> tuple[Tag, int]:
        token = self.tokens[at]
        match token.kind:
            case "code":
                return self._named(token), 1
            case "quoted":
                return self._named(token, is_value=True), 1
            case "number":
                return self._number(at)
        idiom = self._idiom(at)
        if idiom:
            return idiom
        if token.plain in _THIS and self._phrase(at + 1)[0] in _PERIODS:
            return Tag("relative"), 1
        return self._words(at)

    def _named(self, token: Token, *, is_value: bool = False) -> Tag:
        table = self.names.table
        if token.text == table.path or token.text == table.path.rsplit("/", 1)[-1]:
            return Tag("table", table.path, score=NAMED_TABLE_SCORE)
        if token.text in table.names:
            return Tag("column", token.text, score=4)
        if is_table(token.text):  # another one
            return Tag("stop")
        found = self.names.value([token.plain])
        if found:
            return _value(found, 3)
        exact = self.names.exact(words_of(token.text))
        if exact:
            return Tag("column", exact.name, score=exact.score)
        return Tag("text" if is_value else "unknown", token.text)

    def _number(self, at: int) -> tuple[Tag, int]:
        text = self.tokens[at].text
        if text[4:5] == "-":
            return Tag("span", text.upper()), 1
        form = date_format_of([text])
        if form == "%d.%m.%Y":
            day, month, year = text.split(".")
            return Tag("span", f"{year}-{int(month):02d}-{int(day):02d}"), 1
        if len(text) == 4 and text.isdigit() and "1900" <= text <= "2100":
            return Tag("year", text), 1
        return Tag("number", text.replace(",", "") if "." in text else text.replace(",", ".")), 1

    def _words(self, at: int) -> tuple[Tag, int]:
        window: list[str] = []
        for token in self.tokens[at : at + MAX_WORDS]:
            if token.kind not in ("word", "number"):
                break
            window.append(token.plain)
        phrase, phrase_length = self._phrase(at)
        for length in range(len(window), 0, -1):
            words = window[:length]
            if phrase and phrase_length > length:
                break
            exact = None if self._is_small(at, length) else self.names.exact(words)
            if exact and not self._is_rather(phrase, at, length, exact):
                return self._column(exact, words, phrase), length
            if length > 1 and self.names.is_table(words):
                return Tag("table", self.names.table.path, score=TABLE_NAME_SCORE), length
            values = self.names.value(words)
            if values and self._is_value(at, length, values, phrase):
                return _value(values, 2.5), length
        return self._single(at, phrase, phrase_length)

    def _is_small(self, at: int, length: int) -> bool:
        """Short words like `a` or `in`, which may also be columns."""
        small = length == 1 and self._plain(at) in STOP_WORDS and len(self._plain(at)) < 3
        return small and self._plain(at - 1) not in ("by", "per", "of", "column")

    def _is_rather(self, phrase: Tag | None, at: int, length: int, exact: ColumnMatch) -> bool:
        """Whether a column name means something else here: `total revenue`."""
        if phrase is None:
            return False
        if phrase.kind in ("by", "and", "which", "not", "since", "until"):
            return True
        after = self._after(at + length)
        follows = self.names.exact([after]) or self.names.similar(after)
        return phrase.kind in _STRONG and (bool(follows) or exact.score < EXACT)

    def _after(self, at: int) -> str:
        while self._plain(at) in STOP_WORDS:
            at += 1
        return self._plain(at)

    def _column(self, match: ColumnMatch, words: Sequence[str], phrase: Tag | None) -> Tag:
        is_event = phrase is not None and phrase.kind in ("events", "rows")
        plural = words[-1] != words_of(match.name)[-1] if words_of(match.name) else False
        return Tag("column", match.name, score=match.score, event=is_event, plural=plural)

    def _is_value(
        self, at: int, length: int, values: list[tuple[str, str]], phrase: Tag | None
    ) -> bool:
        """Whether an ambiguous word is a value here."""
        if length > 1:
            return True
        token, value = self.tokens[at], values[0][1]
        common = phrase is not None or token.plain in STOP_WORDS
        if not common:
            return True
        if len(value) > 1 and value.isupper():
            return token.text == value
        column = set(words_of(values[0][0]))
        beside = {self._plain(at + 1), self._plain(at - 1) if at else ""}
        if column & {stem for word in beside for stem in stems(word)}:
            return True
        if phrase is None or phrase.kind in ("it", "by", "and", "which", "rank", "not"):
            return False
        if phrase.kind == "verb" and at and self._is_stem(self._plain(at + 1)):
            return True  # `how many open orders`
        return phrase.kind not in _STRONG and not self._is_stem(token.plain)

    def _is_stem(self, word: str) -> bool:
        return bool(stems(word) & self.names.stem)

    def _single(self, at: int, phrase: Tag | None, length: int) -> tuple[Tag, int]:
        token = self.tokens[at]
        if length == 1:
            if token.plain in SUPERLATIVES:
                return self._superlative(at), 1
            if token.plain in COMPARISONS and self._plain(at + 1) in ("than", "als"):
                return Tag("comparative", token.plain), 2
            if token.plain in COMPARATIVES and self._plain(at + 1) not in ("than", "als"):
                found = self._verb_column(COMPARATIVES[token.plain])
                return replace(found, plural=True) if found.kind == "verb column" else found, 1
            is_about = self.names.is_about(token.plain) and (
                phrase is not None or not self.names.similar(token.plain)
            )
            if (self._is_stem(token.plain) or is_about) and token.kind == "word":
                names = [match.name for match in self.names.similar(token.plain)]
                others = tuple(filter(self._measures, names))
                score = 3 if self._is_stem(token.plain) else 2
                return Tag("stem", token.plain, score=score, others=others, event=True), 1
            if (
                token.plain in VERB_COLUMNS
                and phrase is None
                and not self.names.has_part(token.plain)
            ):
                return self._verb_column(VERB_COLUMNS[token.plain]), 1
        if phrase and phrase.kind not in ("events", "period"):
            return phrase, length
        if token.kind == "sign":
            return phrase or Tag("stop"), length
        if token.plain not in STOP_WORDS or token.plain in _SAYING:
            rough = self.names.similar(token.plain)
            if rough and not (phrase and phrase.kind == "period"):
                others = tuple(match.name for match in rough[1:])
                found = Tag("column", rough[0].name, score=rough[0].score, others=others)
                is_event, is_plural = phrase is not None, token.plain.endswith("s")
                return replace(found, event=is_event, plural=is_plural), 1
        if phrase:
            return phrase, length
        if token.plain in NUMBERS:
            return Tag("number", str(NUMBERS[token.plain])), 1
        if token.plain in STOP_WORDS or len(token.plain) < 2:
            return Tag("vague" if token.plain in VAGUE_WORDS else "stop"), 1
        if self.names.names_part(token.plain):
            return Tag("table", self.names.table.path, score=1), 1
        return self._guess(token), 1

    def _measures(self, name: str) -> bool:
        return name in measures(self.names.table)

    def _verb_column(self, about: str) -> Tag:
        """The numeric column that a verb implies."""
        for at, word in enumerate(about.split()):
            matches = (self.names.exact([word]), *self.names.similar(word))
            found = [match.name for match in matches if match and self._measures(match.name)]
            if found:  # units rather than the price of one
                best = next(filter(is_additive, found), found[0])
                return Tag("verb column", best, score=1.5 - 0.5 * bool(at))
        return Tag("stop", score=-0.5)

    def _superlative(self, at: int) -> Tag:
        word = self._plain(at)
        about, ascending, _aggregate = SUPERLATIVES[word]
        beside = self._after(at + 1)
        measures = [self.names.exact([beside]), *self.names.similar(beside)]
        if about == "duration" and any(match and self._measures(match.name) for match in measures):
            return Tag("rank", "bottom" if ascending else "top")  # `the longest delay`
        found = self.names.exact([about]) or next(iter(self.names.similar(about)), None)
        if found is None and about == "age" and self.names.year:
            # The oldest are those of the earliest year.
            return Tag(
                "superlative", word, value=self.names.year, score=EXACT, plural=not ascending
            )
        if found is None:
            return Tag("unknown", word, value="needed")
        return Tag("superlative", word, value=found.name, score=found.score, plural=ascending)

    def _guess(self, token: Token) -> Tag:
        self._misspelled += 1
        if self._misspelled > _MAX_UNKNOWN or len(token.plain) > 40:
            return Tag("unknown", token.text)
        if len(token.plain) > 3:
            column = self.names.same_root(token.plain)
            if column:
                return Tag("column", column.name, score=column.score, event=True)
            column = self.names.misspelled(token.plain)
            if column:
                return Tag("column", column.name, score=column.score)
        if len(token.plain) > 4:
            close = _closest_word(token.plain)
            single = [tag for words, tag in PHRASES.get(close, ()) if len(words) == 1]
            if single:
                kind, _, detail = single[0].partition(":")
                return Tag(kind, detail)
            if values := self.names.close_value(token.plain):
                return _value(values, 1.5)
            if months := difflib.get_close_matches(token.plain, MONTHS, n=1, cutoff=0.85):
                return Tag("month", str(MONTHS[months[0]]))
        return Tag("unknown", token.text)


@lru_cache(maxsize=8_192)
def _closest_word(word: str) -> str:
    """Of our own; empty if none is close. A text is read for each table, and anew at each turn."""
    return next(iter(difflib.get_close_matches(word, WORDS, n=1, cutoff=0.84)), "")


def _value(found: Sequence[tuple[str, str]], score: float) -> Tag:
    column, value = found[0]
    others = tuple(name for name, _value in found[1:])
    return Tag("value", column, value=value, score=score, others=others)
