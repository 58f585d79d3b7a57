"""Which of the promises about security hold on this machine, and what to do about the others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

from ...domain.settings import Settings
from ...llm.keys import has_keyring
from ...workspace.sandbox.sandbox import Sandbox
from .finding import Promise
from .installation import is_server_extension_enabled


def promises_here(settings: Settings) -> list[Promise]:
    """All that depend on the machine or on its settings, those of the sandbox first."""
    sandbox = Sandbox(settings)
    return [
        *(Promise(text, True) for text in sandbox.promises()),
        *(Promise(text, False) for text in sandbox.missing()),
        *_of_the_network(sandbox, settings),
        _promise(
            "Commands are checked by the shell that runs them.",
            shutil.which("bash") is not None,
            "Commands cannot be checked without bash, so every command asks. Install bash.",
        ),
        _promise(
            "Kernels that this Jupyter starts do not get Cowork's key.",
            is_server_extension_enabled(),
            "Kernels get COWORK_API_KEY, because the server extension is not enabled. "
            "Run: jupyter server extension enable cowork_jupyter",
        ),
        Promise(f"Keys typed into the panel are in no file of ours; {_kept_by()}.", True),
    ]


def _of_the_network(sandbox: Sandbox, settings: Settings) -> Iterator[Promise]:
    """Where it cannot be taken away, the sandbox says so itself."""
    if sandbox.powers.kind != "none" and sandbox.powers.no_network:
        yield _promise(
            "No command has network access unless you gave it to that call.",
            settings.sandbox_network != "allow",
            "Every command of the actor has network access, because c.Cowork.sandbox_network is "
            "'allow'. Set it to 'ask'.",
        )


def _kept_by() -> str:
    if has_keyring():
        return "the system's keyring stores them"
    return "they are kept until the server stops, because no keyring works here"


def _promise(text: str, holds: bool, otherwise: str) -> Promise:
    return Promise(text if holds else otherwise, holds)
