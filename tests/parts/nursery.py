"""Tries copies of the package, each in a fork of one process that has what we import of others.

A folder on each line of the input; for each an exit code on a line of the output, and what was
printed meanwhile in `output.txt` of the folder. In interpreters of their own, imports would take
nearly all of the time.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

import pytest

PACKAGE = "cowork_jupyter"
MAIN_ROAD = "tests/unit/service/test_main_road.py"
OF_OTHERS = (
    "acp", "anywidget", "duckdb", "hypothesis", "ipywidgets", "jupyter_server.serverapp",
    "mcp.client.streamable_http", "mcp.server.lowlevel", "openai.resources.chat", "tree_sitter",
)  # fmt: skip


def main() -> None:
    for name in OF_OTHERS:
        importlib.import_module(name)
    assert PACKAGE not in sys.modules
    for line in sys.stdin:
        if (child := os.fork()) == 0:
            os._exit(in_copy(Path(line.strip())))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def in_copy(folder: Path) -> int:
    os.chdir(folder)
    sys.path[0] = str(folder)  # instead of where this file is
    output = os.open("output.txt", os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    try:
        import_all()
        rewriting = "ignore::pytest.PytestAssertRewriteWarning"  # of plugins that are here already
        return pytest.main(["-q", "-W", rewriting, MAIN_ROAD])
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1


def import_all() -> None:
    home = Path(str(importlib.import_module(PACKAGE).__file__)).parent
    assert home.is_relative_to(Path.cwd()), home
    for path in sorted(home.rglob("*.py")):
        names = path.relative_to(home.parent).with_suffix("").parts
        if "confined" not in names and "inside" not in names and names[-1] != "__main__":
            importlib.import_module(".".join(names).removesuffix(".__init__"))


if __name__ == "__main__":
    main()
