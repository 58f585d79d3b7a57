from __future__ import annotations

import json
from pathlib import Path

from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.team import agent_of
from cowork_jupyter.parts.external_agents.configured import ConfiguredAgents


def written(folder: Path, agents: object) -> ConfiguredAgents:
    place = folder / "settings.json"
    place.write_text(json.dumps({"agents": agents}))
    return ConfiguredAgents(place)


def test_what_cannot_be_an_agent_is_none(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        {
            "good": {"command": "run", "args": ["--acp"]},
            "off": {"command": "run", "disabled": True},
            "no command": {"command": "run"},
            "empty": {},
            "odd": ["run"],
            "": {"command": "run"},
        },
    )
    assert list(found.all()) == ["good"]
    assert written(tmp_path, ["good"]).all() == {}
    assert ConfiguredAgents().all() == {}


def test_what_it_may_change_is_listed_or_known(tmp_path: Path) -> None:
    found = written(
        tmp_path,
        {
            "listed": {"command": "claude-agent-acp", "writes": ["~/.mine", "/srv/agent/../state"]},
            "known": {"command": "npx", "args": ["-y", "@scope/codex-acp@1.2"]},
            "nothing": {"command": "codexer", "writes": []},
            "unknown": {"command": "codexer"},
            "home": {"command": "run", "writes": ["~"]},
            "all": {"command": "run", "writes": ["/"]},
            "relative": {"command": "run", "writes": ["state"]},
            "shared": {"command": "run", "writes": ["~/.config"]},
        },
    ).all()
    home = Path.home()
    assert {name: entry.state for name, entry in found.items()} == {
        "listed": {f"{home}/.mine", "/srv/state"},
        "known": {f"{home}/.codex"},
        "nothing": frozenset(),
        "unknown": frozenset(),
    }


def test_a_change_of_the_file_counts_at_once(tmp_path: Path) -> None:
    agents = written(tmp_path, {"one": {"command": "run"}})
    assert list(agents.all()) == ["one"]
    written(tmp_path, {"one": {"command": "run"}, "another": {"command": "run"}})
    assert list(agents.all()) == ["one", "another"]


def test_roles_are_told_what_they_can_do_with_them(tmp_path: Path) -> None:
    agents = written(tmp_path, {"one": {"command": "run"}})
    assert '"agent": "NAME"' in agents.facts(AgentRole.PLANNER)["external agents"]
    assert "delegate" in agents.facts(AgentRole.COMMANDER)["external agents"]
    assert agents.facts(AgentRole.ACTOR) == {}


def test_a_step_names_its_agent_among_its_tools() -> None:
    step = PlanStep(id="1", step_number=1, action="x", tools_needed=["update_file", "agent:one"])
    assert agent_of(step) == "one"
    assert agent_of(step.model_copy(update={"agent": "two"})) == "two"
    assert agent_of(step.model_copy(update={"tools_needed": ["update_file"]})) == ""
