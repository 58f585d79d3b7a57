"""What the forge does with this repository: the same as everybody does, on all we support."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

import yaml

from cowork_jupyter import __version__
from docs.site import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def workflow(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
    return found


def test_every_python_that_we_name_is_tested() -> None:
    named = [one.rpartition(" ")[2] for one in PROJECT["classifiers"]]
    versions = [one for one in named if re.fullmatch(r"3\.\d+", one)]
    assert workflow("test")["jobs"]["test"]["strategy"]["matrix"]["python"] == versions
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_the_oldest_jupyterlab_that_we_allow_is_tested() -> None:
    (oldest,) = re.findall(r"jupyterlab>=([\d.]+)", " ".join(PROJECT["dependencies"]))
    extra = workflow("test")["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert {one["lab"] for one in extra} == {oldest}


def test_the_forge_runs_what_everybody_runs() -> None:
    full = "make test-full"
    checks = (("test", "test", ".ci/run"), ("nightly", "full", full), ("release", "build", full))
    for name, job, check in checks:
        commands = [step.get("run") for step in workflow(name)["jobs"][job]["steps"]]
        assert check in commands


def test_both_sides_have_one_version_and_the_changelog_has_it() -> None:
    for name in ("package.json", "package-lock.json"):
        assert json.loads((ROOT / "js" / name).read_text())["version"] == __version__
    assert f"\n## {__version__} (" in (ROOT / "CHANGELOG.md").read_text()
