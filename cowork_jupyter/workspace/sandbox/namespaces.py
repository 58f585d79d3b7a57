"""A private mount namespace for a command: everything read-only but a few folders.

Landlock alone leaves gaps that only mounts close: it cannot protect one file in a writable folder,
and it lets permissions and times of files be changed anywhere. So where the kernel lets us, a
command also gets its own mounts and, without network access, its own network.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import stat
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from .syscalls import MOUNT_SETATTR, MOVE_MOUNT, OPEN_TREE, mount_new, system_call, unshare

_NEW_MOUNTS, _NEW_IPC, _NEW_USER, _NEW_NETWORK = 0x20000, 0x8000000, 0x10000000, 0x40000000
_PRIVATE, _NO_SUID, _NO_DEVICES = 1 << 18, 2, 4
_READ_ONLY = 1
_HERE, _ITSELF, _RECURSIVE, _NO_FOLLOW = -100, 0x1000, 0x8000, 0x100
_CLONE, _CLOSE_ON_EXEC = 1, 0o2000000
_FROM_ITSELF = 0x4
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41

Namespaces = Literal["", "user", "root"]
"""Whether commands can have their own: no, as an ordinary user, only as root."""


class Bind(NamedTuple):
    source: str
    target: str
    writable: bool = False
    optional: bool = False
    """Skip it if the target does not exist."""
    same_as: int = -1
    """A descriptor that the source must match; it may have been swapped since it was opened."""


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def enter_namespaces(kind: Namespaces, *, network: bool) -> None:
    user, group = os.getuid(), os.getgid()
    flags = _NEW_MOUNTS | _NEW_IPC | (0 if network else _NEW_NETWORK)
    unshare(flags | (_NEW_USER if kind == "user" else 0))
    if kind == "user":
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    _set(_HERE, "/", _Attributes(0, 0, _PRIVATE, 0))  # else mounts would propagate to everybody
    if not network:
        _bring_up_loopback()


def set_up_mounts(binds: Sequence[Bind], empty: Sequence[str]) -> None:
    """Make all read-only, mount tmpfs over some folders, then the binds, in this order."""
    trees = [(bind, _tree(bind)) for bind in binds if _wanted(bind)]
    _set(_HERE, "/", _Attributes(_READ_ONLY, 0, 0, 0))
    for folder in filter(os.path.isdir, empty):
        mount_new(b"tmpfs", os.fsencode(folder), _NO_SUID | _NO_DEVICES, b"mode=1777")
    for bind, tree in trees:
        if _wanted(bind):
            if not os.path.lexists(bind.target):
                _make_target(Path(bind.target), stat.S_ISDIR(os.fstat(tree).st_mode))
            system_call(MOVE_MOUNT, tree, b"", _HERE, os.fsencode(bind.target), _FROM_ITSELF)
        os.close(tree)


def _wanted(bind: Bind) -> bool:
    return not bind.optional or os.path.lexists(bind.target)


def _tree(bind: Bind) -> int:
    """A detached clone of the mount at the source."""
    flags = _CLONE | _CLOSE_ON_EXEC | _RECURSIVE | _NO_FOLLOW
    tree = system_call(OPEN_TREE, _HERE, os.fsencode(bind.source), flags)
    if bind.same_as >= 0 and not os.path.samestat(os.fstat(tree), os.fstat(bind.same_as)):
        raise OSError(f"{bind.source} was swapped for something else")
    if not bind.writable:
        _set(tree, "", _Attributes(_READ_ONLY, 0, 0, 0))
    return tree


def _make_target(target: Path, is_folder: bool) -> None:
    """Create a mount point, below one of the covered folders."""
    (target if is_folder else target.parent).mkdir(parents=True, exist_ok=True)
    if not is_folder:
        target.touch()


def _set(folder: int, path: str, attributes: _Attributes) -> None:
    flags = _RECURSIVE | (0 if path else _ITSELF)
    size = ctypes.sizeof(attributes)
    system_call(MOUNT_SETATTR, folder, os.fsencode(path), flags, attributes, size)


def _bring_up_loopback() -> None:
    """So that a test can talk to a server that it has started itself."""
    from fcntl import ioctl

    with contextlib.suppress(OSError), socket.socket() as any_socket:
        ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", _UP_AND_RUNNING))
