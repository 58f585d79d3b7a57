"""Commands in code for a kernel, as far as they can be seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.calls import decompose
from cowork_jupyter.policy.decision import DecisionContext, Grant, decide_call
from cowork_jupyter.policy.kernel_code import UNSEEN, commands_in
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rules import Effect, RuleSet, Scope, read_rule

GROUNDS = AnchorDirs("/work", "/home/ada")


@pytest.mark.parametrize(
    ("code", "commands"),
    [
        ("x = 1", []),
        ("!ls -la", ["ls -la"]),
        ("if x:\n    !rm y", ["rm y"]),
        ("files = !ls", ["ls"]),
        ("!!ls", ["ls"]),
        ("%sx ls", ["ls"]),
        ("%system ls", ["ls"]),
        ("%pip install x", ["pip install x"]),
        ("%%bash\nls\nrm x", ["ls\nrm x"]),
        ("%%script bash\nrm x", ["rm x"]),
        ("import os\nos.system('rm x')", ["rm x"]),
        ("from os import system as s\ns('rm x')", ["rm x"]),
        ("import subprocess as sp\nsp.run(['rm', 'a b'])", ["rm 'a b'"]),
        ("subprocess.run(f'rm {x}', shell=True)", [UNSEEN]),
        ("get_ipython().system('rm x')", ["rm x"]),
        ("get_ipython().run_cell_magic('bash', '', 'rm x')", ["rm x"]),
        ("a != b", []),
        ("'!ls'", []),
        ("print('os.system')", []),
        ("def broken(\nos.system(x)", [UNSEEN]),
    ],
)
def test_what_people_and_models_write_is_seen(code: str, commands: list[str]) -> None:
    assert commands_in(code) == commands


@given(st.text(alphabet="!%\n ab()=.'\"os.system[]{}", max_size=80))
def test_no_code_breaks_it(code: str) -> None:
    assert isinstance(commands_in(code), list)


def decided(code: str, *rules: Any, grant: Grant | None = None) -> Effect:
    needed = {Permission.EXECUTE_COMMANDS}
    call = decompose("run_code", needed, {"code": code}, GROUNDS)
    return decide_call(
        AgentRole.ACTOR, call, DecisionContext(GROUNDS, RuleSet(rules), grant, confined=True)
    ).effect


def test_kernel_code_asks_unless_planned_and_its_commands_always() -> None:
    step = PlanStep(id="1", step_number=1, action="do", tools_needed=["run_code"])
    grant = Grant.of(step)
    assert decided("x = 1") is Effect.ASK
    assert decided("x = 1", grant=grant) is Effect.ALLOW
    assert decided("!ls", grant=grant) is Effect.ASK
    deny = read_rule(Effect.DENY, "execute_command(rm)", Scope.SESSION)
    assert decided("!rm x", deny, grant=grant) is Effect.DENY
    assert decided("import os; os.system('env rm x')", deny, grant=grant) is Effect.DENY
    allow = read_rule(Effect.ALLOW, "execute_command(ls)", Scope.SESSION)
    assert decided("!ls", allow, grant=grant) is Effect.ALLOW


def test_kernel_code_of_a_read_only_role_is_denied() -> None:
    everything = RuleSet([read_rule(Effect.ALLOW, "*", Scope.SESSION)])
    for tool, parameters in (("run_cell", {"cell_id": "c"}), ("run_code", {"code": "1"})):
        call = decompose(tool, {Permission.EXECUTE_COMMANDS}, parameters, GROUNDS)
        around = DecisionContext(GROUNDS, everything, confined=True)
        denied = decide_call(AgentRole.TESTER, call, around)
        assert denied.effect is Effect.DENY
        assert denied.because == [
            "Code of the tester must not write, and nothing in a kernel prevents that."
        ]


def test_every_reading_role_may_run_scratch_code() -> None:
    call = decompose("run_code", {Permission.READ_FILES}, {"code": "1"}, GROUNDS)
    around = DecisionContext(GROUNDS, RuleSet(), confined=True)
    assert decide_call(AgentRole.TESTER, call, around).effect is Effect.ALLOW


def test_unseen_command_asks_even_if_all_is_allowed() -> None:
    everything = read_rule(Effect.ALLOW, "*", Scope.SESSION)
    assert decided("import subprocess as p; p.run(['ls'])", everything) is Effect.ALLOW
    assert decided("import subprocess as p; p.run(x, shell=True)", everything) is Effect.ASK
