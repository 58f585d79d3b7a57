"""Expectations where there is no server: the agent is held to them in the very kernel it uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.scripted import ScriptedServer, call, text

from .kernels import Cells

pytestmark = pytest.mark.process
ROWS = {"id": "exp_1", "of": "orders", "check": "rows", "value": 3}


def test_a_headless_run_that_breaks_them_fails_with_the_numbers(
    cells: Cells, connected: ScriptedServer, tmp_path: Path
) -> None:
    (tmp_path / ".cowork").mkdir()
    (tmp_path / ".cowork/expectations.json").write_text(json.dumps([ROWS]))
    (tmp_path / "rules.json").write_text('{"permissions": {"allow": ["run_code"]}}')
    cells.run("%load_ext cowork_jupyter")
    cells.run("import pandas; orders = pandas.DataFrame({'id': [1, 2, 3]})")
    shrink = call("run_code", code="orders = orders.head(2)", where="notebook")
    connected.add(shrink, text("Done."), text("It must be so."))
    cells.run("%%act --policy rules.json\nShrink it")
    told = json.dumps(connected.requests[2].body["messages"], ensure_ascii=False)
    assert "orders: expected rows = 3 — it is 2" in told
    shown = cells.run("%cowork expectations")
    assert "✕ orders: rows = 3 — it is 2" in shown.markdown
