"""The walks through all ways of confining once more, as a user without the rights of root.

Who has no such rights has run them so already; see `collect_ignore`.
"""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

WALK = ("test_other_processes", "test_home", "test_clean_up", "test_autorun", "test_sandbox")


def passed_as_nobody(*arguments: str) -> int:
    """How many tests passed; all that ran must."""
    command = [sys.executable, "-m", "tests.security.as_nobody", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    totals = re.findall(r"(\d+) (passed|skipped|xfailed)", done.stdout.splitlines()[-1])
    assert [word for _, word in totals] == ["passed"], done.stdout
    return int(totals[0][0])


def test_the_worst_holes_as_an_ordinary_user() -> None:
    """Links that lead away, limits of other processes, secrets at home."""
    chosen = "what_a_link_leads_to or histories or resource_limits"
    files = (f"tests/security/{name}.py" for name in WALK[:3])
    assert passed_as_nobody(*files, "-k", chosen) > 40


@pytest.mark.slow
@pytest.mark.timeout(1_200)
def test_everything_as_an_ordinary_user() -> None:
    assert passed_as_nobody(*(f"tests/security/{name}.py" for name in WALK)) > 400
