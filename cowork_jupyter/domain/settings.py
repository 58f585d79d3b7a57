"""What a host tells the service. Plain values: where they came from is the host's matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from .connection import CONFIGURATION, Connection, FieldNames

ToolProtocol = Literal["json", "json_schema", "native"]
SandboxChoice = Literal["auto", "landlock", "bubblewrap", "none"]
NetworkChoice = Literal["ask", "allow", "deny"]
WorkerChoice = Literal["asyncio", "dask"]
PictureChoice = Literal["auto", "yes", "no"]

RUN_LIMITS = ("max_iterations", "max_seconds", "max_tokens")
"""What one message or task may use."""
JOB_LIMITS = ("max_job_iterations", "max_job_seconds", "max_job_tokens", "max_cost")
"""What one job may use with all its tasks; 0 is no limit."""

CHECKPOINT_EXCLUDE = (
    *(".venv", "venv", ".tox", ".nox", ".conda", ".pixi", "miniconda3", "anaconda3", "miniforge3"),
    *("node_modules", "site-packages", "__pycache__", ".ipynb_checkpoints", ".cache"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".npm", ".cargo", ".Trash"),
)
"""What checkpoints leave out, in the language of `.gitignore`."""


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
    keys: frozenset[str] = field(default=frozenset(), repr=False)
    """Keys in the environment, whether we use them or not: none of them is stored or sent."""
    connection_fields: FieldNames = CONFIGURATION
    """What the user knows these three by."""
    tool_protocol: ToolProtocol = "json"
    images: PictureChoice = "auto"
    notebook_tokens: int = 1_500
    notebook_seconds: float = 0.2
    db_path: Path | None = None
    max_iterations: int = 30
    max_seconds: float = 300.0
    max_tokens: int = 0
    stall_seconds: float = 120.0
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
    sandbox_network: NetworkChoice = "ask"
    sandbox_memory_mb: int = 0
    sandbox_file_mb: int = 10_240
    sandbox_processes: int = 4_096
    checkpoint_exclude: tuple[str, ...] = CHECKPOINT_EXCLUDE
    checkpoint_file_limit: int = 2 * 1024**3
    checkpoint_total_limit: int = 20 * 1024**3
    private: Mapping[Path, frozenset[str]] = field(default_factory=dict)
    """What no command may read: files, and folders with the names in them that it may."""
    config_dir: Path | None = None
    """Where the user keeps settings that count in every workspace."""

    @property
    def user_settings(self) -> Path:
        """The file with the user's own rules."""
        return (self.config_dir or self.data_dir) / "settings.json"

    @property
    def connection(self) -> Connection:
        """The model server that is configured; the guide, where nothing is."""
        return Connection(self.base_url, self.model, self.api_key, fields=self.connection_fields)

    @property
    def database(self) -> Path:
        """Where the store is: the configured file, else one in the data directory."""
        return self.db_path or self.data_dir / "cowork.sqlite"
