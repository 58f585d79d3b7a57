"""Each part can be taken off, with its tests and its line in the list, and the rest works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

import pytest

from cowork_jupyter.parts import PARTS

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "cowork_jupyter"
KEPT = (PACKAGE, "tests", "js", "pyproject.toml")
CORE = "tests/unit"
WHOLE = (
    "docs",
    "parts/together",
    "test_api_errors.py",
    "test_eval.py",
    "test_integrations.py",
    "test_package.py",
    "test_reviewed_prompts.py",
)
"""Unit tests about the product with all its parts."""


def needing(*names: str) -> set[str]:
    """These parts, and all that need one of them."""
    found = set(names)
    for name, needed in PARTS.items():
        if found.intersection(needed):
            found.add(name)
    return found


def without(folder: Path, parts: set[str]) -> Path:
    """A copy of the package and its tests."""
    ignored = shutil.ignore_patterns("node_modules", "output", "labextension")
    for name in KEPT:  # with what is compiled already, which takes longer than all else
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, folder / name)
    listed = folder / PACKAGE / "parts" / "__init__.py"
    text = listed.read_text(encoding="utf-8")
    for part in parts:
        shutil.rmtree(folder / PACKAGE / "parts" / part)
        shutil.rmtree(folder / "tests" / "unit" / "parts" / part, ignore_errors=True)
        text, lines = re.subn(rf'^    "{part}": .*\n', "", text, flags=re.MULTILINE)
        assert lines == 1, f"{part} has no line of its own in {listed}"
    listed.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def nursery() -> Iterator[Popen[str]]:
    command = [sys.executable, str(Path(__file__).with_name("nursery.py"))]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    with Popen(command, env=environment, stdin=PIPE, stdout=PIPE, text=True) as running:
        yield running


@pytest.mark.parametrize("parts", [*PARTS, "all"])
def test_the_rest_imports_and_goes_the_main_road(
    tmp_path: Path, nursery: Popen[str], parts: str
) -> None:
    folder = without(tmp_path, set(PARTS) if parts == "all" else needing(parts))
    assert nursery.stdin
    assert nursery.stdout
    nursery.stdin.write(f"{folder}\n")
    nursery.stdin.flush()
    assert nursery.stdout.readline() == "0\n", (folder / "output.txt").read_text()[-10_000:]


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("parts", [*PARTS, "all"])
def test_the_tests_of_the_rest_pass(tmp_path: Path, parts: str) -> None:
    folder = without(tmp_path, set(PARTS) if parts == "all" else needing(parts))
    left_out = [f"--ignore=tests/unit/{name}" for name in WHOLE]
    chosen = ["-m", "not process and not slow", "-n", "2", CORE]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    command = [sys.executable, "-m", "pytest", "-q", "-x", *left_out, *chosen]
    ended = subprocess.run(
        command, cwd=folder, env=environment, check=False, stdout=PIPE, stderr=STDOUT, text=True
    )
    assert ended.returncode == 0, ended.stdout[-10_000:]
