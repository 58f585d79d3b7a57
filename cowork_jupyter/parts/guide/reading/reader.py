"""What a text requests of the tables at hand: with every word used, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ..request import Request, output_table
from ..tables import Table, is_key
from .conditions import selections
from .forms import Ambiguous, Clause, Requests, Tags, begins
from .recipes import RECIPES
from .tags import TableNames, Tag, column_tag, cost_of, sequences, tokens_for
from .tokens import MAX_LENGTH, MAX_TOKENS, Token, singular, tokens_in, word_set, words_of
from .vocabulary import VERBS

_JOINING = word_set("join merge combine link")
_JOIN_FILLERS = word_set(
    "please the a both two tables table file files data dataset and with to by on using column"
    " key keys their its of from can could you i want me = left"
)
_EVERY_MATCH = word_set("keeping every match")
_DOING = word_set(
    "plot draw chart graph histogram clean join merge predict save export drop remove fill"
)
_MAX_NEAREST = 4
_MANY_WORDS = 16
_MAX_REPLACED = 8
_FOREIGN = 5  # the cost of a word that names another table
_BEFORE_TABLE = word_set("number text date period columns missing duplicates outliers")
_ASKING = word_set("is are was were how what which why does do did has have")
_SIDES = "SIDE(and|with|vs|to|or)SIDE"
_RANKS = ("most", "least")
_SOLD = ("number", "rows", "text", "period", "span")
_NEGATIONS = word_set(
    "not no without except neither nor arent isnt werent wasnt dont doesnt didnt hasnt havent wont"
    " cant cannot never excluding"
)
_WORDLESS = frozenset(("and", "or", "", "show", "this", "where", "with", "from", "to", "by"))


@dataclass(frozen=True)
class JoinReading:
    """A join of two tables, whose key is still to be looked at."""

    table: Table
    other: Table
    keys: tuple[str, str] | None = None  # as they were named
    keeps_matches: bool = False  # whether rows may find several matches

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Columns that may be the key: as named, else equal names, or `customer_id` and the `id`
        of `customers`; those of ids first.
        """
        if self.keys:
            return [self.keys]
        found = [(a, b) for a in self.table.names for b in self.other.names if self._fits(a, b)]
        return [pair for pair in found if is_key(pair[0]) or is_key(pair[1])] or found

    def _fits(self, ours: str, theirs: str) -> bool:
        kind = self.table.kind_of(ours)
        if kind == "empty" or kind != self.other.kind_of(theirs):
            return False
        first, second = "".join(words_of(ours)), "".join(words_of(theirs))
        if first == second:
            return first != "name" and kind != "date"
        return second == "id" and first == f"{singular(''.join(words_of(self.other.stem)))}id"

    def on(self, keys: tuple[str, str], *, keeps_matches: bool = False) -> JoinReading:
        return replace(self, keys=keys, keeps_matches=self.keeps_matches or keeps_matches)

    @property
    def request(self) -> Request:
        keys = next(iter(self.pairs), (self.table.names[0], self.other.names[0]))
        return Request("join", self.table, keys, other=self.other, keeps_matches=self.keeps_matches)

    @property
    def joined(self) -> Table:
        return output_table(self.request) or self.table


def _join_in(tokens: Sequence[Token], tables: Sequence[Table]) -> JoinReading | None:
    """None if it is no join of two tables, or if any word is left over."""
    if not any(token.plain in _JOINING for token in tokens[:6]):
        return None
    named: list[Table] = []
    rest: list[Token] = []
    for token in tokens:
        table = next((each for each in tables if _is_joined(token, each)), None)
        if table and table not in named and len(named) < 2:
            named.append(table)
        elif table is None or table not in named:
            rest.append(token)
    if not named and len(tables) == 2:
        named = list(tables)
    if len(named) != 2:
        return None
    rest = [token for token in rest if token.plain not in _JOINING | _JOIN_FILLERS]
    key_words = [token for token in rest if token.plain not in _EVERY_MATCH or token.kind == "code"]
    first, second = named
    join = JoinReading(first, second, keeps_matches=len(key_words) < len(rest))
    if not key_words:
        return join
    keys = _key_named(first, second, key_words)
    return join.on(keys) if keys else None


def _is_joined(token: Token, table: Table) -> bool:
    if token.kind == "code":
        return token.text in table.paths
    stem = words_of(table.stem)
    return len(stem) == 1 and singular(token.plain) == singular(stem[0])


