"""What the sandbox promises on this machine, and what it cannot, in plain words."""

from __future__ import annotations

from dataclasses import dataclass

from ...domain.settings import Settings
from .namespaces import Namespaces


@dataclass(frozen=True)
class Powers:
    """What there is to confine with."""

    kind: str
    landlock: int
    """The version; 0 without."""
    namespaces: Namespaces
    seccomp: bool
    watches_sockets: bool
    """Whether the kernel lets a guard decide whom a command connects to."""
    root: bool
    """Whether the service runs as root, whom the kernel does not hold to all limits."""

    @property
    def own_mounts(self) -> bool:
        """Whether a command has a view of the files of its own."""
        return bool(self.namespaces) or self.kind == "bubblewrap"

    @property
    def no_network(self) -> bool:
        """Whether the network can be taken away as a whole."""
        return self.own_mounts or self.seccomp

    @property
    def own_sockets_only(self) -> bool:
        """Whether each connection is looked at, and only the command's own sockets are reached."""
        return bool(self.namespaces) and self.seccomp and self.watches_sockets

    @property
    def hides_sockets(self) -> bool:
        """Whether sockets of other programs are out of reach, wherever they are."""
        return self.own_sockets_only if self.own_mounts else self.seccomp


def promises(powers: Powers, settings: Settings) -> list[str]:
    if powers.kind == "none":
        return []
    said = [
        "Commands write only in the workspace and in a temporary folder of their own.",
        "Commands of the tester cannot write in the workspace.",
        "Keys, tokens, browsers' profiles and Jupyter's own secrets cannot be read.",
        "Other programs, this server included, cannot be looked into.",
        "Nothing that a command starts outlives it, or the server.",
    ]
    if powers.own_mounts or powers.landlock >= 6:
        said.append("Other programs cannot be sent signals.")
    if powers.no_network:
        all_of_them = settings.sandbox_network == "deny"
        whose = "Commands have" if all_of_them else "Commands of the tester have"
        said.append(f"{whose} no network.")
    if powers.hides_sockets:
        said.append("Other programs' local sockets cannot be reached, wherever they are.")
    said.append(
        "Nothing stays behind that runs later, outside: git's hooks and settings, .envrc, editors' "
        "tasks, .cowork, .jupyter and .ipython are as before when a command ends, unless you "
        "approved one that writes them."
    )
    if powers.own_mounts:
        said.append("What of these is there already, and environments, are read-only meanwhile.")
    said.append("Memory, size of files, and core dumps are limited.")
    if not powers.root:
        said.append("The number of processes is limited.")
    return said


def missing(powers: Powers) -> list[str]:
    """What does not hold here."""
    if powers.kind == "none":
        return [
            "Nothing confines commands here, so every one asks, and the tester can run none. "
            "Install bubblewrap, or use Linux 5.13 or newer with Landlock."
        ]
    gaps = {
        "Permissions and times of files elsewhere can be changed, contents cannot: "
        "this system lets nobody have mounts of their own "
        "(needs user namespaces).": not powers.own_mounts,
        "While a command runs, it can write git's hooks and settings, editors' tasks, .cowork and "
        "the like; that is put back when it ends.": not powers.own_mounts,
        "Programs and packages of an environment in the workspace can be changed; only what Python "
        "runs when it starts (.pth and the like) is put back.": not powers.own_mounts,
        "Shared memory of your other programs can be read "
        "(needs user namespaces).": not powers.own_mounts,
        "Files elsewhere can be made empty (needs Linux 6.2).": _old(powers, 3),
        "Files cannot be moved between folders (needs Linux 5.19).": _only_landlock(powers, 2),
        "Your other programs can be sent signals (needs Linux 6.12).": _old(powers, 6)
        or (powers.own_mounts and _only_landlock(powers, 6)),
        "Without network, only TCP is refused (needs seccomp).": not powers.no_network
        and powers.landlock >= 4,
        "The network cannot be taken away (needs Linux 6.7).": not powers.no_network
        and powers.landlock < 4,
        "Local sockets of your other programs outside /run and /tmp can be reached "
        "(needs Landlock, user namespaces and Linux 5.19).": not powers.hides_sockets,
        "Commands that have the network can reach abstract sockets, such as X11's.": (
            not powers.hides_sockets and powers.landlock < 6
        ),
        "The number of processes is not limited, because root has no such limit. "
        "Run Jupyter as another user.": powers.root,
    }
    return [what for what, is_so in gaps.items() if is_so]


def _only_landlock(powers: Powers, version: int) -> bool:
    return powers.kind == "landlock" and powers.landlock < version


def _old(powers: Powers, version: int) -> bool:
    """Whether Landlock is too old for it, and there are no mounts to make up for that."""
    return _only_landlock(powers, version) and not powers.own_mounts
