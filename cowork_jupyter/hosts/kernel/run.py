"""One run, seen from the cell that started it."""

from __future__ import annotations

import time
from typing import Any

from .link import Cancelled, CellProblem, Link
from .output import CellOutput

ACTIVE = ("running", "waiting")
_POLL_SECONDS = {"server": 10, "kernel": 1}
_BETWEEN_SECONDS = 0.25
"""Between two updates of a run that writes a lot."""
_STILL_RUNNING = (
    "This cell no longer waits; the run continues. Stop it on its card or with %cowork cancel."
)
_WANTED = (
    "This cell no longer waits: the agent has to run code in this kernel, and cannot while a cell "
    "waits here. The run continues, and its card shows the result."
)
_KERNEL_TOOLS = ("run_cell", "run_code")
_SCRATCH = "scratch"
_OFFER = (
    "*This cell has already run, so nothing was sent. Choose **Run again** or "
    "**Start over** on the card, or change the text.*"
)
_STOPPED = "Stopped because the cell was interrupted."


class Run:
    """A job: its status, its results and its card."""

    def __init__(
        self,
        link: Link,
        job_id: str,
        output: CellOutput | None = None,
        again: dict[str, Any] | None = None,
    ) -> None:
        """`again` is what the card offers to send once more, when the run has ended."""
        self._link = link
        self._output = output
        self._again = again
        self._card: dict[str, Any] = {}
        self.id = job_id
        self.markdown = ""
        self.awaits_approval = False
        """Whether a person has to approve the plan before it is executed."""

    def show(self) -> Run:
        """Fetch the current state and show it."""
        answer = self._link.request("GET", f"jobs/{self.id}/card")
        self._card, self.markdown = answer["card"], answer["markdown"]
        text: str = answer["text"]
        if self._again and self.status not in ACTIVE:
            self._card = {**self._card, "again": self._again}
            self.markdown += f"\n\n{_OFFER}"
            text += f"\n\n{_OFFER}"
        if self._output:
            self._output.show(self._card, self.markdown, text)
        return self

    def wait(self) -> Run:
        """Wait until it has ended. An interrupt stops a run whose service is in this kernel."""
        try:
            with self._link.cell_waiting():
                self.show()
                self._follow()
        except KeyboardInterrupt:
            if self._link.kind == "server":
                raise CellProblem(_STILL_RUNNING) from None
            self.cancel()
            raise Cancelled(_STOPPED) from None
        return self

    def cancel(self) -> None:
        self._link.request("POST", f"jobs/{self.id}/cancel")
        self.show()

    def _follow(self) -> None:
        seq, timeout = self.snapshot["seq"], _POLL_SECONDS[self._link.kind]
        while self.status in ACTIVE:
            self._stop_waiting_if_blocking()
            address = f"context/{self.context_id}/events?after={seq}&timeout={timeout}"
            events = self._link.request("GET", address)["events"]
            if events:
                seq = events[-1]["seq"]
                self.show()
                time.sleep(_BETWEEN_SECONDS if self.status in ACTIVE else 0)

    def _stop_waiting_if_blocking(self) -> None:
        """Check twice: between a call and its permission request there is a moment."""
        if self._link.kind == "server" and self._needs_this_kernel():
            time.sleep(_BETWEEN_SECONDS)
            if self.show().status in ACTIVE and self._needs_this_kernel():
                raise CellProblem(_WANTED)

    def _needs_this_kernel(self) -> bool:
        """Whether the agent waits for a kernel that is busy waiting for the agent."""
        answered = {
            message["data"].get("call_id") for message in self._messages_of_type("tool_result")
        }
        undecided = {permission.get("call_id") for permission in self.snapshot["permissions"]}
        return any(
            message["data"]["tool"] in _KERNEL_TOOLS
            and self._targets_this_kernel(message["data"]["parameters"])
            for message in self._messages_of_type("tool_call")
            if message["data"]["call_id"] not in answered | undecided
        )

    def _messages_of_type(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.snapshot["messages"] if message["message_type"] == kind]

    def _targets_this_kernel(self, parameters: dict[str, Any]) -> bool:
        """Whether a call targets the notebook of this conversation, and so this kernel."""
        path = parameters.get("path")
        if parameters.get("where") == _SCRATCH:
            return False
        if not path:
            return True
        return bool(path == self._link.request("GET", f"context/{self.context_id}")["notebook"])

    @property
    def snapshot(self) -> dict[str, Any]:
        """What its card shows, as plain values; long texts are cut."""
        snapshot: dict[str, Any] = self._card["snapshot"]
        return snapshot

    @property
    def context_id(self) -> str:
        return str(self._card["context_id"])

    @property
    def status(self) -> str:
        """`running`, `waiting`, `completed`, `failed`, `cancelled` or `interrupted`."""
        if self.awaits_approval and not self._is_executed():
            return "waiting"
        return str(self.snapshot["status"])

    def _is_executed(self) -> bool:
        revision = self.snapshot["revision"]
        jobs = self.snapshot["jobs"]
        return any((job["kind"], job["plan_revision"]) == ("plan", revision) for job in jobs)

    @property
    def ok(self) -> bool:
        """Whether it completed."""
        return self.status == "completed"

    @property
    def error(self) -> str | None:
        return self._link.request("GET", f"jobs/{self.id}")["error"]  # type: ignore[no-any-return]

    @property
    def plan(self) -> dict[str, Any] | None:
        """The plan that it made or executed, in full."""
        if self.snapshot["plan"] is None:
            return None
        address = f"context/{self.context_id}/plan?plan_id={self.snapshot['plan_id']}"
        plan: dict[str, Any] = self._link.request("GET", address)["plan"]
        return plan

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages, in full."""
        return [
            message
            for message in messages_of(self._link, self.context_id)
            if message["job_id"] == self.id
        ]

    @property
    def text(self) -> str:
        """The agent's last message."""
        replies = [text_of(message) for message in self.messages if message["role"] == "assistant"]
        return next((text for text in reversed(replies) if text), "")

    def __repr__(self) -> str:
        return f"<Run {self.status}: {self._card['title']}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """In a notebook the card is already in the output, so one line is enough."""
        text = repr(self) if self._output else self.markdown
        return {"text/plain": text, **({} if self._output else {"text/markdown": text})}


def messages_of(link: Link, context_id: str) -> list[dict[str, Any]]:
    """Oldest first."""
    items: list[dict[str, Any]] = []
    after: int | None = 0
    while after is not None:
        page = link.request("GET", f"context/{context_id}/messages?after={after}&limit=1000")
        items += page["items"]
        after = page["next"]
    return items


def text_of(message: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in message["content"]).strip()
