"""Detects whether a plan follows a template that its planner was shown.

Derived from the plan, not asked of the model: most of the template's steps occur in it, by their
words.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.guidance import Guidance
from ..domain.plan import Plan
from ..llm.relevance import words
from ..workflows import Template
from ..workflows.workflow import PLACE

_MIN_WORDS = 2
"""Per step, beside the values that vary: one common word may be chance."""
_SHARE_OF_WORDS = 0.75
"""How much of a step's words another must have to be the same step."""
_SHARE_OF_STEPS = 0.5
"""More than this share of the steps must be kept."""


def as_guidance(template: Template) -> Guidance:
    return Guidance(kind="template", name=template.name, source=template.source)


def followed(plan: Plan, templates: Sequence[Template]) -> Template | None:
    """The template that the plan keeps most of, if it keeps enough."""
    shares = [(_share_kept(plan, template), template) for template in templates]
    share, best = max(shares, key=lambda pair: pair[0], default=(0.0, None))
    return best if share > _SHARE_OF_STEPS else None


def _share_kept(plan: Plan, template: Template) -> float:
    """The share of distinctive template steps that occur in the plan, each matched once."""
    telling = [
        said for step in template.plan.steps if len(said := _said(step.action)) >= _MIN_WORDS
    ]
    there = [words(step.action) for step in plan.steps]
    kept = 0
    for said in telling:
        same = next(
            (
                kept_words
                for kept_words in there
                if len(said & kept_words) >= _SHARE_OF_WORDS * len(said)
            ),
            None,
        )
        if same is not None:
            there.remove(same)
            kept += 1
    return kept / len(telling) if telling else 0.0


def _said(action: str) -> frozenset[str]:
    return words(PLACE.sub(" ", action))
