"""System calls without a wrapper in Python. Each raises `OSError` on failure."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from functools import cache

MACHINE = platform.machine()
# Syscalls this new have the same number on every architecture we support.
OPEN_TREE = 428
MOVE_MOUNT = 429
PIDFD_OPEN = 434
CLOSE_RANGE = 436
OPENAT2 = 437
PIDFD_GETFD = 438
MOUNT_SETATTR = 442
LANDLOCK_CREATE_RULESET = 444
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446

_STATX = {"x86_64": 332, "aarch64": 291}
_RENAMEAT2 = {"x86_64": 316, "aarch64": 276}
_NO_REPLACE = 1
_NO_FOLLOW, _BIRTH = 0x100, 0x800

PR_SET_PDEATHSIG = 1
PR_SET_SECCOMP = 22
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38

Argument = int | bytes | ctypes.Structure | ctypes.Array[ctypes.c_char] | None


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def system_call(number: int, *arguments: Argument) -> int:
    if sys.platform != "linux":
        raise OSError(38, "there are no such system calls here")
    return _answer(_libc().syscall(ctypes.c_long(number), *map(_plain, arguments)))


def prctl(option: int, *arguments: Argument) -> int:
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return _answer(_libc().prctl(ctypes.c_int(option), *map(_plain, padded)))


def connect(descriptor: int, address: bytes) -> None:
    """Connect to a raw `sockaddr` of any family."""
    _answer(_libc().connect(ctypes.c_int(descriptor), address, ctypes.c_uint(len(address))))


def unshare(flags: int) -> None:
    _answer(_libc().unshare(ctypes.c_int(flags)))


def mount_new(kind: bytes, target: bytes, flags: int, options: bytes) -> None:
    _answer(_libc().mount(b"cowork", target, kind, ctypes.c_ulong(flags), options))


def rename_new(source: int, name: str, target: int, new_name: str) -> None:
    """Rename between held folders, unless something has the new name already."""
    number = _RENAMEAT2.get(MACHINE)
    if number is None:
        raise OSError(38, "this machine's system calls are not known")
    names = os.fsencode(name), os.fsencode(new_name)
    system_call(number, source, names[0], target, names[1], _NO_REPLACE)


def birth_of(folder: int, name: str) -> int | None:
    """When a file, link or folder was made, in nanoseconds, if the file system knows.

    Nobody can set this time, and a file keeps it wherever it is moved.
    """
    number = _STATX.get(MACHINE)
    if number is None:
        return None
    facts = ctypes.create_string_buffer(256)
    try:
        system_call(number, folder, os.fsencode(name), _NO_FOLLOW, _BIRTH, facts)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        return None
    (mask,) = struct.unpack_from("I", facts)
    seconds, nanoseconds = struct.unpack_from("qI", facts, 80)
    return seconds * 1_000_000_000 + nanoseconds if mask & _BIRTH else None


def set_capabilities(kept: int) -> None:
    """Keep at most these capabilities, and none across exec."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    have = (ctypes.c_uint32 * 6)()
    _answer(_libc().capget(header, have))
    held = (have[1] | have[4] << 32) & kept
    low, high = held & 0xFFFFFFFF, held >> 32
    _answer(_libc().capset(header, (ctypes.c_uint32 * 6)(low, low, 0, high, high, 0)))


def _plain(value: Argument) -> object:
    if isinstance(value, int):
        return ctypes.c_long(value)
    return ctypes.byref(value) if isinstance(value, ctypes.Structure) else value


def _answer(value: int) -> int:
    if value < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return value
