"""Notebooks that are renamed, moved or copied in a real Jupyter server, with their kernels."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer, text
from tests.unit.hosts.kernel.kernels import SECONDS, Cells

from .live import LiveServer
from .notebook_kernel import write_notebook
from .shared_server import CLIENT, get
from .shared_server import model as model
from .shared_server import scripted as scripted
from .shared_server import server as server
from .shared_server import shared as shared
from .test_cells import Open, restart
from .test_cells import open_notebook as open_notebook


def patch(server: LiveServer, address: str, **changes: Any) -> None:
    answer = CLIENT.patch(f"{server.url}{address}", json=changes)
    assert answer.status_code == 200, answer.text


def rename(server: LiveServer, cells: Cells, old: str, new: str) -> None:
    """As Lab does it: first the file, then its session."""
    patch(server, f"api/contents/{old}", path=new)
    sessions = CLIENT.get(f"{server.url}api/sessions").json()
    (session,) = [one for one in sessions if one["kernel"]["id"] == cells.manager]
    patch(server, f"api/sessions/{session['id']}", path=new, name=Path(new).name)


def notebook_of(server: LiveServer, context: str, expected: str) -> str:
    give_up = time.monotonic() + SECONDS
    while (found := str(get(server, f"context/{context}")["notebook"])) != expected:
        assert time.monotonic() < give_up, found
    return found


def ask(cells: Cells, words: str, cell: str) -> dict[str, Any]:
    shown = cells.run(f"%%act --wait\n{words}", cell)
    assert shown.status == "ok"
    return shown.card


@pytest.fixture
def root(server: LiveServer) -> Path:
    write_notebook(server.root / "sub/sales.ipynb")
    return server.root


@pytest.mark.slow
def test_a_kernel_speaks_for_its_notebook_whatever_that_is_called_now(
    server: LiveServer, root: Path, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(*(text("Hello.") for _ in range(5)))
    cells = open_notebook()
    context = ask(cells, "First", "c1")["context_id"]
    rename(server, cells, "sub/sales.ipynb", "sub/final.ipynb")
    assert ask(cells, "Second", "c2")["context_id"] == context
    notebook_of(server, context, "sub/final.ipynb")
    restart(server, cells)
    assert ask(cells, "Third", "c3")["context_id"] == context
    rename(server, cells, "sub/final.ipynb", "moved.ipynb")
    assert ask(cells, "Fourth", "c4")["context_id"] == context
    notebook_of(server, context, "moved.ipynb")

    write_notebook(root / "sub/sales.ipynb")  # another one, under the name that is free now
    other = open_notebook()
    assert ask(other, "First", "c1")["context_id"] != context


def test_a_kernel_whose_session_keeps_the_old_name_goes_on_unless_a_notebook_is_there_again(
    server: LiveServer, root: Path, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(*(text("Hello.") for _ in range(3)))
    cells = open_notebook()
    context = ask(cells, "First", "c1")["context_id"]
    patch(server, "api/contents/sub/sales.ipynb", path="sub/final.ipynb")
    notebook_of(server, context, "sub/final.ipynb")
    assert ask(cells, "Second", "c2")["context_id"] == context
    write_notebook(root / "sub/sales.ipynb")  # as a tab does that has not heard of it
    other = ask(cells, "Third", "c3")["context_id"]
    assert other != context
    notebook_of(server, other, "sub/sales.ipynb")


def test_a_card_says_where_it_was_copied_from(
    server: LiveServer, root: Path, open_notebook: Open, scripted: ScriptedServer
) -> None:
    scripted.add(text("Hello."))
    cells = open_notebook()
    job = ask(cells, "First", "c1")["job_id"]

    def copied_from(path: str) -> Any:
        found = get(server, f"jobs/{job}/card?whole=true&notebook={path}")
        return found["state"]["copied_from"]

    write_notebook(root / "copy.ipynb")
    assert copied_from("sub/sales.ipynb") is None
    assert copied_from("sub/../sub/sales.ipynb") is None
    assert copied_from("copy.ipynb") == "sub/sales.ipynb"
    assert get(server, f"jobs/{job}/card?whole=true")["state"]["copied_from"] is None
    patch(server, "api/contents/sub", path="newer")
    notebook_of(server, get(server, f"jobs/{job}")["context_id"], "newer/sales.ipynb")
    assert copied_from("newer/sales.ipynb") is None
    assert copied_from("copy.ipynb") == "newer/sales.ipynb"
    # What was moved without Jupyter cannot be told from a copy, except that nothing is left.
    (root / "newer/sales.ipynb").rename(root / "by-hand.ipynb")
    assert copied_from("by-hand.ipynb") is None
