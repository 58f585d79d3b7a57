"""The connection to a model: configured, chosen by the user, or the built-in guide."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .redaction import without_credentials

BUILT_IN = "built-in guide · no language model"

ConnectionSource = Literal["built-in", "environment", "configuration", "chosen"]


KEY_VARIABLES = (
    *("COWORK_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"),
    *("MISTRAL_API_KEY", "OPENROUTER_API_KEY", "AZURE_OPENAI_API_KEY"),
    "AWS_BEARER_TOKEN_BEDROCK",
)


@dataclass(frozen=True)
class FieldNames:
    """How the user refers to the parts of a connection, for advice."""

    source: ConnectionSource
    address: str
    key: str
    model: str

    def __str__(self) -> str:
        return f"{self.address}, {self.model} and {self.key}"


FORM = FieldNames("chosen", "Address", "Key", "Model")
ENVIRONMENT = FieldNames("environment", "COWORK_BASE_URL", "COWORK_API_KEY", "COWORK_MODEL")
CONFIGURATION = FieldNames("configuration", "Cowork.base_url", "Cowork.api_key", "Cowork.model")


@dataclass(frozen=True)
class Connection:
    """Where questions go; by default to the guide inside the package."""

    base_url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    local: Path | None = None
    fields: FieldNames = CONFIGURATION
    small_model: str = ""
    """Another model of the same server, for summaries and completions; empty for the same."""
    provider: str = ""
    """The provider that the user chose: its key in the environment is for its own address."""

    @property
    def is_built_in(self) -> bool:
        return not (self.base_url or self.model or self.local)

    def serves(self, model: str) -> bool:
        """As far as can be said without asking a server."""
        return not self.is_built_in or model in ("", BUILT_IN)

    @property
    def place(self) -> str:
        return without_credentials(self.base_url)

    @property
    def name(self) -> str:
        """Display name; empty if only the server knows."""
        return BUILT_IN if self.is_built_in else self.model

    @property
    def source(self) -> ConnectionSource:
        """Who configured it; only the user's own choice can be undone in the UI."""
        return "built-in" if self.is_built_in else self.fields.source
