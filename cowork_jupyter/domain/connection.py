"""Which model answers: one that is configured, one that the user has chosen, or the guide."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

BUILT_IN = "built-in guide · no language model"
"""The name of what answers where no model is connected, wherever a model's name is shown."""


@dataclass(frozen=True)
class Connection:
    """Where questions go. With nothing said, to the guide inside the package."""

    base_url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    local: Path | None = None
    """A model file that is served here, by a process of ours."""
    chosen: bool = False
    """Whether the user picked it here; if not, it was configured."""

    @property
    def is_guide(self) -> bool:
        """Whether no language model answers at all."""
        return not (self.base_url or self.model or self.local)

    @property
    def name(self) -> str:
        """What is shown as the model's name; empty where only its server knows."""
        return BUILT_IN if self.is_guide else self.model
