"""What a measurement is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure beside the one we promised."""

    name: str
    value: float
    unit: str
    limit: float | None
    """None for what is only information."""
    note: str = ""
    at_least: bool = False
    """Whether the limit is a floor rather than a ceiling."""

    @property
    def kept(self) -> bool:
        if self.limit is None:
            return True
        return self.value >= self.limit if self.at_least else self.value <= self.limit
