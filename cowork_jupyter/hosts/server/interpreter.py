"""One Python for Jupyter's loop, for ours, and for threads that read files: nobody waits long."""

from __future__ import annotations

import gc
import sys

from ...domain.operations import ModelCalled, Operation

SWITCH_SECONDS = 0.001
"""How long a thread may compute while others wait; Python's own 5 ms add up where several do."""


class SharedInterpreter:
    """What was loaded stays, so it is taken out of the garbage collector's sight.

    To search all of it now and then took a fifth of a second in which no thread went on. Only in
    the server: in a kernel, what is there is the user's.
    """

    def __init__(self) -> None:
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
        gc.freeze()
        self._has_asked = False

    def hear(self, operation: Operation) -> None:
        """The first question to a model loads the library for it."""
        if isinstance(operation, ModelCalled) and not self._has_asked:
            self._has_asked = True
            gc.freeze()
