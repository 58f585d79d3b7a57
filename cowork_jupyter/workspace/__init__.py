"""Safe access to the one folder the agent works in."""

from .fingerprint import fingerprint
from .globs import Glob
from .ignore import IgnoreRules, visible_files
from .place import Entry, Kind, Place, kind_of
from .workspace import Workspace

__all__ = [
    "Entry",
    "Glob",
    "IgnoreRules",
    "Kind",
    "Place",
    "Workspace",
    "fingerprint",
    "kind_of",
    "visible_files",
]
