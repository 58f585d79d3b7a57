"""An environment with JupyterHub: `python -m tests.hub.environment`. Its proxy comes from npm."""

from __future__ import annotations

from pathlib import Path

from tests.collaboration.environment import BELOW, SETTINGS, make

FOLDER = BELOW / "hub"
BIN = FOLDER / "bin"
PROXY = Path(__file__).parent / "node_modules" / ".bin" / "configurable-http-proxy"
PACKAGES = ("jupyterhub>=5", "jupyterhub-idle-culler>=1.4")
SERVER_SETTINGS = SETTINGS
"""Where a user's server finds Lab, us, and our settings."""

if __name__ == "__main__":
    make(FOLDER, PACKAGES)
