"""A small process between us and a server that we start, so that the server never outlives us.

Run as a program of its own: `python -I -S supervisor.py LIFELINE COMMAND`. The server inherits our
pipes, so nothing is slower for it. When the lifeline closes, because we let go or are gone, the
server and all it has started are killed; when the server exits by itself, what it left behind is
killed too.

The server is started before anything is imported that it need not wait for. The launcher process
uses the same functions to collect and kill what is left.
"""

from __future__ import annotations

import os
import sys

GRACE = 0.5
"""Seconds between SIGTERM and SIGKILL."""
_PIPE, _FILE_SIZE = 13, 25
"""SIGPIPE and SIGXFSZ, which Python ignores; the server gets the defaults."""
_PR_SET_CHILD_SUBREAPER = 36


def start(command: list[str]) -> int:
    """Start the server in its own session; exits with 127 on failure."""
    try:
        return os.posix_spawnp(
            command[0], command, os.environ, setsid=True, setsigdef=[_PIPE, _FILE_SIZE]
        )
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
        os._exit(127)


def look_after(server: int, lifeline: int) -> int:
    """Wait for the end of the server or of the lifeline, and leave nothing behind."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for ours in (0, 1, 2):  # or our copies would keep the server's pipes open
        os.dup2(nothing, ours)
    _adopt_orphans()
    code = _wait(server, lifeline)
    end_all(GRACE, group=server)
    return code


def _wait(server: int, lifeline: int) -> int:
    """The server's exit code, negative for a signal; 0 if we were told to end it."""
    import select

    woken = woken_by_children()
    poll = select.poll()
    poll.register(lifeline, select.POLLIN)
    poll.register(woken, select.POLLIN)
    while True:
        ended = ended_children(woken)  # also before the first poll: it may have ended already
        if server in ended:
            return ended[server]
        if any(descriptor == lifeline for descriptor, _ in poll.poll()):
            return 0


def woken_by_children() -> int:
    """A descriptor to poll together with others: readable when a child ends."""
    import signal

    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return woken


def ended_children(woken: int) -> dict[int, int]:
    """Exit codes of the children that have ended since the last call."""
    import contextlib

    with contextlib.suppress(BlockingIOError):
        os.read(woken, 4096)
    return _collect()


def _collect() -> dict[int, int]:
    codes: dict[int, int] = {}
    try:
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            codes[pid] = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        pass
    return codes


def end_all(grace: float, group: int | None = None) -> None:
    """SIGTERM everything below, then SIGKILL. As a subreaper none gets away."""
    import signal
    import time

    patience = time.monotonic() + grace
    _signal_all(group, signal.SIGTERM)
    while has_children():
        if time.monotonic() > patience:
            _signal_all(group, signal.SIGKILL)
        time.sleep(0.005)
        _collect()


def has_children() -> bool:
    try:
        if hasattr(os, "waitid"):
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        else:  # on macOS before Python 3.13; it reaps one, as our callers are about to do
            os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _signal_all(group: int | None, number: int) -> None:
    import contextlib

    if group is not None:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    for pid in _descendants() if has_children() else ():
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def _descendants() -> list[int]:
    import contextlib

    children: dict[int, list[int]] = {}
    with contextlib.suppress(OSError):  # without /proc, the process group must do
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208 - thousands of names
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                parent = int(file.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(name))
    descendants, todo = list[int](), [os.getpid()]
    while todo:
        below = children.get(todo.pop(), [])
        descendants += below
        todo += below
    return descendants


def _adopt_orphans() -> None:
    """Become the subreaper of what our children leave behind, also in other sessions."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _end_like(code: int) -> None:
    """Exit as the server did, so that our parent can tell."""
    import contextlib
    import signal

    if code < 0:
        with contextlib.suppress(OSError):  # the handlers of some signals cannot be changed
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


if __name__ == "__main__":
    os.set_inheritable(int(sys.argv[1]), False)
    _end_like(look_after(start(sys.argv[2:]), int(sys.argv[1])))
