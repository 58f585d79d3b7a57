"""Workflows of other packages: found, checked, and left out with a word when broken."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cowork_jupyter.workflows import WorkflowRegistry, load_workflows
from cowork_jupyter.workflows.shipped import SHIPPED

GOOD = """
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.workflows import Line, Parameters, Workflow

class Nothing(Parameters):
    pass

def declare(name, parameters=Nothing, request="Do it."):
    return Workflow(name, name.title(), "Does it.", "extra", AgentRole.ACTOR, parameters, request)
"""


class Plugins:
    """Installs fake distributions into a folder on `sys.path`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def install(self, name: str, code: str, value: str = "") -> None:
        module = f"fake_plugin_{name}"
        (self.folder / f"{module}.py").write_text(f"{GOOD}\n{code}\n")
        metadata = self.folder / f"fake_{name}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: fake-{name}\n")
        points = f"[cowork_jupyter.workflows]\n{name} = {value or f'{module}:it'}\n"
        (metadata / "entry_points.txt").write_text(points)


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plugins]:
    monkeypatch.syspath_prepend(tmp_path)
    yield Plugins(tmp_path)
    for name in [one for one in sys.modules if one.startswith("fake_plugin_")]:
        del sys.modules[name]


def added(registry: WorkflowRegistry) -> list[str]:
    names = list(registry)
    assert names[: len(SHIPPED)] == [one.name for one in SHIPPED]
    return names[len(SHIPPED) :]


def messages(registry: WorkflowRegistry) -> list[str]:
    assert {one.code for one in registry.problems} <= {"workflow_plugin"}
    return [one.message for one in registry.problems]


def test_without_plug_ins_there_are_ours(plugins: Plugins) -> None:
    registry = load_workflows()
    assert added(registry) == []
    assert registry.problems == []


def test_a_plug_in_brings_one_or_several(plugins: Plugins) -> None:
    plugins.install("b", "it = [declare('second'), declare('third')]")
    plugins.install("a", "it = declare('first')")
    registry = load_workflows()
    assert added(registry) == ["first", "second", "third"]
    assert registry.categories()[-1].label == "Extra"
    assert registry.problems == []


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError: No module named"),
        ("raise RuntimeError('two\\nlines')", "RuntimeError: two lines"),
        ("raise SystemExit('bye')", "SystemExit: bye"),
        ("", "AttributeError"),
        ("it = 7", "TypeError: it is a int, not a Workflow"),
        ("it = [declare('good'), 'look']", "TypeError: it is a str, not a Workflow"),
        ("it = declare('write_tests')", "ValueError: a workflow 'write_tests' already exists"),
        ("it = declare('Bad Name')", "ValueError: its name must consist"),
        ("it = declare('odd', request='{nothing}')", "do not both name: nothing"),
        (
            "from typing import Callable\n"
            "class Odd(Parameters):\n    f: Callable[[], int]\n"
            "it = declare('odd', Odd, 'Do {f}.')",
            "PydanticInvalidForJsonSchema",
        ),
    ],
)
def test_a_broken_plug_in_is_reported_and_the_others_work(
    plugins: Plugins, code: str, complaint: str
) -> None:
    plugins.install("bad", code)
    plugins.install("fine", "it = declare('fine')")
    registry = load_workflows()
    assert "fine" in added(registry)
    (message,) = messages(registry)
    assert "'bad' of fake-bad" in message
    assert complaint in message
    assert "\n" not in message


def test_one_bad_workflow_does_not_take_its_neighbours_with_it(plugins: Plugins) -> None:
    plugins.install("mixed", "it = (declare('one'), declare('one'), declare('two'))")
    registry = load_workflows()
    assert added(registry) == ["one", "two"]
    assert len(messages(registry)) == 1


def test_an_entry_point_that_makes_no_sense_is_reported(plugins: Plugins) -> None:
    plugins.install("odd", "it = declare('odd')", value="not a module!")
    assert "'odd' of fake-odd cannot be loaded" in messages(load_workflows())[0]


def test_when_the_list_of_plug_ins_cannot_be_read_ours_are_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(**_: str) -> None:
        raise ValueError("broken metadata")

    monkeypatch.setattr("cowork_jupyter.workflows.catalog.entry_points", fail)
    registry = load_workflows()
    assert added(registry) == []
    assert "broken metadata" in messages(registry)[0]
