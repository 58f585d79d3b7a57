"""A real IPython shell, a desk without a server, and real kernels."""

from __future__ import annotations

import atexit
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from cowork_jupyter.hosts.kernel import session as desks
from cowork_jupyter.hosts.kernel.session import KernelSession
from tests.scripted import ScriptedServer

from .kernels import Cells, ModuleKernel


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    made = InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    yield made
    InteractiveShell.clear_instance()
    atexit.unregister(made.atexit_operations)  # each would collect garbage when all has ended


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch, scripted: ScriptedServer) -> ScriptedServer:
    """A model to talk to."""
    monkeypatch.setenv("COWORK_BASE_URL", scripted.base_url)
    monkeypatch.setenv("COWORK_MODEL", "scripted")
    return scripted


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KernelSession]:
    """The desk of this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(desks, "_session", None)
    made = desks.session()
    yield made
    made.close()


@pytest.fixture(scope="module")
def kernel_of_module() -> Iterator[ModuleKernel]:
    """To start one takes longer than what most tests do with it."""
    with ExitStack() as stack:
        yield ModuleKernel(stack)


@pytest.fixture
def cells(kernel_of_module: ModuleKernel, tmp_path: Path, connected: ScriptedServer) -> Cells:
    """A kernel that nobody sits in front of, connected to the scripted model."""
    return kernel_of_module.at(tmp_path)


@pytest.fixture
def attended(kernel_of_module: ModuleKernel, tmp_path: Path, connected: ScriptedServer) -> Cells:
    """The same with somebody in front of it."""
    return kernel_of_module.at(tmp_path, attended=True)
