"""`python -m tests.effects`: what warnings catch and miss, and their false alarms."""

from __future__ import annotations

import sys

from .catalogue import NOTEBOOKS
from .score import scored, table


def main() -> None:
    results = scored(NOTEBOOKS)
    print(table(results, verbose="-v" in sys.argv))


if __name__ == "__main__":
    main()
