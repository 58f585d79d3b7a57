"""The steps between fork and exec that drop what the command must not have."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
from pathlib import Path

from .command_spec import CommandSpec, Descriptors, ProcessLimits
from .landlock import restrict_self
from .namespaces import enter_namespaces, set_up_mounts
from .seccomp import install_filter
from .syscalls import (
    CLOSE_RANGE,
    PR_SET_NO_NEW_PRIVS,
    PR_SET_PDEATHSIG,
    prctl,
    set_capabilities,
    system_call,
)
from .watched_calls import watch

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
