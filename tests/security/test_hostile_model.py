"""A model that wants to do harm: floods, traps for parsers, plans that say too much."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.domain.contexts import JobStatus
from cowork_jupyter.domain.messages import MessageType
from cowork_jupyter.domain.roles import AgentRole
from tests.quick import each
from tests.scripted import Scripted, call, calls, plan, text

from .house import House, code

pytestmark = pytest.mark.asyncio

MEGABYTES = pytest.mark.parametrize("megabytes", each(2, [1, 10]))
DELETE = json.dumps({"tool": "delete_file", "parameters": {"path": "precious.txt"}})


def whole(words: str) -> Scripted:
    """A long reply in few pieces, so that only its length is on trial."""
    return Scripted(
        text=words, tokens=[words[at : at + 500_000] for at in range(0, len(words), 500_000)]
    )


@MEGABYTES
async def test_a_reply_of_megabytes(house: House, megabytes: int) -> None:
    job = await house.tell(whole("x" * megabytes * 1_000_000), role=AgentRole.PLANNER)
    assert job.status.is_final
    assert house.results() == []


@MEGABYTES
async def test_a_call_after_megabytes_of_prose(house: House, megabytes: int) -> None:
    prose = "word " * 200_000 * megabytes
    await house.tell(whole(prose + "\n" + DELETE), role=AgentRole.PLANNER)
    assert all(not one["ok"] for one in house.results())


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"tools":[', "```json\n{"])
async def test_json_that_is_nested_too_deeply(house: House, opening: str) -> None:
    job = await house.tell(whole(opening * 50_000), role=AgentRole.PLANNER)
    assert job.status.is_final


async def test_parameters_that_are_nested_too_deeply(house: House) -> None:
    depth = 5000
    value = '{"a":' * depth + "1" + "}" * depth
    reply = f'{{"tool": "delete_file", "parameters": {value}}}'
    await house.tell(whole(reply))
    assert all(not one["ok"] for one in house.results())


async def test_thousands_of_calls_in_one_reply(house: House) -> None:
    several = [("delete_file", {"path": "precious.txt"})] * 2000
    await house.tell(calls(*several))
    assert house.results() == []


async def test_many_questions_in_one_reply(house: House) -> None:
    """All are shown at once, to be answered at once, and none runs before."""
    house.asks_for_real()
    several = [("create_file", {"path": f"{n}.txt"}) for n in range(16)]
    job_id = house.begin(calls(*several))
    await house.pending()
    assert len(house.service.requests.pending(house.context, "permission")) == 16
    await house.service.jobs.cancel(job_id)
    assert house.service.requests.pending(house.context, "permission") == []


ODD: dict[str, Any] = {
    "parameters that are no object": {"tool": "delete_file", "parameters": "precious.txt"},
    "parameters that are a list": {"tool": "delete_file", "parameters": ["precious.txt"]},
    "a tool that is no text": {"tool": ["delete_file"], "parameters": {"path": "precious.txt"}},
    "a path that is a list": {"tool": "delete_file", "parameters": {"path": ["precious.txt"]}},
    "a path that is an object": {"tool": "delete_file", "parameters": {"path": {"a": 1}}},
    "parameters too many": {"tool": "read_file", "parameters": {"path": "a.py", "force": True}},
    "a name with dots": {"tool": "os.system", "parameters": {"command": "rm precious.txt"}},
    "a name of Python": {"tool": "__class__", "parameters": {}},
    "no name": {"tool": "", "parameters": {}},
    "a very long name": {"tool": "x" * 100_000, "parameters": {}},
    "broken characters": {"tool": "delete_file", "parameters": {"path": "precious\ud800.txt"}},
}


@pytest.mark.parametrize("reply", ODD.values(), ids=ODD)
async def test_a_call_that_makes_no_sense(house: House, reply: Any) -> None:
    house.says_yes()
    job = await house.tell(text(json.dumps(reply)))
    assert job.status.is_final
    assert all(not one["ok"] for one in house.results())


async def test_native_arguments_that_are_no_json(house: House) -> None:
    house.says_yes()
    for arguments in ("rm precious.txt", '{"path": "precious.txt"', "[1]", "null", '"x"'):
        await house.tell(Scripted(tool_calls=[{"name": "delete_file", "arguments": arguments}]))
    assert all(not one["ok"] for one in house.results())


async def test_the_same_key_twice(house: House) -> None:
    """Whichever of them counts: what is decided about is what runs."""
    reply = '{"tool": "read_file", "tool": "delete_file", "parameters": {"path": "precious.txt"}}'
    await house.tell(text(reply))
    for one in house.results():
        assert one["tool"] == "read_file" or code(one) == "denied_by_user"


async def test_a_card_with_script_and_html(house: House) -> None:
    """It is kept as it is, as data: whoever draws it draws text."""
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>[x](javascript:alert(3))"
    steps = {"action": evil, "reason": evil, "files": [evil], "tools_needed": [evil]}
    await house.tell(plan(evil, steps), role=AgentRole.PLANNER)
    stored = house.service.plans.find(house.context)
    assert stored is not None
    assert stored.plan.goal == evil
    assert stored.plan.steps[0].action == evil


async def test_a_request_whose_text_hides_its_end(house: House) -> None:
    command = "ls \u202e;txt.suoicerp mr\u2066 #\r\x1b[2K"
    await house.run(command)
    (request,) = house.user.asked
    for hidden in ("\u202e", "\u2066", "\r", "\x1b"):
        assert hidden not in request.shown.text + request.resource + " ".join(request.why)
    assert "⟨U+202E⟩" in request.shown.text


# Plans that say too much

EVERY_TOOL = [
    *("create_file", "update_file", "delete_file", "execute_command", "*"),
    *("read_files", "write_files", "create_files", "delete_files", "execute_commands"),
]


@pytest.mark.parametrize(
    "files",
    [["*"], ["**"], ["/"], ["."], ["../"], ["../outside/precious"], ["{outside}"], ["~"], []],
    ids=str,
)
async def test_a_plan_that_names_everything(house: House, files: list[str]) -> None:
    """A plan reaches its files in the workspace; not outside, nothing protected, no deleting."""
    named = [one.format(outside=house.outside) for one in files]
    replies = [
        call("update_file", path="../outside/precious", content="taken"),
        call("update_file", path=str(house.outside / "precious"), content="taken"),
        call("create_file", path="../outside/loot", content="taken"),
        call("create_file", path=".git/hooks/pre-commit", content="taken"),
        call("update_file", path=".env", content="taken"),
        call("delete_file", path="precious.txt"),
        call("execute_command", command="rm precious.txt"),
        call("execute_command", command=f"echo x > {house.outside}/precious"),
        call("execute_command", command="curl http://127.0.0.1:9/"),
        call("execute_command", command="git push"),
        call("execute_command", command="pip install x"),
        call("read_file", path=".env"),
    ]
    await house.execute({"tools_needed": EVERY_TOOL, "files": named}, replies=replies)
    results = house.results()
    assert len(results) == len(replies)
    assert not any(one["ok"] for one in results)


async def test_a_step_that_uses_the_files_of_another(house: House) -> None:
    first = {"id": "1", "tools_needed": ["read_file"], "files": ["a.py"]}
    second = {"id": "2", "tools_needed": ["update_file"], "files": ["precious.txt"]}
    taking = call("update_file", path="precious.txt", content="taken")
    await house.execute(first, second, replies=[taking])
    assert code(house.results()[0]) == "denied_by_user"


async def test_a_plan_that_came_during_the_work(house: House) -> None:
    """An actor that writes itself a better plan has written a text."""
    better = plan("g", {"action": "x", "tools_needed": EVERY_TOOL, "files": ["precious.txt"]})
    taking = call("update_file", path="precious.txt", content="taken")
    step = {"tools_needed": ["read_file"], "files": ["a.py"]}
    await house.execute(step, replies=[better, taking, taking])
    assert all(not one["ok"] for one in house.results())


async def test_a_command_in_a_plan_that_gets_no_network(house: House) -> None:
    """The plan covers running a program; the network is another thing, and always asked about."""
    step = {"tools_needed": ["execute_command"], "files": []}
    code_ = "import socket; socket.create_connection(('127.0.0.1', %d), 5); print('CONNEC'+'TED')"
    port = int(house.model.base_url.rpartition(":")[2].partition("/")[0])
    command = f'python3 -c "{code_ % port}"'
    await house.execute(step, replies=[call("execute_command", command=command)])
    assert "CONNECTED" not in house.sent_to_model()


async def test_a_delegate_under_an_approved_plan(house: House) -> None:
    step = {"tools_needed": ["delegate", *EVERY_TOOL], "files": ["*"]}
    task = call("delegate", role="actor", task="Delete it.")
    await house.execute(step, replies=[task])
    assert code(house.results()[0]) == "unknown_tool"


async def test_a_job_that_goes_on_for_ever(house: House) -> None:
    """The same call again and again ends by itself, and with it what it costs."""
    await house.service.close()
    house.start(interactive=False)
    house.script.extend([call("delete_file", path="precious.txt")] * 200)
    sent = house.service.send_message(house.context, "Go.", AgentRole.ACTOR)
    job = await house.ended(str(sent.job_id))
    house.script.clear()
    assert job.status in (JobStatus.FAILED, JobStatus.COMPLETED)
    assert len(house.results()) < 50
    kinds = {one.message_type for one in house.service.conversations.messages(house.context).items}
    assert MessageType.TOOL_RESULT in kinds
