"""Warnings about what code did to data: from its syntax, the tables around it, and queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...domain.effects import DataWarning, TableState
from ...tools.kernel.state import KernelQuery
from .analysis_context import AnalysisContext, Rule, TableWarning, WatchedRun
from .charts import chart_warnings
from .copies import copy_warnings
from .filters import filter_warnings, group_warnings, mean_warnings
from .joins import join_warnings
from .leakage import fit_warnings, split_warnings, target_warnings
from .program import read
from .scores import score_warnings, tuning_warnings
from .seeds import seed_warnings
from .texts import date_warnings, number_warnings
from .types import type_warnings

RULES: tuple[Rule, ...] = (
    join_warnings, group_warnings, filter_warnings, mean_warnings, type_warnings, date_warnings,
    number_warnings, copy_warnings, fit_warnings, target_warnings, split_warnings, score_warnings,
    tuning_warnings, seed_warnings, chart_warnings,
)  # fmt: skip


def queries_for(
    code: str, tables: Mapping[str, TableState], earlier: Sequence[str] = ()
) -> list[KernelQuery]:
    """What to ask about tables around a run of this code, `tables` being the current ones.

    Ask before the run, and what had no answer then once more after it; those with
    `KernelQuery.after` only then, those with `KernelQuery.before` only before. `earlier` is what
    ran in that kernel, oldest first.
    """
    run = WatchedRun(code=code, earlier=earlier, before=tables, after=tables)
    program = read(code, earlier)
    if program is None:
        return []
    case = AnalysisContext(run, program)
    for rule in RULES:
        list(rule(case))
    return case.asked


def warnings_for(run: WatchedRun) -> list[tuple[str, DataWarning]]:
    """The warnings about a run, each with the name of the table it is about, or ""."""
    program = read(run.code, run.earlier)
    if program is None:
        return []
    case = AnalysisContext(run, program)
    found: dict[tuple[str, int | None, str], TableWarning] = {}
    for rule in RULES:
        for of, about in rule(case):
            found.setdefault((about.code, about.line, of), (of, about))
    return sorted(found.values(), key=lambda finding: finding[1].line or 0)
