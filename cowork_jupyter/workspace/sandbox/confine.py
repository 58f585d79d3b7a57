"""Confines one command: what it may use, and the steps between fork and exec that drop the rest.

Landlock alone leaves gaps that only mounts close: it cannot protect one file in a writable folder,
and it lets permissions and times of files be changed anywhere. So where the kernel lets us, a
command also gets its own mounts (everything read-only but a few folders) and, without network
access, its own network.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import stat
import struct
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from .landlock import restrict_self
from .seccomp import install_filter, watch
from .syscalls import (
    CLOSE_RANGE,
    MOUNT_SETATTR,
    MOVE_MOUNT,
    OPEN_TREE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    mount_new,
    prctl,
    set_capabilities,
    system_call,
    unshare,
)

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


@dataclass(frozen=True)
class ProcessLimits:
    """The kernel applies memory and file size per process."""

    memory: int
    file_size: int
    processes: int
    """Processes and threads of the command together."""


@dataclass(frozen=True)
class CommandSpec:
    """One command. Descriptors are sent beside it."""

    arguments: list[str]
    environment: dict[str, str]
    limits: ProcessLimits
    root: str
    folder: str = "."
    namespaces: Namespaces = ""
    network: bool = True
    """Whether the new namespaces keep the network."""
    binds: list[Bind] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Folders that are covered with an empty tmpfs."""
    filter: str = ""
    """The seccomp filter, in hexadecimal."""
    watched: bool = False
    """Whether the filter's listener (the guard) decides about connections."""
    privileged: bool = False
    """True for a program that confines the command itself, and needs its rights for it."""

    def to_json(self) -> bytes:
        return json.dumps(vars(self) | {"limits": vars(self.limits)}).encode()

    @classmethod
    def from_json(cls, text: bytes) -> CommandSpec:
        raw = json.loads(text)
        binds = [Bind(*bind) for bind in raw.pop("binds")]
        return cls(**raw | {"limits": ProcessLimits(**raw["limits"]), "binds": binds})


@dataclass(frozen=True)
class Descriptors:
    """Sent with the spec, in this order; -1 if absent."""

    input: int
    output: int
    errors: int
    workspace: int
    folder: int
    ruleset: int = -1

    def sent(self) -> list[int]:
        return [descriptor for descriptor in astuple(self) if descriptor >= 0]


_KEPT_CAPABILITIES = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4
"""chown, dac_override, fowner, fsetid: root keeps working with its own files, where allowed."""
_FIRST_TO_GO = "300"
"""The OOM killer should prefer commands to Jupyter."""
_CLOSE_LATER = 4


def prepare_child() -> None:
    """What can be done before the command is known."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # undo Python's defaults
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def exec_confined(spec: CommandSpec, held: Descriptors, guard: socket.socket) -> None:
    """Confine this process, then exec the command. Raises if any step fails.

    The guard receives what it needs to watch sockets.
    """
    processes = _process_limit(spec)
    for number, descriptor in enumerate((held.input, held.output, held.errors)):
        os.dup2(descriptor, number)
    if spec.namespaces:
        enter_namespaces(spec.namespaces, network=spec.network)
        set_up_mounts(
            [
                bind._replace(same_as=held.workspace) if bind.target == spec.root else bind
                for bind in spec.binds
            ],
            spec.empty,
        )
        _walk_to(spec, held.folder)
    else:
        os.fchdir(held.folder)
    _limit(spec.limits, processes)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # die with the guard
    if not spec.privileged:
        set_capabilities(0 if spec.namespaces == "user" else _KEPT_CAPABILITIES)
    if spec.filter or not spec.privileged:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    if held.ruleset >= 0:
        restrict_self(held.ruleset)
    if spec.watched:
        watch(bytes.fromhex(spec.filter), guard, alone=not spec.network)
    elif spec.filter:
        install_filter(bytes.fromhex(spec.filter))
    system_call(CLOSE_RANGE, 3, 0x7FFFFFFF, _CLOSE_LATER)
    os.execve(spec.arguments[0], spec.arguments, spec.environment)  # noqa: S606 - no shell


def _walk_to(spec: CommandSpec, folder: int) -> None:
    """Enter the folder through the new mounts: the descriptor we hold belongs to the old ones."""
    os.chdir(spec.root)
    for name in spec.folder.split("/"):
        here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.fchdir(here)
        os.close(here)
    if not os.path.samestat(Path().stat(), os.fstat(folder)):
        raise OSError(f"{spec.folder} was swapped for something else")


def _process_limit(spec: CommandSpec) -> int:
    """In a user namespace only the command's processes count, elsewhere all of the user's.

    Counting the user's is not cheap; the total of the machine is.
    """
    if spec.namespaces == "user":
        return spec.limits.processes
    running = Path("/proc/loadavg").read_text().split()[3].partition("/")[2]
    return spec.limits.processes + int(running)


def _limit(limits: ProcessLimits, processes: int) -> None:
    import resource

    # Not RLIMIT_AS: many programs reserve far more address space than they use.
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: limits.memory,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_NPROC: processes,
    }
    for which, limit in wanted.items():
        allowed = resource.getrlimit(which)[1]
        value = limit if allowed == resource.RLIM_INFINITY else min(limit, allowed)
        resource.setrlimit(which, (value, value))
