"""The process that serves a model: `python -m cowork_jupyter.parts.local_models.serve`.

It reads its orders as one line of JSON from standard input, which keeps the key out of arguments
and environment; reports status as lines of JSON on its original standard output; and exits on end
of input, at the latest when the parent exits.
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
"""Tokens. Small models sometimes loop forever."""
_TEMPERATURE = 0.2
"""Small models follow the reply format better at a low temperature."""
_PROMPT_CACHE_MIB = 512
"""Lets parallel tasks reuse a prompt that was already evaluated."""


def main() -> None:
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
    """No Python code runs while the library loads the model, so let the kernel kill us."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _teller() -> Callable[..., None]:
    """Keep standard output for status lines and redirect the library's prints to standard error."""
    output = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(2, 1)

    def tell(**news: object) -> None:
        output.write(f"{json.dumps(news)}\n")

    return tell


def _read_ahead(file: Path, tell: Callable[[float], None]) -> None:
    """Read the file into the page cache: the only way to report loading progress."""
    size, done = file.stat().st_size, 0
    with file.open("rb", buffering=0) as opened:
        while piece := opened.read(_PIECE):
            done += len(piece)
            tell(min(done / size, 1.0))


def _serving(orders: dict[str, Any]) -> Any:
    """Load the model; the library then serves it from its own threads."""
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
    """Number of threads if we may use only a part of the machine, as in a container, else None.

    The library sees only the whole machine, where its own default is best.
    """
    allowed = float(granted)
    with contextlib.suppress(ValueError):  # no quota reads "max 100000"
        share, period = map(int, quota.split())
        allowed = min(allowed, share / period)
    return max(1, math.floor(allowed)) if allowed < machine else None


def _granted() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quota() -> str:
    """The CPU quota of the container's cgroup."""
    with contextlib.suppress(OSError):
        return Path("/sys/fs/cgroup/cpu.max").read_text()
    return ""


if __name__ == "__main__":
    main()