def _key_named(table: Table, other: Table, tokens: Sequence[Token]) -> tuple[str, str] | None:
    spelled = [token.text if token.kind == "code" else token.plain for token in tokens]
    words = words_of(" ".join(spelled))
    for ours in table.names:
        for theirs in other.names:
            if spelled == [ours, theirs] or (spelled == [ours] and ours == theirs):
                return ours, theirs
            own, others = words_of(ours), words_of(theirs)
            if words and (words == [*own, *others] or words == own == others):
                return ours, theirs
    return None


@dataclass(frozen=True)
class RequestReading:
    """One of these holds: it is understood, it may mean several things, or words are left over."""

    requests: Requests = ()
    choices: tuple[Requests, ...] = ()
    question: str = ""
    unused: tuple[str, ...] = ()
    nearest: tuple[Requests, ...] = ()  # without the unused words: to be offered, never done
    join: JoinReading | None = None  # `requests` come after it
    kinds: frozenset[str] = frozenset()  # of the words that were understood
    cost: int = 0
    rank: int = 0

    @property
    def is_understood(self) -> bool:
        return bool(self.requests or self.choices or self.join)


def read(text: str, tables: Sequence[Table], ranks: Sequence[int] = ()) -> RequestReading:
    """The requests of a text; of tables that fit equally well, those of the lowest rank count."""
    ranks = ranks or [0] * len(tables)
    tokens = tokens_for(text, tables) if len(text) <= MAX_LENGTH else None
    if tokens is None or len(tokens) > MAX_TOKENS:
        return RequestReading(unused=("a text of this length",))
    if not tokens or not tables:
        return RequestReading(unused=(text.strip()[:60],) if text.strip() else ())
    names = [TableNames(table, rank) for table, rank in zip(tables, ranks, strict=True)]
    return _read(tokens, names)


def _read(tokens: Sequence[Token], names: Sequence[TableNames]) -> RequestReading:
    whole = _single(tokens, names)
    for at in reversed([*_seams(tokens)]):  # as much as can be is one request
        if whole.is_understood:
            break
        first = _single(tokens[:at], names)
        if first.is_understood and (both := _with_rest(first, tokens[at:], names)):
            return both
    return whole


def _with_rest(
    first: RequestReading, tokens: Sequence[Token], names: Sequence[TableNames]
) -> RequestReading | None:
    """With what follows; where the first part is open, for each of the ways it may be meant."""
    if not first.choices:
        rest = _after(first, tokens, names)
        if not (rest.requests or rest.choices):
            return None
        choices = tuple((*first.requests, *each) for each in rest.choices)
        requests = () if choices else (*first.requests, *rest.requests)
        cost = first.cost + rest.cost
        return RequestReading(requests, choices, rest.question, join=first.join, cost=cost)
    ways = [
        (*each, *more)
        for each in first.choices
        for rest in [_after(RequestReading(each), tokens, names)]
        for more in (rest.requests, *rest.choices)
        if more
    ]
    return replace(first, choices=tuple(ways)) if ways else None


def _after(
    first: RequestReading, tokens: Sequence[Token], names: Sequence[TableNames]
) -> RequestReading:
    """What follows is about what the first part made, or its table; else about any."""
    rest = [token for token in tokens if _word(token) not in ("and", "then", ";", "afterwards")]
    made = [output for each in first.requests if (output := output_table(each))]
    if first.join:
        made = [first.join.joined]
    tables = dict.fromkeys([*made, *(each.table for each in first.requests)])
    scopes = [[TableNames(table)] for table in tables]
    if any(each.is_named(token.plain) for token in rest for each in names):
        scopes.insert(0, list(names))
    for scope in scopes:
        reading = _read(rest, scope)
        if reading.requests or reading.choices:
            return reading
    return _read(rest, names)


def _seams(tokens: Sequence[Token]) -> Iterator[int]:
    """Where another request may begin: behind `then` or `;`, or before a verb."""
    words = list(map(_word, tokens))
    for at in range(1, len(tokens)):
        before, here = words[at - 1], words[at]
        if before in ("then", ";"):
            yield at
        elif here == "then" or here in VERBS:
            yield at - (before == "and")
        elif before == "and" and {"join", "merge"} & set(words[:at]):
            yield at


def _word(token: Token) -> str:
    return token.plain if token.kind in ("word", "sign") else ""


