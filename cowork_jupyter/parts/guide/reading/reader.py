"""What a text requests of the tables at hand: with every word used, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from ..request import Request, output_table
from ..tables import Table
from .clause import Clause, Recipe, Unsaid
from .conditions import selections
from .forms import Tags, begins
from .joins import JoinReading, joins_in
from .names import TableNames, tokens_for
from .recipes import RECIPES
from .tags import Tag, column_tag, cost_of, sequences
from .tokens import (
    MAX_LENGTH,
    MAX_TOKENS,
    Token,
    tokens_in,
    word_set,
)
from .vocabulary import VERBS

Requests = tuple[Request, ...]
_DOING = word_set(
    "plot draw chart graph histogram clean join merge predict save export drop remove fill"
)
_MAX_NEAREST = 4
_MANY_WORDS = 16
_MAX_REPLACED = 8
_FOREIGN = 5
"""The cost of a word that names another table."""
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
class RequestReading:
    """One of these holds: it is understood, it may mean several things, or words are left over."""

    requests: Requests = ()
    choices: tuple[Requests, ...] = ()
    question: str = ""
    unused: tuple[str, ...] = ()
    nearest: tuple[Requests, ...] = ()
    """Without the unused words: to be offered, never done."""
    join: JoinReading | None = None
    """A join whose key is still to be looked at; `requests` come after it."""
    kinds: frozenset[str] = frozenset()
    """Of the words that were understood."""
    cost: int = 0
    rank: int = 0

    @property
    def is_understood(self) -> bool:
        return bool(self.requests or self.choices or self.join)


def read(text: str, tables: Sequence[Table], ranks: Sequence[int] = ()) -> RequestReading:
    """The requests of a text; of tables that fit equally well, those of the lowest rank count."""
    if len(text) > MAX_LENGTH:
        return RequestReading(unused=("a text of this length",))
    names = [
        TableNames(table, rank)
        for table, rank in zip(tables, ranks or [0] * len(tables), strict=True)
    ]
    tokens = tokens_for(text, tables)
    if len(tokens) > MAX_TOKENS:
        return RequestReading(unused=("a text of this length",))
    if not tokens or not names:
        return RequestReading(unused=(text.strip()[:60],) if text.strip() else ())
    return _read(tokens, names)


def _read(tokens: Sequence[Token], names: Sequence[TableNames]) -> RequestReading:
    whole = _single(tokens, names)
    for at in reversed([*_seams(tokens)]):  # as much as can be is one request
        if whole.is_understood:
            break
        first = _single(tokens[:at], names)
        if first.is_understood and (both := _joined_up(first, tokens[at:], names)):
            return both
    return whole


def _after(
    first: RequestReading, tokens: Sequence[Token], names: Sequence[TableNames]
) -> RequestReading:
    """What follows is about what the first part made, or its table; else about any."""
    rest = [token for token in tokens if _word(token) not in ("and", "then", ";", "afterwards")]
    made = [output for each in first.requests if (output := output_table(each))]
    if first.join:
        made = [first.join.joined]
    about = [*made, *(each.table for each in first.requests)]
    if any(each.is_named(token.plain) for token in rest for each in names):
        found = _read(rest, names)
        if found.requests or found.choices:
            return found
    for table in dict.fromkeys(about):
        found = _read(rest, [TableNames(table)])
        if found.requests or found.choices:
            return found
    return _read(rest, names)


def _joined_up(
    first: RequestReading, tokens: Sequence[Token], names: Sequence[TableNames]
) -> RequestReading | None:
    """With what follows; where the first part is open, for each of the ways it may be meant."""
    if not first.choices:
        rest = _after(first, tokens, names)
        choices = tuple((*first.requests, *each) for each in rest.choices)
        requests = () if choices else (*first.requests, *rest.requests)
        cost = first.cost + rest.cost
        made = RequestReading(requests, choices, rest.question, join=first.join, cost=cost)
        return made if rest.requests or rest.choices else None
    ways = [
        (*each, *more)
        for each in first.choices
        for rest in [_after(RequestReading(each), tokens, names)]
        for more in (rest.requests, *rest.choices)
        if more
    ]
    return replace(first, choices=tuple(ways)) if ways else None


def _seams(tokens: Sequence[Token]) -> Iterator[int]:
    """Where another request may begin: behind `then` or `;`, or before a verb."""
    for at in range(1, len(tokens)):
        before, here = _word(tokens[at - 1]), _word(tokens[at])
        if before in ("then", ";"):
            yield at
        elif here == "then" or here in VERBS:
            yield at - (before == "and")
        elif before == "and" and any(_word(token) in ("join", "merge") for token in tokens[:at]):
            yield at


def _word(token: Token) -> str:
    return token.plain if token.kind in ("word", "sign") else ""


def _single(tokens: Sequence[Token], names: Sequence[TableNames]) -> RequestReading:
    """One request, of the table for which it costs least."""
    if join := joins_in(tokens, [known.table for known in names]):
        return RequestReading(join=join)
    tokens = [token for token in tokens if _word(token) not in ("then", ";")]
    if not tokens:
        return RequestReading(unused=("then",))
    named = [known for known in names if any(_names(token, known.table) for token in tokens)]
    if len(named) > 1:
        return RequestReading(unused=tuple(known.table.path for known in named[1:]))
    found = [_of_table(tokens, known, _foreign(tokens, known, names)) for known in named or names]
    if understood := [reading for reading in found if reading.is_understood]:
        least = min((reading.cost, reading.rank) for reading in understood)
        best = [reading for reading in understood if (reading.cost, reading.rank) == least]
        return best[0] if len(best) == 1 else _which_table(best)
    return _unread(found)


def _foreign(tokens: Sequence[Token], own: TableNames, every: Sequence[TableNames]) -> set[str]:
    """Words that name other tables."""
    others = [other for other in every if other is not own]
    words = {
        token.plain for token in tokens if token.kind == "word" and not own.is_named(token.plain)
    }
    return {word for word in words if any(other.is_named(word) for other in others)}


def _is_guess(tags: Sequence[Tag], foreign: set[str]) -> bool:
    """Whether the name of another table was taken for a value, or for a part of a name."""
    return any(tag.words.lower() in foreign and (tag.kind == "value" or tag.cost) for tag in tags)


def _names(token: Token, table: Table) -> bool:
    return token.kind == "code" and token.text in (table.path, table.path.rsplit("/", 1)[-1])


def _which_table(best: Sequence[RequestReading]) -> RequestReading:
    choices = [each for reading in best for each in (reading.requests, *reading.choices) if each]
    return RequestReading(
        choices=tuple(choices), question="Which table do you mean?", cost=best[0].cost
    )


def _unread(found: Sequence[RequestReading]) -> RequestReading:
    """Of the table for which fewest words are."""
    near = [reading for reading in found if reading.nearest] or list(found)
    fewest = min(len(reading.unused) for reading in near)
    best = [reading for reading in near if len(reading.unused) == fewest]
    nearest = [requests for reading in best for requests in reading.nearest]
    return replace(best[0], nearest=tuple(nearest[:_MAX_NEAREST]))


def _of_table(tokens: Sequence[Token], names: TableNames, foreign: set[str]) -> RequestReading:
    every = sequences(tokens, names)
    sure = [tags for tags in every if not _is_guess(tags, foreign)]
    extra = _FOREIGN * len(foreign)
    asks = tokens[0].plain in _ASKING
    found: dict[Requests, None] = {}
    asked: Unsaid | None = None
    cost = 0
    for tags in sure:
        if (found or asked) and cost_of(tags) > cost:
            break
        cost = cost_of(tags)
        for made in _requests(tags, names, asks=asks):
            if isinstance(made, Unsaid):
                asked = asked or made
            else:
                found[made] = None
    if len(found) == 1 and not asked:
        return RequestReading(next(iter(found)), cost=cost + extra, rank=names.rank)
    if found or asked:
        choices = (*found, *(asked.offered if asked else ()))
        question = str(asked) if asked else "What do you mean?"
        return RequestReading(
            choices=tuple(dict.fromkeys(choices)),
            question=question,
            cost=cost + extra,
            rank=names.rank,
        )
    return _without_some(every, names, asks=asks)


def _requests(tags: Sequence[Tag], names: TableNames, *, asks: bool) -> Iterator[Requests | Unsaid]:
    if any(tag.kind == "unknown" for tag in tags):
        return
    plain = replace(_phrase(tags, names), asks=asks)
    for recipe in RECIPES:
        if not recipe.takes_conditions:
            yield from recipe.requests(plain)
    for kept in (range(0), *_sides(plain.tags)):
        for selection in selections(plain.tags, names, kept):
            rest = _without_table(selection.rest, names)
            clause = replace(plain, tags=rest, filters=selection.filters, time=selection.time)
            yield from _fitting(clause, is_about_sides=bool(kept))


def _without_table(tags: tuple[Tag, ...], names: TableNames) -> Tags:
    """Without the name of the table at the end: `revenue by region in sales`."""
    if len(tags) > 1 and tags[-1].kind == "rows" and tags[-2].kind in _BEFORE_TABLE:
        tags = tags[:-1] if names.is_named(tags[-1].words.lower()) else tags
    return Tags(tags)


def _fitting(clause: Clause, *, is_about_sides: bool) -> Iterator[Requests | Unsaid]:
    recipes: list[Recipe] = [recipe for recipe in RECIPES if recipe.takes_conditions]
    for recipe in recipes:
        if recipe.keeps_sides == is_about_sides:
            yield from recipe.requests(clause)


def _sides(tags: Tags) -> Iterator[range]:
    """Where two values or spans are compared, or one with what was before it."""
    kinds = {tag.kind for tag in tags}
    for at in range(len(tags)):
        if kinds & {"compare", "vs"} and (pair := begins(_SIDES, tags, at)):
            end = pair.found.end()
            yield range(at, end + (end < len(tags) and tags[end].kind in ("text", "date")))
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


def _without_some(
    every: Sequence[Sequence[Tag]], names: TableNames, *, asks: bool
) -> RequestReading:
    """Which words no recipe takes, and what could be done instead of them or without them."""
    tags = min(every, key=lambda tags: (sum(tag.kind == "unknown" for tag in tags), cost_of(tags)))
    unknown = [tag for tag in tags if tag.kind == "unknown"]
    known = [tag for tag in tags if tag.kind != "unknown"]
    kinds = frozenset(tag.kind for tag in known)
    negations = [tag.words for tag in known if tag.kind == "not"]
    if negations and not unknown:
        return RequestReading(unused=tuple(negations), kinds=kinds)
    if (
        len(unknown) == 1
        and not negations
        and (nearest := _replaced(tags, unknown[0], names, asks=asks))
    ):
        return RequestReading(unused=(unknown[0].words,), nearest=tuple(nearest), kinds=kinds)
    droppable = [at for at, tag in enumerate(known) if tag.kind not in _WORDLESS]
    for count in range(3 if len(droppable) < _MANY_WORDS else 1):
        for dropped in combinations(droppable, count) if unknown or count else ():
            rest = [tag for at, tag in enumerate(known) if at not in dropped]
            unused = [tag.words for tag in (*unknown, *(known[at] for at in dropped))]
            if _NEGATIONS & {word.lower().replace("'", "") for word in unused}:
                continue  # without it, the opposite would be offered
            if nearest := _possible(rest, names, asks=asks):
                return RequestReading(unused=tuple(unused), nearest=tuple(nearest), kinds=kinds)
    rest = unknown or [tag for tag in known if tag.kind not in _WORDLESS]
    return RequestReading(unused=tuple(tag.words for tag in rest), kinds=kinds)


def _possible(tags: Sequence[Tag], names: TableNames, *, asks: bool) -> list[Requests]:
    found = [
        request
        for made in _requests(tags, names, asks=asks)
        for request in (made.offered if isinstance(made, Unsaid) else [made])
    ]
    return [each for each in dict.fromkeys(found) if not any(map(_is_odd, each))]


def _is_odd(request: Request) -> bool:
    """`number of different regions by region`"""
    return bool(set(request.groups) & set(request.columns))


def _replaced(
    tags: Sequence[Tag], unknown: Tag, names: TableNames, *, asks: bool
) -> list[Requests]:
    """With a column in the place of a word that means nothing here."""
    at = tags.index(unknown)
    found: list[Requests] = []
    if any(tag.kind == "number" for tag in tags[max(at - 1, 0) : at + 2]):
        return found  # `revenue growth` is not about two columns
    for name in names.nearest(unknown.words)[:_MAX_REPLACED]:
        column = column_tag(name, names, name)
        found += _possible([*tags[:at], column, *tags[at + 1 :]], names, asks=asks)
    return list(dict.fromkeys(found))


def is_question(text: str) -> bool:
    """Whether an answer is wanted rather than a plan."""
    words = [token.plain for token in tokens_in(text)[:MAX_TOKENS]]
    is_asked = text.rstrip().endswith("?") or bool(words and words[0] in _ASKING | {"who"})
    return is_asked and not _DOING & set(words)
