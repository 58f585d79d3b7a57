"""The programs whose flags are known. A flag that is not here is unknown, and asks.

Left out on purpose are flags that run programs, write where nobody would look, or read lists of
files from a file: `sort --compress-program`, `rg --pre`, `tree -o`, `wc --files0-from`, `date -s`.
"""

from __future__ import annotations

from .changing import CHANGING
from .looking import LOOKING
from .options import Program
from .telling import TELLING

PROGRAMS: dict[str, Program] = {**LOOKING, **TELLING, **CHANGING}
