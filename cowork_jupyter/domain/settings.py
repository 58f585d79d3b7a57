"""The service's settings as plain values, wherever they are from, and the connection to a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

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


ToolProtocol = Literal["json", "json_schema", "native", "code"]
ProtocolChoice = Literal["auto", "json", "json_schema", "native", "code"]
SandboxChoice = Literal["auto", "landlock", "bubblewrap", "none"]
NetworkChoice = Literal["ask", "allow", "deny"]
WorkerChoice = Literal["asyncio", "dask"]
PictureChoice = Literal["auto", "yes", "no"]
PromptProfile = Literal["full", "thin"]
ProfileChoice = Literal["auto", "full", "thin"]
MemoryChoice = Literal["ask", "off"]

RUN_LIMITS = ("max_iterations", "max_seconds", "max_tokens")
JOB_LIMITS = ("max_job_iterations", "max_job_seconds", "max_job_tokens", "max_cost")
"""For one job with all its tasks; 0 is no limit."""

CHECKPOINT_EXCLUDE = (
    *(".venv", "venv", ".tox", ".nox", ".conda", ".pixi", "miniconda3", "anaconda3", "miniforge3"),
    *("node_modules", "site-packages", "__pycache__", ".ipynb_checkpoints", ".cache"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".npm", ".cargo", ".Trash"),
)
"""In the syntax of `.gitignore`."""


@dataclass(frozen=True)
class Price:
    """Price of a million tokens of a model."""

    input: float = 0.0
    output: float = 0.0
    as_of: str = ""


_T = TypeVar("_T")


def setting(default: _T, text: str, *, least: float | None = None, secret: bool = False) -> _T:
    """A configurable field; `text` is its help in `--help-all`."""
    metadata = {"help": text, "min": least}
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """The settings of one service.

    Fields with a help text can be configured: hosts derive their options from them.
    """

    workspace: Path = field(
        metadata={
            "help": "Folder the agent works in. Default: the Jupyter server's root folder; "
            "in a kernel without a server, the current folder."
        }
    )
    data_dir: Path
    model: str = setting(
        "", "Name of the language model, as its server knows it. Environment: COWORK_MODEL."
    )
    base_url: str = setting(
        "",
        "Address of any OpenAI-compatible server, usually ending in /v1. "
        "Environment: COWORK_BASE_URL, else OPENAI_BASE_URL.",
    )
    api_key: str = setting(
        "",
        "Key for that server, if it requires one. Better kept in the environment: "
        "COWORK_API_KEY, else OPENAI_API_KEY.",
        secret=True,
    )
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Keys in the environment by variable, whether used or not: none may be stored."""
    connection_fields: FieldNames = CONFIGURATION
    """How the user refers to these three."""
    tool_protocol: ProtocolChoice = setting(
        "auto",
        "How the model calls tools: as JSON in its text, as JSON under a schema that the server "
        "enforces, with the API's own tool calls, or, for small models, as one block of Python "
        "in its text (roles that may not run code use JSON). 'auto': code for a model whose name "
        "says that it is small, such as qwen2.5-coder-1.5b; the API's own calls for models that "
        "are known for them or whose server lists them as able to; JSON for all others. Where "
        "the API's own calls do not work, another way is used and remembered for that model.",
    )
    prompt_profile: ProfileChoice = setting(
        "auto",
        "How much the system prompt says: all of it, or, for small models, only what helps them. "
        "'auto': thin with the tool protocol 'code', full with all others.",
    )
    context_size: int = setting(
        0,
        "Tokens that fit into one request to the model, including its reply. 0: as the server "
        "says, or as errors and truncated prompts show.",
        least=0,
    )
    small_model: str = setting(
        "",
        "Another model of the same server, cheaper or faster, that summarises what no longer "
        "fits into a conversation and completes code. Default: the conversation's own model. "
        "Environment: COWORK_SMALL_MODEL.",
    )
    temperature: float | None = setting(
        None, "How freely the model words its replies. Default: the server's own.", least=0
    )
    reasoning_effort: str = setting(
        "",
        "How long the model thinks before it replies, such as low, medium or high, for servers "
        "that know this option. Default: the server's own.",
    )
    extra_body: Mapping[str, Any] = field(
        default_factory=dict,
        metadata={
            "help": "More fields for every request to the model, sent unchanged: {'top_p': 0.9, "
            "'chat_template_kwargs': {'enable_thinking': False}}."
        },
    )
    images: PictureChoice = setting(
        "auto",
        "Whether to send pictures to the model, such as figures that cells have drawn. "
        "'auto' decides by the model's name, and stops for a server that refuses them.",
    )
    notebook_tokens: int = setting(
        1_500,
        "Token limit for telling the model where you are in your notebook: your cell, the "
        "cells around it, what has changed, and the variables they name. 0: tell it nothing.",
        least=0,
    )
    notebook_seconds: float = setting(
        0.2,
        "How many seconds a message may wait for the notebook and its kernel to report that.",
        least=0,
    )
    memory: MemoryChoice = setting(
        "ask",
        "Memory of a workspace, in its .cowork/memory.md. 'ask': after a run that you kept you "
        "are offered what there is to remember, and the next one follows what you have kept. "
        "'off': nothing is offered or followed.",
    )
    db_path: Path | None = setting(
        None, "File that stores the conversations. Default: a file in Jupyter's data directory."
    )
    retention_days: int = setting(
        0,
        "Days after which a conversation that nobody has used is deleted, with its checkpoints. "
        "Never one that is pinned, runs, or waits for you. 0: keep all.",
        least=0,
    )
    max_iterations: int = setting(30, "Model turns for each message or task.", least=1)
    max_seconds: float = setting(
        300.0,
        "Seconds of waiting for each message or task: for the model to begin its replies and "
        "for tools. Waits for you and running cells do not count, nor does a model that writes.",
        least=1,
    )
    max_tokens: int = setting(
        0, "Tokens for each message or task, as the server counts them; 0: no limit.", least=0
    )
    stall_seconds: float = setting(
        120.0,
        "Seconds after which you are asked about code that produces no output and uses no "
        "CPU; 0: never. If nobody can be asked, the code is interrupted.",
        least=0,
    )
    max_job_iterations: int = setting(
        2_000, "Model turns for each job, including all its tasks; 0: no limit.", least=0
    )
    max_job_seconds: float = setting(
        21_600.0,
        "Seconds of work for each job, summed over all its tasks, not counting waits for "
        "you; 0: no limit.",
        least=0,
    )
    max_job_tokens: int = setting(
        0, "Tokens for each job, including all its tasks; 0: no limit.", least=0
    )
    max_cost: float = setting(
        0.0, "Cost limit for each job, including all its tasks, by `prices`; 0: no limit.", least=0
    )
    prices: Mapping[str, Price] = field(
        default_factory=dict,
        metadata={
            "help": "Cost of a million tokens, by model: "
            "{'gpt-5-mini': {'input': 0.25, 'output': 2, 'as_of': '2026-11-17'}}; the day is "
            "shown with the price. Default: what well-known providers charged when this version "
            "was made, if the currency is USD."
        },
    )
    currency: str = setting("USD", "The currency of `prices` and `max_cost`.")
    max_parallel: int = setting(
        4, "How many plan steps, or tasks that an agent delegates, may run in parallel.", least=1
    )
    workers: WorkerChoice = setting(
        "asyncio",
        "Where the tools of plan steps run: in this process, or on the workers of a Dask "
        "cluster that see the same workspace (needs cowork-jupyter[dask]).",
    )
    dask_address: str = setting(
        "",
        "Address of the Dask scheduler, such as tcp://10.0.0.1:8786. Default: worker "
        "processes on this machine, `max_parallel` of them.",
    )
    sandbox: SandboxChoice = setting(
        "auto",
        "Sandbox for commands. 'auto' uses the best one this machine has; with 'none', "
        "every command asks.",
    )
    sandbox_network: NetworkChoice = setting(
        "ask",
        "Whether commands have network access: if you or a network rule allow it ('ask'), "
        "always ('allow') or never ('deny'). Commands of the tester never do.",
    )
    sandbox_read: tuple[str, ...] = setting(
        (),
        "Folders and files in your home that commands may read, such as '~/data'. Without it they "
        "see the workspace, and of your home only what programs need to run.",
    )
    sandbox_memory_mb: int = setting(
        0, "MiB of memory for each process of a command; 0: half of the machine's memory.", least=0
    )
    sandbox_file_mb: int = setting(
        10_240, "Largest file, in MiB, that a command may write.", least=1
    )
    sandbox_processes: int = setting(
        4_096, "Processes and threads that a command may have at once.", least=1
    )
    checkpoint_exclude: tuple[str, ...] = setting(
        CHECKPOINT_EXCLUDE,
        "What checkpoints exclude, as in .gitignore: environments, caches and the like. "
        "Files that a tool names are kept anyway; .git is never touched.",
    )
    checkpoint_file_limit: int = setting(
        2 * 1024**3,
        "Largest file, in bytes, that checkpoints copy unless a tool names it.",
        least=0,
    )
    checkpoint_total_limit: int = setting(
        20 * 1024**3,
        "Bytes of disk space for all checkpoints; beyond that, the oldest are deleted.",
        least=0,
    )
    private: Mapping[Path, frozenset[str]] = field(default_factory=dict)
    """What no command may read: files, and folders with exceptions in them."""
    config_dir: Path | None = None
    administrator_settings: tuple[Path, ...] = ()
    """Candidate files of administrators; most do not exist."""

    @property
    def user_settings(self) -> Path:
        return (self.config_dir or self.data_dir) / "settings.json"

    @property
    def connection(self) -> Connection:
        """The configured server; the guide if there is none."""
        return Connection(
            base_url=self.base_url,
            model=self.model,
            api_key=self.api_key,
            fields=self.connection_fields,
            small_model=self.small_model,
        )

    @property
    def request_options(self) -> dict[str, Any]:
        named = {"temperature": self.temperature, "reasoning_effort": self.reasoning_effort or None}
        return {
            **{name: value for name, value in named.items() if value is not None},
            **self.extra_body,
        }

    @property
    def database(self) -> Path:
        return self.db_path or self.data_dir / "cowork.sqlite"
