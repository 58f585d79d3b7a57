"""The widget that carries every card, and the requests that come from it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import pytest

from cowork_jupyter.domain.errors import Conflict, CoworkError
from cowork_jupyter.hosts.kernel.card import STATIC, Card
from cowork_jupyter.hosts.kernel.link import Deliver, Policy

SECONDS = 60


class FakeLink:
    """Answers what the tests ask."""

    kind: Literal["kernel"] = "kernel"
    is_attended = False

    def __init__(self) -> None:
        self.deliver: Deliver | None = None
        self.stopped = threading.Event()

    def mark_attended(self) -> None:
        self.is_attended = True

    def cell_waiting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def request(self, method: str, path: str, body: Any = None) -> Any:
        match path:
            case "busy":
                raise Conflict("A job is running.", code="job_running")
            case "elsewhere":
                raise CoworkError("It is late.", code="late", details={"status": 418})
            case "broken":
                raise ZeroDivisionError("oops")
            case "file":
                return b"a line\n"
            case "context/c/plan/execute":
                return {"waiting": "approval"}
        return {"asked": [method, path, body]}

    def send(self, context_id: str, message: dict[str, Any], policy: Policy | None) -> str:
        raise NotImplementedError

    def execute(self, context_id: str, approval: dict[str, Any], policy: Policy | None) -> str:
        raise NotImplementedError

    def subscribe(self, context_id: str, after: int, deliver: Deliver) -> Callable[[], None]:
        self.deliver = deliver
        deliver({"seq": after + 1, "context_id": context_id})
        return self.stopped.set


@pytest.fixture
def link() -> FakeLink:
    return FakeLink()


@pytest.fixture
def card(link: FakeLink) -> Iterator[Card]:
    made = Card({"kind": "status"}, link)
    yield made
    made.close()


@pytest.fixture
def sent(card: Card, monkeypatch: pytest.MonkeyPatch) -> queue.Queue[Any]:
    """What the card's script gets, from whichever thread."""
    messages: queue.Queue[Any] = queue.Queue()
    monkeypatch.setattr(card, "send", messages.put)
    return messages


def ask(card: Card, **request: Any) -> None:
    card._handle_custom_msg(request, [])


def test_a_button_that_only_the_kernel_hears_approves_nothing_and_says_where_to_click(
    card: Card, sent: queue.Queue[Any]
) -> None:
    ask(card, id=1, method="POST", path="context/c/plan/execute", body={"revision": 1})
    answer = sent.get(timeout=SECONDS)
    assert answer["status"] == 403
    assert "Click it in JupyterLab" in answer["body"]["error"]["message"]


def test_a_request_is_answered_under_its_number(card: Card, sent: queue.Queue[Any]) -> None:
    ask(card, id=7, method="POST", path="context", body={"title": "x"})
    asked = ["POST", "context", {"title": "x"}]
    assert sent.get(timeout=SECONDS) == {"id": 7, "status": 200, "body": {"asked": asked}}


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [("busy", 409, "job_running"), ("elsewhere", 418, "late"), ("broken", 500, "internal")],
)
def test_a_failure_is_answered_as_the_server_would(
    card: Card, sent: queue.Queue[Any], path: str, status: int, code: str
) -> None:
    ask(card, id=1, method="GET", path=path, body=None)
    answer = sent.get(timeout=SECONDS)
    assert (answer["id"], answer["status"]) == (1, status)
    assert answer["body"]["error"]["code"] == code


def test_a_file_comes_as_text(card: Card, sent: queue.Queue[Any]) -> None:
    ask(card, id=1, method="GET", path="file", body=None)
    assert sent.get(timeout=SECONDS)["body"] == "a line\n"


def test_a_subscription_brings_events_until_it_is_ended(
    card: Card, sent: queue.Queue[Any], link: FakeLink
) -> None:
    ask(card, id=3, method="SUBSCRIBE", path="context/ctx_1/events", body={"after": 4})
    found = [sent.get(timeout=SECONDS), sent.get(timeout=SECONDS)]
    assert {"id": 3, "status": 200, "body": None} in found
    assert {"subscription": 3, "event": {"seq": 5, "context_id": "ctx_1"}} in found
    ask(card, id=4, method="UNSUBSCRIBE", path="", body={"subscription": 3})
    assert sent.get(timeout=SECONDS) == {"id": 4, "status": 200, "body": None}
    assert link.stopped.is_set()


def test_a_card_that_is_gone_listens_no_more(
    card: Card, sent: queue.Queue[Any], link: FakeLink
) -> None:
    ask(card, id=3, method="SUBSCRIBE", path="context/ctx_1/events", body=None)
    sent.get(timeout=SECONDS)
    sent.get(timeout=SECONDS)
    card.close()
    assert link.stopped.is_set()


def test_all_cards_share_one_small_script() -> None:
    assert (STATIC / "card.js").stat().st_size <= 58_500
