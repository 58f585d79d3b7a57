"""How the site is built: `make docs`."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
DRAWN = ROOT / "tests" / "ui" / "output"
"""What the browser tests drew last."""
