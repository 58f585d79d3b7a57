"""From the user's words to requests. What they leave open is asked, never guessed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...domain.guidance import notes_in
from ...llm import relevance
from . import in_scratch, texts
from .code import features, is_drawable
from .file_names import is_table
from .heads import complete_values, facts_of
from .reading import RequestReading, read, sentence
from .reading.forms import Recipe, Requests
from .reading.reader import JoinReading
from .reading.recipes import RECIPES
from .reading.tags import measures
from .reading.tokens import code_span, listed_names, word_set
from .request import CleaningAction, Request, output_table, with_date_order
from .script import Script
from .sources import Candidate, candidates, described
from .tables import Table

_NONE, _ALL = "none", "all"
_ONE_FILE = re.compile(r"[^/~*?\[][^*?\[]*")  # within the workspace
_MAX_OFFERED = 8
_MAX_QUESTIONS = 4
_MAX_COMPLETED = 3
_RANKS = ("named", "kernel", "notebook", "folder")
_ENOUGH = 0.5  # the share of rows that find a match, below which a key is doubted


@dataclass(frozen=True)
class Interpretation:
    requests: Requests
    notes: tuple[str, ...] = ()
    """What was assumed, as sentences that the user can correct."""


def interpret(script: Script, text: str) -> Interpretation:
    sources = candidates(script, text)
    reading = _read(script, text, sources)
    notes: list[str] = []
    for _question in range(_MAX_QUESTIONS):
        if reading.choices:
            reading = _ask_which(script, text, reading, sources, notes)
        elif not reading.requests and not reading.join:
            reading = _ask_instead(script, reading, sources)
    requests = [_settled(script, request) for request in _joined(script, reading)]
    if output := _named_output(script, requests):
        requests = [_written_as(output, request, requests) for request in requests]
    return Interpretation(tuple(requests), (*notes, *_notes(requests, sources)))


def _read(script: Script, text: str, sources: Sequence[Candidate]) -> RequestReading:
    tables = [each.table for each in sources]
    ranks = [_RANKS.index(each.origin) for each in sources]
    reading = read(text, tables, ranks)
    incomplete = _incomplete(reading, tables)
    if not incomplete:
        return reading
    complete = {table.path: complete_values(script, table) for table in incomplete}
    return read(text, [complete.get(table.path, table) for table in tables], ranks)


def _incomplete(reading: RequestReading, tables: Sequence[Table]) -> list[Table]:
    """Tables of which a value or a date below the lines that were read may be meant."""
    about = [request for each in (reading.requests, *reading.choices) for request in each]
    timed = [each.table for each in about if each.filters or each.period or each.between]
    if not about and not reading.join:
        timed = [request.table for each in reading.nearest for request in each] or list(tables)
    paths = {table.path: table for table in timed if not table.is_whole}
    return [table for table in paths.values() if table in tables][:_MAX_COMPLETED]


def _ask_which(
    script: Script,
    text: str,
    reading: RequestReading,
    sources: Sequence[Candidate],
    notes: list[str],
) -> RequestReading:
    offered = {_key(each): each for each in reading.choices[:_MAX_OFFERED]}
    labels = {key: key for key in offered}
    by_table = {each[0].table.path: each for each in offered.values()}
    if len(by_table) == len(offered):
        about = {each.table.path: described(each) for each in sources}
        labels = {path: f"{about.get(path, path)}: {_key(by_table[path])}" for path in by_table}
        offered = by_table
    if chosen := _remembered(script, text, list(offered)):
        notes.append(f"You mean `{chosen}`, as you said before.")
    else:
        chosen = script.ask(reading.question, "", labels | {_NONE: "None of these"}, _NONE)
    if chosen not in offered:
        script.refuse("Nothing was done.")
    return replace(reading, requests=offered[chosen], choices=())


def _remembered(script: Script, text: str, offered: Sequence[str]) -> str:
    """The option that the user chose for a similar request; empty if there is none."""
    for note in notes_in(script.conversation.memory):
        named = [option for option in offered if f"`{option}`" in note.says]
        ours, theirs = relevance.words(text) - {"for"}, relevance.words(note.about)
        alike = len(ours & theirs) / max(1, len(ours | theirs))
        if note.section == "Answers" and len(named) == 1 and alike >= 1 / 2:
            return named[0]
    return ""


def _ask_instead(
    script: Script, reading: RequestReading, sources: Sequence[Candidate]
) -> RequestReading:
    """Name the words that were not used, and offer what could be done instead."""
    nearest = {_key(each): each for each in reading.nearest[:4]}
    recipes = {f"recipe {recipe.name}": recipe for recipe in _fillable(reading.kinds)}
    answer = _NONE
    if nearest or recipes:
        labels = {key: key for key in nearest}
        labels |= {key: f"{recipe.title} …" for key, recipe in recipes.items()}
        labels[_NONE] = "Nothing of this"
        question = f"I cannot use {texts.listed(reading.unused)}. What should I do instead?"
        answer = script.ask(question, texts.ONLY_WHOLE, labels, _NONE, reading.unused)
    if answer in nearest:
        return RequestReading(nearest[answer])
    if answer not in recipes:
        script.refuse(texts.not_used(reading.unused), texts.what_i_can_do())
    return _fill(script, recipes[answer], sources)


def _key(requests: Requests) -> str:
    return "; ".join(map(sentence, requests))


def _joined(script: Script, reading: RequestReading) -> Requests:
    """What follows a join is about what it writes."""
    if reading.join is None:
        return reading.requests
    # An approved step says what is wanted; whether it holds is checked when it runs.
    join = reading.join if script.run.is_step else _settle_key(script, reading.join)
    made, before = output_table(join.request), reading.join.joined
    rest = (
        replace(request, table=made) if made and request.table == before else request
        for request in reading.requests
    )
    return (join.request, *rest)


def _settled(script: Script, request: Request) -> Request:
    if request.verb == "model" and not features(request):
        script.refuse(f"`{request.table.path}` has no other column to predict from but ids.")
    if request.chart and not is_drawable(request):
        script.refuse(
            "I cannot draw this: I draw one group or period, or two of them as lines or bars."
        )
    if request.verb == "clean" and not request.actions:
        return replace(request, actions=_cleaning_choices(script, request.table))
    column = request.table.column(request.time)
    if column is None or not column.swapped or request.date_order:
        return request
    answer = script.ask(
        f"Which comes first in the dates of {column.name}: the day or the month?",
        f"`{request.table.path}` can be read in both ways.",
        {"day": "The day", "month": "The month"},
    )
    return with_date_order(request, "month" if answer == "month" else "day")


def _named_output(script: Script, requests: Sequence[Request]) -> str:
    """The file that the approved step names for what it writes: of its files, that is the one
    table which it does not read. Empty if it names none or several.
    """
    tables = [table for request in requests for table in request.tables]
    paths = {path for path in script.run.files if _ONE_FILE.fullmatch(path)}
    named = [path for path in paths - {table.path for table in tables} if is_table(path)]
    if len(named) != 1 or sum(bool(request.output_file) for request in requests) != 1:
        return ""
    if not named[0].lower().endswith(".csv") and requests[0].verb != "export":
        script.fail(f"I cannot write `{named[0]}`: I only write CSV files. Name one in the plan.")
    return named[0]


def _written_as(named: str, request: Request, requests: Sequence[Request]) -> Request:
    """It writes this file, or reads it from another that does."""
    usual = next(each.output_file for each in requests if each.output_file)
    if request.table.path == usual:
        request = replace(request, table=replace(request.table, path=named))
    return replace(request, named_output=named) if request.output_file else request


def _notes(requests: Sequence[Request], sources: Sequence[Candidate]) -> list[str]:
    origins = {each.table.path: each.origin for each in sources}
    notes = []
    for request in requests:
        name = f"`{posixpath.basename(request.table.path)}`"
        origin = origins.get(request.table.path) if len(sources) > 1 else None
        if origin == "kernel":
            notes.append(f"You mean the table {name} of the kernel.")
        elif origin == "notebook":
            notes.append(f"You mean {name}, which the notebook reads.")
        names = {*request.groups, *(row_filter.column for row_filter in request.filters)}
        for column in request.table.columns:
            if column.name in names and column.untidy:
                some = " and ".join(f"“{value}”" for value in column.same(column.untidy[0]))
                notes.append(
                    f"Values of `{column.name}` that differ only in case or spaces count as one, "
                    f"such as {some}."
                )
    return list(dict.fromkeys(notes))


def _cleaning_choices(script: Script, table: Table) -> tuple[CleaningAction, ...]:
    """`Clean this table`, without saying how: what can be cleaned is offered, nothing is chosen."""
    columns = complete_values(script, table).columns
    offered = {
        CleaningAction("drop duplicates"): "Remove duplicate rows",
        CleaningAction("drop empty"): "Remove empty rows and columns",
    }
    if padded := tuple(column.name for column in columns if column.padded):
        offered[CleaningAction("trim", padded)] = f"Trim spaces in {listed_names(padded)}"
    if untidy := tuple(column.name for column in columns if column.untidy):
        offered[CleaningAction("unify", untidy)] = f"Unify the spelling of {listed_names(untidy)}"
    kinds: dict[str, str] = {action.kind: label for action, label in offered.items()}
    answer = script.ask(
        f"What should I clean in `{table.path}`?",
        "Missing values stay as they are: name a column and what to fill it with.",
        {_ALL: "All of this", **kinds, _NONE: "Nothing"},
    )
    if answer == _NONE:
        script.refuse("Nothing was cleaned.")
    return tuple(action for action in offered if answer in (action.kind, _ALL))


def _settle_key(script: Script, join: JoinReading) -> JoinReading:
    """With a key, by names and by values; of one that is named, only what does not fit is asked."""
    first, second, pairs = join.table, join.other, join.pairs
    if not pairs:
        script.refuse(
            f"`{first.path}` and `{second.path}` have no column in common by name. Name one of "
            f"each: “join {first.path} with {second.path} on {first.names[0]} = "
            f"{second.names[0]}”."
        )
    call = f"show_keys({{}}, {{}}, {list(pairs)!r})"
    key_facts = facts_of(script, [first, second], in_scratch.show_keys, call)
    is_good = all(fact["found"] >= _ENOUGH and not fact["repeated"] for fact in key_facts)
    if len(pairs) == 1 and (is_good or join.keeps_matches):
        return join.on(pairs[0])
    question = f"Which column joins `{first.path}` with `{second.path}`?"
    if len(pairs) == 1:
        question = f"Join `{first.path}` with `{second.path}` nevertheless?"
    why = "A join should find one row of the second table for most rows of the first."
    keys = {" = ".join(pair): pair for pair in pairs}
    facts = dict(zip(keys, key_facts, strict=False))
    labels = {key: _key_label(pair, facts.get(key)) for key, pair in keys.items()}
    answer = script.ask(question, why, {**labels, _NONE: "Do not join them"})
    if answer not in keys:
        script.refuse("Nothing was joined.")
    return join.on(keys[answer], keeps_matches=bool(facts and facts[answer]["repeated"]))


def _key_label(pair: tuple[str, str], fact: dict[str, Any] | None) -> str:
    name = " = ".join(dict.fromkeys(f"`{name}`" for name in pair))
    if not fact:
        return name
    matched = f"{name}: {fact['found']:.0%} of {fact['rows']:,} rows find a match"
    if not fact["repeated"]:
        return f"{matched}, none more than one"
    return f"{matched}, but some several: {fact['joined']:,} rows come of it"


_PLACE = re.compile(r"\{(\w+)\}")
_MAX_RECIPES = 3
_OF_TABLES = word_set("number text date file rows value span")
_MAX_COLUMNS = 10
_ASKED = {"measure": "Which number?", "group": "By which column?"}


def _fillable(kinds: Collection[str]) -> list[Recipe]:
    """Recipes of which a word was used, else the most usual ones; none if no table is meant."""
    if not _OF_TABLES & set(kinds):
        return []
    recipes = [recipe for recipe in RECIPES if "{period}" not in recipe.example]
    shared = {recipe.name: len(recipe.kinds & set(kinds)) for recipe in recipes}
    best = sorted(recipes, key=lambda recipe: -shared[recipe.name])
    return ([recipe for recipe in best if shared[recipe.name]] or recipes)[:_MAX_RECIPES]


def _fill(script: Script, recipe: Recipe, sources: Sequence[Candidate]) -> RequestReading:
    """A recipe as a form: its places are filled by questions with the columns of a table."""
    places = _PLACE.findall(recipe.example)
    sources = [each for each in sources if _has_columns(each.table, places)]
    if not sources:
        script.refuse(f"No table has columns for this: {recipe.title.lower()}.")
    table = sources[0].table
    if len(sources) > 1:
        labels = {each.table.path: described(each) for each in sources[:_MAX_COLUMNS]}
        path = script.ask("Which table?", recipe.description, labels)
        table = next((each.table for each in sources if each.table.path == path), table)
    taken: list[str] = []

    def filled(place: re.Match[str]) -> str:
        if place[1] == "table":
            return code_span(table.path)
        names = [name for name in _columns(table, place[1]) if name not in taken][:_MAX_COLUMNS]
        question = _ASKED[place[1]] if not taken else f"And {_ASKED[place[1]].lower()}"
        options = {name: name for name in names}
        taken.append(script.ask(question, recipe.description, options) if names[1:] else names[0])
        return code_span(taken[-1])

    text = _PLACE.sub(filled, recipe.example)
    where = "" if "table" in places else f" in {code_span(table.path)}"
    return read(f"{text}{where}", [table])


def _has_columns(table: Table, places: Sequence[str]) -> bool:
    return all(places.count(place) <= len(_columns(table, place)) for place in places)


def _columns(table: Table, place: str) -> list[str]:
    """Those that can stand in a place of a recipe."""
    if place == "group":
        few = [column.name for column in table.categories]
        return few or [column.name for column in table.columns if column.kind == "text"]
    return measures(table) if place == "measure" else [table.path]
