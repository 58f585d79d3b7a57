"""Safe access to the one folder the agent works in."""

from .fingerprint import fingerprint, has_changed
from .globs import Glob
from .guarded import GuardedWorkspace, Pin, mark_of
from .ignore import IgnoreRules, visible_files
from .place import Kind, ListedEntry, Place, kind_of
from .workspace import Workspace

__all__ = [
    "Glob",
    "GuardedWorkspace",
    "IgnoreRules",
    "Kind",
    "ListedEntry",
    "Pin",
    "Place",
    "Workspace",
    "fingerprint",
    "has_changed",
    "kind_of",
    "mark_of",
    "visible_files",
]
