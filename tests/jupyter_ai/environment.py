"""Environments with jupyter-ai beside us: `python -m tests.jupyter_ai.environment`.

One without real-time collaboration, where `jupyter-live-content` reloads what changes on the disk,
and one with it.
"""

from __future__ import annotations

from tests.collaboration.environment import BELOW, PACKAGES, make

FOLDERS = {
    "without": BELOW / "jupyter-ai",
    "with": BELOW / "jupyter-ai-collaboration",
}
_BESIDE = ("jupyter-ai>=3", "jupyter-live-content>=0.1")

if __name__ == "__main__":
    make(FOLDERS["without"], _BESIDE)
    make(FOLDERS["with"], (*_BESIDE, *PACKAGES))
