"""Language models on this machine: download (`download`), store (`model_dir`) and serve them.

`model` starts a process (`process`, `serve`) and asks it like any other model server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...service.parts import Part

if TYPE_CHECKING:
    from argparse import ArgumentParser, _SubParsersAction
    from collections.abc import Mapping
    from pathlib import Path

    from ...llm.client import LocalLanguageModel


def _model(file: Path, options: Mapping[str, Any] | None) -> LocalLanguageModel:
    from .model import LocalModel

    return LocalModel(file, options=options)


def _add_commands(commands: _SubParsersAction[ArgumentParser]) -> None:
    from .commands import add_to

    add_to(commands)


PART = Part(local_model=_model, add_commands=_add_commands)
