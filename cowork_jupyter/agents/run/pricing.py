"""The price of usage."""

from __future__ import annotations

from ...domain.contexts import Usage
from ...domain.settings import Settings

_MILLION = 1_000_000


def priced(spent: Usage, model: str, settings: Settings) -> Usage:
    """The usage with its cost, if the model's price is known."""
    price = settings.prices.get(model)
    if price is None:
        return spent
    cost = spent.prompt_tokens * price.input + spent.completion_tokens * price.output
    known = {"cost": round(cost / _MILLION, 9), "currency": settings.currency}
    return spent.model_copy(update=known)
