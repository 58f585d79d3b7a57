"""Safe access to the one folder the agent works in."""

from .ignore import Glob, IgnoreRules, visible_files
from .no_follow import Kind, ListedEntry, PathHandle, kind_of
from .workspace import GuardedWorkspace, Pin, Workspace, fingerprint, has_changed, mark_of

__all__ = [
    "Glob",
    "GuardedWorkspace",
    "IgnoreRules",
    "Kind",
    "ListedEntry",
    "PathHandle",
    "Pin",
    "Workspace",
    "fingerprint",
    "has_changed",
    "kind_of",
    "mark_of",
    "visible_files",
]
