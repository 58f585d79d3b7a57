"""The completion items that the API returns."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

from ...domain.mentions import MentionKind

OfferKind = MentionKind | Literal["role", "workflow", "skill", "prompt"]


class CompletionItem(BaseModel):
    """One thing that can stand there."""

    text: str
    """What is written, with the `@` or `/`."""
    kind: OfferKind
    title: str = ""
    """What it is, in a few words."""


class CompletionItems(BaseModel):
    """What can stand there, best first."""

    items: list[CompletionItem]
    next: None = None
    more: bool = False
    """Whether something is still being looked up, so that it is worth asking again."""
