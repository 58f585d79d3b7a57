"""Lets a cell be a magic and nothing else: `%%act` alone executes the plan.

IPython refuses a cell magic without a body before the magic is even asked. So such a cell gets
a body, an empty line, before IPython looks at it.
"""

from __future__ import annotations

import re
from typing import Any

_OURS = re.compile(r"%%(act|ask|plan)(\s|$)")


def install(shell: Any) -> None:
    """Be asked about every cell, once."""
    transforms = shell.input_transformers_cleanup
    if give_body not in transforms:
        transforms.append(give_body)


def give_body(lines: list[str]) -> list[str]:
    """The cell, with a body if it is one of our magics and has none."""
    if len(lines) == 1 and _OURS.match(lines[0]):
        return [lines[0].rstrip("\n") + "\n", "\n"]
    return lines
