"""The record of a conversation: held against its plan, and taken along as a file.

Both are views of the log. Nothing here stores anything.
"""

from .audit import Audit, audit
from .discretion import Discretion
from .export import Export, ExportFormat, export
from .facts import Facts, facts_of

__all__ = [
    "Audit",
    "Discretion",
    "Export",
    "ExportFormat",
    "Facts",
    "audit",
    "export",
    "facts_of",
]
