"""Well-known model providers, read from `providers.json`.

What is uncertain is left out there. Prices carry the day they were looked up; settings of users and
administrators override them.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib.resources import files
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ..domain.settings import Price, ToolProtocol

CURRENCY = "USD"
LOCAL_HOSTS = {"localhost", "127.0.0.1", "::1"}

_PLACEHOLDER = re.compile(r"\\\{\w+\\\}")
_LABEL = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
"""A placeholder matches one label of a host name, so that the host stays the provider's."""


class SuggestedModel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    context_size: int | None = None
    protocol: ToolProtocol | None = None
    price: Price | None = None


class Provider(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    label: str
    base_url: str
    """With `{placeholders}` for the user's own parts."""
    key_variable: str = ""
    """The environment variable that usually holds the key; empty if none is needed."""
    models: list[SuggestedModel] = []
    names_deployments: bool = False
    """Whether users name their models, so that its list does not contain them."""
    list_headers: dict[str, str] = {}
    """Headers for listing models instead of `Authorization`; `{key}` is the key."""

    @property
    def port(self) -> int | None:
        parts = urlsplit(self.base_url)
        return parts.port if parts.hostname in LOCAL_HOSTS else None

    def is_at(self, address: str) -> bool:
        return self._address.fullmatch(address.rstrip("/")) is not None

    @cached_property
    def _address(self) -> re.Pattern[str]:
        pattern = _PLACEHOLDER.sub(lambda _: _LABEL, re.escape(self.base_url))
        return re.compile(pattern.replace(r"127\.0\.0\.1", r"(?:localhost|127\.0\.0\.1|\[::1\])"))


@cache
def all_providers() -> tuple[Provider, ...]:
    text = files(__package__).joinpath("providers.json").read_bytes()
    return TypeAdapter(tuple[Provider, ...]).validate_json(text)


def provider_at(address: str) -> Provider | None:
    return next((provider for provider in all_providers() if provider.is_at(address)), None)


def find_model(address: str, model: str) -> SuggestedModel:
    """What is known of a model at an address; usually nothing."""
    provider, name = provider_at(address), model.removeprefix("models/")
    models = provider.models if provider else []
    return next(
        (suggested_model for suggested_model in models if suggested_model.name == name),
        SuggestedModel(name=model),
    )


def default_prices(currency: str) -> dict[str, Price]:
    models = [model for provider in all_providers() for model in provider.models]
    return {model.name: model.price for model in models if model.price and currency == CURRENCY}
