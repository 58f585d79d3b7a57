"""What makes thousands of small tests quick: files in memory, records that have their tables."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from cowork_jupyter.checkpoints import store as checkpoint_store
from cowork_jupyter.checkpoints.store import CheckpointDatabase
from cowork_jupyter.store import Store
from cowork_jupyter.store import store as record
from cowork_jupyter.store.database import Database, create_private

MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 2 * 1024**3

ONE_CERTIFICATE = Path(__file__).with_name("one_certificate.pem")
"""Each client of a model reads all that the machine has, which takes longer than most tests."""

# The same examples everywhere, so that a run that passes here passes elsewhere too.
settings.register_profile("quick", settings.get_profile("ci"), max_examples=25)


def configure(config: pytest.Config) -> None:
    """Fewer random examples where slow tests are left out; less to load for each model client."""
    gc.set_threshold(100_000, 50, 100)  # else it goes through thousands of collected tests
    os.environ["SSL_CERT_FILE"] = str(ONE_CERTIFICATE)
    settings.load_profile("quick" if "not slow" in config.option.markexpr else "ci")


def keep_files_in_memory() -> None:
    """Many tests do little else than wait for a disk. Some sandboxes let commands write here."""
    with suppress(OSError):
        if shutil.disk_usage(MEMORY).free > ENOUGH_BYTES:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def each(n: int, cases: Sequence[Any]) -> list[Any]:
    """Each n-th of a long list that goes one way; the others are slow tests."""
    slow = pytest.mark.slow
    return [one if i % n == 0 else pytest.param(one, marks=slow) for i, one in enumerate(cases)]


@pytest.fixture(scope="session")
def empty_records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the record and the checkpoints of somebody who has done nothing yet."""
    folder = tmp_path_factory.mktemp("empty")
    Store(folder / "record").close()
    CheckpointDatabase(folder / "checkpoints").close()
    return folder


@pytest.fixture(autouse=True, scope="module")
def ready_tables(empty_records: Path) -> Iterator[None]:
    """New records are copies: to make their tables takes longer than most tests."""

    def database(path: Path) -> Database:
        with suppress(OSError):  # which opening it explains
            copied(empty_records / "record", path)
        made = Database(path)
        with made.alone() as connection:  # what is killed here is a process, never the machine
            connection.execute("PRAGMA synchronous=OFF")
        return made

    create = partial(copied, empty_records / "checkpoints")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(record, "Database", database)
        patch.setattr(checkpoint_store, "create_private", create)
        yield


def copied(empty: Path, path: Path) -> None:
    """Make the file, if there is none."""
    if not path.exists():
        create_private(path)
        shutil.copyfile(empty, path)
