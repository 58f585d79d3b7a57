"""Makes this interpreter look like another system's to whatever is imported from now on.

What Python and other packages have loaded already keeps working as it does here: only modules that
are imported later get the other system's `os`, `sys`, `signal` and `socket`, and find the modules
missing that it lacks. It is no other system: paths have slashes, and files are Linux's.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any


@dataclass(frozen=True)
class System:
    """What a system lacks of that which Linux has."""

    platform: str
    modules: frozenset[str]
    """That cannot be imported."""
    names: dict[ModuleType, frozenset[str]] = field(hash=False)
    """That are not in a module."""
    holds_folders: bool
    """Whether a folder can be opened, and files be reached from there."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MACOS = System(
    "darwin",
    _words("spwd ossaudiodev"),
    {
        os: _words(
            "O_PATH O_TMPFILE O_NOATIME O_DIRECT memfd_create MFD_CLOEXEC pidfd_open eventfd "
            "splice copy_file_range posix_fadvise posix_fallocate sched_getaffinity "
            "sched_setaffinity listxattr getxattr setxattr removexattr setns unshare getrandom "
            "waitid P_ALL P_PID P_PGID P_PIDFD WEXITED WSTOPPED WNOWAIT pipe2 sched_setscheduler"
        ),
        signal: _words("sigtimedwait sigwaitinfo SIGPWR SIGSTKFLT SIGPOLL SIGRTMIN SIGRTMAX"),
        socket: _words("AF_NETLINK AF_ALG AF_VSOCK AF_PACKET SOCK_CLOEXEC SOCK_NONBLOCK"),
    },
    holds_folders=True,
)

WINDOWS = System(
    "win32",
    _words("fcntl termios resource pwd grp tty pty syslog posix spwd crypt readline curses"),
    {
        os: MACOS.names[os]
        | _words(
            "O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_SYNC O_DSYNC O_NOCTTY O_ASYNC O_NDELAY "
            "fork forkpty vfork register_at_fork posix_spawn posix_spawnp setsid getsid getpgid "
            "setpgid getpgrp setpgrp killpg getuid geteuid getgid getegid getgroups setuid setgid "
            "getresuid chown lchown fchown fchmod fchdir chroot mkfifo mknod statvfs fstatvfs "
            "sysconf confstr pathconf uname getloadavg nice getpriority setpriority wait wait3 "
            "wait4 WNOHANG WUNTRACED WCONTINUED WIFSIGNALED WTERMSIG WEXITSTATUS WIFEXITED lockf "
            "pread pwrite readv writev sendfile sync fdatasync tcgetpgrp tcsetpgrp ttyname "
            "openpty get_blocking set_blocking ctermid"
        ),
        signal: MACOS.names[signal]
        | _words(
            "SIGKILL SIGCHLD SIGHUP SIGQUIT SIGPIPE SIGUSR1 SIGUSR2 SIGALRM SIGXFSZ SIGXCPU "
            "SIGSTOP SIGCONT SIGTSTP SIGWINCH SIGBUS SIGTRAP pthread_kill pthread_sigmask "
            "sigpending sigwait alarm setitimer getitimer pause siginterrupt"
        ),
        socket: MACOS.names[socket] | _words("AF_UNIX SCM_RIGHTS"),
    },
    holds_folders=False,
)

SYSTEMS = {"macos": MACOS, "windows": WINDOWS}


def wear(system: System) -> None:
    """From here on, what is imported finds the other system."""
    copies = {name: _copy(module, system) for name, module in _originals().items()}
    copies["sys"].__dict__["platform"] = system.platform
    if not system.holds_folders:
        copies["os"].__dict__.update(_without_held_folders())
        msvcrt = ModuleType("msvcrt")
        msvcrt.__dict__.update(locking=lambda *_: None, LK_NBLCK=2, LK_UNLCK=0)
        sys.modules["msvcrt"] = msvcrt
    for name in system.modules:
        sys.modules.pop(name, None)
    sys.modules.update(copies)
    sys.meta_path.insert(0, _Missing(system.modules))
    sys.addaudithook(_no_proc)
    os.environ["PATH"] = str(Path(sys.executable).parent)  # without programs that only Linux has


def _originals() -> dict[str, ModuleType]:
    return {"os": os, "sys": sys, "signal": signal, "socket": socket}


def _copy(module: ModuleType, system: System) -> ModuleType:
    copy = ModuleType(module.__name__, module.__doc__)
    lacking = system.names.get(module, frozenset())
    copy.__dict__.update({n: v for n, v in module.__dict__.items() if n not in lacking})
    return copy


def _without_held_folders() -> dict[str, object]:
    """As on Windows: no folder has a descriptor, and none can be given as `dir_fd`."""
    takers = "stat lstat mkdir unlink rmdir readlink symlink link rename replace chmod access utime"

    def taker(function: Callable[..., Any]) -> Callable[..., Any]:
        def refusing(*given: Any, **named: Any) -> Any:
            if any(name.endswith("dir_fd") and named[name] is not None for name in named):
                raise NotImplementedError("dir_fd unavailable on this platform")
            return function(*given, **named)

        return refusing

    def opening(path: Any, *given: Any, dir_fd: int | None = None, **named: Any) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return os.open(path, *given, **named)

    def scanning(path: Any = ".") -> Any:
        if isinstance(path, int):
            raise TypeError("scandir: path should be string, bytes, os.PathLike or None, not int")
        return os.scandir(path)

    found = {name: taker(getattr(os, name)) for name in takers.split()}
    empty: set[object] = set()
    return {**found, "open": opening, "scandir": scanning, "supports_dir_fd": empty}


class _Missing:
    """Finds nothing under some names, and lets others find the rest."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name in self._names:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return None


def _no_proc(event: str, given: tuple[Any, ...]) -> None:
    """Only Linux has it."""
    if event in ("open", "os.listdir", "os.scandir") and str(given[0]).startswith("/proc/"):
        raise FileNotFoundError(2, "No such file or directory", given[0])
