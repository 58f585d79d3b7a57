"""The record of a conversation: compared with its plan, and exported as a file.

Both are views of the log. Nothing here stores anything.
"""

from .audit import Audit, audit
from .conversation_log import ConversationLog, read_log
from .export import Export, ExportFormat, export
from .redactor import Redactor

__all__ = [
    "Audit", "ConversationLog", "Export", "ExportFormat", "Redactor", "audit", "export", "read_log",
]  # fmt: skip
