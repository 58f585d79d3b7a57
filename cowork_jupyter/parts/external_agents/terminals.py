"""Terminals of an external agent: each is one call of our own tool for commands."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from acp import schema

from ...agents.run.call_log import CallRecord
from ...domain.identity import new_id
from ...tools.base import Tool, ToolContext, ToolResult

MAX_SECONDS = 3600
MAX_TERMINALS = 16
MAX_OUTPUT = 1024 * 1024
"""Bytes of output kept for the agent, the last ones; our record has more."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

RunCommand = Callable[[dict[str, Any], Tool], Awaitable[CallRecord]]


@dataclass
class Terminal:
    limit: int
    output: bytes = b""
    cut: bool = False
    status: schema.TerminalExitStatus | None = None
    running: asyncio.Task[None] | None = field(default=None, repr=False)

    def add(self, text: str) -> None:
        whole = self.output + text.encode("utf-8", "replace")
        self.cut = self.cut or len(whole) > self.limit
        self.output = whole[-self.limit :] if self.limit else b""

    @property
    def text(self) -> str:
        """Its output; half a character at the cut is dropped."""
        return self.output.decode("utf-8", "ignore" if self.cut else "replace")


class Terminals:
    def __init__(self, command_tool: Tool, run: RunCommand) -> None:
        self._tool = command_tool
        self._run = run
        self._all: dict[str, Terminal] = {}

    def create(self, command: str, folder: str, limit: int | None) -> str:
        """Start a command; whether it may run is decided while the agent waits for its end."""
        terminal = Terminal(min(limit if limit is not None else MAX_OUTPUT, MAX_OUTPUT))
        parameters = {"command": command, "cwd": folder, "timeout_seconds": MAX_SECONDS}
        terminal.running = asyncio.create_task(self._follow(terminal, parameters))
        name = new_id("term")
        self._all[name] = terminal
        return name

    @property
    def full(self) -> bool:
        return len(self._all) >= MAX_TERMINALS

    def get(self, name: str) -> Terminal | None:
        return self._all.get(name)

    async def kill(self, name: str) -> None:
        """End its command; its output can still be read."""
        terminal = self._all.get(name)
        if terminal and terminal.running:
            terminal.running.cancel()
            await asyncio.wait([terminal.running])

    async def release(self, name: str) -> None:
        await self.kill(name)
        self._all.pop(name, None)

    async def close(self) -> None:
        for name in list(self._all):
            await self.release(name)

    async def _follow(self, terminal: Terminal, parameters: dict[str, Any]) -> None:
        try:
            record = await self._run(parameters, _overheard(self._tool, terminal.add))
        except asyncio.CancelledError:
            terminal.status = schema.TerminalExitStatus(signal="SIGKILL")
            raise
        if record.error is not None:
            terminal.add(f"{record.error.message}\n")
        code = record.result.facts.exit_code if record.result else None
        if code is not None and code >= 0:
            terminal.status = schema.TerminalExitStatus(exit_code=code)
        else:
            signal = None if record.error else "SIGKILL"
            terminal.status = schema.TerminalExitStatus(
                exit_code=126 if record.error else None, signal=signal
            )


def _overheard(tool: Tool, listener: Callable[[str], None]) -> Tool:
    async def run(parameters: Any, context: ToolContext) -> ToolResult:
        def output(text: str) -> None:
            context.output(text)
            listener(text)

        return await tool.run(parameters, replace(context, output=output))

    return replace(tool, run=run)


def command_line(
    command: str, args: Sequence[str] | None, env: Sequence[schema.EnvVariable] | None
) -> str:
    """One line for the shell. Without arguments the command is one already."""
    words = shlex.join([command, *args]) if args else command
    variables = [
        f"{variable.name}={shlex.quote(variable.value)}"
        for variable in env or []
        if _NAME.fullmatch(variable.name)
    ]
    return " ".join([*variables, words])
