"""What a text requests, given the tables of the workspace."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from ..file_names import with_names_quoted
from ..request import Request, output_table
from ..tables import Table
from .canonical import parse_sentence
from .language import Language, clauses_in, is_question, is_unsupported
from .names import TableNames, is_key, measures
from .periods import period_of
from .request_builder import RequestBuilder
from .sentences import sentence
from .slot_filler import SlotFiller
from .slots import RequestSlots
from .synonyms import is_money
from .tagger import NAMED_TABLE_SCORE, Tagger, split_compounds
from .tokens import MAX_LENGTH, code_span, stems, tokens_in, words_of


def join_keys(left_table: Table, right_table: Table, text: str = "") -> tuple[str, str] | None:
    """A plausible join key: a named column of both, ids before others."""
    named = _named(text, [*left_table.names, *right_table.names])
    first = [name for name in named if name in left_table.names]
    second = [name for name in named if name in right_table.names]
    if first and second:
        return first[0], second[-1]
    names = [(a, b) for a in left_table.names for b in right_table.names]
    pairs = [pair for pair in names if _same(*pair, left_table, right_table)]
    if not pairs:
        return None
    return min(pairs, key=lambda pair: (not is_key(pair[0]), pair[0].lower() != pair[1].lower()))


def _named(text: str, names: list[str]) -> list[str]:
    squeezed = {"".join(words_of(name)): name for name in reversed(names)}
    tokens = tokens_in(text)
    found = [token.text for token in tokens if token.kind == "code" and token.text in names]
    words = [token.plain for token in tokens if token.kind == "word"]
    for length in (3, 2, 1):
        windows = ("".join(words[at : at + length]) for at in range(len(words)))
        found += [squeezed[window] for window in windows if window in squeezed]
    return list(dict.fromkeys(found))


def _same(a: str, b: str, left_table: Table, right_table: Table) -> bool:
    """Equal names, or `id` of `customers` and `customer_id`."""
    mine, theirs = left_table.column(a), right_table.column(b)
    if mine is None or theirs is None or "empty" in (mine.kind, theirs.kind):
        return False
    if mine.kind != theirs.kind:
        return False
    x, y = "".join(words_of(a)), "".join(words_of(b))
    if x == y:
        return x != "name"
    owners = stems("".join(words_of(right_table.stem)))
    return y == "id" and any(x == f"{owner}id" for owner in owners)


_MAX_ALTERNATIVES = 4
_TIE = 0.4  # tables with so similar scores are ambiguous
_OTHER_NOUN = 4.0  # penalty if the rows of another table are named


@dataclass(frozen=True)
class Understanding:
    requests: tuple[Request, ...] = ()
    alternatives: tuple[Request, ...] = ()  # or the options, if there are no requests
    unclear: str = ""  # a sentence for the user
    # the clauses before and after the unclear one
    clauses_around: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())

    def with_choice(self, chosen: str) -> str:
        before, after = self.clauses_around
        return "; ".join([*before, chosen, *after])


@dataclass
class _Fit:
    table: Table
    slots: RequestSlots
    requests: list[Request]
    alternatives: list[Request]

    @property
    def score(self) -> float:
        if not self.requests:
            return self.slots.score - 5
        named = self.slots.columns or self.slots.verb_column or self.slots.superlative
        likely = 0.5 * (not named and _is_about_money(self.requests[0]))
        return self.slots.score + likely - 0.5 * _is_outside(self.requests[0])


def understand(
    text: str,
    tables: Sequence[Table],
    *,
    language: Language = "en",
    files: Collection[str] = (),
    is_whole: bool = False,
) -> Understanding:
    """The requests in a text, or alternatives if it is ambiguous.

    `files`: those that exist; after a join into a new file, the text may be about that one.
    `is_whole`: values and dates of the tables are those of all rows.
    """
    exact = parse_sentence(text, tables)
    if exact:
        return Understanding((exact,))
    columns = [name for table in tables for name in table.names if "_" in name]
    text = with_names_quoted(text[:MAX_LENGTH], [*(table.path for table in tables), *columns])
    names = [TableNames(table, is_whole=is_whole) for table in tables]
    requests: list[Request] = []
    alternatives: list[Request] = []
    unclear: list[str] = []
    clauses = clauses_in(text)
    for at, clause in enumerate(clauses):
        if exact := parse_sentence(clause, tables):
            found = Understanding((exact,))
        else:
            found = _Clause(clause, names, language, is_question=is_question(text)).read(requests)
        requests += [request for request in found.requests if request not in requests]
        joined = [_joined_by(request) for request in found.requests]
        new = [table for table in joined if table and table.path not in files]
        tables = [*tables, *new]
        names += [TableNames(table, is_whole=is_whole) for table in new]
        alternatives += [other for other in found.alternatives if other not in alternatives]
        unclear += [found.unclear] if found.unclear else []
        if found.unclear and not found.requests and found.alternatives:
            around = (tuple(clauses[:at]), tuple(clauses[at + 1 :]))
            return replace(found, clauses_around=around)
    others = [alternative for alternative in alternatives if alternative not in requests]
    kept = tuple(others[:_MAX_ALTERNATIVES])
    return Understanding(tuple(requests), kept, " ".join(dict.fromkeys(unclear)))


_MESSAGES: dict[Language, dict[str, str]] = {
    "en": {
        "absent": "I cannot look for what is not there: “{0}”.",
        "cannot": "I cannot do this: “{0}”. I do not change, convert, send or export anything.",
        "could": "This could be about {0}.",
        "ignored": "I did not take into account: {0}.",
        "rate": "The mean of {0} is the share of rows where it is 1.",
        "unknown": "I do not know a column or value “{0}”: {1} has {2}.",
        "nothing": "I found nothing for this in {0}.",
        "more": "{0} and {1} more",
        "two tables": "I see only {0}: name two tables to join.",
        "no key": "I found no column that {0} and {1} share.",
    },
    "de": {
        "absent": "Ich kann nicht suchen, was nicht da ist: „{0}“.",
        "cannot": "Das kann ich nicht: „{0}“. Ich ändere, sende und exportiere nichts.",
        "could": "Das könnte {0} betreffen.",
        "ignored": "Nicht berücksichtigt habe ich: {0}.",
        "rate": "Der Mittelwert von {0} ist der Anteil der Zeilen mit 1.",
        "unknown": "Ich kenne keine Spalte und keinen Wert „{0}“: {1} hat {2}.",
        "nothing": "Dafür habe ich in {0} nichts gefunden.",
        "more": "{0} und {1} weitere",
        "two tables": "Ich sehe nur {0}: Nenne zwei Tabellen zum Verbinden.",
        "no key": "Ich finde keine Spalte, die {0} und {1} gemeinsam haben.",
    },
}


@dataclass
class _Clause:
    text: str
    names: Sequence[TableNames]
    language: Language
    is_question: bool

    def read(self, earlier: Sequence[Request]) -> Understanding:
        if is_unsupported(self.text):
            return Understanding((), (), self._text("cannot", self.text[:60].strip()))
        fits = [_fit(self.text, table_names, self.is_question) for table_names in self.names]
        if not fits:
            return Understanding()
        if len(fits) > 1 and all("join" in fit.slots.verbs for fit in fits):
            return self._join(fits)
        self._prefer_named(fits)
        recent, bonus = _recent(earlier)
        for fit in fits:
            fit.slots.score += bonus * (fit.table == recent)
        fits.sort(key=lambda fit: -fit.score)
        best = fits[0]
        if "join" in best.slots.verbs:
            return Understanding((), (), self._text("two tables", code_span(best.table.path)))
        if not best.requests or best.slots.blocking:
            return self._not_understood(best)
        equal = [fit for fit in fits if best.score - fit.score < _TIE and fit.requests]
        if len(equal) > 1 and best.slots.score >= NAMED_TABLE_SCORE:
            return Understanding(tuple(request for fit in equal for request in fit.requests))
        if len(equal) > 1:
            offered = tuple(request for fit in equal for request in fit.requests[:1])
            paths = ", ".join(code_span(fit.table.path) for fit in equal)
            return Understanding((), offered[:8], self._text("could", paths))
        notes = [self._ignored(best.slots), *map(self._rate, best.requests)]
        unclear = " ".join(note for note in dict.fromkeys(notes) if note)
        return Understanding(tuple(best.requests), tuple(best.alternatives), unclear)

    def _prefer_named(self, fits: Sequence[_Fit]) -> None:
        """Prefer the table whose rows are named over columns of another."""
        for fit in fits:
            unknown = [word for phrase in fit.slots.unknown[:9] for word in words_of(phrase)[:3]]
            others = [table_names for table_names in self.names if table_names.table != fit.table]
            if any(
                names.is_table([word]) or names.is_about(word)
                for names in others
                for word in unknown
            ):
                fit.slots.score -= _OTHER_NOUN

    def _text(self, what: str, *parts: object) -> str:
        return _MESSAGES[self.language][what].format(*parts)

    def _rate(self, request: Request) -> str:
        """The mean of zeros and ones is a share."""
        column = request.table.column(request.columns[0]) if request.columns else None
        is_rate = request.aggregate == "mean" and request.verb in ("aggregate", "compare")
        if column is None or not is_rate or column.values != ("0", "1"):
            return ""
        return self._text("rate", code_span(column.name))

    def _ignored(self, slots: RequestSlots) -> str:
        ignored = dict.fromkeys([*slots.unknown, *slots.ignored])
        words = ", ".join(f"“{word}”" for word in list(ignored)[:6])
        return self._text("ignored", words) if words else ""

    def _nothing(self, fit: _Fit) -> str:
        slots = fit.slots
        wants = slots.verbs or slots.wants_chart or slots.aggregates or slots.columns
        return self._text("nothing", code_span(fit.table.path)) if wants else ""

    def _not_understood(self, fit: _Fit) -> Understanding:
        """Name the unknown word and offer the nearest requests."""
        if not fit.slots.blocking:
            return Understanding((), (), self._ignored(fit.slots) or self._nothing(fit))
        if fit.slots.absent:
            return Understanding((), (), self._text("absent", fit.slots.absent[:60]))
        word, table = fit.slots.blocking[0], fit.table
        known = next(table_names for table_names in self.names if table_names.table == table)
        wants_number = not fit.slots.wants_group and not fit.slots.columns
        numbers = measures(table)
        others = [column.name for column in table.categories] or table.names
        offered: list[Request] = []
        for name in known.nearest(word, numbers if wants_number and numbers else others)[:3]:
            replaced = code_span(name).join(
                re.split(rf"`*{re.escape(word)}`*", self.text, maxsplit=1)
            )
            again = _fit(replaced, known, self.is_question)
            offered += [request for request in again.requests if not again.slots.blocking]
        has = ", ".join(code_span(name) for name in table.names[:8])
        if len(table.names) > 8:
            has = self._text("more", has, len(table.names) - 8)
        unclear = self._text("unknown", word[:60], code_span(table.path), has)
        return Understanding((), tuple(dict.fromkeys(offered)), unclear)

    def _join(self, fits: list[_Fit]) -> Understanding:
        fits.sort(key=lambda fit: -fit.score)
        pair = [fit.table for fit in fits[:2]]
        first, second = sorted(pair, key=lambda table: _place(self.text, table))
        for left_table, right_table in ((first, second), (second, first)):
            keys = join_keys(left_table, right_table, self.text)
            if keys:
                return Understanding((Request("join", left_table, keys, other=right_table),))
        return Understanding(
            (), (), self._text("no key", code_span(first.path), code_span(second.path))
        )


def _fit(text: str, names: TableNames, is_question: bool) -> _Fit:
    tokens = split_compounds(tokens_in(text), names)
    slots = SlotFiller(Tagger(tokens, names).tags(), names).read()
    builder = RequestBuilder(slots, names, text, is_question=is_question)
    requests = builder.requests()
    if requests and _lacks_measure(slots, requests[0]):
        slots.blocking += slots.unknown
    others = builder.alternatives(requests[0]) if requests else []
    return _Fit(names.table, slots, requests, others)


def _is_about_money(request: Request) -> bool:
    is_computed = request.verb in ("aggregate", "compare")
    return is_computed and any(is_money(column) for column in request.columns)


def _is_outside(request: Request) -> bool:
    """Whether the requested months are outside of the known dates."""
    time = request.table.column(request.time) if request.time else None
    filtered = [value for row_filter in request.filters for value in row_filter.values]
    spans = request.between or filtered
    months = [span for span in spans if period_of(span) == "month"]
    if time is None or not time.first or not months:
        return False
    return not any(time.first[:7] <= month <= time.last[:7] for month in months)


def _lacks_measure(slots: RequestSlots, request: Request) -> bool:
    """An unknown word stands in the place of the measure: `mean of profit`."""
    if not slots.unknown or slots.columns:
        return False
    wanted = slots.aggregates or slots.wants_chart or slots.verbs or slots.by
    return bool(wanted) and request.verb not in ("profile", "columns", "clean")


def _recent(earlier: Sequence[Request]) -> tuple[Table | None, float]:
    """The table that an unnamed one likely is, and how much likelier."""
    if not earlier:
        return None, 0.0
    joined = _joined_by(earlier[-1])
    return (joined, 0.5) if joined else (earlier[-1].table, 2.0)


def _joined_by(request: Request) -> Table | None:
    return output_table(request) if request.verb == "join" else None


def _place(text: str, table: Table) -> int:
    at = text.lower().find(table.stem.lower())
    return at if at >= 0 else len(text)


def step_title(request: Request) -> str:
    words = sentence(request)
    return words[:1].upper() + words[1:]
