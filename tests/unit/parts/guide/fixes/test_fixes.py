"""The guide repairs cells that really failed: what it proposes is run, and must succeed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest

from cowork_jupyter.domain.suggestions import CellError, NearbyCell
from cowork_jupyter.parts.guide import fixes
from cowork_jupyter.parts.guide.fixes import FailingCell, Fix, propose
from cowork_jupyter.parts.guide.fixes.cell import CellCode

from .failing import ADVISED, EXACT, FILES, FIXED, SETUP
from .shell import Notebook

mpl.use("agg")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fix_of(source: str, folder: Path, *, unrun: tuple[str, ...] = ()) -> Fix:
    return propose(Notebook([SETUP], unrun).failed(source, folder))


@pytest.mark.parametrize("source", [*FIXED, *EXACT])
def test_fixed_cell_runs(source: str, folder: Path) -> None:
    fix = fix_of(source, folder)
    assert fix.source is not None, fix.why
    assert fix.source == EXACT.get(source, fix.source)
    failure = Notebook([SETUP]).run(fix.source)
    assert failure is None, (fix.source, failure.value)
    assert fix.why.endswith((".", "`"))
    assert len(fix.why) < 300


@pytest.mark.parametrize("source", ADVISED)
def test_advice_where_no_change_surely_helps(source: str, folder: Path) -> None:
    fix = fix_of(source, folder)
    assert fix.source is None
    assert ADVISED[source] in fix.why


def test_name_from_unrun_cell_names_the_cell(folder: Path) -> None:
    fix = fix_of("result + 1", folder, unrun=("result = df['units'].sum()",))
    assert fix == Fix("`result` is defined in cell 2, which has not run yet. Run cell 2 first.")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import cv2\ncv2.imread('a')", "%pip install opencv-python\nimport cv2\ncv2.imread('a')"),
        (
            "%%time\n# region\n%ls\ndf['region']  # é\n",
            "%%time\n# region\n%ls\ndf['Region']  # é\n",
        ),
        ("name = 'Größe 😀'; x = df['region']", "name = 'Größe 😀'; x = df['Region']"),
    ],
)
def test_fix_keeps_the_rest_of_the_cell(source: str, expected: str) -> None:
    notebook = Notebook([SETUP])
    notebook.is_ipython = True
    assert propose(notebook.failed(source)).source == expected


_TO_GERMAN = "The known dates fit `%d.%m.%Y`, not `%m.%d.%Y`."
_DAY_FIRST = 't.day, dayfirst=True, format="mixed"'
_IN_SEVERAL = "Not all dates have the same format."
_SOON = "`soon` is not a date. What is not a date becomes missing (NaT)."
_GERMAN = ["01.02.2024", "02.03.2024", "15.02.2024", "16.02.2024"]


@pytest.mark.parametrize(
    ("values", "argument", "mended", "why"),
    [
        (_GERMAN, "t.day", 't.day, format="%d.%m.%Y"', _TO_GERMAN),
        (_GERMAN, "t['day'], format='%Y-%m-%d'", "t['day'], format=\"%d.%m.%Y\"", "not `%Y-%m-%d`"),
        (_GERMAN, "t.day.str.strip()", 't.day.str.strip(), format="%d.%m.%Y"', _TO_GERMAN),
        (["01/02/2024", "15/02/2024"], "t.day", 't.day, format="%d/%m/%Y"', "fit `%d/%m/%Y`"),
        (["15.02.2024 10:30", "2024-02-16"], "t.day", _DAY_FIRST, _IN_SEVERAL),
        (["01/25/2024", "2024-02-16"], "t.day", 't.day, format="mixed"', _IN_SEVERAL),
        (["2024-02-16", "soon"], "t.day", 't.day, format="%Y-%m-%d", errors="coerce"', _SOON),
        (["01/02/2024", "soon"], "t.day", 't.day, format="%m/%d/%Y", errors="coerce"', _SOON),
    ],
)
def test_dates_get_their_actual_format(
    values: list[str], argument: str, mended: str, why: str, folder: Path
) -> None:
    cell = f"t = pd.DataFrame({{'n': range({len(values)}), 'day': {values!r}}})"
    fix = propose(Notebook([SETUP, cell]).failed(f"pd.to_datetime({argument})", folder))
    assert fix.source == f"pd.to_datetime({mended})"
    assert why in fix.why


def test_tried_fixes_are_not_repeated(folder: Path) -> None:
    failed = Notebook([SETUP]).failed("df['region']", folder)
    first = propose(failed).source
    assert first
    assert propose(replace(failed, tried=frozenset({first}))).source is None


@pytest.mark.parametrize("source", ["x  =  undefined", "return 1", "x = ("])
def test_useless_fixes_are_not_proposed(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixes, "_RULES", (lambda _cell: Fix("why", source),))
    cell = FailingCell("x = undefined", CellError(name="NameError", value="undefined"))
    assert propose(cell).source is None


def test_error_line_is_read_from_the_traceback() -> None:
    notebook = Notebook([SETUP])
    notebook.is_ipython = True
    failed = notebook.failed("x = 1\n\ndef f(t):\n    return t['region']\n\nf(df)")
    assert "site-packages" in failed.error.traceback
    assert failed.lines == [4, 6]


HOSTILE = {
    "brackets": "(" * 5_000,
    "f-strings": "f'{" * 2_000,
    "spaces": "x = '" + " " * 20_000,
    "equals": "if " + "a=" * 5_000,
    "print": "print " + " " * 5_000,
    "lines": "\n".join(["for x in y"] * 3_000),
    "one name": "df['" + "a" * 50_000 + "']",
}
_ERRORS = [
    CellError(name="SyntaxError", value="invalid syntax (<x>, line 1)"),
    CellError(name="KeyError", value=f"'{'a' * 50_000}'", traceback="Cell In[1], line 1\n" * 5_000),
    CellError(name="TypeError", value="could not convert " * 5_000),
]


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("error", _ERRORS, ids=lambda error: error.name)
def test_hostile_cells_are_fixed_in_bounded_time(source: str, error: CellError) -> None:
    began = time.process_time()
    propose(FailingCell(source, error, "here", (NearbyCell(id="here", source=source),)))
    assert time.process_time() - began < 3


def test_overlapping_edits_are_not_mixed() -> None:
    assert CellCode("abcdef").apply_edits((0, 3, "x"), (2, 4, "y")) in ("xdef", "abyef")
