"""What a card shows, wherever it is: on the screen, or in a saved notebook."""

from __future__ import annotations

import re

from pydantic import BaseModel


class ShownStep(BaseModel):
    """One row of a plan."""

    action: str
    status: str
    result: str = ""


class ShownCard(BaseModel):
    """A card as somebody reads it. What is None cannot be seen there."""

    where: str
    """For whoever reads the verdict: `tab 1, sales.ipynb, card 2`."""
    context_id: str
    card_id: str
    notebook: str | None = None
    """The notebook it stands in."""
    is_record: bool = False
    saved_at: str | None = None
    """When it was written down; None where it is as of now."""
    role: str
    status: str
    """A job's status, or `ready` where the card says that its plan is."""
    goal: str
    steps: list[ShownStep] = []
    is_editing: bool = False
    buttons: list[str] | None = None
    said_by_user: list[str] = []
    said_by_agents: list[str] | None = None
    """What stands there as an agent's words, in the main column or in an open log."""
    lines: list[str] = []
    """What it tells in passing: decisions, notices."""
    questions: list[str] | None = None
    permissions: list[str] | None = None
    text: str = ""
    """All of it."""

    @property
    def is_on_screen(self) -> bool:
        return self.buttons is not None


def words(text: str) -> str:
    """Only letters and digits: how Markdown is drawn, and where lines end, is no difference."""
    plain = re.sub(r"^\s*(\d+[.)]\s|```\w*)", "", text, flags=re.MULTILINE)
    plain = re.sub(r"\]\([^)]*\)", "]", plain)
    return "".join(re.findall(r"[^\W_]+", plain.lower()))


def same(shown: str, meant: str, most: int = 200) -> bool:
    """Whether these are the same words, as far as a card has room for them: what it had to cut
    ends with an ellipsis."""
    if shown.rstrip().endswith("…") and words(shown):
        most = min(most, len(words(shown)))
    return words(shown)[:most] == words(meant)[:most]
