"""Landlock rulesets: what is not on the list is refused by the kernel.

Rules are bound to open descriptors, not to names. A finished ruleset can be used by many commands.
What was created after it, outside the folders it names, is not on it: using an old ruleset is safe.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
from collections.abc import Iterable
from typing import Literal

from .syscalls import (
    LANDLOCK_ADD_RULE,
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_RESTRICT_SELF,
    system_call,
)

NEWEST_KNOWN = 7
_VERSION_QUERY = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_MAKE_CHAR, _MAKE_BLOCK, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 6, 1 << 11, 1 << 13, 1 << 14, 1 << 15
_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

Access = Literal["read", "list", "write", "device"]
_RIGHTS: dict[Access, int] = {
    "read": _EXECUTE | _READ_FILE | _READ_DIR,
    "list": _READ_DIR,
    # Everything but creating and using devices.
    "write": (1 << 15) - 1 & ~(_MAKE_CHAR | _MAKE_BLOCK),
    "device": _READ_FILE | _WRITE_FILE | _READ_DIR | _TRUNCATE | _IOCTL_DEV,
}
_FOR_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("descriptor", ctypes.c_int32))


def landlock_version() -> int:
    """ABI version; 0 where there is none."""
    try:
        return system_call(LANDLOCK_CREATE_RULESET, None, 0, _VERSION_QUERY)
    except OSError:
        return 0


def handled_files(version: int) -> int:
    """The file access rights that this version can restrict."""
    supported = min(version, NEWEST_KNOWN)
    bits = 13 + (supported >= 2) + (supported >= 3) + (supported >= 5)
    return (1 << bits) - 1


class Ruleset:
    """Close it when no new command will use it."""

    def __init__(self, *, tcp: bool, version: int | None = None) -> None:
        self._version = landlock_version() if version is None else version
        self._handled = handled_files(self._version)
        wanted = _Ruleset(self._handled, 0 if tcp else _TCP, _ABSTRACT_SOCKETS_AND_SIGNALS)
        # Older kernels know only the first fields, and refuse a longer struct.
        size = 24 if self._version >= 6 else 16 if self._version >= 4 else 8
        self.descriptor = system_call(LANDLOCK_CREATE_RULESET, wanted, size, 0)

    def allow(self, access: Access, descriptor: int, *, is_folder: bool) -> None:
        """Allow access to an open file, or to an open folder and everything below it."""
        rights = _RIGHTS[access] & self._handled
        rule = _PathBeneath(rights if is_folder else rights & _FOR_FILES, descriptor)
        if rule.allowed:
            system_call(LANDLOCK_ADD_RULE, self.descriptor, _PATH_BENEATH, rule, 0)

    def allow_paths(self, access: Access, paths: Iterable[str]) -> None:
        """Allow access to each path; missing ones and symlinks are skipped."""
        for path in paths:
            with contextlib.suppress(OSError):
                descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    mode = os.fstat(descriptor).st_mode
                    if not stat.S_ISLNK(mode):
                        self.allow(access, descriptor, is_folder=stat.S_ISDIR(mode))
                finally:
                    os.close(descriptor)

    def close(self) -> None:
        """Commands that run under it are not affected."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


def restrict_self(descriptor: int) -> None:
    """Irrevocable, and inherited by all children."""
    system_call(LANDLOCK_RESTRICT_SELF, descriptor, 0)
