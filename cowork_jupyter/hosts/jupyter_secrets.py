"""Where this Jupyter keeps what no command may read: tokens, cookies, signatures, settings.

Asked of Jupyter itself, because variables and settings move its folders.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jupyter_core.paths import (
    jupyter_config_dir,
    jupyter_config_path,
    jupyter_data_dir,
    jupyter_runtime_dir,
)

PrivatePaths = Mapping[Path, frozenset[str]]

_READABLE_DATA = frozenset({"kernels", "lab", "labextensions", "nbconvert", "nbextensions"})
"""What programs look for in the data folder. Other packages keep keys and chats beside it."""
_SECRETS = ("notebook_secret", "jupyter_cookie_secret", "notebook_cookie_secret", "nbsignatures.db")
_CONFIGURED = ("jupyter", "jupyter_server", "jupyter_notebook", "jupyter_lab")
_FILE_TRAITS = ("config_file", "cookie_secret_file", "info_file", "keyfile", "browser_open_file")


def private_paths() -> PrivatePaths:
    """Files and folders of Jupyter's, each with the names in it that may be read all the same."""
    data = Path(jupyter_data_dir())
    files = [data / name for name in _SECRETS]
    # Folders of the system and of an environment hold more than settings.
    files += [
        Path(folder, f"{name}_config.{kind}")
        for folder in jupyter_config_path()
        for name in _CONFIGURED
        for kind in ("py", "json")
    ]
    if token_file := os.environ.get("JUPYTER_TOKEN_FILE"):
        files.append(Path(token_file))
    nothing = dict.fromkeys([*files, Path(jupyter_runtime_dir()), Path(jupyter_config_dir())])
    return {data: _READABLE_DATA, **dict.fromkeys(nothing, frozenset())}


def private_paths_of(app: Any) -> PrivatePaths:
    """The same of a running server, which may have been told other places."""
    return {path: frozenset() for path in _named_by(app)}


def _named_by(app: Any) -> Iterator[Path]:
    notary = app.contents_manager.notary if hasattr(app.contents_manager, "notary") else None
    yield from (Path(app.runtime_dir), Path(app.config_dir))
    named = [*(getattr(app, name, "") for name in _FILE_TRAITS), *app.loaded_config_files]
    named += [notary.secret_file, notary.db_file] if notary else []
    yield from (Path(path).absolute() for path in named if path)
