"""Recipes that write: cleaning, saving; and the model, which only reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import get_args

from ..request import CleaningAction, Fill, Request
from .clause import Clause, Unsaid
from .forms import Match, Tags, begins
from .names import measures
from .tags import Tag

_FILLS: dict[str, Fill] = {name: name for name in get_args(Fill)}


_MAX_WAYS = 8
_ACTIONS = (
    "<drop drop><duplicates duplicates>rows?((by|on)<columns COLUMNS>)?",
    "<drop drop><empty empty>",
    "<drop drop>rows?(with|where|not)?<missing missing>rows?<columns EITHER>?",
    "<drop drop>rows where<columns COLUMNS><missing missing>",
    "<drop drop>rows(not)<columns COLUMNS>",
    "<fill fill><gaps missing>?<columns COLUMNS>?((with|by|to)"
    "((<how how>|<fillwith fillwith>)(number|rows)?|<value num|quoted|value>))?",
    "<trim trim><columns COLUMNS>",
    "<unify unify><columns COLUMNS>",
)


def cleaned(clause: Clause, _match: Match) -> Iterator[tuple[Request, ...]]:
    if clause.asks:
        return
    rest = [tag for tag in clause.tags if tag.kind != "clean"]
    tags = Tags(rest[1:] if rest and rest[0].kind == "and" else rest)
    actions: list[list[CleaningAction]] = []
    question, at = "", 0
    while at < len(tags):
        if tags[at].kind == "and" and actions:
            at += 1
            after = tags[at].kind if at < len(tags) else ""
            if actions[-1][0].kind.startswith("drop") and after in ("rows", "duplicates"):
                tags = Tags([*tags[:at], Tag("drop"), *tags[at:]])  # said once for both
        found = next((m for form in _ACTIONS if (m := begins(form, tags, at))), None)
        if found is None:
            return
        try:
            if (action := _action(clause, found)) is None:
                return
            actions.append([action])
        except Unsaid as why:
            question = str(why)
            actions.append([each.actions[0] for (each,) in why.offered])
        at = found.found.end()
    ways = [(Request("clean", clause.names.table, actions=way),) for way in product(*actions)]
    if question and ways:
        raise Unsaid(question, ways[:_MAX_WAYS])
    yield from ways


def _action(clause: Clause, match: Match) -> CleaningAction | None:
    columns = tuple(dict.fromkeys(match.names("columns", "number", "date", "text")))
    if match.first("fill"):
        return _fill(clause, match, columns)
    if match.first("trim"):
        return CleaningAction("trim", columns)
    if match.first("unify"):
        return CleaningAction("unify", columns)
    if match.first("duplicates"):
        return CleaningAction("drop duplicates", columns)
    return CleaningAction("drop empty" if match.first("empty") else "drop missing", columns)


def _fill(clause: Clause, match: Match, columns: tuple[str, ...]) -> CleaningAction | None:
    how, known, value = match.first("how"), match.first("fillwith"), match.first("value")
    verb = match.first("fill")
    if verb and verb.words.lower() == "replace" and not match.first("gaps"):
        return None  # replaces values that are there
    numbers = clause.names.table.names_of("number")
    if not columns:
        return _fill_which(clause, match)
    are_numbers = all(column in numbers for column in columns)
    if value is not None:
        text = value.value or value.name
        if are_numbers and value.kind != "num":
            return None
        return CleaningAction("fill", columns, value=text)
    if how and how.name in ("mean", "median") and are_numbers:
        return CleaningAction("fill", columns, _FILLS[how.name])
    if known and (are_numbers or known.name != "zero"):
        return CleaningAction("fill", columns, _FILLS[known.name])
    if how or known:
        return None
    ways: list[Fill] = ["median", "mean", "zero"] if are_numbers else ["most frequent", "previous"]
    table = clause.names.table
    offered = [
        (Request("clean", table, actions=(CleaningAction("fill", columns, way),)),) for way in ways
    ]
    raise Unsaid("Fill them with what?", offered)


def _fill_which(clause: Clause, match: Match) -> CleaningAction | None:
    """Never all of them: what is missing in an id or a text is seldom its most frequent value."""
    offered = []
    for name in measures(clause.names.table)[:8]:
        try:
            action = _fill(clause, match, (name,))
        except Unsaid as why:
            offered += why.offered[:2]
            continue
        if action is None:
            return None
        offered.append((Request("clean", clause.names.table, actions=(action,)),))
    raise Unsaid("Fill the missing values of which column?", offered)


def model(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    target, features = match.first("target"), match.names("columns", "number", "text", "date")
    if target and target.name not in features and not clause.filters and not clause.charts:
        yield (Request("model", clause.names.table, (target.name, *features)),)


def exported(clause: Clause, match: Match) -> Iterator[tuple[Request, ...]]:
    path = match.names("path")[0]
    yield (clause.request(Request("export", clause.names.table, named_output=path)),)
