"""Data files around a run: what was made, changed and removed, and nothing that is hidden."""

from __future__ import annotations

import io
import json
import os
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from cowork_jupyter.domain.effects import TableState
from cowork_jupyter.effects import files
from cowork_jupyter.effects.files import FileWatch, file_state
from cowork_jupyter.tools.base import CallAuthorization
from cowork_jupyter.workspace import Workspace

ORDERS = "id,region,api_key\n1,N,k-17\n2,S,k-18\n3,,k-19\n"
FRAME = pd.DataFrame({"id": [1, 2, 3], "region": ["N", "S", None]})


@pytest.fixture(autouse=True)
def time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests say by themselves when there is none."""
    for name in ("SCAN_SECONDS", "READ_SECONDS"):
        monkeypatch.setattr(files, name, 60.0)


def state_of(path: str, data: bytes) -> TableState | None:
    return file_state(path, io.BytesIO(data), len(data))


def begun(folder: Path, code: str = "", where: str = ".") -> FileWatch:
    return FileWatch(CallAuthorization().guard(Workspace(folder)), code, where).begin()


def lines(watch: FileWatch) -> list[str]:
    return [change.line for change in watch.end()]


def write(path: Path, text: str) -> None:
    """As something else than it was, also for a clock that ticks slowly."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_table_in_text_is_read_and_secrets_are_not() -> None:
    state = state_of("orders.csv", ORDERS.encode())
    assert state is not None
    assert (state.rows, state.columns, state.sampled) == (3, 3, False)
    region, key = state.field("region"), state.field("api_key")
    assert region is not None
    assert (region.missing, region.values) == (1, ["N", "S"])
    assert key is not None
    assert (key.values, key.low, key.high) == ([], None, None)
    assert "k-1" not in state.model_dump_json()


def test_rows_of_a_long_file_are_counted_and_its_columns_sampled() -> None:
    text = "id,word\n" + "".join(f"{n},abc\n" for n in range(40_000))
    state = state_of("long.csv", text.encode())
    assert state is not None
    assert (state.rows, state.sampled) == (40_000, True)
    without_end = state_of("long.csv", text.removesuffix("\n").encode())
    assert without_end is not None
    assert without_end.rows == 40_000


def test_of_a_very_long_file_the_rows_are_an_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_COUNTED", 0)
    text = "id,word\n" + "".join(f"{n:06},abc\n" for n in range(40_000))
    state = state_of("long.csv", text.encode())
    assert state is not None
    assert abs(state.rows - 40_000) < 400


def parquet() -> bytes:
    return bytes(FRAME.assign(tags=[["a", "b"], [], None]).to_parquet())


def sheet() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        head = '<worksheet><sheetPr/><dimension ref="A1:AB4"/>'
        book.writestr("xl/worksheets/sheet1.xml", head)
    return file.getvalue()


@pytest.mark.parametrize(
    ("path", "data", "shape"),
    [
        ("a.json", FRAME.to_json(orient="records").encode(), (3, 2)),
        ("a.jsonl", FRAME.to_json(orient="records", lines=True).encode(), (3, 2)),
        ("a.parquet", parquet(), (3, 3)),
        ("a.xlsx", sheet(), (3, 28)),
    ],
)
def test_other_formats_tell_their_shape(path: str, data: bytes, shape: tuple[int, int]) -> None:
    state = state_of(path, data)
    assert state is not None
    assert (state.rows, state.columns) == shape


def test_a_nested_column_is_one_column() -> None:
    state = state_of("a.parquet", parquet())
    assert state is not None
    assert [one.name for one in state.fields] == ["id", "region", "tags"]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.csv", b""),
        ("a.csv", b"\0\1\2"),
        ("a.json", json.dumps({"a": 1}).encode()),
        ("a.json", b"[1, 2"),
        ("a.jsonl", b"3\n4\n"),
        ("a.parquet", b"PAR1 something else PAR1"),
        ("a.parquet", parquet()[:-20] + parquet()[-8:]),
        ("a.parquet", b"PAR1" + b"\xff" * 40 + (40).to_bytes(4, "little") + b"PAR1"),
        ("a.xlsx", b"PK no"),
        ("a.py", b"x = 1"),
    ],
)
def test_what_is_no_table_has_no_state(path: str, data: bytes) -> None:
    assert state_of(path, data) is None


def test_files_that_code_makes_changes_and_removes(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write(tmp_path / "sub" / "orders.csv", ORDERS)
    write(tmp_path / "other.csv", ORDERS)
    write(tmp_path / "old.csv", ORDERS)
    write(tmp_path / "same.csv", ORDERS)
    watch = begun(tmp_path, "pd.read_csv('orders.csv').to_csv('orders.csv'); 'same.csv'", "sub")
    write(tmp_path / "sub" / "orders.csv", "id,region,api_key\n1,N,k-17\n")
    write(tmp_path / "other.csv", "id\n1\n")
    write(tmp_path / "new.csv", "a,b\n1,2\n")
    (tmp_path / "old.csv").unlink()
    assert sorted(lines(watch)) == [
        "new.csv: new, 1 row, 2 columns",
        "old.csv: removed",
        "other.csv: rewritten, 1 row, 1 column",
        "sub/orders.csv: 3 → 1 rows (−2), region missing 1 → 0, region lost S",
    ]


def test_only_what_had_content_is_rewritten(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    write(tmp_path / "facts.json", '{"a": 1}')
    watch = begun(tmp_path, "'empty.csv' 'facts.json' 'new.json'")
    write(tmp_path / "empty.csv", ORDERS)
    write(tmp_path / "facts.json", '{"a": 1, "b": 2}')
    write(tmp_path / "new.json", '{"a": 1}')
    assert sorted(lines(watch)) == [
        "empty.csv: written, 3 rows, 3 columns",
        "facts.json: rewritten",
        "new.json: new",
    ]


def test_what_the_call_may_not_read_is_not_spoken_of(tmp_path: Path) -> None:
    (tmp_path / ".ssh").mkdir()
    secret, gone = tmp_path / ".env.csv", tmp_path / "credentials.json"
    gone.write_text("[]")
    watch = begun(tmp_path, "open('.env.csv'); open('credentials.json')")
    write(secret, ORDERS)
    write(tmp_path / ".ssh" / "keys.csv", ORDERS)
    gone.unlink()
    assert lines(watch) == []


def test_where_not_all_could_be_seen_nothing_is_called_new_or_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "a.csv", ORDERS)
    (tmp_path / "sub").mkdir()
    monkeypatch.setattr(files, "MAX_FILES", 1)
    watch = begun(tmp_path)
    write(tmp_path / "b.csv", ORDERS)
    write(tmp_path / "a.csv", "id\n1\n")
    assert lines(watch) == ["a.csv: rewritten, 1 row, 1 column"]
