"""Files are found by the names that people give them, in the sentences that people write."""

from __future__ import annotations

from pathlib import Path

import pytest

from cowork_jupyter.parts.guide.file_names import named_paths

from .desk import Desk

TABLE = "a,b\n1,x\n2,y\n"
NAMES = [
    *("sales.csv", "my sales.csv", "Umsätze größer.csv", "sales (1).csv", "[draft] sales.csv"),
    *("it's.csv", 'say "hi".csv', "“quoted”.csv", "SALES.CSV", "Sales.Tsv", "a..b.csv"),
    *("sales.v1.2.csv", "--help.csv", "sales-2024-01-01.csv", "data/sub dir/x.csv", "数据.csv"),
    *("📊 report.csv", "İstanbul.csv", "straße.csv", "e\u0301.csv", "sales,2024.csv", "$money.csv"),
    *("100%.csv", "a&b.csv", "a=b.csv", "{x}.csv", "who?.csv", "_.csv", "1.csv", "a b  c.csv"),
    *("missing values.csv", "clean.csv", "join.csv", "the notebook.csv", "plot over time.csv"),
]
SENTENCES = [
    *("Profile {}", "Profile {}.", "Profile `{}`", "Profile “{}”", 'Profile "{}"', "Profile «{}»"),
    *("Profile '{}', please", "Can you profile ({})?", "profile {}: what is in it?"),
    *("Profile ‘{}’!", "{}: profile it"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_found_by_its_name_in_any_sentence(name: str, tmp_path: Path) -> None:
    there = [name, "other.csv", "zz.csv"]
    found = {text: named_paths(text.format(name), there) for text in SENTENCES}
    assert found == {text: [name] for text in SENTENCES}
    (step,) = Desk(tmp_path).having(dict.fromkeys(there, TABLE)).plan(f"Profile {name}")["steps"]
    assert step["files"][0] == name, "and no word of it means something else"


FOLDERS = ["a/data/sales.csv", "b/data/sales.csv", "b/sales.csv", "data/sales.csv", "towns.csv"]


@pytest.mark.parametrize(
    ("text", "files", "meant"),
    [
        ("Profile my sales.csv", ["sales.csv", "my sales.csv"], ["my sales.csv"]),
        ("Profile sales.csv", ["sales.csv", "report-sales.csv"], ["sales.csv"]),
        ("Profile sales.csv.csv", ["sales.csv", "sales.csv.csv"], ["sales.csv.csv"]),
        ("Profile sales.csv", ["sales.csv", "sales.csv.csv"], ["sales.csv"]),
        ("Profile sales 2024", ["sales.csv", "sales 2024.csv"], ["sales 2024.csv"]),
        ("Profile Sales.csv", ["Sales.csv", "sales.csv"], ["Sales.csv"]),
        ("Profile sales.csv", ["sales.CSV", "sales.tsv"], ["sales.CSV"]),
        ("Profile caf\u00e9.csv", ["cafe\u0301.csv", "x.csv"], ["cafe\u0301.csv"]),
        ("Profile it's.csv", ["it’s.csv", "x.csv"], ["it’s.csv"]),
        ("Profile a b.csv", ["a\u00a0b.csv", "x.csv"], ["a\u00a0b.csv"]),
        ("Profile sales.csv's columns", ["sales.csv", "x.csv"], ["sales.csv"]),
        # of files with one name, the nearest to the notebook
        ("clean sales.csv", FOLDERS, ["b/sales.csv"]),
        ("clean ./sales.csv", FOLDERS, ["b/sales.csv"]),
        ("clean data/sales.csv", FOLDERS, ["b/data/sales.csv"]),
        ("clean ../data/sales.csv", FOLDERS, ["data/sales.csv"]),
        ("clean a/data/sales.csv", FOLDERS, ["a/data/sales.csv"]),
        ("clean /home/ada/x/sales.csv", FOLDERS, []),
        ("join towns with sales", FOLDERS, ["towns.csv", "b/sales.csv"]),
    ],
)
def test_ambiguous_file_names_resolve_to_the_nearest(
    text: str, files: list[str], meant: list[str]
) -> None:
    assert named_paths(text, files, "b" if files is FOLDERS else "") == meant


@pytest.mark.process
@pytest.mark.parametrize(
    "name",
    ["data.CSV.gz", "report.xlsx", "/home/ada/other.csv", "https://a.org/other.csv", "no.csv"],
)
def test_unreadable_file_is_not_replaced(name: str, tmp_path: Path) -> None:
    for there in ("data.CSV.gz", "report.xlsx"):
        (tmp_path / there).write_bytes(b"\x1f\x8b")
    said = Desk(tmp_path).having({"other.csv": TABLE}).ask(f"Profile {name}")
    assert f"I cannot read `{name.removeprefix('https:')}`" in said
