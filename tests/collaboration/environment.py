"""An environment with real-time collaboration: `python -m tests.collaboration.environment`.

Merely having it installed changes every document of a Lab, so it is kept out of the
environment of all other tests. This one lies on top of that: only what collaboration adds is
installed, and all else comes from below.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterable
from pathlib import Path

BELOW = Path(sys.prefix)
FOLDER = BELOW / "collaboration"
PYTHON = FOLDER / "bin" / "python"
PACKAGES = ("jupyter-collaboration>=4",)

SETTINGS = {
    "JUPYTER_PATH": str(BELOW / "share" / "jupyter"),
    "JUPYTER_CONFIG_PATH": str(BELOW / "etc" / "jupyter"),
    "JUPYTERLAB_DIR": str(BELOW / "share" / "jupyter" / "lab"),
}
"""Where a Lab that runs there finds itself, us, and our settings."""


def make(folder: Path, packages: Iterable[str]) -> None:
    """Make an environment anew, on top of that of all other tests."""
    venv.create(folder, clear=True)
    (own,) = (folder / "lib").glob("python*/site-packages")
    (own / "below.pth").write_text(
        f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    )
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, *packages], check=True)


if __name__ == "__main__":
    make(FOLDER, PACKAGES)
