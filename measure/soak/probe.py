"""An extension of the soak's own, in the server beside ours: what the server holds after a gc."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import threading
from typing import Any

import psutil
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join


class Holdings(JupyterHandler):
    """`GET soak`: bytes resident, and what else can leak."""

    def get(self) -> None:
        gc.collect()
        # What Python has given back, glibc may still keep; that is no leak.
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)
        process = psutil.Process()
        self.finish(
            {
                "resident": process.memory_info().rss,
                "descriptors": process.num_fds(),
                "tasks": len(asyncio.all_tasks()),
                "threads": threading.active_count(),
            }
        )


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(app: Any) -> None:
    place = url_path_join(app.base_url, "soak")
    app.web_app.add_handlers(".*$", [(place, Holdings)])
