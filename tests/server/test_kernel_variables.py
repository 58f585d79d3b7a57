"""Looking at what is in a real kernel: only with code of ours, and without leaving a trace."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import sys
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.domain.settings import Settings
from cowork_jupyter.hosts.server import kernel_connection
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.kernel.scratch_kernel import ScratchKernels
from cowork_jupyter.tools.kernel.state import Variable
from cowork_jupyter.tools.registry import tools_with_kernels
from cowork_jupyter.workspace.sandbox.sandbox import Sandbox

from .notebook_kernel import NOTEBOOK, PATIENCE, Place
from .notebook_kernel import a_patient_look as a_patient_look
from .notebook_kernel import place as place

pytestmark = pytest.mark.usefixtures("a_patient_look")

NASTY = """
import time

def tell(*_):
    touched.append(1)
    raise RuntimeError("somebody called me")

touched = []

class Meta(type):
    __name__ = property(tell)
    __eq__ = __hash__ = __instancecheck__ = __subclasscheck__ = __repr__ = tell

class Nasty(metaclass=Meta):
    __repr__ = __str__ = __len__ = __iter__ = __sizeof__ = __eq__ = __bool__ = __dir__ = tell
    __getattribute__ = __getattr__ = tell
    __class__ = property(tell)
    __dict__ = property(tell)

class Slow(dict):
    def __repr__(self): time.sleep(1000)
    items = __iter__ = __len__ = __getitem__ = keys = __repr__

class Text(str):
    __repr__ = __str__ = __len__ = __getitem__ = tell

class Model:
    def __init__(self):
        self.depth, self.api_key = 3, "hush"
    @property
    def expensive(self): tell()

nasty, slow, word, model = Nasty(), Slow(a=1, b=2), Text("word"), Model()
things = [nasty, slow]
"""


async def names(place: Place) -> dict[str, Variable]:
    async with asyncio.timeout(PATIENCE):
        found = await place.kernels.variables(place.workspace, NOTEBOOK)
    assert found.total == len(found.items)
    return {one.name: one for one in found.items}


async def look(place: Place, name: str) -> str:
    async with asyncio.timeout(PATIENCE):
        found = await place.kernels.inspect(place.workspace, NOTEBOOK, name)
    return "\n".join([f"{found.type} · {found.about}", *found.lines])


async def test_the_names_that_the_user_made_are_listed(place: Place) -> None:
    await place.run("import os\nn, words, _own = 3, ['a', 'b'], 1\ndef f(x, y): return x")
    found = await names(place)
    assert set(found) == {"os", "n", "words", "f"}
    assert (found["n"].type, found["n"].about) == ("int", "3")
    assert (found["words"].type, found["words"].about) == ("list", "length 2")
    assert found["f"].about == "f(x, y)"
    assert found["os"].type == "module"


async def test_no_code_of_the_user_is_called_however_nasty(place: Place) -> None:
    assert (await place.run(NASTY)).failure is None
    found = await names(place)
    assert found["nasty"].type == "Nasty"
    assert found["slow"].about == "length 2"
    assert found["word"].about == "'word'"
    assert (await look(place, "things")).endswith("\n[<Nasty>, Slow{'a': 1, 'b': 2}]")
    assert "<Nasty>" in await look(place, "nasty")
    shown = await look(place, "model")
    assert "depth = 3" in shown
    assert "api_key = [hidden]" in shown
    assert await place.value("touched") == "[]"


async def test_nothing_is_left_behind(place: Place) -> None:
    await place.run("kept = 1")
    state = (
        "print(sorted(globals()), get_ipython().execution_count, len(In), len(Out), _,"
        " get_ipython().events.callbacks['post_execute'],"
        " type(get_ipython().events.callbacks['post_execute']),"
        " len(list(get_ipython().history_manager.get_range())))"
    )
    before = (await place.run(state)).outputs
    await names(place)
    await look(place, "kept")
    assert (await place.run(state)).outputs == before
    threads = "[one.name for one in __import__('threading').enumerate()]"
    assert "subshell" not in await place.value(threads)


async def test_what_looks_like_a_secret_is_masked(place: Place) -> None:
    await place.run(
        "openai_api_key = 'abc'\nplain = 'see sk-1234567890abcdef here'\n"
        "config = {'user': 'me', 'password': 'pw1', 'db': 'postgres://me:pw2@host/db'}\n"
        "dbPassword = 'pw3'\ncredentials = ['pw4', {'x': 'pw5'}]\ntoken_count = 17"
    )
    found = await names(place)
    assert found["openai_api_key"].about == "[hidden]"
    assert found["plain"].about == "'see [hidden] here'"
    assert found["token_count"].about == "[hidden]"
    config = await look(place, "config")
    assert "'user': 'me'" in config
    shown = config + await look(place, "credentials") + await look(place, "dbPassword")
    assert not any(f"pw{number}" in shown for number in range(1, 6))


async def test_large_and_deep_things_are_bounded(place: Place) -> None:
    await place.run(
        "deep = []\nfor _ in range(10_000): deep = [deep]\nring = {}\nring['me'] = ring\n"
        "wide = {n: 'x' * 1000 for n in range(100_000)}\nhuge = 10 ** 100_000\n"
        "long = 'y' * 10_000_000"
    )
    for name in ("deep", "ring", "wide", "huge", "long"):
        assert len(await look(place, name)) < 15_000
    assert "… 99,9" in await look(place, "wide")
    assert "int of 332193 bits" in await look(place, "huge")
    assert "(10,000,000 characters)" in await look(place, "long")


@pytest.mark.slow
async def test_two_thousand_names_are_listed(place: Place) -> None:
    await place.run("globals().update({f'name_{n}': [n] * n for n in range(2000)})")
    found = await names(place)
    assert len(found) >= 2000
    assert found["name_1999"].type == "list"


async def test_a_busy_kernel_is_looked_into_beside_its_cell(place: Place, tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    ended = "get_ipython().events.register('post_execute', lambda: told.append(1))\n"
    await place.run(f"import pathlib, time\ntold = []\n{ended}told.clear()\nseen = 'before'")
    await place.run("told.clear()")
    running = asyncio.create_task(
        place.run(
            "told.clear()\nseen = 'inside'\nprint('in it', flush=True)\n"
            f"while not pathlib.Path({str(go_on)!r}).exists(): time.sleep(0.01)\nafter = list(told)"
        )
    )
    await place.until_shown("in it")
    assert (await names(place))["seen"].about == "'inside'"
    assert "'inside'" in await look(place, "seen")
    assert not running.done()
    go_on.touch()
    await running
    # Whoever waits for the end of a cell, as matplotlib does, has not been told too early.
    assert await place.value("after") == "[]"
    assert await place.value("len(told) > 0") == "True"


async def test_a_kernel_that_lets_nobody_in_is_said_to_be_busy(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await place.run("1")
    monkeypatch.setattr(kernel_connection, "BUSY_AFTER", 0.01)
    monkeypatch.setattr(kernel_connection, "PATIENCE", 0.01)
    process = place.manager.provisioner.pid

    os.kill(process, signal.SIGSTOP)
    try:
        with pytest.raises(CoworkError) as raised:
            await names(place)
        assert raised.value.code == "kernel_busy"
        assert raised.value.retryable
    finally:
        os.kill(process, signal.SIGCONT)


@pytest.mark.slow
async def test_only_a_kernel_that_is_known_to_be_busy_gets_no_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server may have missed all that a quick kernel told, and takes it to be starting."""
    await place.run("kept = 'x'")
    monkeypatch.setattr(kernel_connection, "BUSY_AFTER", 0)
    place.app.kernel_manager.stop_watching_activity(place.kernel_id)
    place.manager.execution_state = "starting"
    assert (await names(place))["kept"].about == "'x'"


