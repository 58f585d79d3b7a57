"""What a user can configure, as traitlets.

The class is called `Cowork` because its name is the name of the section: `c.Cowork.model`
in a Jupyter config file, `--Cowork.model=…` on a command line. Every host makes one,
asks it for `settings()` and hands those plain values to the service.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from jupyter_core.paths import jupyter_config_dir, jupyter_data_dir
from traitlets import Dict, Enum, Float, Integer, List, TraitError, Unicode, default, validate
from traitlets.config import Config, Configurable

from .domain.connection import CONFIGURATION, ENVIRONMENT, KEY_VARIABLES, FieldNames
from .domain.settings import (
    CHECKPOINT_EXCLUDE,
    NetworkChoice,
    PictureChoice,
    Price,
    SandboxChoice,
    Settings,
    ToolProtocol,
    WorkerChoice,
)
from .jupyter_secrets import private_paths

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_DEFAULT_MODEL = "gpt-5-mini"


class Cowork(Configurable):
    """Settings of the Cowork agent."""

    model = Unicode(
        help="Name of the language model, as its server knows it. Environment: COWORK_MODEL."
    ).tag(config=True)

    base_url = Unicode(
        help="Address of any OpenAI-compatible server, usually ending in /v1. "
        "Environment: COWORK_BASE_URL, else OPENAI_BASE_URL."
    ).tag(config=True)

    api_key = Unicode(
        help="Key for that server, if it requires one. Better kept in the environment: "
        "COWORK_API_KEY, else OPENAI_API_KEY."
    ).tag(config=True)

    tool_protocol = Enum(
        ["json", "json_schema", "native"],
        default_value="json",
        help="How the model calls tools: as JSON in its text, as JSON under a schema that the "
        "server enforces, or with the API's own tool calls.",
    ).tag(config=True)

    images = Enum(
        ["auto", "yes", "no"],
        default_value="auto",
        help="Whether to send pictures to the model, such as figures that cells have drawn. "
        "'auto' decides by the model's name, and stops for a server that refuses them.",
    ).tag(config=True)

    notebook_tokens = Integer(
        1_500,
        min=0,
        help="Token limit for telling the model where you are in your notebook: your cell, the "
        "cells around it, what has changed, and the variables they name. 0: tell it nothing.",
    ).tag(config=True)

    notebook_seconds = Float(
        0.2,
        min=0.0,
        help="Seconds a message may wait for the notebook and its kernel to report that.",
    ).tag(config=True)

    workspace = Unicode(
        help="Folder the agent works in. Default: the Jupyter server's root folder; "
        "in a kernel without a server, the current folder."
    ).tag(config=True)

    db_path = Unicode(
        help="File that stores the conversations. Default: a file in Jupyter's data directory."
    ).tag(config=True)

    max_iterations = Integer(30, min=1, help="Model turns for each message or task.").tag(
        config=True
    )

    max_seconds = Float(
        300.0,
        min=1.0,
        help="Seconds for each message or task, not counting waits for you or running cells.",
    ).tag(config=True)

    stall_seconds = Float(
        120.0,
        min=0.0,
        help="Seconds after which you are asked about code that produces no output and uses no "
        "CPU; 0: never. If nobody can be asked, the code is interrupted.",
    ).tag(config=True)

    max_tokens = Integer(
        0, min=0, help="Tokens for each message or task, as the server counts them; 0: no limit."
    ).tag(config=True)

    max_job_iterations = Integer(
        2_000, min=0, help="Model turns for each job, including all its tasks; 0: no limit."
    ).tag(config=True)

    max_job_seconds = Float(
        21_600.0,
        min=0.0,
        help="Seconds of work for each job, summed over all its tasks, not counting waits for "
        "you; 0: no limit.",
    ).tag(config=True)

    max_job_tokens = Integer(
        0, min=0, help="Tokens for each job, including all its tasks; 0: no limit."
    ).tag(config=True)

    max_cost = Float(
        0.0,
        min=0.0,
        help="Cost limit for each job, including all its tasks, by `prices`; 0: no limit.",
    ).tag(config=True)

    prices = Dict(
        help="Cost of a million tokens, by model: {'gpt-5-mini': {'input': 0.25, 'output': 2}}."
    ).tag(config=True)

    currency = Unicode("USD", help="The currency of `prices` and `max_cost`.").tag(config=True)

    max_parallel = Integer(4, min=1, help="How many plan steps may run in parallel.").tag(
        config=True
    )

    workers = Enum(
        ["asyncio", "dask"],
        default_value="asyncio",
        help="Where the tools of plan steps run: in this process, or on the workers of a Dask "
        "cluster that see the same workspace (needs cowork-jupyter[dask]).",
    ).tag(config=True)

    dask_address = Unicode(
        help="Address of the Dask scheduler, such as tcp://10.0.0.1:8786. Default: worker "
        "processes on this machine, `max_parallel` of them."
    ).tag(config=True)

    sandbox = Enum(
        ["auto", "landlock", "bubblewrap", "none"],
        default_value="auto",
        help="Sandbox for commands. 'auto' uses the best one this machine has; with 'none', "
        "every command asks.",
    ).tag(config=True)

    sandbox_network = Enum(
        ["ask", "allow", "deny"],
        default_value="ask",
        help="Whether commands have network access: if you or a network rule allow it ('ask'), "
        "always ('allow') or never ('deny'). Commands of the tester never do.",
    ).tag(config=True)

    sandbox_memory_mb = Integer(
        0,
        min=0,
        help="MiB of memory for each process of a command; 0: half of the machine's memory.",
    ).tag(config=True)

    sandbox_file_mb = Integer(
        10_240, min=1, help="Largest file, in MiB, that a command may write."
    ).tag(config=True)

    sandbox_processes = Integer(
        4_096, min=1, help="Processes and threads that a command may have at once."
    ).tag(config=True)

    checkpoint_exclude = List(
        Unicode(),
        default_value=list(CHECKPOINT_EXCLUDE),
        help="What checkpoints exclude, as in .gitignore: environments, caches and the like. "
        "Files that a tool names are kept anyway; .git is never touched.",
    ).tag(config=True)

    checkpoint_file_limit = Integer(
        2 * 1024**3,
        min=0,
        help="Largest file, in bytes, that checkpoints copy unless a tool names it.",
    ).tag(config=True)

    checkpoint_total_limit = Integer(
        20 * 1024**3,
        min=0,
        help="Bytes of disk space for all checkpoints; beyond that, the oldest are deleted.",
    ).tag(config=True)

    @validate("prices")
    def _prices_can_be_read(self, proposal: Any) -> Any:
        for model, price in proposal["value"].items():
            try:
                known = Price(**price)
                good = min(known.input, known.output) >= 0
            except TypeError:
                good = False
            if not good:
                raise TraitError(
                    f"Cowork.prices: '{model}' needs amounts for 'input' and 'output', not {price}."
                )
        return proposal["value"]

    @default("model")
    def _model_from_environment(self) -> str:
        named = os.environ.get("COWORK_MODEL", "")
        return named or (OPENAI_DEFAULT_MODEL if self.base_url == OPENAI_URL else "")

    @default("base_url")
    def _base_url_from_environment(self) -> str:
        if _cowork_names_a_server():
            return os.environ.get("COWORK_BASE_URL") or OPENAI_URL
        if os.environ.get("OPENAI_BASE_URL"):
            return os.environ["OPENAI_BASE_URL"]
        return OPENAI_URL if os.environ.get("OPENAI_API_KEY") else ""

    @default("api_key")
    def _api_key_from_environment(self) -> str:
        if _cowork_names_a_server():
            return os.environ.get("COWORK_API_KEY", "")
        # An OpenAI key goes only where OpenAI's own variables point, never to another server.
        if self.base_url == (os.environ.get("OPENAI_BASE_URL") or OPENAI_URL):
            return os.environ.get("OPENAI_API_KEY", "")
        return ""

    def _connection_fields(self) -> FieldNames:
        """What the user knows address, key and model by; what is not set goes with the rest."""
        openai = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_KEY")
        prefix = "OPENAI" if openai and not _cowork_names_a_server() else "COWORK"
        variables = replace(ENVIRONMENT, address=f"{prefix}_BASE_URL", key=f"{prefix}_API_KEY")
        address = self.base_url == self._base_url_from_environment()
        key = self.api_key == self._api_key_from_environment()
        model = self.model == self._model_from_environment()
        usual = variables if (address if self.base_url else model) else CONFIGURATION
        return FieldNames(
            usual.source,
            usual.address,
            (variables if key else CONFIGURATION).key if self.api_key else usual.key,
            (variables if model else CONFIGURATION).model if self.model else usual.model,
        )

    def settings(self, *, workspace: str | Path) -> Settings:
        """Plain values for the service. `workspace` is the host's default folder."""
        return Settings(
            workspace=Path(self.workspace or workspace).expanduser().absolute(),
            data_dir=Path(jupyter_data_dir()) / "cowork",
            config_dir=Path(jupyter_config_dir()) / "cowork",
            model=self.model,
            base_url=self.base_url.rstrip("/"),
            api_key=self.api_key,
            keys=frozenset(filter(None, map(os.environ.get, KEY_VARIABLES))),
            connection_fields=self._connection_fields(),
            tool_protocol=cast("ToolProtocol", self.tool_protocol),
            images=cast("PictureChoice", self.images),
            notebook_tokens=self.notebook_tokens,
            notebook_seconds=self.notebook_seconds,
            db_path=Path(self.db_path).expanduser().absolute() if self.db_path else None,
            max_iterations=self.max_iterations,
            max_seconds=self.max_seconds,
            stall_seconds=self.stall_seconds,
            max_tokens=self.max_tokens,
            max_job_iterations=self.max_job_iterations,
            max_job_seconds=self.max_job_seconds,
            max_job_tokens=self.max_job_tokens,
            max_cost=self.max_cost,
            prices={model: Price(**price) for model, price in self.prices.items()},
            currency=self.currency,
            max_parallel=self.max_parallel,
            workers=cast("WorkerChoice", self.workers),
            dask_address=self.dask_address,
            private=private_paths(),
            sandbox=cast("SandboxChoice", self.sandbox),
            sandbox_network=cast("NetworkChoice", self.sandbox_network),
            sandbox_memory_mb=self.sandbox_memory_mb,
            sandbox_file_mb=self.sandbox_file_mb,
            sandbox_processes=self.sandbox_processes,
            checkpoint_exclude=tuple(self.checkpoint_exclude),
            checkpoint_file_limit=self.checkpoint_file_limit,
            checkpoint_total_limit=self.checkpoint_total_limit,
        )


def jupyter_config() -> Config:
    """What Jupyter's config files say, for hosts that are no application of Jupyter's."""
    from jupyter_core.application import JupyterApp

    app = JupyterApp(config_file_name="jupyter_server_config")  # `jupyter_config` is read as well
    app.load_config_file()
    return app.config


def _cowork_names_a_server() -> bool:
    return bool(os.environ.get("COWORK_BASE_URL") or os.environ.get("COWORK_API_KEY"))
