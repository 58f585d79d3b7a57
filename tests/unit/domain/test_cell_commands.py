"""What a cell's text says that it asks for."""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.cell_commands import (
    CellCommand,
    ChangeMemory,
    ChoosePrompt,
    Execute,
    ManageWorkflow,
    RestorePlan,
    SaveWorkflow,
    Say,
    StartInstructions,
    StartWorkflow,
    SwitchRole,
    commands_in,
    grants,
)


@pytest.mark.parametrize(
    ("source", "commands"),
    [
        ("%%act", [Execute(None)]),
        ("\n%%act --wait\n\n", [Execute(None)]),
        ("%%act -c sales -m small --policy rules.toml", [Execute("sales")]),
        ('%%act --context "my sales"\n', [Execute("my sales")]),
        ("%%act\nWrite a file\n", [Say(None, "Write a file")]),
        ("%%plan -c sales\nWrite a file", [Say("sales", "Write a file")]),
        ("%%ask actor\nGo on", [Say(None, "Go on")]),
        ("x = 1\n%cowork execute", [Execute(None)]),
        ("%cowork -c sales execute  ", [Execute("sales")]),
        ("%cowork role actor --confirm", [SwitchRole(None, "actor")]),
        ("%cowork prompt", []),
        ("%cowork -c a prompt ada", [ChoosePrompt("a", "ada")]),
        ("%cowork memory", []),
        ("%cowork memory --keep", [ChangeMemory("keep")]),
        ("%cowork memory --drop", [ChangeMemory("drop")]),
        ("%cowork memory --forget 'a b' c", [ChangeMemory("forget", "a b c")]),
        ("%cowork -c a role tester\n%cowork execute", [SwitchRole("a", "tester"), Execute(None)]),
        ("%cowork init", [StartInstructions()]),
        ("%cowork plan --restore 2", [RestorePlan(None, 2)]),
        ("%cowork -c a save clean file --replace", [SaveWorkflow("a", "clean")]),
        ("%cowork workflows delete clean", [ManageWorkflow("delete", "clean")]),
        ("cw.execute()", [Execute(None)]),
        ("done = Cowork('sales').execute()\ndone", [Execute("sales")]),
        ("cw = Cowork(context='sales')\ncw.plan('x')\ncw.execute()", [Execute("sales")]),
        ("%matplotlib inline\ncw.execute()", [Execute(None)]),
        ("Cowork('sales').ask(' Go on ', role='actor')", [Say("sales", "Go on")]),
        ("%cowork run clean file=a.csv", [StartWorkflow(None, "clean")]),
    ],
)
def test_what_a_cell_asks_for(source: str, commands: list[CellCommand]) -> None:
    assert commands_in(source) == commands


@pytest.mark.parametrize(
    "source",
    [
        "",
        "x = 1",
        "%%plan",
        "%%ask",
        "%%actor",
        "# %%act",
        "x = 1\n%%act",
        "%%act -c",
        '%%act -c "sales',
        "%%act --what\n",
        "%cowork",
        "%cowork plan",
        "%cowork init --show",
        "%cowork plan --restore",
        "%cowork plan --restore x",
        "%cowork plan --history 2",
        "%cowork workflows",
        "%cowork save",
        '%cowork -c "execute',
        "print('%cowork execute')",
        "cursor.execute('select 1')",
        "cw.execute",
        "cw.execute(",
        "execute()",
    ],
)
def test_a_cell_that_asks_for_nothing(source: str) -> None:
    assert commands_in(source) == []


@pytest.mark.parametrize(
    ("source", "role"),
    [
        ("%%act\nGo on", "actor"),
        ("%%plan\nGo on", "planner"),
        ("%%ask tester -c sales\nGo on", "tester"),
        ("cw.ask('Go on', role='designer')", "designer"),
        ("%%ask\nGo on", None),
    ],
)
def test_a_cell_asks_for_the_role_that_it_names_and_no_other(source: str, role: str | None) -> None:
    (said,) = commands_in(source)
    assert isinstance(said, Say)
    assert said.role == role
    wanted = [
        Say(said.conversation, "Go on", name) for name in ("planner", "actor", "tester", "designer")
    ]
    assert [one.role for one in wanted if grants(said, one)] == [role] * (role is not None)
    assert grants(said, Say(said.conversation, "Go on"))
    assert not grants(said, Say(said.conversation, "Go away", role))
