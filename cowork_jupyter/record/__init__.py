"""The record of a conversation: compared with its plan, and exported as a file.

Both are views of the log. Nothing here stores anything.
"""

from .audit import Audit, audit
from .export import Export, ExportFormat, export
from .facts import Facts, facts_of
from .redactor import Redactor

__all__ = ["Audit", "Export", "ExportFormat", "Facts", "Redactor", "audit", "export", "facts_of"]
