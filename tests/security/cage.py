"""A workspace, a home with secrets and a place outside, and commands that try to get there."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import SandboxChoice, Settings
from cowork_jupyter.tools.base import CallAuthorization, ToolContext
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.tools.registry import default_tools, tools_without_kernels
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox.landlock import landlock_version
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox
from cowork_jupyter.workspace.sandbox.view import bubblewrap_program

SECRET = "s3cr3t-of-the-user"
PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {shlex.quote(sys.executable)} -m pytest"
"""Without what it would load of ours, which takes seconds."""

WAYS = [
    *(["landlock", "landlock alone"] if landlock_version() else []),
    *(["bubblewrap"] if bubblewrap_program() else []),
]
"""All that this machine can do; Landlock also without what it has beside it."""


def sandbox_of(way: str, settings: Settings) -> Sandbox:
    """A sandbox that confines in one of these ways."""
    choice: SandboxChoice = "bubblewrap" if way == "bubblewrap" else "landlock"
    sandbox = Sandbox(replace(settings, sandbox=choice))
    if way == "landlock alone":
        sandbox.capabilities = replace(sandbox.capabilities, namespaces="")
    return sandbox


@dataclass
class Cage:
    """Commands of one workspace, and what they must not reach."""

    base: Path
    way: str
    settings: Settings

    def __post_init__(self) -> None:
        self.outside = self.base / "outside"
        self.home = self.base / "home"
        self.sandbox = self.made()

    @property
    def root(self) -> Path:
        return self.settings.workspace

    def made(self, **changes: object) -> Sandbox:
        """A sandbox of this way."""
        return sandbox_of(self.way, replace(self.settings, **changes))  # type: ignore[arg-type]

    def change(self, **changes: object) -> None:
        """Go on with other settings."""
        self.sandbox.close()
        self.settings = replace(self.settings, **changes)  # type: ignore[arg-type]
        self.sandbox = self.made()

    @property
    def own_mounts(self) -> bool:
        return self.sandbox.capabilities.own_mounts

    def admits(self, gap: str) -> bool:
        """Whether it is said that this does not hold here."""
        return any(gap in said for said in self.sandbox.missing_guarantees())

    async def run(
        self,
        command: str,
        *,
        role: AgentRole = AgentRole.ACTOR,
        seconds: float = 150,
        output: Callable[[str], None] = lambda _text: None,
    ) -> str:
        """What the command printed, and how it ended."""
        text = await self._said(command, role=role, seconds=seconds, output=output)
        # What did not run at all breaks nothing, and proves nothing.
        assert text.startswith("started\n"), text
        return text.removeprefix("started\n")

    async def run_out_of_time(self, command: str) -> str:
        """The same for a command that has no end, with time enough for it to say `left`.

        How much time that takes is the machine's business.
        """
        seconds = 0.5
        while True:
            text = await self._said(command, seconds=seconds)
            if seconds > 60 or text.startswith("started\nleft\n"):
                return text
            seconds *= 4

    async def _said(
        self,
        command: str,
        *,
        role: AgentRole = AgentRole.ACTOR,
        seconds: float,
        output: Callable[[str], None] = lambda _text: None,
    ) -> str:
        context = ToolContext(
            Workspace(self.root),
            role,
            output,
            clearance=CallAuthorization(network=True),
            sandbox=self.sandbox,
        )
        raw = {"command": f"echo started\n{command}", "timeout_seconds": seconds}
        return (await default_tools().call("execute_command", raw, context)).text

    async def test(self, command: str) -> str:
        """The same as a tester."""
        return await self.run(command, role=AgentRole.TESTER)

    async def python(
        self,
        code: str,
        *,
        role: AgentRole = AgentRole.ACTOR,
        output: Callable[[str], None] = lambda _text: None,
    ) -> str:
        """What this program printed."""
        return await self.run(f"{python()} -c {shlex.quote(code)}", role=role, output=output)

    async def in_scratch(
        self,
        kernels: ScratchKernels,
        code: str,
        clearance: CallAuthorization | None = None,
        *,
        role: AgentRole = AgentRole.PLANNER,
    ) -> str:
        """What an agent is told whose code runs in scratch."""
        context = ToolContext(
            Workspace(self.root),
            role,
            clearance=clearance or CallAuthorization(),
            sandbox=self.sandbox,
            scratch=kernels.of("c"),
        )
        raw = {"code": textwrap.dedent(code)}
        try:
            return (await tools_without_kernels(confined=True).call("run_code", raw, context)).text
        except CoworkError as error:
            return error.message


def python() -> str:
    return shlex.quote(sys.executable)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be collected does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


async def becomes(so: Callable[[], bool]) -> bool:
    """Whether it comes to be so within a generous time."""
    patience = time.monotonic() + 60
    while not so():
        if time.monotonic() > patience:
            return False
        await asyncio.sleep(0.01)
    return True


def running_with(mark: str) -> list[int]:
    """The processes that have this in their command line."""
    found = []
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and int(path.name) != os.getpid():
            with contextlib.suppress(OSError):
                if mark.encode() in (path / "cmdline").read_bytes() and is_alive(int(path.name)):
                    found.append(int(path.name))
    return found


def picture(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Everything in a folder: names, permissions, contents."""
    return {
        str(path.relative_to(folder)): (
            path.lstat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in sorted(folder.rglob("*"))
    }
