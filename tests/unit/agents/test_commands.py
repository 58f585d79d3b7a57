"""Messages that begin with a slash."""

from __future__ import annotations

import pytest

from cowork_jupyter.agents.commands import (
    MessageRequest,
    PromptCall,
    WorkflowCall,
    is_callable,
    parse_call,
    parse_message,
    prompt_arguments,
)
from cowork_jupyter.agents.foreign import Prompt, PromptArgument
from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.workflows import WorkflowRegistry
from cowork_jupyter.workflows.shipped import SHIPPED


@pytest.fixture(scope="module")
def workflows() -> WorkflowRegistry:
    return WorkflowRegistry(SHIPPED)


def test_a_role_a_workflow_and_a_prompt(workflows: WorkflowRegistry) -> None:
    said = parse_message("/reviewer look at\ncell 3", list(AgentRole), workflows, [])
    assert said == MessageRequest("look at\ncell 3", role=AgentRole.REVIEWER)
    text = '/write_tests module="a b.py"'
    call = WorkflowCall("write_tests", {"module": "a b.py"}, AgentRole.PLANNER)
    said = parse_message(text, list(AgentRole), workflows, [])
    assert said == MessageRequest(text, workflow=call)
    text = "/github:review number=3 kind='a b'"
    said = parse_message(text, list(AgentRole), workflows, ["github"])
    assert said.prompt == PromptCall("github", "review", ("number=3", "kind=a b"))
    assert said.is_command


@pytest.mark.parametrize(
    "text", ["/data/x is empty", "plot a/b", " /reviewer", "/", "// no", "/a.csv", "1/2", "/x,"]
)
def test_paths_and_other_slashes_are_plain(workflows: WorkflowRegistry, text: str) -> None:
    said = parse_message(text, list(AgentRole), workflows, [])
    assert said == MessageRequest(text)
    assert not said.is_command


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("/reviewr look", "unknown_command", "Did you mean /reviewer"),
        ("/nonsense look", "unknown_command", "There is no command /nonsense."),
        ("/gihub:review", "unknown_command", "Did you mean /github:review"),
        ("/reviewer", "empty_command", "Write what you want after /reviewer."),
        ("/write_tests module", "bad_parameters", "name=value"),
        ('/write_tests "open', "bad_parameters", "No closing quotation"),
    ],
)
def test_what_is_wrong_is_said(
    workflows: WorkflowRegistry, text: str, code: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message.replace(".", r"\.")) as caught:
        parse_message(text, list(AgentRole), workflows, ["github"])
    assert caught.value.code == code


def test_a_skill(workflows: WorkflowRegistry) -> None:
    skills = lambda: ["joins", "reviewer"]  # noqa: E731
    said = parse_message("/joins add\ncities", list(AgentRole), workflows, [], skills)
    assert said == MessageRequest("add\ncities", skill="joins")
    assert parse_message("/reviewer look", list(AgentRole), workflows, [], skills).role
    with pytest.raises(InvalidInput, match="Write what you want after /joins"):
        parse_message("/joins", list(AgentRole), workflows, [], skills)
    with pytest.raises(InvalidInput, match="Did you mean /joins"):
        parse_message("/join cities", list(AgentRole), workflows, [], skills)


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("/joins add\ncities", ("joins", "add\ncities")),
        ("/joins", ("", "/joins")),
        ("/reviewer look", ("", "/reviewer look")),
        ("/data/x is empty", ("", "/data/x is empty")),
        ("add /joins", ("", "add /joins")),
    ],
)
def test_where_there_is_no_other_command(text: str, called: tuple[str, str]) -> None:
    said = parse_call(text, [], ["joins"])
    assert (said.skill, said.text) == called


REVIEW = Prompt(
    name="review",
    arguments=[
        PromptArgument(name="title", required=True),
        PromptArgument(name="kind"),
        PromptArgument(name="words"),
    ],
)


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["title=Emma"], {"title": "Emma"}),
        (["Emma", "short"], {"title": "Emma", "kind": "short"}),
        (["kind=short", "Emma", "100"], {"kind": "short", "title": "Emma", "words": "100"}),
        (["https://x.org/?a=1"], {"title": "https://x.org/?a=1"}),
        (["title=a=b"], {"title": "a=b"}),
    ],
)
def test_by_name_or_in_their_order(words: list[str], values: dict[str, str]) -> None:
    assert prompt_arguments(REVIEW, words, "lib:review") == values


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "/lib:review needs title."),
        (["kind=short"], "/lib:review needs title."),
        (["name=Emma"], "/lib:review has no argument 'name'."),
        (["a", "b", "c", "d"], "/lib:review does not take 'd'."),
    ],
)
def test_what_is_wrong_is_said_with_how_to_write_it(words: list[str], why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        prompt_arguments(REVIEW, words, "lib:review")
    how = 'Write it as: /lib:review title="…" [kind="…"] [words="…"]'
    assert caught.value.message == f"{why} {how}"
    assert caught.value.code == "bad_parameters"


def test_a_prompt_where_there_is_no_other_command() -> None:
    text = "/lib:review 'a b' kind=short"
    call = PromptCall("lib", "review", ("a b", "kind=short"))
    assert parse_call(text, ["lib"], []) == MessageRequest(text, prompt=call)
    others = [("/lib:review a", "other"), ("see /lib:review", "lib"), ("/lib review", "lib")]
    for text, server in others:
        assert parse_call(text, [server], []) == MessageRequest(text)


def test_only_names_that_can_be_typed_are_offered() -> None:
    assert is_callable("lib:review")
    assert not is_callable("lib:re view")
    assert not is_callable("my lib:review")
