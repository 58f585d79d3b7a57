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


def mended(values: list[str], argument: str, folder: Path) -> tuple[str, str]:
    """What is proposed for texts that cannot be parsed, and why."""
    cell = f"t = pd.DataFrame({{'n': range({len(values)}), 'day': {values!r}}})"
    failed = Notebook([SETUP, cell]).failed(f"pd.to_datetime({argument})", folder)
    fix = propose(failed)
    assert fix.source
    return fix.source.removeprefix("pd.to_datetime(").removesuffix(")"), fix.why


@pytest.mark.parametrize(
    ("argument", "options", "why"),
    [
        ("t.day", 't.day, format="%d.%m.%Y"', "The known dates fit `%d.%m.%Y`, not `%m.%d.%Y`."),
        (
            "t['day'], format='%Y-%m-%d'",
            "t['day'], format=\"%d.%m.%Y\"",
            "The known dates fit `%d.%m.%Y`, not `%Y-%m-%d`.",
        ),
        (
            "t['day'].str.strip()",
            "t['day'].str.strip(), format=\"%d.%m.%Y\"",
            "The known dates fit `%d.%m.%Y`, not `%m.%d.%Y`.",
        ),
    ],
)
def test_dates_that_all_have_one_format_are_read_in_it_and_none_is_hidden(
    argument: str, options: str, why: str, folder: Path
) -> None:
    values = ["01.02.2024", "02.03.2024", "15.02.2024", "16.02.2024"]
    assert mended(values, argument, folder) == (options, why)


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (["01/02/2024", "15/02/2024"], ', format="%d/%m/%Y"'),
        (["15.02.2024 10:30", "2024-02-16"], ', dayfirst=True, format="mixed"'),
        (["2024-02-16", "15.02.2024"], ', dayfirst=True, format="mixed"'),
        (["01/25/2024", "2024-02-16"], ', format="mixed"'),
    ],
)
def test_only_dates_in_several_formats_are_read_one_by_one(
    values: list[str], options: str, folder: Path
) -> None:
    assert mended(values, "t['day']", folder)[0] == f"t['day']{options}"


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (["2024-02-16", "soon"], ', format="%Y-%m-%d", errors="coerce"'),
        (["01.02.2024", "soon", "15.02.2024"], ', format="%d.%m.%Y", errors="coerce"'),
        (["01/02/2024", "soon"], ', format="%m/%d/%Y", errors="coerce"'),
    ],
)
def test_what_no_format_reads_becomes_missing_and_is_named(
    values: list[str], options: str, folder: Path
) -> None:
    source, why = mended(values, "t['day']", folder)
    assert source == f"t['day']{options}"
    assert why.endswith("`soon` is not a date. What is not a date becomes missing (NaT).")


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
