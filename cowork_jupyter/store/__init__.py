"""Everything that happened, in one SQLite file, whole and in order.

State and the events that tell of it change in one transaction, and only then is anything
shown. Others use what is named here.
"""

from .errors import StoreError
from .records import (
    Asker,
    CheckpointRecord,
    ContextFilter,
    Inquiry,
    InquiryKind,
    Page,
    PlanRevision,
)
from .store import Store
from .stream_buffer import StreamBuffer, Streamed
from .writing import Transaction

__all__ = [
    "Asker",
    "CheckpointRecord",
    "ContextFilter",
    "Inquiry",
    "InquiryKind",
    "Page",
    "PlanRevision",
    "Store",
    "StoreError",
    "StreamBuffer",
    "Streamed",
    "Transaction",
]
