"""What the tools of all runs share."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ...checkpoints import Recorder, ToolUse
from ...domain.operations import Observe, ignore_operation
from ...domain.roles import AgentRole
from ...effects.data_linter import NO_LINTER, DataLinter
from ...effects.evaluation import ExpectationChecks, MeasureFile, measure_text_file
from ...effects.memory import KernelMemory
from ...effects.pinned import PinnedExpectations
from ...effects.silenced import NO_SETTINGS, SilencedWarnings
from ...tools.base import CallAuthorization, ToolContext, ToolResult
from ...tools.kernel.scratch_kernel import ScratchKernels
from ...tools.kernel.state import Kernels, NoKernels
from ...tools.registry import ToolRegistry, validate_parameters
from ...workspace import Workspace
from ...workspace.sandbox.sandbox import Sandbox
from ..ask.gate import Gate
from ..ask.user import User
from ..log import RunLog


@dataclass
class ToolEnvironment:
    registry: ToolRegistry
    workspace: Workspace
    gate: Gate
    user: User
    sandbox: Sandbox | None = None
    """Confines commands; without one they are unconfined."""
    recorder: Recorder | None = None
    """Takes checkpoints; without one nothing can be rolled back."""
    kernels: Kernels = field(default_factory=NoKernels)
    scratch: ScratchKernels | None = None
    """Run code that can change nothing."""
    memory: KernelMemory = field(default_factory=KernelMemory)
    silenced: SilencedWarnings = NO_SETTINGS
    linter: DataLinter = NO_LINTER
    measure_file: MeasureFile | None = None
    """Better than by reading a file as text, where a part can."""
    observe: Observe = ignore_operation

    @cached_property
    def pinned(self) -> PinnedExpectations:
        return PinnedExpectations(self.gate.notebooks, self.workspace)

    @property
    def expectation_checks(self) -> ExpectationChecks:
        return ExpectationChecks(
            self.kernels, self.workspace, self.sandbox, self.measure_file or measure_text_file
        )

    def clear_unasked(
        self, log: RunLog, tool: str, parameters: Mapping[str, Any]
    ) -> CallAuthorization | None:
        """Of a call that exists and that nobody has to be asked about, else None."""
        registered = self.registry.get(tool)
        return self.gate.clear_unasked(registered, parameters, log) if registered else None

    def unasked_workspace(self, log: RunLog, tool: str, **parameters: Any) -> Workspace | None:
        """The workspace as such a call would see it, or None."""
        clearance = self.clear_unasked(log, tool, parameters)
        return clearance.guard(self.workspace) if clearance else None

    async def call_unasked(
        self, log: RunLog, tool: str, parameters: dict[str, Any], notebook: str | None = None
    ) -> ToolResult | None:
        """Run such a call; None if there is no clearance."""
        clearance = self.clear_unasked(log, tool, parameters)
        if clearance is None:
            return None
        context = ToolContext(
            workspace=clearance.guard(self.workspace),
            role=log.role,
            mask=log.mask,
            clearance=clearance,
            sandbox=self.sandbox,
            notebooks=self.gate.notebooks,
            kernels=self.kernels,
            notebook=notebook,
        )
        registered = self.registry[tool]
        return await registered.run(validate_parameters(registered, parameters), context)

    def recorded_job(self, job_id: str, role: AgentRole) -> AbstractAsyncContextManager[None]:
        """Checkpoints before a job, or a part of it, and of all that it changed by its end."""
        if self.recorder is None:
            return nullcontext()
        return self.recorder.during(job_id, role.spec.permissions)

    def recorded_use(self, use: ToolUse) -> AbstractAsyncContextManager[None]:
        return nullcontext() if self.recorder is None else self.recorder.around(use)
