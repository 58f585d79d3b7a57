"""Hides the end of this execution from post_execute callbacks; sent to the kernel as source."""

from __future__ import annotations

import sys
import threading
from typing import Any


def hush() -> None:
    """Applies until this thread's execution has ended, which restores everything."""
    callbacks = sys.modules["IPython"].get_ipython().events.callbacks
    thread = threading.get_ident()

    class Hushed(list):  # type: ignore[type-arg]
        """The callbacks; once, on this thread, there seem to be none."""

        def __getitem__(self, place: Any) -> Any:
            if threading.get_ident() != thread:
                return super().__getitem__(place)
            callbacks["post_execute"] = list(self)
            return []

    callbacks["post_execute"] = Hushed(callbacks["post_execute"])


hush()
