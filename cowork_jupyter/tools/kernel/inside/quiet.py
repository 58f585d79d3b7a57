"""Lets the end of this execution go unnoticed by what waits for the end of the user's."""

from __future__ import annotations

import sys
import threading
from typing import Any


def hush() -> None:
    """Until this thread's execution has ended, which puts everything back."""
    callbacks = sys.modules["IPython"].get_ipython().events.callbacks
    thread = threading.get_ident()

    class Hushed(list):  # type: ignore[type-arg]
        """The callbacks; on this thread there seem to be none, once."""

        def __getitem__(self, place: Any) -> Any:
            if threading.get_ident() != thread:
                return super().__getitem__(place)
            callbacks["post_execute"] = list(self)
            return []

    callbacks["post_execute"] = Hushed(callbacks["post_execute"])


hush()
