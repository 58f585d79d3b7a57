"""A leash: a small process between us and a server that we start, so that none outlives us.

Run as a program of its own with nothing loaded: `python -I -S leash.py LIFELINE COMMAND …`. The
server has our pipes as its own, so nothing is slower for it. When the lifeline ends, because we
let go or are no more, the server and all that it has started are ended; when the server ends by
itself, what it left behind is ended too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import sys
import time

GRACE = 0.5
"""Seconds between asking what is left to end and ending it."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main(lifeline: int, command: list[str]) -> int:
    """Start the command, wait for its end or that of the lifeline, and leave nothing behind."""
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    os.set_inheritable(lifeline, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    server = os.fork()
    if server == 0:
        _become(command)
    nothing = os.open(os.devnull, os.O_RDWR)
    for ours in (0, 1, 2):  # or the server's end would not be seen at the other end of its pipes
        os.dup2(nothing, ours)
    code = _wait(server, lifeline, woken)
    _end_all(server)
    return code


def _become(command: list[str]) -> None:
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # should the leash itself be ended
    try:
        os.execvp(command[0], command)  # noqa: S606 - what the user has configured, without a shell
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def _wait(server: int, lifeline: int, woken: int) -> int:
    """The server's exit code, negative for a signal; 0 if we were told to end it."""
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ready = {descriptor for descriptor, _ in poll.poll()}
        if woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, 4096)
            ended = _collect()
            if server in ended:
                return ended[server]
        if lifeline in ready:
            return 0


def _collect() -> dict[int, int]:
    found: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            found[pid] = os.waitstatus_to_exitcode(status)
    return found


def _end_all(server: int) -> None:
    """Ask all to end, then end them. Where orphans come to us, none gets away."""
    patience = time.monotonic() + GRACE
    _signal_all(server, signal.SIGTERM)
    while _has_children():
        if time.monotonic() > patience:
            _signal_all(server, signal.SIGKILL)
        time.sleep(0.005)
        _collect()


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _signal_all(server: int, number: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(server, number)
    for pid in _descendants():
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):  # where there is no /proc, the server's group must do
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - thousands of names
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    found, todo = list[int](), [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    status = main(int(sys.argv[1]), sys.argv[2:])
    if status < 0:  # end as the server did, so that whoever started us can tell
        with contextlib.suppress(OSError):  # of some signals nothing can be changed
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    sys.exit(status)
