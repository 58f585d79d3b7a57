"""What this machine has to confine commands with. Nothing uses it yet, and health says so."""

from __future__ import annotations

import ctypes
import platform
import shutil
import sys

from ..domain.settings import SandboxChoice

_LANDLOCK_CREATE_RULESET = 444  # one number on every architecture Linux added it to
_LANDLOCK_VERSION_QUERY = 1


def landlock_version() -> int:
    """The kernel's Landlock version; 0 where there is none."""
    if sys.platform != "linux" or platform.machine() == "alpha":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    answer = libc.syscall(
        _LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_LANDLOCK_VERSION_QUERY)
    )
    return max(int(answer), 0)


IN_USE = "none"
"""What confines commands in this version. Roles whose commands may not write get none at all."""


def available_sandbox(choice: SandboxChoice) -> str:
    """What commands could be confined with here: what was chosen if it exists, else none."""
    available = {
        "landlock": landlock_version() > 0,
        "bubblewrap": shutil.which("bwrap") is not None,
    }
    wanted = ("landlock", "bubblewrap") if choice == "auto" else (choice,)
    return next((kind for kind in wanted if available.get(kind)), "none")
