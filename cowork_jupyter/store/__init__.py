"""The record: one SQLite file with all state and events, in order.

State and the events about it change in one transaction, and only then is anything shown.
"""

from .database import StoreError
from .records import (
    Asker,
    CheckpointRecord,
    ContextFilter,
    JobEnd,
    Page,
    PlanRevision,
    UserRequest,
    UserRequestKind,
)
from .store import Store
from .transaction import Transaction

__all__ = [
    "Asker",
    "CheckpointRecord",
    "ContextFilter",
    "JobEnd",
    "Page",
    "PlanRevision",
    "Store",
    "StoreError",
    "Transaction",
    "UserRequest",
    "UserRequestKind",
]
