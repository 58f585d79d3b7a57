"""Our side of the protocol towards an external agent: its requests become calls of our tools."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from acp import RequestError, schema

from ...agents.ask.user import PermissionRequest
from ...agents.run.call_log import CallRecord
from ...agents.run.tool_runner import ToolRunner
from ...domain.errors import CoworkError, Forbidden
from ...domain.events import CallPreview, Notice
from ...domain.identity import new_id
from ...domain.plurals import count_of
from ...domain.redaction import Mask
from ...domain.replies import ToolCall
from ...domain.roles import Permission
from ...policy.decision import check_ceiling
from ...tools.base import Tool, ToolContext, ToolResult
from ...tools.files import ReadFile
from ...tools.registry import ToolRegistry
from ...tools.text_files import MAX_WHOLE_SIZE, decode
from ...workspace import Workspace
from .terminals import Terminals, command_line

logger = logging.getLogger(__name__)

MAX_WORDS = 1_000_000
_REFUSED, _BAD = -32000, -32602

_LOOKING = frozenset({Permission.READ_FILES})
_NEEDED: dict[str, frozenset[Permission]] = {
    "read": _LOOKING,
    "search": _LOOKING,
    "think": frozenset(),
    "edit": frozenset({Permission.READ_FILES, Permission.WRITE_FILES}),
    "move": frozenset({Permission.WRITE_FILES, Permission.DELETE_FILES}),
    "delete": frozenset({Permission.READ_FILES, Permission.DELETE_FILES}),
}
"""What a role must hold for a kind of call. Of any other kind we assume the most."""


@dataclass
class AcpClient:
    """What one external agent may use during one task, under the role of its tool runner."""

    name: str
    runner: ToolRunner
    mask: Mask = field(default_factory=Mask)
    """Hides the secrets in its environment, wherever it repeats them."""
    words: list[str] = field(default_factory=list)
    _length: int = 0

    def __post_init__(self) -> None:
        self.terminals = Terminals(
            self.runner.tools.registry["execute_command"], partial(self._run, "execute_command")
        )

    @property
    def capabilities(self) -> schema.ClientCapabilities:
        """What the role permits. What is not offered is refused all the same."""
        role = self.runner.log.role
        writes = role.permits([Permission.WRITE_FILES]) or role.permits([Permission.CREATE_FILES])
        return schema.ClientCapabilities(
            fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=writes),
            terminal=role.permits([Permission.EXECUTE_COMMANDS]),
        )

    def on_connect(self, conn: Any) -> None:
        pass

    async def session_update(self, update: Any, **_: Any) -> None:
        """Its text is its result; what it does by itself is at least recorded."""
        match update:
            case schema.AgentMessageChunk(content=schema.TextContentBlock() as block):
                self._say(block.text)
            case schema.ToolCallStart():
                self._notice("external-call", f"{self.name}: {update.title}")

    async def read_text_file(
        self, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> schema.ReadTextFileResponse:
        """By `read_file`, but exactly as it is in the file."""
        end = (line or 1) + limit - 1 if limit else None
        parameters = {"path": self._place(path), "start_line": line or None, "end_line": end}
        exact = replace(self.runner.tools.registry["read_file"], run=_read_exactly)
        done = await self._call("read_file", parameters, exact)
        return schema.ReadTextFileResponse(content=done.text)

    async def write_text_file(
        self, path: str, content: str, **_: Any
    ) -> schema.WriteTextFileResponse:
        place = self._place(path)
        with self.runner.tools.workspace.locate(place) as there:
            tool = "update_file" if there.exists() else "create_file"
        await self._call(tool, {"path": place, "content": content})
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self,
        command: str,
        args: list[str] | None = None,
        env: list[schema.EnvVariable] | None = None,
        cwd: str | None = None,
        output_byte_limit: int | None = None,
        **_: Any,
    ) -> schema.CreateTerminalResponse:
        folder = self._place(cwd) if cwd else "."
        if self.terminals.full:
            raise RequestError(_REFUSED, "Too many terminals are open. Release some.")
        self._check_ceiling("execute_command")
        line = command_line(command, args, env)
        name = self.terminals.create(line, folder, output_byte_limit)
        return schema.CreateTerminalResponse(terminal_id=name)

    async def terminal_output(self, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        terminal = self._terminal(terminal_id)
        return schema.TerminalOutputResponse(
            output=terminal.text, truncated=terminal.cut, exit_status=terminal.status
        )

    async def wait_for_terminal_exit(
        self, terminal_id: str, **_: Any
    ) -> schema.WaitForTerminalExitResponse:
        terminal = self._terminal(terminal_id)
        assert terminal.running
        await asyncio.wait([terminal.running])
        status = terminal.status or schema.TerminalExitStatus(exit_code=126)
        return schema.WaitForTerminalExitResponse(exit_code=status.exit_code, signal=status.signal)

    async def kill_terminal(self, terminal_id: str, **_: Any) -> schema.KillTerminalResponse:
        self._terminal(terminal_id)
        await self.terminals.kill(terminal_id)
        return schema.KillTerminalResponse()

    async def release_terminal(self, terminal_id: str, **_: Any) -> schema.ReleaseTerminalResponse:
        self._terminal(terminal_id)
        await self.terminals.release(terminal_id)
        return schema.ReleaseTerminalResponse()

    async def request_permission(
        self, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **_: Any
    ) -> schema.RequestPermissionResponse:
        """Permission to act by itself is decided like a call of ours that would do the same."""
        title = tool_call.title or "something"
        try:
            await self._admit(tool_call)
            allowed, kinds = True, ("allow_once", "allow_always")
        except CoworkError as error:
            logger.debug("%s was not allowed: %s", self.name, error.message)
            allowed, kinds = False, ("reject_once", "reject_always")
        said = "was allowed to act" if allowed else "was not allowed to act"
        self._notice("external-permission", f"{self.name} {said} on its own: {title}")
        chosen = next((option for kind in kinds for option in options if option.kind == kind), None)
        if chosen is None:
            denied = schema.DeniedOutcome(outcome="cancelled")
            return schema.RequestPermissionResponse(outcome=denied)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def _admit(self, call: schema.ToolCallUpdate) -> None:
        """Raise unless it may. The role comes first: nobody can be asked beyond it."""
        runner = self.runner
        same = equivalent_call(call, runner.tools.workspace)
        if same is not None:
            resolved = runner.tools.registry.resolve(same.tool, runner.log.role, same.parameters)
            with runner.waiting():
                await runner.tools.gate.admit(new_id("call"), resolved, runner.log, runner.step)
            return
        what = call.title or "something"
        check_ceiling(runner.log.role, what, permissions_for(call))
        with runner.waiting():
            ruling = await runner.tools.gate.approver.decide(self._request(call, what), runner.log)
        if ruling.decision != "allow":
            raise Forbidden(f"The user did not allow {what}.", code="denied_by_user")

    def _request(self, call: schema.ToolCallUpdate, what: str) -> PermissionRequest:
        given = call.raw_input if isinstance(call.raw_input, dict) else {}
        return PermissionRequest(
            call_id=new_id("call"),
            agent_role=self.runner.log.role.value,
            tool=f"agent:{self.name}",
            parameters=self.mask.everywhere(given),
            resource=self.mask(what),
            risk="high",
            why=[f"The external agent {self.name} wants to do this itself, not with our tools."],
            shown=CallPreview(kind="text", text=self.mask(describe_call(call))),
            digest=new_id("external"),
        )

    async def _call(
        self, tool: str, parameters: dict[str, Any], instead: Tool | None = None
    ) -> ToolResult:
        record = await self._run(tool, parameters, instead)
        if record.error is not None:
            raise RequestError(_REFUSED, record.error.for_model, record.error.as_dict())
        assert record.result
        return record.result

    async def _run(self, tool: str, parameters: dict[str, Any], instead: Tool | None) -> CallRecord:
        runner = self.runner
        if instead is not None:
            registry = ToolRegistry([*runner.tools.registry.values(), instead])
            runner = replace(runner, tools=replace(runner.tools, registry=registry))
        known = {name: value for name, value in parameters.items() if value is not None}
        (record,) = await runner.run([ToolCall(tool=tool, parameters=known)])
        return record

    def _check_ceiling(self, tool: str) -> None:
        try:
            self.runner.tools.registry.permitted_tool(tool, self.runner.log.role)
        except CoworkError as error:
            raise RequestError(_REFUSED, error.for_model, error.as_dict()) from None

    def _place(self, path: object) -> str:
        found = inside(self.runner.tools.workspace, path)
        if found is None:
            raise RequestError(_BAD, f"'{path}' is not an absolute path in the workspace.")
        return found

    def _terminal(self, name: str) -> Any:
        terminal = self.terminals.get(name)
        if terminal is None:
            raise RequestError(_BAD, f"There is no terminal '{name}'.")
        return terminal

    def _say(self, text: str) -> None:
        room = MAX_WORDS - self._length
        if room > 0 and text:
            self._length += len(text)
            self.words.append(text[:room])

    def _notice(self, code: Literal["external-call", "external-permission"], message: str) -> None:
        self.runner.log.event(Notice(code=code, message=self.mask(message)[:500]))


async def _read_exactly(parameters: ReadFile, context: ToolContext) -> ToolResult:
    def read() -> tuple[str, str]:
        with context.workspace.locate(parameters.path) as place:
            data = place.read(MAX_WHOLE_SIZE + 1)
            if len(data) > MAX_WHOLE_SIZE:
                raise CoworkError(f"'{place.path}' is too large to read as text.")
            return place.path, decode(data)[0]

    path, text = await asyncio.to_thread(read)
    lines = text.splitlines(keepends=True)
    start = (parameters.start_line or 1) - 1
    chosen = lines[start : parameters.end_line]
    summary = f"read {path} ({count_of(len(chosen), 'line')})"
    return ToolResult("".join(chosen), summary, {"paths": [path]})


def permissions_for(call: schema.ToolCallUpdate) -> frozenset[Permission]:
    return _NEEDED.get(call.kind or "other", frozenset({Permission.EXECUTE_COMMANDS}))


def equivalent_call(call: schema.ToolCallUpdate, workspace: Workspace) -> ToolCall | None:
    """The call of ours that would do the same; None if there is none."""
    given = call.raw_input if isinstance(call.raw_input, Mapping) else {}
    if call.kind == "execute" and isinstance(given.get("command"), str):
        return ToolCall(tool="execute_command", parameters={"command": given["command"]})
    changes = [content for content in call.content or [] if isinstance(content, schema.Diff)]
    paths = [diff.path for diff in changes] or [location.path for location in call.locations or []]
    if len(set(paths)) != 1:
        return None
    path = inside(workspace, paths[0])
    if path is None:
        return None
    if call.kind == "read":
        return ToolCall(tool="read_file", parameters={"path": path})
    if call.kind == "delete":
        return ToolCall(tool="delete_file", parameters={"path": path})
    if call.kind != "edit" or len(changes) != 1:
        return None
    (change,) = changes
    if not change.old_text:
        return ToolCall(tool="create_file", parameters={"path": path, "content": change.new_text})
    both = {"old_text": change.old_text, "new_text": change.new_text}
    return ToolCall(tool="update_file", parameters={"path": path, **both})


def inside(workspace: Workspace, path: object) -> str | None:
    """An absolute path as one of the workspace; None if it is elsewhere."""
    if not isinstance(path, str) or not path.startswith("/"):
        return None
    parts = workspace.inside(path)
    return None if parts is None else "/".join(parts) or "."


def describe_call(call: schema.ToolCallUpdate) -> str:
    fields = call.model_dump(
        mode="json", by_alias=True, exclude_none=True, exclude={"tool_call_id"}
    )
    return json.dumps(fields, indent=2, ensure_ascii=False)
