"""What comes only with an extra of the package, and whether it is here, new enough.

Others may have brought an older one: jupyter-ai 3 needs `mcp` below 2 and an ACP below 0.12.
"""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

Extra = Literal["mcp", "acp"]

_NEEDED: dict[Extra, tuple[str, tuple[int, ...]]] = {
    "mcp": ("mcp", (2,)),
    "acp": ("agent-client-protocol", (0, 12)),
}


def lack_of(extra: Extra) -> str:
    """What to do to have it; empty if it is here."""
    package, least = _NEEDED[extra]
    how = f"Run: pip install 'cowork-jupyter[{extra}]'"
    try:
        found = version(package)
    except PackageNotFoundError:
        return f"A package is missing. {how}"
    if tuple(map(int, re.findall(r"\d+", found)[: len(least)])) >= least:
        return ""
    wanted = ".".join(map(str, least))
    return (
        f"{package} {found} is too old; {wanted} or newer is needed. {how} (if another package, "
        "such as jupyter-ai, needs the old one, install one of the two in another environment)"
    )
