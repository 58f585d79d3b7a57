"""What pip would install, from its own report."""

from __future__ import annotations

import json
import os
import subprocess
import sys


def packages_for(requirement: str) -> set[str]:
    """Names of all packages that this requirement brings into an empty environment."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
    report = subprocess.run(
        [*command, "--report", "-", requirement],
        env={**os.environ, "SKIP_JUPYTER_BUILDER": "1"},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {found["metadata"]["name"].lower() for found in json.loads(report)["install"]}
