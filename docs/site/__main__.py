"""Builds the site: `python -m docs.site`. Whatever mkdocs would warn of is an error."""

from __future__ import annotations

import os
import subprocess
import sys

from . import ROOT


def main() -> int:
    """Build."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--clean"]
    return subprocess.run(  # noqa: S603 (our own command)
        [*command, "--config-file", "docs/site/mkdocs.yml"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
