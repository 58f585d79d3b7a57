"""A real kernel, as programs that run notebooks start one: nobody sits in front of it."""

from __future__ import annotations

import os
import queue
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

SECONDS = 120
CARD, RECORD = "application/vnd.cowork.card+json", "application/vnd.cowork.record+json"
VIEW = "application/vnd.jupyter.widget-view+json"


@dataclass
class Shown:
    """What a cell has shown."""

    status: str = ""
    outputs: list[dict[str, Any]] = field(default_factory=list)
    """Bundles; one that was updated counts once, as it was last."""
    printed: str = ""
    error: str = ""
    traceback: list[str] = field(default_factory=list)
    payload: list[dict[str, Any]] = field(default_factory=list)
    """What the front end is asked to do."""

    @property
    def markdown(self) -> str:
        return "\n\n".join(str(one.get("text/markdown", "")) for one in self.outputs)

    @property
    def text(self) -> str:
        return "\n\n".join(str(one.get("text/plain", "")) for one in self.outputs) + self.printed

    @property
    def card(self) -> dict[str, Any]:
        (card,) = [one[kind] for one in self.outputs for kind in (CARD, RECORD) if kind in one]
        found: dict[str, Any] = card
        return found


class Cells:
    """Runs cells in one kernel."""

    def __init__(
        self, client: BlockingKernelClient, *, attended: bool = False, manager: Any = None
    ) -> None:
        self.client = client
        self.attended = attended
        self.manager = manager
        self._others: list[dict[str, Any]] = []

    def run(self, code: str, cell_id: str = "", on_output: Any = None) -> Shown:
        """Run one cell to its end."""
        shown = Shown()
        places: dict[str | None, int] = {}

        def take(message: dict[str, Any]) -> None:
            content, kind = message["content"], message["msg_type"]
            if kind in ("display_data", "update_display_data", "execute_result"):
                name = content.get("transient", {}).get("display_id")
                if kind == "update_display_data":
                    if name in places:  # else it is an earlier cell's
                        shown.outputs[places[name]] = content["data"]
                else:
                    places[name] = len(shown.outputs)
                    shown.outputs.append(content["data"])
            elif kind == "stream":
                shown.printed += content["text"]
            elif kind == "error":
                shown.error, shown.traceback = content["evalue"], content["traceback"]
            if on_output:
                on_output(shown)

        self._announce(cell_id)
        reply = self.client.execute_interactive(
            code, allow_stdin=self.attended, output_hook=take, timeout=SECONDS
        )
        shown.status = reply["content"]["status"]
        shown.payload = reply["content"].get("payload", [])
        return shown

    def _announce(self, cell_id: str) -> None:
        """Front ends name the cell in the metadata of their messages."""
        session = self.client.session
        session.metadata = {"cellId": cell_id} if cell_id else {}

    def press(self, view: dict[str, Any], method: str, path: str, body: Any = None) -> None:
        """Send what a card's button sends."""
        content = {"id": 1, "method": method, "path": path, "body": body}
        data = {"method": "custom", "content": content}
        message = self.client.session.msg("comm_msg", {"comm_id": view["model_id"], "data": data})
        self.client.shell_channel.send(message)

    def published(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first message of the kernel that is the wanted one. The others are kept, because
        of two things that both happen, either may be told first."""
        found = next(filter(wanted, self._others), None)
        if found is not None:
            self._others.remove(found)
            return found
        give_up = time.monotonic() + SECONDS
        while time.monotonic() < give_up:
            with suppress(queue.Empty):
                message: dict[str, Any] = self.client.get_iopub_msg(timeout=1)
                if wanted(message):
                    return message
                self._others.append(message)
        raise TimeoutError("It was not published.")

    def completions(self, code: str) -> list[str]:
        """What Tab offers at the end of this."""
        reply: Any = self.client.complete(code, reply=True, timeout=SECONDS)
        return list(reply["content"]["matches"])

    def completion_types(self, code: str) -> set[str]:
        """How front ends label these offers."""
        reply: Any = self.client.complete(code, reply=True, timeout=SECONDS)
        offers = reply["content"]["metadata"]["_jupyter_types_experimental"]
        return {offer["type"] for offer in offers}


def wait_until_ready(client: BlockingKernelClient) -> None:
    """Until it answers one question on both channels. Not by its heartbeat, which a busy
    machine delays, and not by just any message: what a kernel before a restart still had to
    say proves nothing about whether this one can be heard."""
    give_up = time.monotonic() + SECONDS
    while time.monotonic() < give_up:
        asked = client.kernel_info()
        if _answered(client.get_shell_msg, asked) and _answered(client.get_iopub_msg, asked):
            return
    raise TimeoutError("The kernel does not answer.")


def _answered(read: Callable[..., dict[str, Any]], asked: str) -> bool:
    with suppress(queue.Empty):
        while read(timeout=1)["parent_header"].get("msg_id") != asked:
            pass
        return True
    return False


@contextmanager
def kernel(folder: Path, *, attended: bool = False, **environment: str) -> Iterator[Cells]:
    """`with kernel(tmp_path) as cells:` runs one there, with our magics loaded."""
    with started_kernel(folder, attended=attended, **environment) as cells:
        assert cells.run("%load_ext cowork_jupyter").status == "ok"
        yield cells


@contextmanager
def started_kernel(folder: Path, *, attended: bool = False, **environment: str) -> Iterator[Cells]:
    """One as it is after its start.

    It listens at files. Ports are chosen before it starts, and then anybody could take them.
    """
    with TemporaryDirectory(prefix="k") as sockets:
        manager = KernelManager(transport="ipc", ip=f"{sockets}/s")
        manager.start_kernel(cwd=str(folder), env={**os.environ, **environment})
        client = manager.client()
        client.start_channels()
        try:
            wait_until_ready(client)
            yield Cells(client, attended=attended, manager=manager)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


MOVE = """
import os
from cowork_jupyter.hosts.kernel import session
session.session().close()
session._session = None
os.chdir({folder!r})
os.environ.clear()
os.environ.update({environment!r})
get_ipython().reset(new_session=False)
"""


class ModuleKernel:
    """One kernel for all tests of a module, each with variables, files and a service of its own."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._cells: Cells | None = None

    def at(self, folder: Path, *, attended: bool = False) -> Cells:
        if self._cells is None:
            self._cells = self._stack.enter_context(kernel(folder))
        else:
            code = MOVE.format(folder=str(folder), environment=dict(os.environ))
            assert self._cells.run(code).status == "ok"
        self._cells.attended = attended
        return self._cells
