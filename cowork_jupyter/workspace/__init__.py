"""Safe access to the one folder the agent works in."""

from .fingerprint import fingerprint
from .globs import Glob
from .guarded import GuardedWorkspace, Pin, mark_of
from .ignore import IgnoreRules, visible_files
from .place import Entry, Kind, Place, kind_of
from .workspace import Workspace

__all__ = [
    "Entry",
    "Glob",
    "GuardedWorkspace",
    "IgnoreRules",
    "Kind",
    "Pin",
    "Place",
    "Workspace",
    "fingerprint",
    "kind_of",
    "mark_of",
    "visible_files",
]
