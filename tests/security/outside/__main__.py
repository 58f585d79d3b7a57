"""Prints what the gate says to the cases: `python -m tests.security.outside`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from .cases import read_cases, table
from .decisions import grounds_in

with tempfile.TemporaryDirectory() as folder:
    place = grounds_in(Path(folder))
    print("\n".join(table((case.category, case.decision(place)) for case in read_cases())))
