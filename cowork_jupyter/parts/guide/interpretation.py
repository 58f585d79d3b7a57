"""From the user's words to requests. What they leave open is asked, never guessed."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...domain.guidance import notes_in
from ...llm import relevance
from . import texts
from .cleaning import cleaning_choices
from .code import features, is_drawable
from .file_names import is_table
from .heads import complete_values
from .join_keys import settle_key
from .reading import RequestReading, read, sentence
from .reading.filling import fill, fillable
from .request import Request, output_table, with_date_order
from .script import Script
from .sources import Candidate, candidates, described
from .tables import Table

_NONE = "none"
_ONE_FILE = re.compile(r"[^/~*?\[][^*?\[]*")  # within the workspace
_MAX_OFFERED = 8
_MAX_QUESTIONS = 4
_MAX_COMPLETED = 3
_RANKS = ("named", "kernel", "notebook", "folder")
Requests = tuple[Request, ...]


@dataclass(frozen=True)
class Interpretation:
    requests: Requests
    notes: tuple[str, ...] = ()
    """What was assumed, as sentences that the user can correct."""


def interpret(script: Script, text: str) -> Interpretation:
    found = candidates(script, text)
    reading = _read(script, text, found)
    said_before: list[str] = []
    for _question in range(_MAX_QUESTIONS):
        if reading.choices:
            reading = _ask_which(script, text, reading, found, said_before)
        elif not reading.requests and not reading.join:
            reading = _ask_instead(script, reading, found)
    requests = [_settled(script, request) for request in _joined(script, reading)]
    if named := _named_output(script, requests):
        requests = [_written_as(named, request, requests) for request in requests]
    return Interpretation(tuple(requests), (*said_before, *_notes(requests, found)))


def _read(script: Script, text: str, found: Sequence[Candidate]) -> RequestReading:
    tables = [each.table for each in found]
    ranks = [_RANKS.index(each.origin) for each in found]
    reading = read(text, tables, ranks)
    wanted = _incomplete(reading, tables)
    if not wanted:
        return reading
    known = {table.path: complete_values(script, table) for table in wanted}
    return read(text, [known.get(table.path, table) for table in tables], ranks)


def _incomplete(reading: RequestReading, tables: Sequence[Table]) -> list[Table]:
    """Tables of which a value or a date below the lines that were read may be meant."""
    about = [request for each in (reading.requests, *reading.choices) for request in each]
    timed = [
        request.table for request in about if request.filters or request.period or request.between
    ]
    if not about and not reading.join:
        near = [request.table for each in reading.nearest for request in each]
        timed = near or list(tables)
    paths = {table.path: table for table in timed if not table.is_whole}
    return [table for table in paths.values() if table in tables][:_MAX_COMPLETED]


def _ask_which(
    script: Script,
    text: str,
    reading: RequestReading,
    found: Sequence[Candidate],
    said_before: list[str],
) -> RequestReading:
    offered = {_key(each): each for each in reading.choices[:_MAX_OFFERED]}
    labels = {key: key for key in offered}
    by_table = {each[0].table.path: each for each in offered.values()}
    if len(by_table) == len(offered):
        about = {each.table.path: described(each) for each in found}
        labels = {path: f"{about.get(path, path)}: {_key(by_table[path])}" for path in by_table}
        offered = by_table
    if chosen := _remembered(script, text, list(offered)):
        said_before.append(f"You mean `{chosen}`, as you said before.")
    else:
        labels[_NONE] = "None of these"
        chosen = script.ask(reading.question, "", labels, _NONE)
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
    script: Script, reading: RequestReading, found: Sequence[Candidate]
) -> RequestReading:
    """Name the words that were not used, and offer what could be done instead."""
    nearest = {_key(each): each for each in reading.nearest[:4]}
    recipes = {f"recipe {recipe.name}": recipe for recipe in fillable(reading.kinds)}
    if not nearest and not recipes:
        script.refuse(texts.not_used(reading.unused), texts.what_i_can_do())
    labels = {key: key for key in nearest}
    labels |= {key: f"{recipe.title} …" for key, recipe in recipes.items()}
    labels[_NONE] = "Nothing of this"
    question = f"I cannot use {texts.listed(reading.unused)}. What should I do instead?"
    answer = script.ask(question, texts.ONLY_WHOLE, labels, _NONE, reading.unused)
    if answer in nearest:
        return RequestReading(nearest[answer])
    if answer not in recipes:
        script.refuse(texts.not_used(reading.unused), texts.what_i_can_do())
    return fill(script, recipes[answer], found)


def _key(requests: Requests) -> str:
    return "; ".join(map(sentence, requests))


def _joined(script: Script, reading: RequestReading) -> Requests:
    """What follows a join is about what it writes."""
    if reading.join is None:
        return reading.requests
    # An approved step says what is wanted; whether it holds is checked when it runs.
    join = reading.join if script.run.is_step else settle_key(script, reading.join)
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
        return replace(request, actions=cleaning_choices(script, request.table))
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
    tables = [table for request in requests for table in (request.table, request.other) if table]
    read_paths = {table.path for table in tables}
    paths = {path for path in script.run.files if _ONE_FILE.fullmatch(path)}
    named = [path for path in paths - read_paths if is_table(path)]
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


def _notes(requests: Sequence[Request], found: Sequence[Candidate]) -> list[str]:
    origins = {each.table.path: each.origin for each in found}
    others = len({each.origin for each in found}) > 1 or len(found) > 1
    notes = []
    for request in requests:
        name = f"`{posixpath.basename(request.table.path)}`"
        if origins.get(request.table.path) == "kernel" and others:
            notes.append(f"You mean the table {name} of the kernel.")
        elif origins.get(request.table.path) == "notebook" and others:
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
