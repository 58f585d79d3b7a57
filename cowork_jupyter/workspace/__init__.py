"""Safe access to the one folder the agent works in."""

from .fingerprint import fingerprint, has_changed
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
    "has_changed",
    "kind_of",
    "mark_of",
    "visible_files",
]
