"""A recipe as a form: its places are filled by questions with the columns of a table."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..script import Script
from ..sources import Candidate, described
from ..tables import Table
from .clause import Recipe
from .names import measures
from .reader import RequestReading, read
from .recipes import RECIPES
from .tokens import code_span, word_set

_PLACE = re.compile(r"\{(\w+)\}")
_MAX_RECIPES = 3
_OF_TABLES = word_set("number text date file rows value span")
_MAX_COLUMNS = 10
_ASKED = {"measure": "Which number?", "group": "By which column?"}


def fillable(kinds: Collection[str]) -> list[Recipe]:
    """Recipes of which a word was said, else the most usual ones; none if no table is meant."""
    if not _OF_TABLES & set(kinds):
        return []
    scored = [(len(recipe.kinds & set(kinds)), recipe) for recipe in RECIPES if recipe.is_form]
    best = sorted(scored, key=lambda pair: -pair[0])
    near = [recipe for score, recipe in best if score]
    return (near or [recipe for _score, recipe in scored])[:_MAX_RECIPES]


def fill(script: Script, recipe: Recipe, found: Sequence[Candidate]) -> RequestReading:
    found = [each for each in found if _has_columns(recipe, each.table)]
    if not found:
        script.refuse(f"No table has columns for this: {recipe.title.lower()}.")
    table = found[0].table
    if len(found) > 1:
        labels = {each.table.path: described(each) for each in found[:_MAX_COLUMNS]}
        path = script.ask("Which table?", recipe.said, labels)
        table = next((each.table for each in found if each.table.path == path), table)
    taken: list[str] = []

    def filled(place: re.Match[str]) -> str:
        if place[1] == "table":
            return code_span(table.path)
        taken.append(_column(script, recipe, table, place[1], taken))
        return code_span(taken[-1])

    text = _PLACE.sub(filled, recipe.example)
    return read(
        text if "{table}" in recipe.example else f"{text} in {code_span(table.path)}", [table]
    )


def _has_columns(recipe: Recipe, table: Table) -> bool:
    wanted = _PLACE.findall(recipe.example)
    numbers, groups = measures(table), _groups(table)
    return wanted.count("measure") <= len(numbers) and wanted.count("group") <= len(groups)


def _column(script: Script, recipe: Recipe, table: Table, place: str, taken: list[str]) -> str:
    names = measures(table) if place == "measure" else _groups(table)
    names = [name for name in names if name not in taken][:_MAX_COLUMNS]
    if len(names) == 1:
        return names[0]
    question = _ASKED[place] if not taken else f"And {_ASKED[place].lower()}"
    return script.ask(question, recipe.said, {name: name for name in names})


def _groups(table: Table) -> list[str]:
    few = [column.name for column in table.categories]
    return few or [column.name for column in table.columns if column.kind == "text"]
