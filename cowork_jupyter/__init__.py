"""Cowork for Jupyter: an agent that plans read-only, acts after approval, and can be undone.

Importing this package is cheap on purpose: Jupyter does it at every start, for the
server extension, the lab extension and the magics. What costs time is imported on use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from .domain.roles import AgentRole
    from .hosts.kernel.cowork import Cowork

__all__ = ["AgentRole", "Cowork", "__version__", "load_ipython_extension"]

_ON_USE = {"AgentRole": ".domain.roles", "Cowork": ".hosts.kernel.cowork"}


def __getattr__(name: str) -> Any:
    if name not in _ON_USE:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_ON_USE[name], __name__), name)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Register the magics: `%load_ext cowork_jupyter`."""
    from .hosts.kernel import completion
    from .hosts.kernel.magics import CoworkMagics, allow_empty_cells

    shell.register_magics(CoworkMagics)
    completion.install(shell)
    allow_empty_cells(shell)


def _jupyter_labextension_paths() -> list[dict[str, str]]:
    return [{"src": "labextension", "dest": "cowork-jupyter"}]


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    from .hosts.server.extension import CoworkExtension

    return [{"module": "cowork_jupyter", "app": CoworkExtension}]
