"""What unit tests share: an environment without the developer's own settings."""

from __future__ import annotations

import atexit
import gc
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from urllib.request import Request

import pytest

from cowork_jupyter.llm import model_probe
from tests import quick
from tests.quick import empty_records as empty_records
from tests.quick import ready_tables as ready_tables
from tests.scripted.fixtures import scripted as scripted

homes = count()

UNIT = Path(__file__).parent
RUN_CELLS = tuple(
    str(UNIT / name)
    for name in (
        "parts/guide/code",
        "parts/guide/fixes",
        "parts/guide/test_awkward_tables.py",
        "tools/kernel/inside",
    )
)
"""Where tests run whole cells with pandas and polars, which takes as long as starting programs."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Who leaves them out need not load them."""
    left_out = RUN_CELLS if "not process" in config.option.markexpr else ()
    return str(collection_path).startswith(left_out) or None


@pytest.hookimpl(tryfirst=True)  # before pytest looks which marks are asked for
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whole runs, with a model behind a socket, belong with what starts programs."""
    for item in items:
        talks_to_a_model = "scripted" in getattr(item, "fixturenames", ())
        if talks_to_a_model or str(item.path).startswith(RUN_CELLS):
            item.add_marker(pytest.mark.process)


def pytest_collection_finish() -> None:
    gc.freeze()  # tests that collect garbage need not go through all that was collected here
    atexit.register(gc.unfreeze)  # else some libraries take for leaked what is still there


def pytest_configure(config: pytest.Config) -> None:
    quick.configure(config)
    quick.keep_files_in_memory()


PATIENCE = 60.0
"""Seconds after which a model's server is not there."""


@pytest.fixture(autouse=True)
def clean_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """No model from the developer's shell, no files in the developer's home."""
    for name in list(os.environ):
        if name.startswith(("COWORK_", "OPENAI_")):
            monkeypatch.delenv(name)
    home = tmp_path_factory.getbasetemp() / f"nobody{next(homes)}"  # `mktemp` looks at all
    home.mkdir()
    for what in ("CONFIG", "DATA", "RUNTIME"):
        monkeypatch.setenv(f"JUPYTER_{what}_DIR", str(home / what.lower()))
    monkeypatch.setenv("IPYTHONDIR", str(home / "ipython"))


@pytest.fixture(autouse=True, scope="session")
def a_slow_machine() -> Iterator[None]:
    """A model's server is a thread of this very process, and may need more than three seconds
    before it says which models it has. Who waits for less than one means it.
    """
    open_url = model_probe.open_url

    def patient(request: Request, timeout: float) -> Any:
        return open_url(request, timeout if timeout < 1 else PATIENCE)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model_probe, "open_url", patient)
        yield
