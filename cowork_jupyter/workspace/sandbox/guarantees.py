"""What the sandbox guarantees on this machine, and what it cannot."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal

from ...domain.settings import Settings
from .confine import Namespaces


@dataclass(frozen=True)
class SandboxCapabilities:
    kind: str
    landlock: int
    """ABI version; 0 without."""
    namespaces: Namespaces
    seccomp: bool
    watches_sockets: bool
    """Whether the kernel lets a guard decide about each `connect` of a command."""
    root: bool
    """Whether the service runs as root, who is exempt from some limits."""

    @property
    def own_mounts(self) -> bool:
        return bool(self.namespaces) or self.kind == "bubblewrap"

    @property
    def no_network(self) -> bool:
        return self.own_mounts or self.seccomp

    @property
    def own_sockets_only(self) -> bool:
        """Whether each connection is checked, so that commands reach only their own sockets."""
        return bool(self.namespaces) and self.seccomp and self.watches_sockets

    @property
    def hides_sockets(self) -> bool:
        """Whether sockets of other programs are out of reach, wherever they are."""
        return self.own_sockets_only if self.own_mounts else self.seccomp


Guarantee = Literal[
    "outside",
    "tester",
    "home",
    "secrets",
    "inspects",
    "ends",
    "signals",
    "network",
    "sockets",
    "start_up",
    "read_only",
    "memory",
    "processes",
]


def guarantees(capabilities: SandboxCapabilities, settings: Settings) -> dict[Guarantee, str]:
    if capabilities.kind == "none":
        return {}
    denied = settings.sandbox_network == "deny"
    whose = "Commands have" if denied else "Commands of the tester have"
    claims: dict[Guarantee, tuple[str, bool]] = {
        "outside": (
            "Commands write only to the workspace and to a private temporary folder.",
            True,
        ),
        "tester": ("Commands of the tester cannot write to the workspace.", True),
        "home": (
            "Of your home, commands see only the workspace and what programs need to run.",
            True,
        ),
        "secrets": ("Commands cannot read Jupyter's own secrets.", True),
        "inspects": (
            "Commands cannot inspect other programs, including this server, or limit them.",
            True,
        ),
        "ends": ("Nothing a command starts outlives the command or the server.", True),
        "signals": (
            "Commands cannot send signals to other programs.",
            capabilities.own_mounts or capabilities.landlock >= 6,
        ),
        "network": (f"{whose} no network access.", capabilities.no_network),
        "sockets": (
            "Commands cannot reach other programs' local sockets, wherever they are.",
            capabilities.hides_sockets,
        ),
        "start_up": (
            "No command leaves anything behind that would run later, outside the sandbox: when it "
            "ends, hooks, environments and settings of other programs are as before, unless you "
            "approved a command that writes them.",
            True,
        ),
        "read_only": (
            "While it runs, those of them that exist are read-only.",
            capabilities.own_mounts,
        ),
        "memory": ("Memory, file size and core dumps are limited.", True),
        "processes": ("The number of processes is limited.", not capabilities.root),
    }
    return {name: text for name, (text, holds) in claims.items() if holds}


def missing_guarantees(capabilities: SandboxCapabilities, system: str = sys.platform) -> list[str]:
    if capabilities.kind == "none":
        remedy = (
            "Install bubblewrap, or use Linux 5.13 or newer with Landlock."
            if system == "linux"
            else "Only Linux has a sandbox that Cowork can use."
        )
        return [
            "This machine has no sandbox, so every command asks, each time, the tester can run "
            f"none, and code runs only in your kernel. {remedy}"
        ]
    own_mounts = capabilities.own_mounts

    def landlock_before(version: int) -> bool:
        return capabilities.kind == "landlock" and capabilities.landlock < version

    def too_old(version: int) -> bool:
        """Whether Landlock is too old, and there are no mounts to make up for it."""
        return landlock_before(version) and not own_mounts

    gaps = {
        "Commands can change the permissions and timestamps of files elsewhere, but not their "
        "contents: this system does not give them their own mounts "
        "(needs user namespaces).": not own_mounts,
        "While a command runs, it can write git's hooks and settings, editors' tasks, .cowork and "
        "the like; these are restored when it ends.": not own_mounts,
        "Commands can change programs and packages of an environment in the workspace; only what "
        "Python runs when it starts (.pth and the like) is restored.": not own_mounts,
        "Commands can read and change the shared memory of your other programs "
        "(needs user namespaces).": not own_mounts,
        "Commands can truncate files elsewhere (needs Linux 6.2).": too_old(3),
        "Commands cannot move files between folders (needs Linux 5.19).": landlock_before(2),
        "Commands can send signals to your other programs (needs Linux 6.12).": too_old(6)
        or (own_mounts and landlock_before(6)),
        "Without network access, only TCP is blocked (needs seccomp).": not capabilities.no_network
        and capabilities.landlock >= 4,
        "Network access cannot be blocked (needs Linux 6.7).": not capabilities.no_network
        and capabilities.landlock < 4,
        "Commands can reach local sockets of your other programs outside /run and /tmp "
        "(needs Landlock, user namespaces and Linux 5.19).": not capabilities.hides_sockets,
        "Commands with network access can reach abstract sockets, such as X11's.": (
            not capabilities.hides_sockets and capabilities.landlock < 6
        ),
        "The number of processes is not limited, because root has no such limit. "
        "Run Jupyter as another user.": capabilities.root,
    }
    return [what for what, is_so in gaps.items() if is_so]
