"""Runs all rules over a piece of code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...domain.effects import TableState
from ...effects.data_linter import TableWarning, WatchedRun
from ...tools.kernel.state import KernelQuery
from .analysis_context import AnalysisContext, Rule
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


class RuleLinter:
    def queries(
        self, code: str, tables: Mapping[str, TableState], earlier: Sequence[str] = ()
    ) -> list[KernelQuery]:
        run = WatchedRun(code=code, earlier=earlier, before=tables, after=tables)
        program = read(code, earlier)
        if program is None:
            return []
        case = AnalysisContext(run, program)
        for rule in RULES:
            list(rule(case))
        return case.asked

    def warnings(self, run: WatchedRun) -> list[TableWarning]:
        """At most one of a kind for a line and a table, in order of lines."""
        program = read(run.code, run.earlier)
        if program is None:
            return []
        case = AnalysisContext(run, program)
        found: dict[tuple[str, int | None, str], TableWarning] = {}
        for rule in RULES:
            for of, about in rule(case):
                found.setdefault((about.code, about.line, of), (of, about))
        return sorted(found.values(), key=lambda finding: finding[1].line or 0)
