"""Whatever the tree and whatever the path: nothing outside is read or changed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.workspace import Workspace

pytestmark = pytest.mark.process

NAMES = ["a", "b", "c", "ws", "ws-evil"]
PART = st.sampled_from([*NAMES, "..", ".", "", "ROOT", "OUTSIDE", "/"])
PATHS = st.lists(PART, min_size=1, max_size=7).map("/".join)
NODES = st.lists(
    st.tuples(
        st.lists(st.sampled_from(NAMES), min_size=1, max_size=3).map("/".join),
        st.one_of(st.just("folder"), st.just("file"), PATHS),
    ),
    max_size=12,
)


def spelled(path: str, base: Path) -> str:
    return path.replace("ROOT", str(base / "ws")).replace("OUTSIDE", str(base / "ws-evil"))


@contextlib.contextmanager
def tree(nodes: list[tuple[str, str]]) -> Iterator[Path]:
    base = Path(tempfile.mkdtemp()).resolve()
    try:
        (base / "ws").mkdir()
        outside = base / "ws-evil"
        (outside / "a" / "b").mkdir(parents=True)
        for secret in ("a/b/c", "a/c", "b", "c"):
            (outside / secret).write_text("SECRET")
        for path, content in nodes:
            target = base / "ws" / path
            with contextlib.suppress(OSError):
                target.parent.mkdir(parents=True, exist_ok=True)
                # The tree is built with plain calls; keep it from building outside itself.
                if (base / "ws") not in (target.parent.resolve(), *target.parent.resolve().parents):
                    continue
                if content == "folder":
                    target.mkdir()
                elif content == "file":
                    with target.open("x") as file:
                        file.write("INSIDE")
                else:
                    target.symlink_to(spelled(content, base) or ".")
        yield base
    finally:
        shutil.rmtree(base)


def contents(folder: Path) -> dict[str, object]:
    return {
        str(path.relative_to(folder)): path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else "folder"
        for path in sorted(folder.rglob("*"))
    }


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nodes=NODES, paths=st.lists(PATHS, min_size=1, max_size=5), follow=st.booleans())
@example(nodes=[("a", "OUTSIDE")], paths=["a/c", "a/b", "a/new"], follow=True)
@example(nodes=[("a", "../ws-evil")], paths=["a/c", "a/../c"], follow=False)
@example(nodes=[("a", "b"), ("b", "a")], paths=["a/c", "b"], follow=True)
@example(nodes=[("a", "ROOT-evil/c")], paths=["a", "ROOT-evil/c"], follow=True)
def test_no_path_reads_or_changes_anything_outside(
    nodes: list[tuple[str, str]], paths: list[str], follow: bool
) -> None:
    with tree(nodes) as base:
        workspace = Workspace(base / "ws")
        before = contents(base / "ws-evil"), sorted(path.name for path in base.iterdir())
        for path in paths:
            for act in ("read", "entries", "replace", "create", "mkdir", "unlink", "rmdir"):
                with (
                    contextlib.suppress(CoworkError),
                    workspace.locate(spelled(path, base), follow=follow) as place,
                ):
                    assert ".." not in place.path.split("/")
                    arguments = (b"WRITTEN",) if act in ("replace", "create") else ()
                    result = getattr(place, act)(*arguments)
                    assert result is None or b"SECRET" not in (result if act == "read" else b"")
        after = contents(base / "ws-evil"), sorted(path.name for path in base.iterdir())
        assert after == before


def test_folder_swapped_for_a_symlink_while_writing_lets_nothing_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "ws", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "file0").write_text("SECRET")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            # Each step may find that the writer made the folder anew in between.
            for step in (
                lambda: (root / "sub").rename(root / "real"),
                lambda: (root / "sub").symlink_to(outside),
                lambda: (root / "sub").unlink(),
                lambda: (root / "real").rename(root / "sub"),
                lambda: shutil.rmtree(root / "real"),
            ):
                with contextlib.suppress(OSError):
                    step()

    workspace = Workspace(root)
    swapper = threading.Thread(target=swap)
    swapper.start()
    written = 0
    try:
        for number in range(500):
            path = f"sub/file{number % 50}"
            with contextlib.suppress(CoworkError), workspace.locate(path) as place:
                place.replace(b"x") if place.exists() else place.create(b"x")
                assert place.read() != b"SECRET"
                written += 1
    finally:
        stop.set()
        swapper.join()
    assert written
    assert {file.name: file.read_text() for file in outside.iterdir()} == {"file0": "SECRET"}
