"""Code that the agent runs where there is no server: in the very kernel whose cell waits."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, call, stall, text
from tests.unit.stalling import Stalling

from .kernels import Cells, Shown, kernel

pytestmark = pytest.mark.process

ACT = "%%act --policy rules.json\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("headless")
    rules = {"permissions": {"allow": ["run_code", "run_cell"]}}
    (made / "rules.json").write_text(json.dumps(rules))
    return made


@pytest.fixture(scope="module")
def model() -> Iterator[ScriptedServer]:
    with ScriptedServer() as made:
        yield made


@pytest.fixture(scope="module")
def cells(
    folder: Path, model: ScriptedServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cells]:
    home = tmp_path_factory.mktemp("home")
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    environment: dict[str, Any] = dict.fromkeys(names, str(home))
    environment |= {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "scripted"}
    with kernel(folder, **environment) as running:
        yield running


def results(cells: Cells) -> list[str]:
    """What the model was told by the tools of the newest run."""
    cells.run("from cowork_jupyter import Cowork as _Cowork; import json as _json")
    said = cells.run("print(_json.dumps(_Cowork().messages))").printed
    messages: list[dict[str, Any]] = json.loads(said)
    job = messages[-1]["job_id"]
    return [
        one["content"][0]["text"]
        for one in messages
        if one["message_type"] == "tool_result" and one["job_id"] == job
    ]


def act(cells: Cells, model: ScriptedServer, *calls: Any) -> Shown:
    model.add(*calls, text("Done."))
    shown = cells.run(ACT + "Do it")
    assert shown.status == "ok", shown
    return shown


def test_code_sees_and_changes_the_users_variables_and_leaves_nothing_else(
    cells: Cells, model: ScriptedServer
) -> None:
    cells.run("sales = [1, 2, 3]")
    count = int(cells.run("print(get_ipython().execution_count)").printed)
    code = (
        "import sys\nprint('printed')\nprint('warned', file=sys.stderr)\ntotal = sum(sales)\n"
        "display({'text/plain': 'shown'}, raw=True)\ntotal"
    )
    shown = act(cells, model, call("run_code", code=code))
    (told,) = results(cells)
    for words in ("printed", "warned", "shown", "6"):
        assert words in told
    assert shown.card["snapshot"]["status"] == "completed"
    assert shown.printed == "", "it would stand below the user's cell"
    assert len(shown.outputs) == 1
    assert cells.run("print(total)").printed == "6\n"
    history = "print([one for one in In if 'sum(sales)' in one and 'print([' not in one])"
    assert cells.run(history).printed == "[]\n"
    after = int(cells.run("print(get_ipython().execution_count)").printed)
    assert after == count + 6, "only the user's own cells are counted"


def test_variables_are_seen(cells: Cells, model: ScriptedServer) -> None:
    cells.run("prices = {'apple': 1.5}\npassword = 'hunter2'")
    act(cells, model, call("list_variables"), call("inspect_variable", name="prices"))
    listed, inspected = results(cells)
    assert "prices: dict · length 1" in listed
    assert "hunter2" not in listed
    assert "'apple': 1.5" in inspected
    act(cells, model, call("inspect_variable", name="price"))
    assert "Did you mean prices?" in results(cells)[0]


def test_errors_name_the_line_and_input_is_refused(cells: Cells, model: ScriptedServer) -> None:
    act(
        cells,
        model,
        call("run_code", code="x = 1\nx / 0"),
        call("run_code", code="name = input('Who? ')"),
        call("run_code", code="x = = 1"),
        call("run_code", code="import asyncio\nawait asyncio.sleep(0)"),
    )
    divided, asked, misspelt, awaited = results(cells)
    assert "line 2: x / 0" in divided
    assert "ZeroDivisionError" in divided
    assert "asks for input" in asked
    assert "SyntaxError" in misspelt
    assert "await" in awaited
    assert cells.run("1 / 0").error == "division by zero", "the user's own errors are shown again"


def test_another_notebooks_kernel_is_refused_in_plain_words(
    cells: Cells, model: ScriptedServer, folder: Path
) -> None:
    cell = {"id": "c", "cell_type": "code", "source": "1", "metadata": {}, "outputs": []}
    document = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "other.ipynb").write_text(json.dumps(document))
    act(
        cells,
        model,
        call("run_code", code="1", path="other.ipynb"),
        call("run_cell", cell_id="c", path="other.ipynb"),
        call("run_cell", cell_id="c"),
    )
    *named, unnamed = results(cells)
    assert all("does not know its notebook's name" in one for one in named)
    assert "does not belong to a notebook" in unnamed


def test_an_interrupt_stops_the_code_and_the_run(
    cells: Cells, model: ScriptedServer, folder: Path
) -> None:
    code = "import time\nopen('began', 'w').close()\nwhile True: time.sleep(0.1)"
    model.add(call("run_code", code=code))
    over = threading.Event()
    # The agent may hear that the code was stopped before it hears that it is to stop itself.
    model.add(Stalling(stall(), lambda: not over.is_set()))
    watching = threading.Thread(target=_interrupt_once_begun, args=(cells, folder / "began"))
    watching.start()
    stopped = cells.run(ACT + "Sleep")
    over.set()
    watching.join()
    assert "Stopped" in "".join(stopped.traceback)
    assert stopped.card["snapshot"]["status"] == "cancelled"
    assert cells.run("print(1)").printed == "1\n"


@pytest.mark.slow
def test_code_in_which_nothing_moves_is_interrupted_and_the_run_goes_on(
    cells: Cells, model: ScriptedServer
) -> None:
    cells.run(
        "import cowork_jupyter.tools.kernel.stall_detector as _vigil\n"
        "_vigil.IDLE = 0.5  # of so short a time, a tick of the clock is much\n"
        "get_ipython().config.Cowork.stall_seconds = 5.0"
    )
    shown = act(cells, model, call("run_code", code="import time\ntime.sleep(1000)"))
    assert shown.card["snapshot"]["status"] == "completed"
    (told,) = results(cells)
    assert "nobody could be asked whether to wait" in told
    assert "in line 2: time.sleep(1000)" in told


def _interrupt_once_begun(cells: Cells, began: Path) -> None:
    while not began.exists():
        threading.Event().wait(0.02)
    os.kill(cells.manager.provisioner.pid, signal.SIGINT)


def test_what_code_does_to_tables_is_told_to_the_model_and_to_the_user(
    cells: Cells, model: ScriptedServer
) -> None:
    cells.run("import pandas\norders = pandas.DataFrame({'region': ['N', None, 'S']})")
    act(cells, model, call("run_code", code="orders = orders.dropna()"))
    line = "orders: 3 → 2 rows (−1), region missing 1 → 0"
    (told,) = results(cells)
    assert f"[data] {line}" in told
    assert f"- {line}" in cells.run("%cowork effects").markdown
