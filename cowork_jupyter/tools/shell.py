"""Running commands in the workspace."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import re
import shutil
import signal
import time
from asyncio.subprocess import DEVNULL, STDOUT, Process
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import IO, Annotated, Protocol

from pydantic import Field

from ..domain.errors import Forbidden
from ..domain.roles import Permission
from ..workspace.sandbox.clean_up import Aftermath, list_paths
from ..workspace.sandbox.sandbox import Launch
from .base import ToolContext, ToolParameters, ToolResult, tool

_ALLOWED = re.compile(
    r"""
    PATH | HOME | USER | LOGNAME | SHELL | TMPDIR | TZ | LANG | LANGUAGE | LC_[A-Z]+
  | VIRTUAL_ENV | CONDA_[A-Z_]+ | PYENV_ROOT | UV_CACHE_DIR
  | PYTHON(PATH|HOME|HASHSEED|UNBUFFERED|IOENCODING|UTF8|DONTWRITEBYTECODE|NOUSERSITE|WARNINGS)
  | (LD|DYLD)_LIBRARY_PATH | DYLD_FALLBACK_LIBRARY_PATH | PKG_CONFIG_PATH
  | SSL_CERT_(FILE|DIR) | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE
  | (OMP|MKL|OPENBLAS|NUMEXPR)_NUM_THREADS | CUDA_VISIBLE_DEVICES | CUDA_HOME
  | JAVA_HOME | R_HOME | R_LIBS(_USER)? | SPARK_HOME | JULIA_DEPOT_PATH | MPLBACKEND
    """,
    re.VERBOSE,
)
_ADDED = {
    "TERM": "dumb",
    # A folder that looks like a repository could name programs for git to run.
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.bareRepository",
    "GIT_CONFIG_VALUE_0": "explicit",
    # Reading commands must not write the index.
    "GIT_OPTIONAL_LOCKS": "0",
}
_SECRET = re.compile(r"TOKEN|SECRET|PASS|KEY|CRED|AUTH", re.IGNORECASE)


def scrub_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """An allowlist, so that secrets with unexpected names stay out too."""
    kept = {
        name: value
        for name, value in environment.items()
        if _ALLOWED.fullmatch(name) and not _SECRET.search(name)
    }
    path = environment.get("PATH", os.defpath).split(os.pathsep)
    # Without relative entries: a folder could bring its own `ls`.
    absolute = os.pathsep.join(part for part in path if part.startswith("/"))
    return kept | _ADDED | {"PATH": absolute}


MAX_OUTPUT = 8 * 1024 * 1024
"""Characters of output that are kept: the first and the last half of them."""
_SIGNS_OF_READ_ONLY = ("Read-only file system", "Device or resource busy")
LAST_OUTPUT = 0.5
GRACE = 0.1
"""Seconds between SIGTERM and SIGKILL: cancelling must feel immediate."""


class ExecuteCommand(ToolParameters):
    """A command line, where to run it, and for how long at most."""

    command: Annotated[
        str,
        Field(
            min_length=1,
            max_length=100_000,
            pattern=r"^[^\x00]*$",
            description="Command line for sh.",
        ),
    ]
    cwd: Annotated[str, Field(description="Folder to run in, relative to the workspace.")] = "."
    timeout_seconds: Annotated[float, Field(gt=0, le=3600)] = 120
    needs_network: Annotated[
        bool, Field(description="Ask the user for network access; without it there is none.")
    ] = False


@tool(category="shell", permissions=[Permission.EXECUTE_COMMANDS])
async def execute_command(parameters: ExecuteCommand, context: ToolContext) -> ToolResult:
    """Run a shell command in the workspace and return its output and exit code.

    It has no terminal and no input; what it leaves running is ended with it.
    """
    began = time.monotonic()
    output = CommandOutput(context.output)
    timed_out = False
    aftermath = Aftermath()

    def note(found: Aftermath) -> None:
        nonlocal aftermath
        aftermath = found

    async with start_command(
        command_line(parameters.command),
        context,
        cwd=parameters.cwd,
        may_write=context.role.spec.commands_may_write,
        cleaned_up=note,
    ) as (process, reader):
        try:
            async with asyncio.timeout(parameters.timeout_seconds):
                await follow(process, reader, output)
        except TimeoutError:
            timed_out = True
    output.finish()
    ending = _ending(process.returncode, parameters.timeout_seconds if timed_out else None)
    separator = "" if output.text.endswith("\n") or not output.text else "\n"
    hints = _hints(process, context, output)
    summary = f"ran `{_short(parameters.command)}`: {ending}"
    if aftermath:
        summary += f"; {aftermath.text}"
        hints += f"\n{_how_to_keep(aftermath)}"
    return ToolResult(
        text=f"{output.text}{separator}[{ending}]{hints}",
        summary=summary,
        data={
            "command": parameters.command,
            "exit_code": None if timed_out else process.returncode,
            "timed_out": timed_out,
            "seconds": round(time.monotonic() - began, 3),
            "omitted_characters": output.omitted,
            "set_aside": aftermath.facts(),
        },
    )


def _hints(process: RunningProcess, context: ToolContext, output: CommandOutput) -> str:
    sandbox = context.sandbox
    if not process.returncode or sandbox is None or sandbox.kind == "none":
        return ""
    may_write = context.role.spec.commands_may_write
    hints = ""
    if may_write and any(sign in output.text for sign in _SIGNS_OF_READ_ONLY):
        hints = (
            "\n[git's settings and hooks, environments and editors' tasks are read-only for "
            "commands. To change one, run a command that names the file: it asks the user.]"
        )
    asking_helps = sandbox.allows_network(may_write=may_write, asked=True)
    if asking_helps and not sandbox.allows_network(
        may_write=may_write, asked=context.clearance.network
    ):
        hints += "\n[There was no network access. Set needs_network to ask the user for it.]"
    return hints


def _how_to_keep(aftermath: Aftermath) -> str:
    """What the model is told of it."""
    lines = []
    if aftermath.undone:
        lines.append(
            "[Undone, because it would run or be read later, outside the sandbox: "
            f"{list_paths(aftermath.undone)}. To keep it, run a command that names the file: it "
            "asks the user.]"
        )
    if aftermath.stuck:
        lines.append(f"[Could not be set aside: {list_paths(aftermath.stuck)}. Tell the user.]")
    if aftermath.new:
        lines.append(f"[New where programs may run it later: {list_paths(aftermath.new)}.]")
    return "\n".join(lines)


def command_line(command: str) -> list[str]:
    return [shutil.which("bash") or "/bin/sh", "-c", "--", command]


class CommandOutput:
    """Collects output: streams it, and keeps both ends up to a limit."""

    def __init__(self, pass_on: Callable[[str], None], limit: int = MAX_OUTPUT) -> None:
        self._pass_on = pass_on
        self._half = limit // 2
        # Incremental: a character's bytes may come in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._head = self._tail = ""
        self.omitted = 0

    def add(self, data: bytes, *, final: bool = False) -> None:
        text = self._decoder.decode(data, final)
        if not text:
            return
        if not self.omitted:
            self._pass_on(text)
        room = self._half - len(self._head)
        self._head += text[:room]
        self._tail += text[room:]
        if len(self._tail) > 2 * self._half:  # trim seldom: it copies
            self._cut()

    def finish(self) -> None:
        self.add(b"", final=True)
        if len(self._tail) > self._half:
            self._cut()

    def _cut(self) -> None:
        if not self.omitted:
            self._pass_on("\n[more output follows, not shown live]\n")
        self.omitted += len(self._tail) - self._half
        self._tail = self._tail[-self._half :]

    @property
    def text(self) -> str:
        if not self.omitted:
            return self._head + self._tail
        return f"{self._head}\n[… {self.omitted:,} characters left out …]\n{self._tail}"


class RunningProcess(Protocol):
    @property
    def returncode(self) -> int | None: ...

    async def wait(self) -> int | None:
        """Wait until it has ended; what it left behind may go on."""


@asynccontextmanager
async def start_command(
    arguments: list[str],
    context: ToolContext,
    *,
    cwd: str = ".",
    may_write: bool = False,
    cleaned_up: Callable[[Aftermath], None] = lambda _aftermath: None,
) -> AsyncIterator[tuple[RunningProcess, asyncio.StreamReader]]:
    """The running command and its output; on exit everything it started is killed."""
    workspace = context.workspace
    with workspace.locate(cwd) as place, place.open_folder() as folder:
        async with _pipe() as (reader, write_end):
            launch = Launch(
                arguments=arguments,
                workspace=workspace,
                folder=folder,
                path=place.path,
                output=write_end.fileno(),
                environment=scrub_environment(os.environ),
                may_write=may_write,
                network=context.clearance.network,
                opened=context.clearance.opened,
                readable=context.clearance.readable,
                cleaned_up=cleaned_up,
            )
            async with _run(launch, context) as running:
                write_end.close()  # now only the command holds it, so we see EOF
                yield running, reader


def _run(launch: Launch, context: ToolContext) -> AbstractAsyncContextManager[RunningProcess]:
    if context.sandbox is not None and context.sandbox.kind != "none":
        return context.sandbox.running(launch)
    if not context.role.spec.commands_may_write:
        raise Forbidden(
            f"Commands of the role {context.role} must not change the workspace, and this machine "
            "has no sandbox to guarantee that, so none can run.",
            code="sandbox_missing",
        )
    return _unconfined(launch)


@asynccontextmanager
async def _unconfined(launch: Launch) -> AsyncIterator[RunningProcess]:
    """Run with all our rights; its process group ends with it."""
    starting = asyncio.ensure_future(
        asyncio.create_subprocess_exec(
            *launch.arguments,
            cwd=launch.workspace.process_folder(launch.folder, launch.path),
            env=launch.environment,
            stdin=DEVNULL,
            stdout=launch.output,
            stderr=STDOUT,
            start_new_session=True,
        )
    )
    try:
        # Shielded: cancelling here would leak a process that has started already.
        yield await asyncio.shield(starting)
    finally:
        await _end_group(await starting)


@asynccontextmanager
async def _pipe() -> AsyncIterator[tuple[asyncio.StreamReader, IO[bytes]]]:
    """A pipe of our own.

    With asyncio's, waiting for the process would wait for everything that holds the pipe open, such
    as a server that the command left in the background.
    """
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
    )
    try:
        with os.fdopen(write_end, "wb", buffering=0) as write_file:
            yield reader, write_file
    finally:
        transport.close()


async def follow(
    process: RunningProcess, reader: asyncio.StreamReader, output: CommandOutput
) -> None:
    """Collect output until the command has ended and, for a moment more, what it left behind."""

    async def read() -> None:
        while data := await reader.read(65536):
            output.add(data)

    reading = asyncio.ensure_future(read())
    try:
        await process.wait()
        await asyncio.wait([reading], timeout=LAST_OUTPUT)
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _end_group(process: Process) -> None:
    """SIGTERM the group and, after a moment, SIGKILL it."""
    try:
        _signal_group(process, signal.SIGTERM)
        for _ in range(10):
            if not _signal_group(process, 0):
                break
            await asyncio.sleep(GRACE / 10)
    finally:
        _signal_group(process, signal.SIGKILL)
    await process.wait()


def _signal_group(process: Process, number: int) -> bool:
    """Whether anyone was left to signal."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
        return True
    return False


def _ending(exit_code: int | None, timeout: float | None) -> str:
    if timeout is not None:
        return f"stopped after {timeout:g} seconds, its time limit"
    if exit_code is not None and exit_code < 0:
        return f"ended by signal {signal.Signals(-exit_code).name}"
    return f"exit code {exit_code}"


def _short(command: str) -> str:
    first = command.strip().split("\n")[0]
    return first if len(first) <= 60 else f"{first[:59]}…"
