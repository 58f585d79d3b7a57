"""What deciding about a command costs."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.calls import decompose
from cowork_jupyter.policy.decision import DecisionContext, decide_call
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rules import Effect, RuleSet, Scope, read_rule
from cowork_jupyter.policy.shell import analyse
from cowork_jupyter.tools.registry import default_tools

from .rows import Row

ROUNDS = 300
TYPICAL = {
    "one command": "git status --short",
    "a pipe": 'grep -rn "def main" --include="*.py" src | sort | head -20',
    "a script": "cd src && python -m pytest tests/unit -q -x 2>&1 | tail -20; echo $?",
}


def measure() -> Iterator[Row]:
    analyse("true")  # loads the parser
    for name, text in TYPICAL.items():
        fresh = (f"{text} # {number}" for number in itertools.count())
        micros = median_micros(lambda: analyse(next(fresh)))  # noqa: B023
        yield Row(
            f"shell analysis of {name}", micros, "µs", 1000, f"not remembered, {ROUNDS} times"
        )
    known = TYPICAL["a script"]
    yield Row(
        "shell analysis of a line seen before",
        median_micros(lambda: analyse(known)),
        "µs",
        5,
        f"median of {ROUNDS}",
    )
    yield from decisions()


def decisions() -> Iterator[Row]:
    """One decision with 500 rules, of the kinds that people have."""
    anchors = AnchorDirs.of(Path("/srv/project"))
    texts = [
        *(f"update_file(/src/part_{number}/*.py)" for number in range(100)),
        *(f"read_file(/data/{number}/raw.csv)" for number in range(150)),
        *(f"execute_command(git sub{number} --flag)" for number in range(150)),
        *(f"execute_command(=make target-{number} VAR=1)" for number in range(100)),
    ]
    rules = [read_rule(Effect.ALLOW, text, Scope.GLOBAL) for text in texts]
    around = DecisionContext(anchors, RuleSet(rules), confined=True)
    registry = default_tools()
    calls = {
        "a read": ("read_file", {"path": "data/77/raw.csv"}),
        "an edit": ("update_file", {"path": "src/part_99/main.py"}),
        "a command": ("execute_command", {"command": TYPICAL["one command"]}),
    }
    for name, (tool, parameters) in calls.items():
        permissions = registry[tool].permissions

        def decide(
            tool: str = tool,
            parameters: dict[str, str] = parameters,
            permissions: frozenset[Permission] = permissions,
        ) -> object:
            call = decompose(tool, permissions, parameters, anchors)
            return decide_call(AgentRole.ACTOR, call, around)

        yield Row(
            f"deciding about {name}, 500 rules",
            median_micros(decide),
            "µs",
            250,
            "from the call on",
        )


def median_micros(work: Callable[[], object]) -> float:
    times = list[float]()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times) * 1e6
