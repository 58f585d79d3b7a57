"""Mentions: what a message points at with `@`, and what of it the agent was given."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel

MentionKind = Literal["variable", "column", "cell", "file", "folder", "error", "output", "resource"]


class Mention(BaseModel):
    """One thing that a message points at, as it was when the message was sent."""

    text: str
    """As written, with the `@`."""
    kind: MentionKind
    title: str
    """What it is, in a few words: `DataFrame · 6 × 3`."""
    tokens: int = 0
    """What it adds to the conversation."""
    problem: str = ""
    """Why the agent was not given it."""
