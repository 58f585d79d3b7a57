"""The sdist and the wheel: what is in them, and that the wheel works in an empty environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.live import held_port

from .resolver import packages_for

ROOT = Path(__file__).parent.parent.parent
MAX_ADDED_PACKAGES = 20
"""Of them openai and what it needs are seven."""
MAX_CARD_SCRIPT_SIZE = 58_500
MAX_LAB_CHUNK_SIZE = 200_000
PATIENCE = 180

MADE = shutil.ignore_patterns(
    *(".git", ".venv", "__pycache__", ".*_cache", ".hypothesis", "node_modules"),
    *("build", "dist", "lib", "labextension", "static", "output"),
)
"""What is made by building and running. Others make some of it just now."""

pytestmark = pytest.mark.timeout(1_800)  # to build and to install takes minutes


@pytest.fixture(scope="session", autouse=True)
def patient_pip() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_TIMEOUT", "60")
        patch.setenv("PIP_RETRIES", "10")
        yield


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of ours as it was before anything was built: building replaces the scripts, which
    tests that run beside these are using.
    """
    folder = tmp_path_factory.mktemp("checkout") / "cowork"
    shutil.copytree(ROOT, folder, ignore=MADE, symlinks=True)
    installed = Path("js", "node_modules")
    its_own = shutil.ignore_patterns(".package-lock.json")  # which npm writes anew
    shutil.copytree(
        ROOT / installed, folder / installed, True, its_own, copy_function=linked_or_copied
    )
    (folder / ".venv").mkdir()
    (folder / ".venv" / "pyvenv.cfg").touch()
    return folder


def linked_or_copied(source: str, target: str) -> None:
    """Half a gigabyte of files that nobody changes: they are copied only where they must be."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="session")
def dist(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both distributions, the wheel built from the sdist as a publisher would."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "build", "--outdir", folder, checkout], check=True)
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    return next(dist.glob("*.whl"))


@pytest.fixture(scope="session")
def wheel_files(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.file_size for info in archive.infolist()}


def test_the_wheel_holds_code_scripts_and_jupyters_configuration(
    wheel_files: dict[str, int],
) -> None:
    data = next(name for name in wheel_files if ".data/data/" in name).split(".data/")[0]
    shared = f"{data}.data/data"
    expected = {
        "cowork_jupyter/__init__.py",
        "cowork_jupyter/static/card.js",
        "cowork_jupyter/static/card.css",
        f"{shared}/etc/ipython/ipython_kernel_config.json",
        f"{shared}/etc/jupyter/jupyter_server_config.d/cowork_jupyter.json",
        f"{shared}/share/jupyter/labextensions/cowork-jupyter/package.json",
        f"{shared}/share/jupyter/labextensions/cowork-jupyter/install.json",
    }
    assert expected <= set(wheel_files)
    assert any(name.endswith("/schemas/cowork-jupyter/plugin.json") for name in wheel_files)
    assert any(name.endswith("licenses/LICENSE") for name in wheel_files)


def test_nothing_strays_into_the_wheel(wheel_files: dict[str, int]) -> None:
    strays = [
        name
        for name in wheel_files
        if name.startswith(("tests/", "js/", "notebooks/"))
        or name.endswith((".ts", ".tsx", ".pyc"))
    ]
    assert strays == []


def test_scripts_stay_small(wheel_files: dict[str, int]) -> None:
    assert wheel_files["cowork_jupyter/static/card.js"] <= MAX_CARD_SCRIPT_SIZE
    chunks = [
        size
        for name, size in wheel_files.items()
        if "labextensions/cowork-jupyter/static/" in name and name.endswith(".js")
    ]
    assert chunks
    assert max(chunks) <= MAX_LAB_CHUNK_SIZE


def test_the_sdist_holds_sources_tests_and_the_built_scripts(dist: Path) -> None:
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        *("pyproject.toml", "README.md", "LICENSE", "Makefile", "install.json"),
        *("js/package.json", "js/package-lock.json", "tests/checks.py"),
        *("cowork_jupyter/static/card.js", "cowork_jupyter/labextension/package.json"),
    } <= names
    assert not any("node_modules" in name or ".venv" in name for name in names)


def test_an_sdist_becomes_a_wheel_without_node(dist: Path, tmp_path: Path) -> None:
    sdist = next(dist.glob("*.tar.gz"))
    nowhere = {**os.environ, "PATH": str(tmp_path)}
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(sdist)], env=nowhere, check=True)
    assert list(tmp_path.glob("*.whl"))


def test_installing_adds_few_packages_to_jupyterlab(wheel: Path) -> None:
    added = packages_for(str(wheel)) - packages_for("jupyterlab")
    print(f"adds {len(added)}: {', '.join(sorted(added))}")
    assert len(added) <= MAX_ADDED_PACKAGES


@pytest.fixture(scope="session")
def empty_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and what it asks for, nothing else."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin" / "pip", "install", "--quiet", wheel], check=True)
    return folder


@pytest.fixture
def server(empty_environment: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a Jupyter server from that environment."""
    folders = {
        f"JUPYTER_{what}_DIR": str(tmp_path / what) for what in ("CONFIG", "DATA", "RUNTIME")
    }
    root = ["--allow-root"] if os.geteuid() == 0 else []
    command = [
        *(str(empty_environment / "bin" / "jupyter"), "server", "--no-browser", *root),
        *("--ServerApp.ip=127.0.0.1", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=t", f"--ServerApp.root_dir={tmp_path}"),
    ]
    with (
        held_port() as port,
        subprocess.Popen([*command, f"--port={port}"], env={**os.environ, **folders}) as process,
    ):
        yield f"http://127.0.0.1:{port}"
        process.terminate()


def _get(url: str) -> Any:
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            request = urllib.request.Request(url, headers={"Authorization": "token t"})
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)
        except urllib.error.HTTPError:
            raise
        except OSError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.2)


def test_the_installed_wheel_answers_health_with_no_command_to_enable_it(server: str) -> None:
    health = _get(f"{server}/cowork/health")
    assert health["version"]
    assert health["problems"] == []


def test_a_kernel_of_that_environment_has_the_magics_from_its_start(
    empty_environment: Path, tmp_path: Path
) -> None:
    notebook = tmp_path / "new.ipynb"
    cell: dict[str, Any] = {"cell_type": "code", "id": "c", "source": "%cowork help"}
    cell |= {"metadata": {}, "outputs": [], "execution_count": None}
    document = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    notebook.write_text(json.dumps(document))
    jupyter = empty_environment / "bin" / "jupyter"
    path = f"{jupyter.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        [jupyter, "execute", "--inplace", notebook],
        env={**os.environ, "PATH": path, "IPYTHONDIR": str(tmp_path / "ipython")},
        check=True,
    )
    assert "%%plan" in notebook.read_text().split('"outputs"')[1]


def test_the_installed_wheel_shows_its_lab_extension_and_its_doctor(
    empty_environment: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, "JUPYTER_DATA_DIR": str(tmp_path), "PATH": ""}
    answer = subprocess.run(
        [empty_environment / "bin" / "jupyter-cowork", "doctor", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    checks = {check["name"]: check["ok"] for check in json.loads(answer.stdout)["checks"]}
    assert checks["lab extension"]
    assert checks["server extension"]
    assert checks["folders"]
