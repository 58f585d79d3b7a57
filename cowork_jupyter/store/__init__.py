"""The record: one SQLite file with all state and events, in order.

State and the events about it change in one transaction, and only then is anything shown.
"""

from .errors import StoreError
from .records import (
    Asker,
    CheckpointRecord,
    ContextFilter,
    Inquiry,
    InquiryKind,
    JobEnd,
    Page,
    PlanRevision,
)
from .store import Store
from .stream_buffer import StreamBuffer, Streamed
from .transaction import Transaction

__all__ = [
    "Asker",
    "CheckpointRecord",
    "ContextFilter",
    "Inquiry",
    "InquiryKind",
    "JobEnd",
    "Page",
    "PlanRevision",
    "Store",
    "StoreError",
    "StreamBuffer",
    "Streamed",
    "Transaction",
]
