"""An agent of somebody else: a real process that does over ACP what the task says.

The task holds a JSON list of actions after the word DO. What came of each is its answer. All
frames that it saw are written to the file named by FRAMES. Its argument is the version of the
protocol that it says it speaks.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from acp import RequestError, run_agent, schema
from acp.connection import StreamEvent
from acp.helpers import update_agent_message_text


class Foreigner:
    """Does as it is told, and tells how it went."""

    client: Any

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    async def initialize(
        self, client_capabilities: schema.ClientCapabilities, **_: Any
    ) -> schema.InitializeResponse:
        self.capabilities = client_capabilities.model_dump(mode="json", exclude_none=True)
        version = int(sys.argv[1]) if sys.argv[1:] else 1
        return schema.InitializeResponse(protocol_version=version)

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        self.folder = cwd
        return schema.NewSessionResponse(session_id="theirs")

    async def prompt(self, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        actions = json.loads(prompt[0].text.partition("DO ")[2].partition("\n")[0])
        outcomes = []
        for action, *arguments in actions:
            try:
                outcomes.append(await getattr(self, f"do_{action}")(*arguments))
            except RequestError as error:
                outcomes.append(f"refused: {error}")
        said = update_agent_message_text(json.dumps(outcomes))
        await self.client.session_update(session_id="theirs", update=said)
        return schema.PromptResponse(stop_reason="end_turn")

    async def cancel(self, **_: Any) -> None:
        """Nothing to do."""

    def _path(self, name: str) -> str:
        return str(Path(self.folder) / name)

    def _write(self, name: str, content: str) -> None:
        Path(self._path(name)).write_text(content)

    async def do_read(self, name: str) -> str:
        answer = await self.client.read_text_file(session_id="theirs", path=self._path(name))
        return str(answer.content)

    async def do_write(self, name: str, content: str) -> str:
        place = self._path(name)
        await self.client.write_text_file(session_id="theirs", path=place, content=content)
        return "written"

    async def do_command(self, command: str, *args: str) -> dict[str, Any]:
        made = await self.client.create_terminal(
            session_id="theirs", command=command, args=list(args), cwd=self.folder
        )
        terminal = {"session_id": "theirs", "terminal_id": made.terminal_id}
        ended = await self.client.wait_for_terminal_exit(**terminal)
        output = await self.client.terminal_output(**terminal)
        await self.client.release_terminal(**terminal)
        return {"code": ended.exit_code, "output": output.output}

    async def do_kill(self, command: str) -> dict[str, Any]:
        made = await self.client.create_terminal(session_id="theirs", command=command)
        terminal = {"session_id": "theirs", "terminal_id": made.terminal_id}
        while "ready" not in (output := await self.client.terminal_output(**terminal)).output:
            await asyncio.sleep(0.01)
        await self.client.kill_terminal(**terminal)
        ended = await self.client.wait_for_terminal_exit(**terminal)
        return {"signal": ended.signal, "output": output.output}

    async def do_terminal(self, name: str) -> None:
        await self.client.terminal_output(session_id="theirs", terminal_id=name)

    async def do_ask(self, kind: Any) -> str:
        return await self._asked(schema.ToolCallUpdate(tool_call_id="t", title=kind, kind=kind))

    async def do_ask_edit(self, name: str, old: str, new: str) -> str:
        change = schema.FileEditToolCallContent(
            type="diff", path=self._path(name), old_text=old, new_text=new
        )
        call = schema.ToolCallUpdate(
            tool_call_id="t", title=f"Edit {name}", kind="edit", content=[change]
        )
        return await self._asked(call)

    async def _asked(self, call: schema.ToolCallUpdate) -> str:
        options = [
            schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
            schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
        ]
        answer = await self.client.request_permission(
            session_id="theirs", tool_call=call, options=options
        )
        return str(getattr(answer.outcome, "option_id", "cancelled"))

    async def do_itself(self, name: str, content: str) -> str:
        """What nobody is asked about."""
        self._write(name, content)
        return "done"

    async def do_try_to_write(self, path: str) -> str:
        """Anywhere on the machine."""
        try:
            self._write(path, "mine")
        except OSError as error:
            return f"failed: {type(error).__name__}"
        return "done"

    async def do_try_to_read(self, path: str) -> str:
        try:
            return Path(path).read_text()  # noqa: ASYNC240 - it has nothing else to do
        except OSError as error:
            return f"failed: {type(error).__name__}"

    async def do_capabilities(self) -> dict[str, Any]:
        return self.capabilities

    async def do_tell(self, variable: str) -> str:
        return os.environ.get(variable, "not set")

    async def do_die(self, last_words: str) -> None:
        sys.stderr.write(f"{last_words}\n")
        sys.stderr.flush()
        os._exit(3)

    async def do_hang(self, name: str) -> None:
        self._write(name, str(os.getpid()))
        await asyncio.Event().wait()

    async def do_babble(self) -> None:
        os.write(1, b'[1, 2]\n"hello"\nnot json\n' * 20)
        await asyncio.Event().wait()


def observe(event: StreamEvent) -> None:
    with Path(os.environ["FRAMES"]).open("a") as file:
        file.write(json.dumps([event.direction.value, event.message]) + "\n")


if __name__ == "__main__":
    asyncio.run(run_agent(Foreigner(), observers=[observe]))  # type: ignore[arg-type]
