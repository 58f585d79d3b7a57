"""Which model answers: one that is configured, one that the user has chosen, or the guide."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .redaction import without_credentials

BUILT_IN = "built-in guide · no language model"
"""The name of what answers where no model is connected, wherever a model's name is shown."""

ConnectionSource = Literal["built-in", "environment", "configuration", "chosen"]


KEY_VARIABLES = (
    *("COWORK_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"),
    *("MISTRAL_API_KEY", "OPENROUTER_API_KEY", "AZURE_OPENAI_API_KEY"),
    "AWS_BEARER_TOKEN_BEDROCK",
)
"""Where keys are looked for in the environment."""


@dataclass(frozen=True)
class FieldNames:
    """What the user knows the parts of a connection by, so that advice names what they set."""

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
    """Where questions go. With nothing said, to the guide inside the package."""

    base_url: str = ""
    model: str = ""
    api_key: str = field(default="", repr=False)
    local: Path | None = None
    """A model file that is served here, by a process of ours."""
    fields: FieldNames = CONFIGURATION
    small_model: str = ""
    """Another model of the same server, for summaries and completions; empty for the same."""
    provider: str = ""
    """The provider that the user chose: its key in the environment is for its own address."""

    @property
    def is_guide(self) -> bool:
        """Whether no language model answers at all."""
        return not (self.base_url or self.model or self.local)

    @property
    def place(self) -> str:
        """The address as it is shown, without any credentials in it."""
        return without_credentials(self.base_url)

    @property
    def name(self) -> str:
        """What is shown as the model's name; empty where only its server knows."""
        return BUILT_IN if self.is_guide else self.model

    @property
    def source(self) -> ConnectionSource:
        """Who named it; what the user has chosen here can be let go of here."""
        return "built-in" if self.is_guide else self.fields.source
