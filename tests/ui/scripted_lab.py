"""A Lab with a model that follows our script (`story`), and a folder with files to work on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.scripted import ScriptedServer

from . import story
from .lab import LabServer

SETTINGS = {"permissions": {"allow": ["update_file(docs/**)"], "deny": ["delete_file(sales.csv)"]}}


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedServer]:
    """The model."""
    with ScriptedServer(story.tell, models="gpt-5-mini qwen3-coder") as server:
        server.listed = {"supported_parameters": []}  # it writes its calls into the text
        yield server


@pytest.fixture(scope="session")
def scripted_lab(
    tmp_path_factory: pytest.TempPathFactory, model: ScriptedServer
) -> Iterator[LabServer]:
    """The Lab, with a notebook whose second cell asks for a plan."""
    environment = {"COWORK_BASE_URL": model.base_url, "COWORK_MODEL": "gpt-5-mini"}
    with LabServer(tmp_path_factory.mktemp("scripted"), environment) as lab:
        (lab.root / "sales.csv").write_text("region,revenue\nnorth,1\n")
        (lab.root / "notes.md").write_text("Nothing yet.\n")
        (lab.root / "draft.md").write_text("Old.\n")
        (lab.root / ".cowork").mkdir()
        (lab.root / ".cowork" / "settings.json").write_text(json.dumps(SETTINGS))
        write_notebook(
            lab.root / "sales.ipynb", "%load_ext cowork_jupyter", f"%%plan\n{story.CLEAN}"
        )
        yield lab


def write_notebook(path: Path, *sources: str) -> None:
    """A notebook of code cells."""
    cells: list[dict[str, Any]] = [
        {
            "id": f"cell-{at}",
            "cell_type": "code",
            "source": source,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for at, source in enumerate(sources)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": kernel, "cells": cells}
    path.write_text(json.dumps(notebook))
