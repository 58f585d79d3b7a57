"""`from cowork_jupyter import Cowork`: the agent from Python, in a notebook or a script."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from ...policy.settings_file import read_policy
from .link import CellProblem, Policy
from .requests import CellRequest, readable_errors, role_to_ask, send_request
from .run import Run, messages_of, text_of
from .session import Context, session


class Messages(list[dict[str, Any]]):
    """Messages as plain values, oldest first."""

    def _repr_markdown_(self) -> str:
        from .views import history

        return history(self)

    def __repr__(self) -> str:
        return "\n".join(f"{message['role']}: {text_of(message)}" for message in self)


class AuditView(dict[str, Any]):
    """Plan versus actual, as plain values."""

    def _repr_markdown_(self) -> str:
        from .views import audit

        return audit(self)


class Rollback(dict[str, Any]):
    """What a rollback did, as plain values."""

    def _repr_markdown_(self) -> str:
        from .views import rolled_back

        return rolled_back(self)


class Cowork:
    """One conversation with the agent. Every call waits until the agent is done.

    ```python
    cw = Cowork()
    cw.plan("Remove duplicate rows from sales.csv")
    cw.execute()
    ```
    """

    def __init__(
        self,
        context: str | None = None,
        *,
        model: str | None = None,
        policy: Policy | str | os.PathLike[str] | None = None,
    ) -> None:
        """Continue the notebook's conversation, or the one of that name.

        `policy` is a set of rules, or the path of a file with rules, for when nobody can be asked.
        """
        self._name = context
        self._model = model
        self._policy = _rules(policy)

    def plan(self, goal: str) -> Run:
        """Let the planner, which can only read, make a plan."""
        return self._ask(_text(goal), "planner")

    def ask(self, text: str, *, role: str | None = None) -> Run:
        """Send a message to the current role, or to the role you name.

        A planner revises the current plan, unless that plan was already executed.
        """
        request_text = _text(text)
        with readable_errors():
            asked_role = role_to_ask(session(), self._name, role)
        return self._ask(request_text, asked_role, about_plan=True)

    def execute(self) -> Run:
        """Approve and execute the current plan."""
        return self._ask("", "actor")

    @property
    def messages(self) -> Messages:
        """All messages so far."""
        with readable_errors():
            context = session().find(self._name)
            return Messages(messages_of(session().link, context["id"]) if context else [])

    def audit(self) -> AuditView:
        """Compare the last executed plan with what happened."""
        with readable_errors():
            return AuditView(
                session().link.request("GET", f"context/{self._context()['id']}/audit")
            )

    def rollback(
        self, checkpoint_id: str, paths: Sequence[str] | None = None, overwrite: Sequence[str] = ()
    ) -> Rollback:
        """Restore files to their state at a checkpoint. You can undo this.

        Your own changes since then stay, unless `overwrite` names the file.
        """
        body = {} if paths is None else {"paths": list(paths)}
        if overwrite:
            body["overwrite"] = list(overwrite)
        with readable_errors():
            address = f"checkpoints/{checkpoint_id}/rollback"
            return Rollback(session().link.request("POST", address, body))

    def _context(self) -> Context:
        context = session().find(self._name)
        if context is None:
            raise CellProblem("This conversation has no messages yet.")
        return context

    def _ask(self, text: str, role: str, *, about_plan: bool = False) -> Run:
        here = session()
        request = CellRequest(
            role=role,
            text=text,
            context=self._name,
            model=self._model,
            policy=self._policy,
            about_plan=about_plan,
            wait=True,
            offer=False,
            display=here.has_shell,
        )
        with readable_errors():
            run = send_request(here, request)
        if run is None:
            raise CellProblem("No model is connected. The card says how to connect one.")
        return run

    def __repr__(self) -> str:
        return f"Cowork({self._name!r})" if self._name else "Cowork()"


def _rules(policy: Policy | str | os.PathLike[str] | None) -> Policy | None:
    if isinstance(policy, str | os.PathLike):
        with readable_errors():
            return read_policy(os.fspath(policy))
    return policy


def _text(text: str) -> str:
    if not text.strip():
        raise CellProblem("Say what you want: the text is empty.")
    return text.strip()
