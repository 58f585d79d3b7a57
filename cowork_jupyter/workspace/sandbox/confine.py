"""The steps between fork and exec: how a process gives up what its command must not have."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from pathlib import Path

from .kernel import (
    CLOSE_RANGE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    prctl,
    set_capabilities,
    system_call,
)
from .landlock import restrict_self
from .namespaces import arrange, enter
from .orders import Descriptors, Orders, ProcessLimits
from .seccomp import install_filter
from .sockets import watch

_KEPT_CAPABILITIES = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4
"""chown, dac_override, fowner, fsetid: root's files stay root's to work with, where allowed."""
_FIRST_TO_GO = "300"
"""When memory runs out the kernel should end commands before it ends Jupyter."""
_CLOSE_LATER = 4


def prepare() -> None:
    """What can be done before it is known what the command is."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)  # Python's own habits are not the command's
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO)


def become(orders: Orders, held: Descriptors, guard: socket.socket) -> None:
    """Be confined, then be the command. Raises if any step of it cannot be taken.

    The guard gets what it needs to watch over sockets.
    """
    processes = _process_limit(orders)
    for number, descriptor in enumerate((held.input, held.output, held.errors)):
        os.dup2(descriptor, number)
    if orders.namespaces:
        enter(orders.namespaces, network=orders.network)
        arrange(
            [
                bind._replace(same_as=held.workspace) if bind.target == orders.root else bind
                for bind in orders.binds
            ],
            orders.empty,
        )
        _walk_to(orders, held.folder)
    else:
        os.fchdir(held.folder)
    _limit(orders.limits, processes)
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # if the guard is ended, this ends too
    if not orders.privileged:
        set_capabilities(0 if orders.namespaces == "user" else _KEPT_CAPABILITIES)
    if orders.filter or not orders.privileged:
        prctl(PR_SET_NO_NEW_PRIVS, 1)
    if held.ruleset >= 0:
        restrict_self(held.ruleset)
    if orders.watched:
        watch(bytes.fromhex(orders.filter), guard, alone=not orders.network)
    elif orders.filter:
        install_filter(bytes.fromhex(orders.filter))
    system_call(CLOSE_RANGE, 3, 0x7FFFFFFF, _CLOSE_LATER)
    os.execve(orders.arguments[0], orders.arguments, orders.environment)  # noqa: S606 - no shell


def _walk_to(orders: Orders, folder: int) -> None:
    """Go to the folder through the new mounts: the one we were given belongs to the old ones."""
    os.chdir(orders.root)
    for name in orders.folder.split("/"):
        here = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        os.fchdir(here)
        os.close(here)
    if not os.path.samestat(Path().stat(), os.fstat(folder)):
        raise OSError(f"{orders.folder} was swapped for something else")


def _process_limit(orders: Orders) -> int:
    """In a user namespace only the command's own count; elsewhere all that the user has running.

    How many those are is not cheap to find out; how many there are on the whole machine is.
    """
    if orders.namespaces == "user":
        return orders.limits.processes
    running = Path("/proc/loadavg").read_text().split()[3].partition("/")[2]
    return orders.limits.processes + int(running)


def _limit(limits: ProcessLimits, processes: int) -> None:
    import resource

    # Not the address space: many programs reserve far more of that than they ever use.
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: limits.memory,
        resource.RLIMIT_FSIZE: limits.file_size,
        resource.RLIMIT_NPROC: processes,
    }
    for which, most in wanted.items():
        allowed = resource.getrlimit(which)[1]
        value = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(which, (value, value))