def _single(tokens: Sequence[Token], names: Sequence[TableNames]) -> RequestReading:
    """One request, of the table for which it costs least."""
    if join := _join_in(tokens, [each.table for each in names]):
        return RequestReading(join=join)
    tokens = [token for token in tokens if _word(token) not in ("then", ";")]
    if not tokens:
        return RequestReading(unused=("then",))
    spans = {token.text for token in tokens if token.kind == "code"}
    named = [each for each in names if spans & set(each.table.paths)]
    if len(named) > 1:
        return RequestReading(unused=tuple(each.table.path for each in named[1:]))
    readings = [_TableReader(tokens, each, names).reading() for each in named or names]
    understood = [reading for reading in readings if reading.is_understood]
    if not understood:
        return _not_understood(readings)
    least = min((reading.cost, reading.rank) for reading in understood)
    best = [reading for reading in understood if (reading.cost, reading.rank) == least]
    if len(best) == 1:
        return best[0]
    choices = [each for reading in best for each in (reading.requests, *reading.choices) if each]
    return RequestReading(
        choices=tuple(choices), question="Which table do you mean?", cost=best[0].cost
    )


def _not_understood(readings: Sequence[RequestReading]) -> RequestReading:
    """Of the tables for which fewest words are unused."""
    near = [reading for reading in readings if reading.nearest] or readings
    fewest = min(len(reading.unused) for reading in near)
    best = [reading for reading in near if len(reading.unused) == fewest]
    nearest = [requests for reading in best for requests in reading.nearest]
    return replace(best[0], nearest=tuple(nearest[:_MAX_NEAREST]))


class _TableReader:
    """Reads words as one request of one table."""

    def __init__(
        self, tokens: Sequence[Token], names: TableNames, every: Sequence[TableNames]
    ) -> None:
        self.names = names
        self.sequences = sequences(tokens, names)
        self.asks = tokens[0].plain in _ASKING
        words = {token.plain for token in tokens if token.kind == "word"}
        self.foreign = {
            word
            for word in words
            if not names.is_named(word) and any(other.is_named(word) for other in every)
        }

    def reading(self) -> RequestReading:
        understood: dict[Requests, None] = {}
        question, cost = "", 0
        offered: list[Requests] = []
        for tags in self.sequences:
            # The name of another table is no value, and no part of a name.
            if any(tag.words.lower() in self.foreign and (tag.kind == "value" or tag.cost)
                   for tag in tags):  # fmt: skip
                continue
            if (understood or question) and cost_of(tags) > cost:
                break
            cost = cost_of(tags)
            for made in self._requests(tags):
                if not isinstance(made, Ambiguous):
                    understood[made] = None
                elif not question:
                    question, offered = str(made), made.offered
        if not understood and not question:
            return self._without_some()
        cost += _FOREIGN * len(self.foreign)
        if len(understood) == 1 and not question:
            return RequestReading(next(iter(understood)), cost=cost, rank=self.names.rank)
        choices = tuple(dict.fromkeys([*understood, *offered]))
        question = question or "What do you mean?"
        return RequestReading((), choices, question, cost=cost, rank=self.names.rank)

    def _requests(self, tags: Sequence[Tag]) -> Iterator[Requests | Ambiguous]:
        if any(tag.kind == "unknown" for tag in tags):
            return
        plain = replace(_phrase(tags, self.names), asks=self.asks)
        for recipe in RECIPES:
            if not recipe.takes_conditions:
                yield from recipe.requests(plain)
        for kept in (range(0), *_sides(plain.tags)):
            for selection in selections(plain.tags, self.names, kept):
                rest = _without_table(selection.rest, self.names)
                clause = replace(plain, tags=rest, filters=selection.filters, time=selection.time)
                for recipe in RECIPES:
                    if recipe.takes_conditions and recipe.keeps_sides == bool(kept):
                        yield from recipe.requests(clause)

    def _possible(self, tags: Sequence[Tag]) -> list[Requests]:
        found = [
            requests
            for made in self._requests(tags)
            for requests in (made.offered if isinstance(made, Ambiguous) else [made])
        ]
        return [requests for requests in dict.fromkeys(found) if not any(map(_is_odd, requests))]

    def _without_some(self) -> RequestReading:
        """Which words no recipe takes, and what could be done instead of them or without them."""

        def unknown_in(tags: Sequence[Tag]) -> list[Tag]:
            return [tag for tag in tags if tag.kind == "unknown"]

        tags = min(self.sequences, key=lambda tags: (len(unknown_in(tags)), cost_of(tags)))
        unknown, known = unknown_in(tags), [tag for tag in tags if tag.kind != "unknown"]
        negations = [tag.words for tag in known if tag.kind == "not"]

        def without(unused: Sequence[str], nearest: Sequence[Requests] = ()) -> RequestReading:
            kinds = frozenset(tag.kind for tag in known)
            return RequestReading(unused=tuple(unused), nearest=tuple(nearest), kinds=kinds)

        if negations and not unknown:
            return without(negations)
        is_single = len(unknown) == 1 and not negations
        if is_single and (nearest := self._replaced(tags, unknown[0])):
            return without([unknown[0].words], nearest)
        droppable = [at for at, tag in enumerate(known) if tag.kind not in _WORDLESS]
        for count in range(3 if len(droppable) < _MANY_WORDS else 1):
            for dropped in combinations(droppable, count) if unknown or count else ():
                unused = [tag.words for tag in (*unknown, *(known[at] for at in dropped))]
                if _NEGATIONS & {word.lower().replace("'", "") for word in unused}:
                    continue  # without it, the opposite would be offered
                rest = [tag for at, tag in enumerate(known) if at not in dropped]
                if nearest := self._possible(rest):
                    return without(unused, nearest)
        return without([tag.words for tag in unknown or (known[at] for at in droppable)])

    def _replaced(self, tags: Sequence[Tag], unknown: Tag) -> list[Requests]:
        """With a column in the place of a word that means nothing here."""
        at = tags.index(unknown)
        if any(tag.kind == "number" for tag in tags[max(at - 1, 0) : at + 2]):
            return []  # `revenue growth` is not about two columns
        columns = self.names.nearest(unknown.words)[:_MAX_REPLACED]
        made = [
            self._possible([*tags[:at], column_tag(name, self.names, name), *tags[at + 1 :]])
            for name in columns
        ]
        return list(dict.fromkeys(requests for each in made for requests in each))


