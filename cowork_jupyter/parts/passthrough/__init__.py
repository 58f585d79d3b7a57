"""The connected model for other programs, over the OpenAI API."""

from __future__ import annotations

from typing import Any

from ...service.parts import Part


def _handlers() -> list[tuple[str, type[Any]]]:
    from .handler import PassthroughHandler

    return [(r"/cowork/v1/(models|chat/completions)", PassthroughHandler)]


PART = Part(handlers=_handlers)
