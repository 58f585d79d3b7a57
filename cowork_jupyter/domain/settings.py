"""What a host tells the service. Plain values: where they came from is the host's matter."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ToolProtocol = Literal["json", "json_schema", "native"]
SandboxChoice = Literal["auto", "landlock", "bubblewrap", "none"]


@dataclass(frozen=True)
class Settings:
    """One frozen set of settings for one service."""

    workspace: Path
    data_dir: Path
    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    tool_protocol: ToolProtocol = "json"
    db_path: Path | None = None
    max_iterations: int = 30
    max_seconds: float = 300.0
    max_tokens: int = 0
    max_parallel: int = 4
    sandbox: SandboxChoice = "auto"

    @property
    def database(self) -> Path:
        """Where the store is: the configured file, else one in the data directory."""
        return self.db_path or self.data_dir / "cowork.sqlite"