async def test_a_kernel_without_subshells_is_asked_between_two_cells(place: Place) -> None:
    await place.run(
        "kind = type(get_ipython().kernel)\ntold = kind.kernel_info.fget\n"
        "kind.kernel_info = property(lambda self: {**told(self), 'supported_features': []})\n"
        "kept = 'x'"
    )
    assert (await names(place))["kept"].about == "'x'"


@pytest.mark.slow
async def test_other_languages_are_said_not_to_be_supported(place: Place) -> None:
    await place.run("type(get_ipython().kernel).language_info = property(lambda _: {'name': 'R'})")
    with pytest.raises(CoworkError) as raised:
        await names(place)
    assert raised.value.code == "not_supported"
    assert "R kernels" in raised.value.message


@pytest.mark.slow
async def test_a_name_that_is_not_there_suggests_others(place: Place) -> None:
    await place.run("customers = 1")
    with pytest.raises(CoworkError, match="Did you mean customers"):
        await look(place, "custmers")


@pytest.mark.slow
async def test_names_of_our_own_do_not_disturb(place: Place) -> None:
    await place.run("exec = str = print = report = source = None\nkept = 5")
    assert (await names(place))["kept"].about == "5"


# Copies of tables


async def copied(place: Place, name: str, file: Path, room: int = 100_000) -> str:
    async with asyncio.timeout(PATIENCE):
        found = await place.kernels.copy_table(place.workspace, NOTEBOOK, name, str(file), room)
    return found.problem


async def test_a_table_is_copied_to_a_file_and_left_alone(place: Place, tmp_path: Path) -> None:
    await place.run("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\nn = 3")
    names_made = "sorted(name for name in globals() if name[0] != '_')"
    before = await place.value(names_made)
    assert await copied(place, "df", tmp_path / "df") == ""
    table = pickle.loads((tmp_path / "df").read_bytes())
    assert list(table["a"]) == [1, 2]
    assert await place.value(names_made) == before
    assert await copied(place, "n", tmp_path / "n") == "no_table"
    await place.run("big = pd.DataFrame({'a': range(100_000)})")
    assert await copied(place, "big", tmp_path / "big") == "too_large"
    assert (tmp_path / "big").stat().st_size <= 100_000
    with pytest.raises(CoworkError, match="Did you mean df"):
        await copied(place, "df1", tmp_path / "none")


async def test_code_in_scratch_works_on_a_copy(place: Place, tmp_path: Path) -> None:
    await place.run("import pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})")
    sandbox = Sandbox(Settings(workspace=place.workspace.root, data_dir=tmp_path))
    kernels = ScratchKernels(sandbox)
    context = ToolContext(
        place.workspace,
        AgentRole.PLANNER,
        kernels=place.kernels,
        scratch=kernels.of("c"),
        notebook=NOTEBOOK,
    )
    raw = {"code": "df['a'] = 0\ndf['a'].sum()", "tables": ["df"]}
    async with asyncio.timeout(PATIENCE):
        result = await tools_with_kernels().call("run_code", raw, context)
    assert result.text.startswith(("0\n", "np.int64(0)\n"))
    assert await place.value("int(df['a'].sum())") == "3"
    await kernels.close()
    sandbox.close()


@pytest.mark.slow
async def test_the_python_of_the_notebooks_kernel_is_known(place: Place) -> None:
    assert await place.kernels.python(place.workspace, NOTEBOOK) == sys.executable