def _is_odd(request: Request) -> bool:
    """`number of different regions by region`"""
    return bool(set(request.groups) & set(request.columns))


def _without_table(tags: tuple[Tag, ...], names: TableNames) -> Tags:
    """Without the name of the table at the end: `revenue by region in sales`."""
    if len(tags) > 1 and tags[-1].kind == "rows" and tags[-2].kind in _BEFORE_TABLE:
        tags = tags[:-1] if names.is_named(tags[-1].words.lower()) else tags
    return Tags(tags)


def _sides(tags: Tags) -> Iterator[range]:
    """Where two values or spans are compared, or one with what was before it."""
    kinds = {tag.kind for tag in tags}
    for at in range(len(tags)):
        if kinds & {"compare", "vs"} and (pair := begins(_SIDES, tags, at)):
            is_behind = pair.end < len(tags) and tags[pair.end].kind in ("text", "date")
            yield range(at, pair.end + is_behind)
        if "why" in kinds and tags[at].kind == "span":
            yield range(at, at + 1)


def _phrase(tags: Sequence[Tag], names: TableNames) -> Clause:
    """Without what may stand anywhere: the table, the chart, the order, words such as `show`."""
    kept: list[Tag] = []
    charts: list[str] = []
    order, dates, is_shown = "", "", False
    for at, tag in enumerate(tags):
        before = kept[-1].kind if kept else ""
        after = tags[at + 1].kind if at + 1 < len(tags) else ""
        match tag.kind:
            case "this" | "file":
                if before == "from" or (before in ("with", "on") and len(kept) > 1):
                    kept.pop()
            case "chart":
                charts.append(tag.name)
                if before == "as":
                    kept.pop()
            case "rows" if before == "rows" or (after == "number" and not tag.words.endswith("s")):
                pass  # `rows in sales`, `trip duration`
            case "where" if not after and tag.words.lower() == "only":
                pass
            case "show" if not kept:
                is_shown = True
            case "share" if any(earlier.kind == "share" for earlier in kept):
                pass
            case "sold" if after in ("number", "rows") or (before in _SOLD and after not in _RANKS):
                pass
            case "dates":
                dates = tag.name
            case "ascending" | "descending":
                order = tag.kind
            case _:
                kept.append(tag)
    return Clause(
        names, Tags(kept), charts=tuple(charts), order=order, dates=dates, is_shown=is_shown
    )


def is_question(text: str) -> bool:
    """Whether an answer is wanted rather than a plan."""
    words = [token.plain for token in tokens_in(text)[:MAX_TOKENS]]
    is_asked = text.rstrip().endswith("?") or bool(words and words[0] in _ASKING | {"who"})
    return is_asked and not _DOING & set(words)
