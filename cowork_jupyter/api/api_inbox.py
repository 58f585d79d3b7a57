"""The endpoint about what waits for the user, in whichever conversation."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from ..agents.ask.inquiries import inquiry_view
from ..store import InquiryKind
from .calls import Call
from .routes import table


class InboxItem(BaseModel):
    """A question or a request for permission, with all that it says, and where it was asked."""

    model_config = ConfigDict(extra="allow")

    kind: InquiryKind
    id: str
    context_id: str
    job_id: str | None
    task_id: str | None
    title: str
    """The name of the conversation."""
    notebook: str | None
    status: str
    created_at: str


class InboxList(BaseModel):
    """Everything that waits: permissions by risk, failed steps, other questions; oldest first."""

    items: list[InboxItem]
    next: None = None


@table.route("GET", "inbox", answer=InboxList, action="read")
async def list_inbox(call: Call) -> BaseModel:
    """Everything that is waiting for the user, in all conversations, the most urgent first."""
    items = [
        InboxItem.model_validate(
            {
                **inquiry_view(inquiry),
                "kind": inquiry.kind,
                "title": context.title,
                "notebook": context.notebook,
            }
        )
        for inquiry, context in call.service.inquiries.waiting()
    ]
    return InboxList(items=items)
