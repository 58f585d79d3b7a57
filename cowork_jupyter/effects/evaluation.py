"""Measures expectations in the kernel or in files, and checks them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..domain.errors import CoworkError
from ..domain.expectation_rules import FILE, is_about_files, tables_of
from ..domain.expectations import Expectation
from ..domain.measured import Measured, unchecked
from ..domain.roles import AgentRole
from ..tools.base import Clearance, ToolContext
from ..tools.kernel.state import Kernels
from ..workspace import Workspace
from ..workspace.sandbox.sandbox import Sandbox
from .checking import CheckedExpectation, check
from .file_checks import measure_file


@dataclass(frozen=True)
class ExpectationChecks:
    kernels: Kernels
    workspace: Workspace
    sandbox: Sandbox | None = None

    async def check(
        self,
        notebook: str | None,
        expectations: Sequence[Expectation],
        must_exist: Collection[str] = (),
    ) -> list[CheckedExpectation]:
        """Check each in order. The tables of those in `must_exist` (ids) have to exist by now."""
        variables = [expectation for expectation in expectations if not is_about_files(expectation)]
        return await self.judged(
            expectations, await self._measured(notebook, variables), must_exist
        )

    async def judged(
        self,
        expectations: Sequence[Expectation],
        measured: Sequence[Measured],
        must_exist: Collection[str] = (),
    ) -> list[CheckedExpectation]:
        """Like `check`, where the kernel has already measured its variables, in order."""
        kernel_facts = iter(measured)
        facts = [
            await self._measured_file(expectation)
            if is_about_files(expectation)
            else next(kernel_facts, unchecked("not all cells ran"))
            for expectation in expectations
        ]
        return [
            check(expectation, known, must_exist=expectation.id in must_exist)
            for expectation, known in zip(expectations, facts, strict=True)
        ]

    async def _measured(
        self, notebook: str | None, expectations: Sequence[Expectation]
    ) -> list[Measured]:
        path = notebook or self.kernels.home
        if not expectations:
            return []
        try:
            if not path:
                return [unchecked("there is no kernel")] * len(expectations)
            return await self.kernels.measure(self.workspace, path, expectations)
        except CoworkError as error:
            why = "no kernel is running" if error.code == "no_kernel" else error.message
            return [unchecked(why.rstrip("."))] * len(expectations)

    async def _measured_file(self, expectation: Expectation) -> Measured:
        if not all(table.startswith(FILE) for table in tables_of(expectation)):
            return unchecked("a file can only be matched in another file")
        # Nobody decides about this look, so it has the least rights, and sees no secrets.
        guarded = Clearance().guard(self.workspace)
        context = ToolContext(guarded, AgentRole.PLANNER, sandbox=self.sandbox)
        return await measure_file(expectation, context)
