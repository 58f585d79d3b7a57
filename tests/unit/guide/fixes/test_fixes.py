"""The guide repairs cells that really failed: what it proposes is run, and must succeed."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import pytest

from cowork_jupyter.domain.suggestions import CellError, NearbyCell
from cowork_jupyter.guide.fixes import FailingCell, Fix, propose
from cowork_jupyter.guide.fixes.cell import CellCode

from .failing import ADVISED, FILES, FIXED, HELD_OUT, SETUP
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


def fix_of(source: str, folder: Path, *, unrun: tuple[str, ...] = ()) -> tuple[FailingCell, Fix]:
    failed = Notebook([SETUP], unrun).failed(source, folder)
    return failed, propose(failed)


@pytest.mark.parametrize(
    "source", [*FIXED.values(), *sorted(HELD_OUT)], ids=[*FIXED, *sorted(HELD_OUT)]
)
def test_the_cell_runs_afterwards(source: str, folder: Path) -> None:
    failed, fix = fix_of(source, folder)
    assert fix.source is not None, (failed.error.name, failed.message, fix.why)
    failure = Notebook([SETUP]).run(fix.source)
    assert failure is None, (fix.source, failure.value)
    assert fix.why.endswith((".", "`"))
    assert len(fix.why) < 300


@pytest.mark.parametrize(("source", "words"), ADVISED.items(), ids=[*ADVISED])
def test_where_nothing_can_be_repaired_it_says_what_to_do(
    source: str, words: str, folder: Path
) -> None:
    _, fix = fix_of(source, folder)
    assert fix.source is None
    assert words in fix.why


def test_a_name_from_a_cell_that_has_not_run(folder: Path) -> None:
    _, fix = fix_of("result + 1", folder, unrun=("result = df['units'].sum()",))
    assert fix == Fix("`result` is defined in cell 2, which has not run yet. Run cell 2 first.")


def test_a_package_is_installed_by_its_own_name(folder: Path) -> None:
    _, fix = fix_of("import cv2\ncv2.imread('a')", folder)
    assert fix.source == "%pip install opencv-python\nimport cv2\ncv2.imread('a')"


def test_a_value_with_commas_is_not_lost(folder: Path) -> None:
    _, fix = fix_of("total = df['amount'].sum() + 1", folder)
    notebook = Notebook([SETUP])
    assert notebook.run(fix.source or "") is None
    assert notebook.shell.user_ns["total"] == 1246


def test_what_was_tried_is_not_proposed_again(folder: Path) -> None:
    failed, fix = fix_of("df['region']", folder)
    assert fix.source
    again = replace(failed, tried=frozenset({fix.source}))
    assert propose(again).source != fix.source


def test_the_line_is_known_from_what_ipython_shows() -> None:
    notebook = Notebook([SETUP])
    notebook.shell.quick = False
    failed = notebook.failed("x = 1\n\ndef f(t):\n    return t['region']\n\nf(df)")
    assert "site-packages" in failed.error.traceback
    assert failed.lines == [4, 6]


def test_magics_and_comments_stay_as_they_are(folder: Path) -> None:
    source = "%%time\n# by region\n%matplotlib inline\nx = df['region']  # größe\n"
    _, fix = fix_of(source, folder)
    assert fix.source == source.replace("'region'", "'Region'")


def test_letters_of_several_bytes_do_not_shift_the_edit(folder: Path) -> None:
    _, fix = fix_of("name = 'Größe 😀'; x = df['region']", folder)
    assert fix.source == "name = 'Größe 😀'; x = df['Region']"


HOSTILE = {
    "brackets": "(" * 5_000,
    "f-strings": "f'{" * 2_000,
    "spaces": "x = '" + " " * 20_000,
    "equals": "if " + "a=" * 5_000,
    "print": "print " + " " * 5_000,
    "lines": "\n".join(["for x in y"] * 3_000),
    "one name": "df['" + "a" * 50_000 + "']",
    "backticks": "`" * 10_000,
}
LONG_PLACE = "Cell In[1], line 1\n" * 5_000


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize(
    "error",
    [
        CellError(name="SyntaxError", value="invalid syntax (<x>, line 1)"),
        CellError(name="KeyError", value="'" + "a" * 50_000 + "'", traceback=LONG_PLACE),
        CellError(name="TypeError", value="could not convert " * 5_000),
    ],
    ids=lambda error: error.name,
)
def test_hostile_cells_take_little_time(source: str, error: CellError) -> None:
    cell = NearbyCell(id="here", source=source)
    began = time.process_time()
    propose(FailingCell(source, error, "here", (cell,)))
    assert time.process_time() - began < 3


def test_edits_that_overlap_are_not_mixed() -> None:
    assert CellCode("abcdef").apply_edits((0, 3, "x"), (2, 4, "y")) in ("xdef", "abyef")
