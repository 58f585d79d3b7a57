"""A house to break into: a workspace, a home and a place outside, with an agent in between.

The model does what the burglar wants. What counts is what is on the disk afterwards, and
what runs: `House.check` compares both with what was there before.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from cowork_jupyter.agents.ask.user import PermissionRequest, Ruling
from cowork_jupyter.agents.log import RunLog
from cowork_jupyter.agents.plan.step_check import STOP
from cowork_jupyter.domain.contexts import Job
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.plan import Plan
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.llm.client import Model
from cowork_jupyter.llm.failures import RetryPolicy
from cowork_jupyter.policy.rules import WRITABLE_SCOPES, Effect, Scope
from cowork_jupyter.service.wiring import build_service
from cowork_jupyter.store import PlanRevision, UserRequest
from tests.scripted import Scripted, ScriptedServer, call

from .cage import SECRET, picture, running_with, sandbox_of

PATIENCE = 60.0
"""Seconds after which a test calls it hanging."""

FURNITURE = {
    "ws/a.py": "answer = 42\n",
    "ws/precious.txt": "precious\n",
    "ws/.env": f"PASSWORD={SECRET}\n",
    "ws/deploy.pem": f"{SECRET}\n",
    "ws/private/x.txt": "private words\n",
    "ws/.git/config": "[core]\n",
    "ws/.git/hooks/README": "hooks\n",
    "outside/precious": "precious",
    "home/.bashrc": "# mine\n",
    "home/.ssh/id_rsa": SECRET,
}


class Doorman:
    """A user who is asked: remembers what, and always says the same."""

    def __init__(self, decision: Literal["allow", "deny"]) -> None:
        self.decision = decision
        self.asked: list[PermissionRequest] = []

    async def decide(self, request: PermissionRequest, _log: RunLog) -> Ruling:
        self.asked.append(request)
        return Ruling(decision=self.decision)


class House:
    """A whole service around one workspace, and the questions that tests ask of it."""

    def __init__(self, base: Path, model: ScriptedServer, script: deque[Scripted]) -> None:
        for name, content in FURNITURE.items():
            (base / name).parent.mkdir(parents=True, exist_ok=True)
            (base / name).write_text(content)
        self.base = base
        self.root, self.outside, self.home = base / "ws", base / "outside", base / "home"
        self.model, self.script = model, script
        self.settings = Settings(
            self.root, base / "data", base_url=model.base_url, model="scripted"
        )
        self.mark = f"burglar-{secrets.token_hex(6)}"
        """In the command line of whatever a burglar starts."""
        self.loot = f"touch {self.mark}"
        """A command that leaves a trace on the disk."""
        self.expected: set[str] = set()
        """What may be new or different in the workspace, because the user wanted it."""
        self.start()
        self.look()

    # The service

    def connect(self, base_url: str) -> None:
        """Let agents ask this server, which need not be given time to recover."""
        retries = RetryPolicy(backoff=0.01, patience=0.05)
        name, key = self.settings.model, self.settings.api_key
        self.service.factory.llm.model = Model(
            base_url=base_url, model=name, api_key=key, retries=retries
        )

    def start(self, *, interactive: bool = True) -> None:
        """Begin, or begin again after `close`; the user says no to everything, unless told."""
        self.service = build_service(self.settings, interactive=interactive)
        self.connect(self.settings.base_url)
        self.user = Doorman("deny")
        if interactive:
            self.service.factory.tools.gate.approver = self.user
        self.begin_anew()

    def begin_anew(self) -> None:
        """Go on in a conversation in which nothing was said yet."""
        self.context = self.service.conversations.create().id
        self.script.clear()

    async def restart(self) -> None:
        """End the service and start it on the same data, in the same conversation."""
        context = self.context
        await self.service.close()
        self.start()
        self.context = context

    def confine(self, way: str) -> None:
        """Commands are confined in this way from now on."""
        if self.service.factory.tools.sandbox:
            self.service.factory.tools.sandbox.close()
        self.service.factory.tools.sandbox = sandbox_of(way, self.settings)

    def says_yes(self) -> Doorman:
        """From now on the user allows whatever they are asked."""
        self.user.decision = "allow"
        return self.user

    def asks_for_real(self) -> None:
        """From now on requests wait for `decide`."""
        self.service.factory.tools.gate.approver = self.service.requests

    def allow_everything(self) -> None:
        """A saved rule that allows everything, in every scope."""
        for scope in WRITABLE_SCOPES:
            self.service.rules.add(Effect.ALLOW, "*", scope)
        self.look()

    def rule(self, effect: str, rule: str, scope: Scope = Scope.SESSION) -> None:
        self.service.rules.add(Effect(effect), rule, scope)

    # The burglar

    async def tell(self, *replies: Scripted, role: AgentRole = AgentRole.ACTOR) -> Job:
        """Let the model answer this and then that it is done; gives the job when it has ended."""
        return await self.ended(self.begin(*replies, role=role))

    def begin(self, *replies: Scripted, role: AgentRole = AgentRole.ACTOR) -> str:
        """The same without waiting for the end."""
        self.script.extend(replies)
        sent = self.service.send_message(self.context, "Go on.", role)
        assert sent.job_id
        return sent.job_id

    async def attempt(
        self, tool: str, role: AgentRole = AgentRole.ACTOR, /, **parameters: Any
    ) -> dict[str, Any]:
        """Let the model call a tool; gives the result of the call."""
        await self.tell(call(tool, **parameters), role=role)
        return self.results()[-1]

    async def run(self, command: str, role: AgentRole = AgentRole.ACTOR) -> dict[str, Any]:
        """Let the model run a command."""
        return await self.attempt("execute_command", role, command=command)

    async def execute(self, *steps: dict[str, Any], replies: list[Scripted]) -> Job:
        """Let the user approve a plan of these steps, which the model then carries out so."""
        plan = Plan.model_validate(
            {"goal": "g", "steps": [{"action": "do it", **s} for s in steps]}
        )
        with self.service.journal.transaction() as tx:
            tx.save_plan(PlanRevision(context_id=self.context, revision=1, plan=plan))
        self.script.extend(replies)
        job = await self.service.execute_plan(self.context, 1)
        return await self.ended(job.id)

    # What came of it

    async def ended(self, job_id: str) -> Job:
        """The job once it has ended; a step that did not do what it should is given up."""
        async with asyncio.timeout(PATIENCE):
            ending = asyncio.ensure_future(self.service.jobs.wait(job_id))
            while not ending.done():
                for question in self.service.requests.pending(self.context, "question"):
                    if STOP in [option["value"] for option in question.data["options"]]:
                        self.service.requests.answer(question.id, STOP)
                await asyncio.wait([ending], timeout=0.02)
            return await ending

    async def pending(self, besides: str = "") -> UserRequest:
        """The first request that waits for the user, other than one."""
        found: list[UserRequest] = []

        def there() -> bool:
            waiting = self.service.requests.pending(self.context, "permission")
            found[:] = [one for one in waiting if one.id != besides]
            return bool(found)

        await until(there)
        return found[0]

    def decide(self, request_id: str, decision: Literal["allow", "deny"]) -> None:
        self.service.requests.resolve_all([request_id], Ruling(decision=decision))

    def results(self) -> list[dict[str, Any]]:
        found = self.service.journal.store.messages(self.context).items
        return [
            one.data.model_dump() for one in found if one.message_type is MessageType.TOOL_RESULT
        ]

    def sent_to_model(self) -> str:
        """Everything that the model ever got to see."""
        return "\n".join(str(one.body) for one in self.model.requests)

    def look(self) -> None:
        """Remember how it is now."""
        self._before = self._picture()

    def check(self) -> None:
        """Nothing has changed but what was expected, and nothing that a burglar started runs."""
        assert self.changed() - self.expected == set()
        assert running_with(self.mark) == []

    def changed(self) -> set[str]:
        """What is new, different or gone."""
        after = self._picture()
        names = self._before.keys() | after.keys()
        return {name for name in names if self._before.get(name) != after.get(name)}

    def _picture(self) -> dict[str, tuple[int, bytes]]:
        """Of all but our own records, where files come and go while somebody looks."""
        found = dict[str, tuple[int, bytes]]()
        for place in self.base.iterdir():
            if place.name != "data":
                found[place.name] = (place.lstat().st_mode, b"")
                found |= {f"{place.name}/{name}": one for name, one in picture(place).items()}
        return found


async def until(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.005)


def code(result: dict[str, Any]) -> str:
    """Why a call did not run."""
    assert not result["ok"], result
    return str(result["error"]["code"])
