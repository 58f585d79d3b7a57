"""The built-in guide: answers in the place of a model, by rules, with no network and no weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...service.parts import Part

if TYPE_CHECKING:
    from ...llm.client import LanguageModel


def _model() -> LanguageModel:
    from .model import GuideModel

    return GuideModel()


PART = Part(built_in_model=_model)
