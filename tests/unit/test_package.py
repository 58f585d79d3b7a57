"""What `import cowork_jupyter` gives, and what it does not yet load."""

from __future__ import annotations

import subprocess
import sys

import pytest

import cowork_jupyter


@pytest.mark.process
def test_names_that_users_import_are_there_without_loading_them_first() -> None:
    program = """
import sys
import cowork_jupyter
print(sorted(name for name in sys.modules if name.startswith(("cowork_jupyter.", "pydantic"))))
from cowork_jupyter import AgentRole
print(AgentRole.PLANNER.value)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["['cowork_jupyter._version']", "planner"]


def test_every_public_name_exists() -> None:
    assert [name for name in cowork_jupyter.__all__ if not hasattr(cowork_jupyter, name)] == []


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Coworker'"):
        _ = cowork_jupyter.Coworker
