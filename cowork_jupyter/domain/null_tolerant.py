"""What models write in JSON: for many of them `null` is a way to leave something out."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, model_validator


class NullTolerantModel(BaseModel):
    """Something that a model has written. `null` means what leaving it out means."""

    @model_validator(mode="before")
    @classmethod
    def _without_nulls(cls, raw: Any) -> Any:
        if not isinstance(raw, dict):
            return raw
        return {name: value for name, value in raw.items() if value is not None}
