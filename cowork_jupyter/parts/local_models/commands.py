"""`jupyter cowork model`: get, use and remove a language model on this machine."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from ...hosts.cli.command import SUCCESS

if TYPE_CHECKING:
    from ...hosts.cli.command import Commands
    from ...hosts.config import Cowork
    from .model_dir import ModelDir

_NAME = "a name that `list` shows"


def add_to(commands: Commands) -> None:
    what = "manage language models on this machine"
    parser = commands.add_parser("model", help=what, description=f"{what.capitalize()}.")
    under = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    listing = under.add_parser(
        "list", help="list recommended and downloaded models, and the one in use"
    )
    listing.set_defaults(run=list_models)

    get = under.add_parser("get", help="download a recommended model from its publisher's hub")
    get.add_argument("name", metavar="NAME", help=_NAME)
    get.set_defaults(run=get_model)

    use = under.add_parser("use", help="use a model from now on")
    which = use.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "model", nargs="?", metavar="NAME|FILE.gguf", help="a downloaded model's name, or any file"
    )
    which.add_argument("--off", action="store_true", help="stop using a local model")
    use.set_defaults(run=use_model)

    small = under.add_parser(
        "small", help="use another model of the connected server for summaries and completions"
    )
    which = small.add_mutually_exclusive_group(required=True)
    which.add_argument("model", nargs="?", metavar="NAME", help="its name on that server")
    which.add_argument("--off", action="store_true", help="use the same model for everything")
    small.set_defaults(run=use_small_model)

    remove = under.add_parser("remove", help="delete a downloaded model")
    remove.add_argument("name", metavar="NAME", help=_NAME)
    remove.set_defaults(run=remove_model)


def list_models(config: Cowork, _arguments: Namespace) -> int:
    from .model_dir import CATALOGUE

    model_dir, choice = _model_dir(config), _Choice(config)
    used = choice.file()
    for model in CATALOGUE:
        place = model_dir.place_of(model.name)
        mark = _state(place == used, place.is_file(), bool(model_dir.parts_of(model.name)))
        _say(
            f"{model.name:<20} {model.size / 1e9:>4.1f} GB  "
            f"takes {model.memory / 1e9:>4.1f} GB of memory  "
            f"{model.licence}  {mark or model.good_for}"
        )
    names = {model_dir.place_of(model.name) for model in CATALOGUE}
    elsewhere = {used} - names if used else set()
    for file in sorted({*model_dir.others(), *elsewhere}):
        mark = _state(file == used, file.is_file(), partly=False) or "gone"
        _say(f"{file}  {mark}")
    _warn_of_configuration(config, choice)
    return SUCCESS


def get_model(config: Cowork, arguments: Namespace) -> int:
    """An interrupted download is resumed the next time."""
    from .download import DEFAULT_HUB
    from .downloading import get
    from .model_dir import find_recommended

    model_dir = _model_dir(config)
    place, found = model_dir.place_of(arguments.name), find_recommended(arguments.name)
    assert found
    if place.is_file():
        _say(f"{found.name} is already downloaded: {place}")
    else:
        get(found, place, os.environ.get("HF_ENDPOINT") or DEFAULT_HUB)
        _say(f"{found.name} is downloaded, and its SHA-256 matches the publisher's: {place}")
    if _Choice(config).file() != place:
        _say(f"To use it: jupyter cowork model use {found.name}")
    return SUCCESS


def use_model(config: Cowork, arguments: Namespace) -> int:
    """The process that serves it starts with the first question."""
    from importlib.util import find_spec

    choice = _Choice(config)
    if arguments.off:
        was = choice.file()
        choice.forget()
        _say(f"{was} is no longer in use." if was else "No local model was in use.")
        return SUCCESS
    file = _model_dir(config).find(arguments.model)
    choice.remember(file)
    _say(f"{file.stem} is now in use. The first question loads it.")
    if find_spec("xllamacpp") is None:
        _say("Serving it needs another package. Run: pip install 'cowork-jupyter[local]'")
    _warn_of_configuration(config, choice)
    return SUCCESS


def use_small_model(config: Cowork, arguments: Namespace) -> int:
    """Stored with the connected server, if that has the model."""
    from ...service.connections import Connections, check_small_model

    connections = Connections(config.settings(workspace=Path.cwd()))
    proposed = connections.with_small_model(arguments.model or "")
    check_small_model(proposed)
    used = connections.choose(proposed).small_model
    if used != proposed.small_model:
        _say(f"But the configuration names {used}, which takes precedence (Cowork.small_model).")
    else:
        _say(f"{used or proposed.model} is now used for summaries and completions.")
    return SUCCESS


def remove_model(config: Cowork, arguments: Namespace) -> int:
    """Delete the file and its parts; forget a choice that would lead nowhere."""
    model_dir, choice = _model_dir(config), _Choice(config)
    freed = model_dir.remove(arguments.name)
    _say(f"Removed {arguments.name} and freed {freed / 1e9:.1f} GB.")
    if choice.file() == model_dir.place_of(arguments.name):
        choice.forget()
        _say("It was in use; now no local model is.")
    return SUCCESS


class _Choice:
    """The local model that the user's settings file names."""

    def __init__(self, config: Cowork) -> None:
        from ...policy.settings_file import Administrator, SettingsFile
        from ...service.connections import SECTION

        settings = config.settings(workspace=Path.cwd())
        self._administrator = Administrator(settings.administrator_settings)
        self._file, self._section = SettingsFile(settings.user_settings), SECTION

    def file(self) -> Path | None:
        chosen = self._file.content().get(self._section)
        local = chosen.get("local") if isinstance(chosen, dict) else None
        return Path(local).expanduser() if isinstance(local, str) and local else None

    def remember(self, file: Path) -> None:
        self._administrator.check_model(file.stem)
        self._file.set(self._section, {"local": str(file)})

    def forget(self) -> None:
        """Leaves a choice of a server alone."""
        if self.file():
            self._file.set(self._section, None)


def _model_dir(config: Cowork) -> ModelDir:
    from .model_dir import ModelDir

    return ModelDir(config.settings(workspace=Path.cwd()).data_dir)


def _state(used: bool, here: bool, partly: bool) -> str:
    if used:
        return "in use" if here else "in use, but missing"
    return "downloaded" if here else "partly downloaded" if partly else ""


def _warn_of_configuration(config: Cowork, choice: _Choice) -> None:
    from ...service.connections import Connections

    connections = Connections(config.settings(workspace=Path.cwd()))
    if choice.file() and connections.is_configured:
        fields = connections.current().fields
        _say(
            f"But the {fields.source} names another model, which takes precedence. "
            f"To use this one, remove {fields} there."
        )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
