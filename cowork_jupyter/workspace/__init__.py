"""Safe access to the one folder the agent works in."""

from .ignore import Glob, IgnoreRules, visible_files
from .place import Kind, ListedEntry, Place, kind_of
from .workspace import GuardedWorkspace, Pin, Workspace, fingerprint, has_changed, mark_of

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
