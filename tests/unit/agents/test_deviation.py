"""What goes beyond the plan."""

from __future__ import annotations

from typing import Any

import pytest

from cowork_jupyter.agents.deviation import Deviation, judge
from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.tools.registry import default_tools

TOOLS = default_tools()


def step(*tools: str, files: tuple[str, ...] = ()) -> PlanStep:
    return PlanStep(id="1", step_number=1, action="do", tools_needed=list(tools), files=list(files))


@pytest.mark.parametrize(
    ("planned", "tool", "parameters", "deviation"),
    [
        (step(), "read_file", {"path": "x"}, Deviation.NONE),
        (step("update_file"), "update_file", {"path": "x"}, Deviation.NONE),
        (step("write_files"), "update_file", {"path": "x"}, Deviation.NONE),
        (step("update_file", files=("./a.py",)), "update_file", {"path": "a.py"}, Deviation.NONE),
        (step("update_file", files=("a.py",)), "update_file", {"path": "b.py"}, Deviation.SMALL),
        (step("read_file"), "create_file", {"path": "new"}, Deviation.SMALL),
        (step("update_file"), "delete_file", {"path": "x"}, Deviation.LARGE),
        (step("update_file"), "execute_command", {"command": "ls"}, Deviation.LARGE),
        (step("execute_commands"), "execute_command", {"command": "ls"}, Deviation.NONE),
    ],
)
def test_looking_is_free_small_things_are_mentioned_large_ones_asked(
    planned: PlanStep, tool: str, parameters: dict[str, Any], deviation: Deviation
) -> None:
    assert judge(planned, TOOLS[tool], parameters) is deviation
