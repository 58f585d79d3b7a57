"""Joins: two tables, and the columns that both have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..request import Request, output_table
from ..tables import Table, is_key
from .tokens import Token, singular, word_set, words_of

_VERBS = word_set("join merge combine link")
_FILLERS = word_set(
    "please the a both two tables table file files data dataset and with to by on using column"
    " key keys their its of from can could you i want me = left right inner outer"
) - word_set("inner outer right")
_EVERY = word_set("keeping every match")


@dataclass(frozen=True)
class JoinReading:
    table: Table
    other: Table
    keys: tuple[str, str] | None = None
    """As they were named."""
    keeps_matches: bool = False
    """Whether rows may find several matches."""

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Columns that may be the key, by their names."""
        if self.keys:
            return [self.keys]
        return possible_keys(self.table, self.other)

    def on(self, keys: tuple[str, str], *, keeps_matches: bool = False) -> JoinReading:
        return replace(self, keys=keys, keeps_matches=self.keeps_matches or keeps_matches)

    @property
    def request(self) -> Request:
        keys = self.keys or next(iter(self.pairs), (self.table.names[0], self.other.names[0]))
        return Request("join", self.table, keys, other=self.other, keeps_matches=self.keeps_matches)

    @property
    def joined(self) -> Table:
        return output_table(self.request) or self.table


def joins_in(tokens: Sequence[Token], tables: Sequence[Table]) -> JoinReading | None:
    """None if it is no join of two tables, or if any word is left over."""
    if not any(token.plain in _VERBS for token in tokens[:6]):
        return None
    found: list[Table] = []
    rest: list[Token] = []
    for token in tokens:
        table = next((each for each in tables if _is_named(token, each)), None)
        if table and table not in found and len(found) < 2:
            found.append(table)
        elif table not in found or table is None:
            rest.append(token)
    if not found and len(tables) == 2:
        found = list(tables)
    if len(found) != 2:
        return None
    rest = [each for each in rest if each.plain not in _VERBS | _FILLERS]
    wanted = [each for each in rest if each.plain not in _EVERY or each.kind == "code"]
    keyed = _keyed(found[0], found[1], wanted)
    return keyed and replace(keyed, keeps_matches=len(wanted) < len(rest))


def _is_named(token: Token, table: Table) -> bool:
    if token.kind == "code":
        return token.text in (table.path, table.path.rsplit("/", 1)[-1])
    stem = words_of(table.stem)
    return len(stem) == 1 and singular(token.plain) == singular(stem[0])


def _keyed(first_table: Table, second_table: Table, rest: Sequence[Token]) -> JoinReading | None:
    """The words that remain name the key."""
    if not rest:
        return JoinReading(first_table, second_table)
    spelled = [token.text if token.kind == "code" else token.plain for token in rest]
    for ours in first_table.names:
        for theirs in second_table.names:
            if spelled in ([ours, theirs], [ours]) and (len(spelled) == 2 or ours == theirs):
                return JoinReading(first_table, second_table, (ours, theirs))
            words = words_of(" ".join(spelled))
            both = [*words_of(ours), *words_of(theirs)]
            if words and (words == both or words == words_of(ours) == words_of(theirs)):
                return JoinReading(first_table, second_table, (ours, theirs))
    return None


def possible_keys(ours: Table, theirs: Table) -> list[tuple[str, str]]:
    """Equal names, or `customer_id` and the `id` of `customers`; those of ids first."""
    found = [(a, b) for a in ours.names for b in theirs.names if _fits(a, b, ours, theirs)]
    ids = [pair for pair in found if is_key(pair[0]) or is_key(pair[1])]
    return ids or found


def _fits(a: str, b: str, ours: Table, theirs: Table) -> bool:
    if "empty" in (ours.kind_of(a), theirs.kind_of(b)) or ours.kind_of(a) != theirs.kind_of(b):
        return False
    x, y = "".join(words_of(a)), "".join(words_of(b))
    if x == y:
        return x != "name" and ours.kind_of(a) != "date"
    owner = singular("".join(words_of(theirs.stem)))
    return y == "id" and x == f"{owner}id"
