"""The network is a permission of its own. What counts is who knocked at a listener of ours."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from cowork_jupyter.agents.ask.user import Ruling
from cowork_jupyter.domain.roles import AgentRole
from tests.scripted import call

from .cage import WAYS
from .house import House, code

pytestmark = pytest.mark.asyncio

PYTHON = sys.executable
SEND = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as there:
    there.sendall(b"GET /secret HTTP/1.0\\r\\n\\r\\n")
print("sent")
"""


class Listener(ThreadingHTTPServer):
    """Somebody outside, who remembers that there was a call."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BaseHTTPRequestHandler)
        self.calls = 0

    def verify_request(self, request: object, client_address: object) -> bool:
        self.calls += 1
        return True

    def was_reached(self) -> bool:
        """Since it was last asked."""
        calls, self.calls = self.calls, 0
        return calls > 0


@pytest.fixture
def outside() -> Iterator[Listener]:
    with Listener() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=WAYS, autouse=True)
def way(request: pytest.FixtureRequest, house: House) -> None:
    """Each way of confining that this machine has, for the commands of the house."""
    house.confine(str(request.param))
    (house.root / "send.py").write_text(SEND)
    house.look()


async def test_a_rule_for_a_command_does_not_give_it_the_network(
    house: House, outside: Listener
) -> None:
    house.rule("allow", f"execute_command({PYTHON})")
    result = await house.run(f"{PYTHON} send.py {outside.server_port}")
    assert result["facts"]["exit_code"] != 0
    assert not outside.was_reached()
    assert house.user.asked == []
    assert (
        "There was no network access. Set needs_network to ask the user for it."
        in house.sent_to_model()
    )


async def test_an_exact_rule_that_names_the_address_does_not_either(
    house: House, outside: Listener
) -> None:
    line = f"git ls-remote http://127.0.0.1:{outside.server_port}/x"
    house.rule("allow", f"execute_command(={line})")
    assert code(await house.run(line)) == "denied_by_user"
    assert not outside.was_reached()
    (request,) = house.user.asked
    assert request.why == ["Uses the network: 127.0.0.1."]
    assert request.rules == ["network(127.0.0.1)"]


async def test_a_rule_that_allows_everything_does_not_either(
    house: House, outside: Listener
) -> None:
    house.allow_everything()
    await house.run(f"{PYTHON} send.py {outside.server_port}")
    result = await house.run(f"git ls-remote http://127.0.0.1:{outside.server_port}/x")
    assert code(result) == "denied_by_user"
    assert not outside.was_reached()


async def test_approving_a_command_does_not_give_it_what_was_not_shown(
    house: House, outside: Listener
) -> None:
    user = house.says_yes()
    result = await house.run(f"{PYTHON} send.py {outside.server_port}")
    assert [one.why for one in user.asked] == [
        [f"It runs {PYTHON} send.py {outside.server_port}; nothing allows that yet."]
    ]
    assert result["facts"]["exit_code"] != 0
    assert not outside.was_reached()


async def test_approving_a_command_that_shows_the_network_gives_it_for_that_call(
    house: House, outside: Listener
) -> None:
    user = house.says_yes()
    line = f"{PYTHON} send.py {outside.server_port}"
    await house.attempt("execute_command", command=line, needs_network=True)
    assert user.asked[0].why[-1] == "Uses the network: hosts it does not name."
    assert user.asked[0].rules == []
    assert outside.was_reached()
    await house.run(line)
    assert not outside.was_reached()


async def test_a_rule_for_the_host_gives_it_to_commands_that_are_allowed(
    house: House, outside: Listener
) -> None:
    line = f"git ls-remote http://127.0.0.1:{outside.server_port}/x"
    house.rule("allow", "network(127.0.0.1)")
    assert code(await house.run(line)) == "denied_by_user"
    assert not outside.was_reached()
    house.rule("allow", "execute_command(git ls-remote)")
    await house.run(line)
    assert outside.was_reached()
    assert len(house.user.asked) == 1
    await house.run(f"{PYTHON} send.py {outside.server_port}")
    assert not outside.was_reached()


async def test_a_rule_for_another_host_denies_and_gives_nothing(
    house: House, outside: Listener
) -> None:
    line = f"git ls-remote http://127.0.0.1:{outside.server_port}/x"
    for rule in ("network(example.org)", "execute_command(git ls-remote)"):
        house.rule("allow", rule)
    assert code(await house.run(line)) == "denied_by_user"
    house.rule("deny", "network(127.0.0.1)")
    house.says_yes()
    assert code(await house.run(line)) == "denied"
    assert not outside.was_reached()


async def test_always_allow_shows_and_writes_both_rules(house: House, outside: Listener) -> None:
    house.asks_for_real()
    line = f"git ls-remote http://127.0.0.1:{outside.server_port}/x"
    job = house.begin(call("execute_command", command=line))
    request = await house.pending()
    both = [f"execute_command(={line})", "network(127.0.0.1)"]
    assert request.data["rules"] == both
    assert "Uses the network: 127.0.0.1." in request.data["why"]
    house.service.requests.resolve_all([request.id], Ruling(decision="allow", scope="session"))
    await house.ended(job)
    assert outside.was_reached()
    assert [rule.text for rule in house.service.rules.all()] == both
    await house.run(line)
    assert outside.was_reached()
    assert house.service.requests.pending(house.context, "permission") == []


async def test_a_tester_has_none_whatever_the_rules_say(house: House, outside: Listener) -> None:
    house.allow_everything()
    house.rule("allow", "network")
    line = f"{PYTHON} send.py {outside.server_port}"
    await house.attempt("execute_command", AgentRole.TESTER, command=line, needs_network=True)
    assert not outside.was_reached()
