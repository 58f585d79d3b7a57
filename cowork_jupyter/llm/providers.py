"""Well-known providers of models, as `providers.json` says: where they are and what they take.

What is not known for sure is left out there. A price has the day on which it was looked up; what
users and administrators set comes before it.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.resources import files
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ..domain.settings import Price, ToolProtocol

CURRENCY = "USD"
"""Of all prices here."""
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}

_PLACEHOLDER = re.compile(r"\\\{\w+\\\}")
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
"""What stands for a placeholder: one label of a host's name, so that the host stays theirs."""


class SuggestedModel(BaseModel):
    """A model of a provider, with what is known of it."""

    model_config = ConfigDict(extra="forbid")

    name: str
    context_size: int | None = None
    protocol: ToolProtocol | None = None
    """How it calls tools over this provider's Chat Completions."""
    price: Price | None = None


class Provider(BaseModel):
    """Where a provider's models are asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    label: str
    base_url: str
    """With `{placeholders}` for what is the user's own."""
    key_variable: str = ""
    """The environment variable that usually holds the key; empty where none is needed."""
    models: list[SuggestedModel] = []
    names_deployments: bool = False
    """Whether models go by names that users give them, which its list does not have."""
    list_headers: dict[str, str] = {}
    """What a request for its models says instead of `Authorization`; `{key}` is the key."""

    @property
    def port(self) -> int | None:
        """Where it listens, if it runs on this machine."""
        parts = urlsplit(self.base_url)
        return parts.port if parts.hostname in LOCAL_HOSTS else None

    def is_at(self, address: str) -> bool:
        """Whether the address is this provider's, whatever its placeholders stand for."""
        return self._address.fullmatch(address.rstrip("/")) is not None

    @cached_property
    def _address(self) -> re.Pattern[str]:
        pattern = _PLACEHOLDER.sub(lambda _: _LABEL, re.escape(self.base_url))
        return re.compile(pattern.replace(r"127\.0\.0\.1", r"(?:localhost|127\.0\.0\.1|\[::1\])"))


@cache
def all_providers() -> tuple[Provider, ...]:
    """In the order in which they are offered."""
    text = files(__package__).joinpath("providers.json").read_bytes()
    return TypeAdapter(tuple[Provider, ...]).validate_json(text)


def provider_at(address: str) -> Provider | None:
    """Whose address this is."""
    return next((provider for provider in all_providers() if provider.is_at(address)), None)


def suggested(address: str, model: str) -> SuggestedModel:
    """What is known of a model at an address; nothing, for most."""
    provider, name = provider_at(address), model.removeprefix("models/")
    known = provider.models if provider else []
    return next(
        (suggested_model for suggested_model in known if suggested_model.name == name),
        SuggestedModel(name=model),
    )


def usual_prices(currency: str) -> dict[str, Price]:
    """What models usually cost, by name; nothing where another currency is used."""
    known = [model for provider in all_providers() for model in provider.models]
    return {model.name: model.price for model in known if model.price and currency == CURRENCY}
