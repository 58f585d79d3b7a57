"""All notebooks."""

from __future__ import annotations

from .cleaning import COLUMNS, COPIES
from .counting import CHARTS, ROWS, SEEDS
from .held_out import HELD_OUT
from .joining import JOINS
from .modelling import LEAKAGE
from .strangers import STRANGERS
from .strangers_again import STRANGERS_AGAIN

PAIRS = [*JOINS, *COLUMNS, *COPIES, *ROWS, *CHARTS, *SEEDS, *LEAKAGE]
NOTEBOOKS = [
    *(notebook for pair in PAIRS for notebook in pair.notebooks()),
    *STRANGERS,
    *STRANGERS_AGAIN,
    *HELD_OUT,
]
