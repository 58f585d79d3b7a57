"""The keys of our gestures are free in JupyterLab as it comes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

OURS = Path(__file__).parent.parent.parent / "js" / "schema" / "plugin.json"
LABS = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
CODEMIRROR = frozenset({
    "Ctrl /", "Ctrl A", "Ctrl I", "Ctrl M", "Ctrl U", "Ctrl Y", "Ctrl Z", "Ctrl [", "Ctrl ]",
    "Ctrl Alt \\", "Ctrl Shift K", "Ctrl Shift \\", "Ctrl Enter", "Ctrl Backspace", "Ctrl Delete",
})  # fmt: skip
"""What its editor takes itself, outside of macOS."""


def keys(schema: Path) -> Iterator[str]:
    for shortcut in json.loads(schema.read_text()).get("jupyter.lab.shortcuts", []):
        for pressed in (shortcut.get("keys"), shortcut.get("linuxKeys"), shortcut.get("winKeys")):
            if pressed and pressed != [""]:
                yield " ".join(pressed).replace("Accel", "Ctrl")


def test_no_key_of_ours_is_taken_by_lab_or_its_editor() -> None:
    taken = {key for schema in LABS.glob("@jupyterlab/*/*.json") for key in keys(schema)}
    assert "Ctrl S" in taken
    ours = list(keys(OURS))
    assert len(ours) == len(set(ours)) >= 6
    assert not (taken | CODEMIRROR).intersection(ours)
