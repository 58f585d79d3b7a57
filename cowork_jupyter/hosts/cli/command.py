"""What the sub-commands share: how they are declared, and what their exit codes mean."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, _SubParsersAction
from typing import TYPE_CHECKING

from ...policy.visible import visible

SUCCESS = 0
FAILED = 1
USAGE_ERROR = 2
DENIED = 3
"""Something was not run because nobody could be asked; a policy file can allow it."""
INTERRUPTED = 130

if TYPE_CHECKING:
    Commands = _SubParsersAction[ArgumentParser]
    """Where `add_to` adds its parser."""


def print_problem(words: str) -> None:
    """One line on the standard error, as every command says it."""
    sys.stderr.write(f"cowork: {visible(words)}\n")
