"""`Clean this table`, without saying how: what can be cleaned is offered, nothing is chosen."""

from __future__ import annotations

from .heads import complete_values
from .request import CleaningAction
from .script import Script
from .tables import Table

_ALL, _NONE = "all", "none"
_MAX_NAMED = 4


def cleaning_choices(script: Script, table: Table) -> tuple[CleaningAction, ...]:
    columns = complete_values(script, table).columns
    padded = tuple(column.name for column in columns if column.padded)
    spelled = tuple(column.name for column in columns if column.untidy)
    offered = {
        CleaningAction("drop duplicates"): "Remove duplicate rows",
        CleaningAction("drop empty"): "Remove empty rows and columns",
    }
    if padded:
        offered[CleaningAction("trim", padded)] = f"Trim spaces in {_named(padded)}"
    if spelled:
        offered[CleaningAction("unify", spelled)] = f"Unify the spelling of {_named(spelled)}"
    answer = script.ask(
        f"What should I clean in `{table.path}`?",
        "Missing values stay as they are: name a column and what to fill it with.",
        {
            _ALL: "All of this",
            **{action.kind: label for action, label in offered.items()},
            _NONE: "Nothing",
        },
    )
    if answer == _NONE:
        script.refuse("Nothing was cleaned.")
    return tuple(action for action in offered if answer in (action.kind, _ALL))


def _named(columns: tuple[str, ...]) -> str:
    more = " and more" if len(columns) > _MAX_NAMED else ""
    return ", ".join(f"`{name}`" for name in columns[:_MAX_NAMED]) + more
