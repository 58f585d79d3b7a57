from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.unit.hosts.kernel.conftest import session, shell

__all__ = ["session", "shell"]


@pytest.mark.usefixtures("session")
def test_skills_are_listed(shell: InteractiveShell) -> None:
    shell.run_line_magic("load_ext", "cowork_jupyter")
    text = repr(shell.run_line_magic("cowork", "skills"))
    assert "| `joins` | Combine tables by key" in text
    assert "| package |" in text
