"""A program that has used `Cowork` ends without a word about it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

CODE = """
from cowork_jupyter import Cowork
cw = Cowork()
cw.ask("Clean data.csv")
print(len(cw.messages) > 0)
"""


def test_it_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("a,b\n1,2\n")
    own = {f"JUPYTER_{what}_DIR": str(tmp_path / what) for what in ("DATA", "CONFIG", "RUNTIME")}
    clean = {name: "" for name in os.environ if name.startswith(("COWORK_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-c", CODE],
        cwd=tmp_path,
        env={**os.environ, **clean, **own},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["True"]), done.stderr
    assert "Error" not in done.stderr, done.stderr
