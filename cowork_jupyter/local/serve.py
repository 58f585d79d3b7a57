"""The process that serves a model: `python -m cowork_jupyter.local.serve`.

It reads its orders as one line of JSON from its standard input, so that the key stands neither
in its arguments nor in its environment. It tells how it fares in lines of JSON on what was its
standard output, and ends when its input ends, so at the latest with whoever started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PIECE = 16 << 20
_MAX_REPLY_LENGTH = 4_096
"""Tokens. Small models sometimes repeat themselves without end."""
_TEMPERATURE = 0.2
"""Small models keep to the agreed form better when they do not gamble."""
_PROMPT_CACHE_MIB = 512
"""For prompts read earlier, so that parallel tasks need not read the same one again."""


def main() -> None:
    """Serve until there is no more input."""
    tell = _teller()
    _end_with_our_parent()
    line = sys.stdin.readline()
    if not line:
        return
    orders = json.loads(line)
    try:
        _read_ahead(Path(orders["file"]), lambda part: tell(read=part))
        server = _serving(orders)
    except Exception as error:
        tell(error=str(error))
        return
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # the library stops serving, but does not end
    tell(address=server.listening_address)
    sys.stdin.read()
    os._exit(0)  # nothing to save, and nothing to wait for


def _end_with_our_parent() -> None:
    """While the model is loaded nothing of Python runs, so the system must watch over us."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _teller() -> Callable[..., None]:
    """Writes to our standard output, which from now on is closed to the library."""
    output = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)

    def tell(**news: object) -> None:
        output.write(f"{json.dumps(news)}\n")

    return tell


def _read_ahead(file: Path, tell: Callable[[float], None]) -> None:
    """Read the file once, so that loading finds it in memory. Only this can tell how far it is."""
    size, done = file.stat().st_size, 0
    with file.open("rb", buffering=0) as opened:
        while piece := opened.read(_PIECE):
            done += len(piece)
            tell(min(done / size, 1.0))


def _serving(orders: dict[str, Any]) -> Any:
    """Load the model; from then on threads of the library's own answer."""
    import xllamacpp  # type: ignore[import-untyped]

    params = xllamacpp.CommonParams()
    params.model.path = orders["file"]
    params.model_alias = {orders["name"]}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [orders["key"]]
    params.ui = False
    params.n_ctx = orders["context"]
    params.n_parallel = orders["parallel"]
    params.kv_unified = True  # one conversation may use it all while the others are short
    params.n_predict = _MAX_REPLY_LENGTH
    params.cache_ram_mib = _PROMPT_CACHE_MIB
    params.sampling.temp = _TEMPERATURE
    threads = threads_within(os.cpu_count() or 1, _granted(), _quota())
    if threads:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)


def threads_within(machine: int, granted: int, quota: str) -> int | None:
    """How many threads to use where we may not use the whole machine, as in a container.

    The library sees only the machine. On the whole of one it knows best.
    """
    allowed = float(granted)
    with contextlib.suppress(ValueError):  # no quota reads "max 100000"
        share, period = map(int, quota.split())
        allowed = min(allowed, share / period)
    return max(1, math.floor(allowed)) if allowed < machine else None


def _granted() -> int:
    """The processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota() -> str:
    """How much of them a container gets, as Linux writes it."""
    with contextlib.suppress(OSError):
        return Path("/sys/fs/cgroup/cpu.max").read_text()
    return ""


if __name__ == "__main__":
    main()
