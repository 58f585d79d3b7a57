"""One random user: conversations, messages, plans and decisions, over HTTP and a page's socket."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    websocket_connect,
)

from .house import HEADERS, House
from .script import KINDS
from .seen import Seen, missing

PATIENCE = 120.0
PAUSE = 0.4
"""Seconds between two actions of a user, on average."""
CONVERSATIONS = 6
"""How many a user keeps."""
ROLES = ("planner", "actor", "reviewer")
REFUSED = (400, 403, 404, 409, 422)
"""Random users ask for what cannot be done now; that is said so."""
_numbers = count(1)


class Away(Exception):
    """The server is gone, or will not do this: the user tries something else."""


@dataclass
class Conversation:
    id: str
    seen: Seen = field(default_factory=Seen)
    is_deleted: bool = False
    unsure: bool = False
    """Whether the server died while it was being deleted or brought back."""


@dataclass
class Diary:
    """What all users have done and met."""

    actions: Counter[str] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)
    events: int = 0

    def blame(self, *problems: str) -> None:
        self.problems.update(problem[:500] for problem in problems)


class User:
    """Acts until told to stop; every decision comes from the seed."""

    def __init__(self, house: House, diary: Diary, seed: str) -> None:
        self.conversations: list[Conversation] = []
        self._house, self._diary = house, diary
        self._chance = random.Random(seed)
        self._client = httpx.AsyncClient(headers=HEADERS, timeout=PATIENCE)
        self._page: WebSocketClientConnection | None = None
        self._following: dict[int, Conversation] = {}
        self._listening: asyncio.Task[None] | None = None

    async def live(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            await self._house.serving.wait()
            names, weights = zip(*_ACTIONS.items(), strict=True)
            (action,) = self._chance.choices(names, weights) if self._open() else [User.begin]
            self._diary.actions[action.__name__] += 1
            with suppress(Away):
                await action(self)
            await asyncio.sleep(self._chance.expovariate(1 / PAUSE))

    async def catch_up(self) -> None:
        """Follow every conversation to the end of its record, over a new page."""
        self._drop_page()
        if not self._open():
            return
        await self._follow(self._open()[0])
        give_up = time.monotonic() + PATIENCE
        for one in self._open():
            last = (await self.events(one) or [{"seq": 0}])[-1]["seq"]
            while one.seen.last < last and time.monotonic() < give_up:
                await asyncio.sleep(0.05)
            if one.seen.last < last:
                self._diary.blame(f"a page was shown {one.seen.last} of {last} events")

    async def compare(self) -> None:
        """Everything that this user was ever shown is in the record."""
        for one in self._open():
            try:
                self._diary.blame(*missing(one.seen.copy(), await self.events(one)))
            except Away as error:
                if not (one.unsure and error.args == ("not_found",)):
                    self._diary.blame(f"a conversation is gone: {error!r}")
                one.is_deleted = True

    async def leave(self) -> None:
        self._drop_page()
        await self._client.aclose()

    # Asking

    async def call(self, method: str, address: str, body: Any = None) -> Any:
        """The answer; `Away` if there is none that helps."""
        if not self._house.is_up:
            raise Away
        life, began = len(self._house.lives), time.monotonic()
        what = f"{method} {address.split('/')[0]}"
        try:
            answer = await self._client.request(method, self._house.server.api + address, json=body)
        except httpx.TransportError as error:
            if self._house.is_up and len(self._house.lives) == life:
                self._diary.blame(f"no answer to {what}: {error!r}")
            raise Away from error
        self._diary.answers[answer.status_code] += 1
        if answer.is_success:
            return answer.json() if answer.content else None
        code = answer.json()["error"]["code"]
        by_disk = answer.status_code == 503 and self._house.was_full(began)
        if answer.status_code not in REFUSED and not by_disk:
            self._diary.blame(f"{what} was answered {answer.status_code} {code}: {answer.text}")
        raise Away(code)

    async def events(self, conversation: Conversation) -> list[dict[str, Any]]:
        """All of them, as after a reload."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["seq"] if found else 0
            address = f"context/{conversation.id}/events?after={after}&timeout=0"
            page = (await self.call("GET", address))["events"]
            if not page:
                return found
            found += page

    # What users do

    async def begin(self) -> None:
        if len(self._open()) >= CONVERSATIONS:
            await self.delete()
            return
        made = await self.call("POST", "context", {"role": self._chance.choice(ROLES[:2])})
        self.conversations.append(Conversation(made["id"]))
        await self._follow(self.conversations[-1])

    async def say(self) -> None:
        kind = self._chance.choice(KINDS)
        content = f"Please [[{kind} {next(_numbers)}]]"
        role = "planner" if kind == "plan" else "actor"
        await self.call("POST", f"{self._place()}/messages", {"content": content, "role": role})

    async def queue(self) -> None:
        await self.call("POST", f"{self._place()}/queue", {"content": "And briefly, please."})

    async def edit_plan(self) -> None:
        place = self._place()
        found = await self.call("GET", f"{place}/plan")
        if plan := found["plan"]:
            plan["steps"][0]["action"] += " carefully"
            revision = found["revision"] - (self._chance.random() < 0.1)  # sometimes an old one
            await self.call("PUT", f"{place}/plan", {"plan": plan, "revision": revision})

    async def execute_plan(self) -> None:
        place = self._place()
        found = await self.call("GET", f"{place}/plan")
        if found["plan"]:
            await self.call("POST", f"{place}/plan/execute", {"revision": found["revision"]})

    async def answer(self) -> None:
        for asked in (await self.call("GET", f"{self._place()}/questions"))["items"]:
            value = self._chance.choice(asked["options"])["value"] if asked["options"] else "a"
            await self.call("POST", f"questions/{asked['id']}/answer", {"value": value})

    async def decide(self) -> None:
        for asked in (await self.call("GET", f"{self._place()}/permissions"))["items"]:
            decision = self._chance.choice(["allow", "allow", "allow", "deny"])
            await self.call("POST", f"permissions/{asked['id']}", {"decision": decision})

    async def cancel(self) -> None:
        if jobs := await self._jobs("running", "waiting"):
            await self.call("POST", f"jobs/{jobs[0]['id']}/cancel")

    async def resume(self) -> None:
        if jobs := await self._jobs("interrupted", "cancelled", "failed"):
            await self.call("POST", f"jobs/{jobs[-1]['id']}/resume", {})

    async def switch_role(self) -> None:
        body = {"role": self._chance.choice(ROLES), "confirm": self._chance.random() < 0.5}
        await self.call("POST", f"{self._place()}/role", body)

    async def rename(self) -> None:
        change = {"title": f"Talk {next(_numbers)}", "pinned": self._chance.random() < 0.3}
        await self.call("PUT", self._place(), change)

    async def delete(self) -> None:
        conversation = self._one()
        await self._change(conversation, "DELETE", "", is_deleted=True)

    async def restore(self) -> None:
        if deleted := [one for one in self.conversations if one.is_deleted]:
            conversation = self._chance.choice(deleted)
            await self._change(conversation, "POST", "/restore", is_deleted=False)
            await self._follow(conversation)

    async def roll_back(self) -> None:
        checkpoints = (await self.call("GET", f"{self._place()}/checkpoints"))["items"]
        if checkpoints:
            await self.call("POST", f"checkpoints/{checkpoints[-1]['id']}/rollback", {})

    async def look(self) -> None:
        """At what a panel and a card show."""
        place = self._place()
        for address in ("context?q=word3", "inbox", f"{place}/messages", f"{place}/audit"):
            await self.call("GET", address)
        for job in (await self._jobs())[-2:]:
            await self.call("GET", f"jobs/{job['id']}/card?whole=true")

    async def reload(self) -> None:
        conversation = self._one()
        shown = conversation.seen.copy()
        self._diary.blame(*missing(shown, await self.events(conversation)))

    async def reconnect(self) -> None:
        """In the middle of whatever streams."""
        self._drop_page()
        if self._open():
            await self._follow(self._one())

    # How

    def _open(self) -> list[Conversation]:
        return [one for one in self.conversations if not one.is_deleted]

    def _one(self) -> Conversation:
        if not self._open():
            raise Away
        return self._chance.choice(self._open())

    def _place(self) -> str:
        return f"context/{self._one().id}"

    async def _jobs(self, *statuses: str) -> list[dict[str, Any]]:
        jobs = (await self.call("GET", f"{self._place()}/jobs"))["items"]
        return [job for job in jobs if not statuses or job["status"] in statuses]

    async def _change(
        self, conversation: Conversation, method: str, what: str, *, is_deleted: bool
    ) -> None:
        conversation.unsure = True
        try:
            await self.call(method, f"context/{conversation.id}{what}")
        except Away as error:
            # An answer, if only a refusal, says how it stands: as it was, or gone for good.
            if error.args:
                conversation.unsure = False
                conversation.is_deleted |= error.args[0] == "not_found"
            raise
        conversation.unsure, conversation.is_deleted = False, is_deleted

    async def _follow(self, conversation: Conversation) -> None:
        """Over the page's socket, from where this user was; with all others if it is a new one."""
        wanted = [conversation] if self._page else self._open()
        if not self._page:
            url = f"{self._house.server.api.replace('http', 'ws', 1)}ws"
            try:
                self._page = await websocket_connect(HTTPRequest(url, headers=HEADERS))
            except (OSError, HTTPClientError) as error:
                raise Away from error
            self._listening = asyncio.ensure_future(self._listen(self._page))
        for one in wanted:
            number = next(_numbers)
            self._following = {
                known: other for known, other in self._following.items() if other is not one
            }
            self._following[number] = one
            frame = {"type": "subscribe", "subscription": number, "context_id": one.id}
            try:
                await self._page.write_message(json.dumps({**frame, "after": one.seen.last}))
            except WebSocketClosedError as error:
                raise Away from error

    async def _listen(self, page: WebSocketClientConnection) -> None:
        while (message := await page.read_message()) is not None:
            frame = json.loads(message)
            if frame["type"] == "event" and (one := self._following.get(frame["subscription"])):
                self._diary.events += 1
                if wrong := one.seen.take(frame["event"]):
                    self._diary.blame(f"over the socket, {wrong}")
        page.close()
        if self._page is page:
            self._page = None
            self._following.clear()

    def _drop_page(self) -> None:
        if self._page:
            self._page.close()
        if self._listening:
            self._listening.cancel()
        self._page = None
        self._following.clear()


_ACTIONS: dict[Callable[[User], Awaitable[None]], int] = {
    User.begin: 6,
    User.say: 30,
    User.queue: 2,
    User.edit_plan: 4,
    User.execute_plan: 8,
    User.answer: 12,
    User.decide: 15,
    User.cancel: 6,
    User.resume: 6,
    User.switch_role: 3,
    User.rename: 2,
    User.delete: 2,
    User.restore: 2,
    User.roll_back: 2,
    User.look: 6,
    User.reload: 4,
    User.reconnect: 5,
}
