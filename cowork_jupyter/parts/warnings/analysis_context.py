"""What rules get, and what they give."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...domain.effects import DataWarning, TableState
from ...domain.plurals import count_of
from ...effects.data_linter import Answer, TableWarning, WatchedRun
from ...tools.kernel.state import KernelQuery
from .program import DataFlow
from .rows import Locator, Rows, at_one_time
from .values import Value


@dataclass
class AnalysisContext:
    """A run of code and all that is known about it.

    Rules ask for what they want to know. The first time, before the code runs, nothing is known,
    and what they ask is what gets looked at; the second time they get the answers.
    """

    run: WatchedRun
    program: DataFlow
    asked: list[KernelQuery] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.locator = Locator(self.program)

    def ask(self, kind: str, *arguments: str, about: Sequence[Rows] = ()) -> Answer | None:
        after = any(rows.after for rows in about)
        before = not after and not all(rows.lasting for rows in about)
        query = KernelQuery(kind, arguments, after, before)
        if query not in self.asked:
            self.asked.append(query)
        return self.run.answers.get(query)

    def ask_rows(self, kind: str, rows: Rows | None, *arguments: object) -> Answer | None:
        """Other arguments than strings are encoded as JSON."""
        if rows is None:
            return None
        texts = [each if isinstance(each, str) else json.dumps(each) for each in arguments]
        return self.ask(kind, rows.text, *texts, about=[rows])

    def ask_all(self, kind: str, *all_rows: Rows | None, more: Sequence[str] = ()) -> Answer | None:
        found = at_one_time(*all_rows)
        if found is None:
            return None
        return self.ask(kind, *(rows.text for rows in found), *more, about=found)

    def rows(self, value: Value | None) -> Rows | None:
        return self.locator.rows(value)

    def state(self, value: Value | None) -> TableState | None:
        rows = self.rows(value)
        if rows is None or rows.steps:
            return None
        first, second = self.run.before.get(rows.table), self.run.after.get(rows.table)
        return second if rows.after else first or second

    def calls(self) -> Iterator[Value]:
        return iter(self.program.current(self.program.calls))

    def rows_text(self, value: Value) -> str:
        """` (1,204)`, or empty if the number of rows is unknown."""
        state = self.state(value)
        return f" ({state.rows:,})" if state else ""

    def values(self) -> Iterator[Value]:
        program = self.program
        waiting = [assignment.value for assignment in program.assignments]
        waiting += [*program.calls, *program.stores, *program.discarded, *program.decisions]
        waiting += [program.last] if program.last is not None else []
        seen: set[int] = set()
        while waiting:
            value = waiting.pop(0)
            if value.line is not None and id(value) not in seen:
                seen.add(id(value))
                yield value
                waiting.extend(value.parts())

    def of(self, value: Value | None) -> str:
        rows = self.rows(value)
        return rows.table if rows else ""


Rule = Callable[[AnalysisContext], Iterator[TableWarning]]


def warning(
    of: str,
    code: str,
    message: str,
    line: int | None,
    advice: str,
    evidence: Mapping[str, object] | None = None,
) -> TableWarning:
    facts = {"code": code, "message": message, "line": line, "advice": advice}
    return of, DataWarning.model_validate({**facts, "evidence": dict(evidence or {})})


def number(answer: Answer | None, name: str) -> int:
    value = answer.get(name) if answer else None
    return int(value) if isinstance(value, int | float) else 0


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


def part_text(part: int, whole: int, singular: str) -> str:
    """`214 rows of 12,431 (1.7 %)`."""
    return f"{count_of(part, singular)} of {whole:,} ({share(part, whole)})"
