"""What a host tells the service. Plain values: where they came from is the host's matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ToolProtocol = Literal["json", "json_schema", "native"]
SandboxChoice = Literal["auto", "landlock", "bubblewrap", "none"]
WorkerChoice = Literal["asyncio", "dask"]

RUN_LIMITS = ("max_iterations", "max_seconds", "max_tokens")
"""What one message or task may use."""
JOB_LIMITS = ("max_job_iterations", "max_job_seconds", "max_job_tokens", "max_cost")
"""What one job may use with all its tasks; 0 is no limit."""


@dataclass(frozen=True)
class Price:
    """What a million tokens of a model cost."""

    input: float = 0.0
    output: float = 0.0


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
    max_job_iterations: int = 2_000
    max_job_seconds: float = 21_600.0
    max_job_tokens: int = 0
    max_cost: float = 0.0
    prices: Mapping[str, Price] = field(default_factory=dict)
    """By the model's name."""
    currency: str = "USD"
    max_parallel: int = 4
    workers: WorkerChoice = "asyncio"
    dask_address: str = ""
    sandbox: SandboxChoice = "auto"

    @property
    def database(self) -> Path:
        """Where the store is: the configured file, else one in the data directory."""
        return self.db_path or self.data_dir / "cowork.sqlite"
