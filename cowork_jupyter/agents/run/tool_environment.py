"""What the tools of all runs share."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property

from ...checkpoints import Recorder, ToolUse
from ...domain.operations import Observe, ignore_operation
from ...domain.roles import AgentRole
from ...effects.evaluation import ExpectationChecks
from ...effects.memory import KernelMemory
from ...effects.pinned import PinnedExpectations
from ...effects.silenced import NO_SETTINGS, SilencedWarnings
from ...tools.kernel.scratch_kernel import ScratchKernels
from ...tools.kernel.state import Kernels, NoKernels
from ...tools.registry import ToolRegistry
from ...workspace import Workspace
from ...workspace.sandbox.sandbox import Sandbox
from ..ask.gate import Gate
from ..ask.user import User


@dataclass
class ToolEnvironment:
    """Which tools there are, who decides about their calls, and what these reach."""

    registry: ToolRegistry
    workspace: Workspace
    gate: Gate
    """Decides about each call before it runs."""
    user: User
    """Whom a run, or a tool in the middle of a call, may ask."""
    sandbox: Sandbox | None = None
    """What confines commands; without one they are not."""
    recorder: Recorder | None = None
    """Takes checkpoints; without one nothing can be taken back."""
    kernels: Kernels = field(default_factory=NoKernels)
    """Where code of notebooks runs."""
    scratch: ScratchKernels | None = None
    """Where code runs that can change nothing."""
    memory: KernelMemory = field(default_factory=KernelMemory)
    """What was seen in kernels."""
    silenced: SilencedWarnings = NO_SETTINGS
    """Warnings that the user does not want to see."""
    observe: Observe = ignore_operation
    """Hears of every call that has ended."""

    @cached_property
    def pinned(self) -> PinnedExpectations:
        """What the user wants to stay true."""
        return PinnedExpectations(self.gate.notebooks, self.workspace)

    @property
    def expectation_checks(self) -> ExpectationChecks:
        """Says whether expectations are met."""
        return ExpectationChecks(self.kernels, self.workspace, self.sandbox)

    def recorded_job(self, job_id: str, role: AgentRole) -> AbstractAsyncContextManager[None]:
        """Checkpoints before a job, or a part of it, and of all that it changed by its end."""
        if self.recorder is None:
            return nullcontext()
        return self.recorder.during(job_id, role.spec.permissions)

    def recorded_use(self, use: ToolUse) -> AbstractAsyncContextManager[None]:
        """A checkpoint around something that can change files."""
        return nullcontext() if self.recorder is None else self.recorder.around(use)
