"""Configuration as traitlets, and which of Jupyter's own files are private.

The class is called `Cowork` because its name is the section's: `c.Cowork.model` in a Jupyter config
file, `--Cowork.model=…` on a command line. Every host creates one and passes its `settings()`,
plain values, to the service.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

from jupyter_core.paths import (
    ENV_CONFIG_PATH,
    SYSTEM_CONFIG_PATH,
    jupyter_config_dir,
    jupyter_config_path,
    jupyter_data_dir,
    jupyter_runtime_dir,
)
from traitlets import (
    Dict,
    Enum,
    Float,
    Integer,
    List,
    TraitError,
    TraitType,
    Unicode,
    default,
    validate,
)
from traitlets.config import Config, Configurable

from ..domain.settings import CONFIGURATION, ENVIRONMENT, KEY_VARIABLES, FieldNames, Price, Settings

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_DEFAULT_MODEL = "gpt-5-mini"


def _traits() -> Iterator[tuple[str, TraitType[Any, Any]]]:
    """Create a trait for each setting that is declared with a help text."""
    kinds = get_type_hints(Settings)
    for declared in fields(Settings):
        if "help" in declared.metadata:
            trait = _trait(kinds[declared.name], declared)
            yield declared.name, trait.tag(config=True)


def _trait(kind: Any, declared: Field[Any]) -> TraitType[Any, Any]:
    text, value = declared.metadata["help"], cast("Any", declared.default)
    if get_origin(kind) is Literal:
        return Enum(list(get_args(kind)), default_value=value, help=text)
    if kind is int:
        return Integer(value, min=declared.metadata["min"], help=text)
    if kind is float:
        return Float(value, min=declared.metadata["min"], help=text)
    if kind == float | None:
        return Float(value, allow_none=True, min=declared.metadata["min"], help=text)
    if get_origin(kind) is tuple:
        return List(Unicode(), default_value=list(value), help=text)
    if get_origin(kind) is Mapping:
        return Dict(help=text)
    return Unicode(value if isinstance(value, str) else "", help=text)


class Cowork(Configurable):
    """Settings of the Cowork agent."""

    model: str
    base_url: str
    api_key: str
    workspace: str
    db_path: str
    prices: dict[str, dict[str, Any]]

    vars().update(_traits())

    @validate("prices")
    def _prices_can_be_read(self, proposal: Any) -> Any:
        for model, price in proposal["value"].items():
            try:
                parsed = Price(**price)
                good = min(parsed.input, parsed.output) >= 0 and isinstance(parsed.as_of, str)
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

    @default("small_model")
    def _small_model_from_environment(self) -> str:
        return os.environ.get("COWORK_SMALL_MODEL", "")

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
        """What the user calls address, key and model; unset ones follow the address."""
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
        values = {name: getattr(self, name) for name in self.class_traits(config=True)}
        values |= {
            "workspace": Path(self.workspace or workspace).expanduser().absolute(),
            "base_url": self.base_url.rstrip("/"),
            "db_path": Path(self.db_path).expanduser().absolute() if self.db_path else None,
            "prices": {model: Price(**price) for model, price in self.prices.items()},
            "checkpoint_exclude": tuple(values["checkpoint_exclude"]),
        }
        return Settings(
            **values,
            data_dir=Path(jupyter_data_dir()) / "cowork",
            config_dir=Path(jupyter_config_dir()) / "cowork",
            # Not `jupyter_config_path()`, which a user's variables can extend.
            administrator_settings=tuple(
                Path(folder) / "cowork" / "settings.json"
                for folder in (*ENV_CONFIG_PATH, *SYSTEM_CONFIG_PATH)
            ),
            keys={name: os.environ[name] for name in KEY_VARIABLES if os.environ.get(name)},
            connection_fields=self._connection_fields(),
            private=private_paths(),
        )


def jupyter_config() -> Config:
    """Read Jupyter's config files, for hosts that are not Jupyter applications."""
    from jupyter_core.application import JupyterApp

    app = JupyterApp(config_file_name="jupyter_server_config")  # `jupyter_config` is read as well
    app.load_config_file()
    return app.config


def log_below(parent: logging.Logger | logging.LoggerAdapter[Any]) -> None:
    """Send our log where a Jupyter application writes its own, and only there.

    Jupyter redirects tornado's loggers in the same way.
    """
    ours = logging.getLogger("cowork_jupyter")
    ours.parent = parent if isinstance(parent, logging.Logger) else parent.logger
    ours.setLevel(logging.NOTSET)  # also clears the level caches of our loggers


def _cowork_names_a_server() -> bool:
    return bool(os.environ.get("COWORK_BASE_URL") or os.environ.get("COWORK_API_KEY"))


PrivatePaths = Mapping[Path, frozenset[str]]

_READABLE_DATA = frozenset({"kernels", "lab", "labextensions", "nbconvert", "nbextensions"})
"""What programs look for in the data folder. Other packages keep keys and chats beside it."""
_SECRETS = ("notebook_secret", "jupyter_cookie_secret", "notebook_cookie_secret", "nbsignatures.db")
_CONFIGURED = ("jupyter", "jupyter_server", "jupyter_notebook", "jupyter_lab")
_FILE_TRAITS = ("config_file", "cookie_secret_file", "info_file", "keyfile", "browser_open_file")


def private_paths() -> PrivatePaths:
    """Files and folders that no command may read: tokens, cookies, signatures, settings.

    Each maps to the names inside it that may be read anyway. Jupyter is asked for its folders,
    because environment variables and settings move them.
    """
    data = Path(jupyter_data_dir())
    files = [data / name for name in _SECRETS]
    # Only these files: system and environment folders hold more than settings.
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
    """The same for a running server, whose settings may name other places."""
    return {path: frozenset() for path in _named_by(app)}


def _named_by(app: Any) -> Iterator[Path]:
    notary = app.contents_manager.notary if hasattr(app.contents_manager, "notary") else None
    yield from (Path(app.runtime_dir), Path(app.config_dir))
    named = [*(getattr(app, name, "") for name in _FILE_TRAITS), *app.loaded_config_files]
    named += [notary.secret_file, notary.db_file] if notary else []
    yield from (Path(path).absolute() for path in named if path)
