"""What the tools of all agents in one workspace run with."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field

from ..checkpoints import Recorder, ToolUse
from ..domain.roles import AgentRole
from ..tools.kernel.state import Kernels, NoKernels
from ..tools.registry import ToolRegistry
from ..workspace import Workspace
from ..workspace.sandbox.sandbox import Sandbox
from .gate import Gate
from .user import User


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

    def recorded_job(self, job_id: str, role: AgentRole) -> AbstractAsyncContextManager[None]:
        """Checkpoints before a job, or a part of it, and of all that it changed by its end."""
        if self.recorder is None:
            return nullcontext()
        return self.recorder.during(job_id, role.spec.permissions)

    def recorded_use(self, use: ToolUse) -> AbstractAsyncContextManager[None]:
        """A checkpoint around something that can change files."""
        return nullcontext() if self.recorder is None else self.recorder.around(use)
