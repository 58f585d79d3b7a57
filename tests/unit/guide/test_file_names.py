"""Files are found by the names that people give them, in the sentences that people write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.quick import each

from .desk import Desk

NAMES = [
    *("sales.csv", "my sales.csv", "Umsätze größer.csv", "sales (1).csv", "[draft] sales.csv"),
    *("it's.csv", 'say "hi".csv', "“quoted”.csv", "a`b.csv", "SALES.CSV", "Sales.Tsv", "x.tsv"),
    *("a..b.csv", "sales.v1.2.csv", "-sales.csv", "--help.csv", "sales-2024-01-01.csv"),
    *("data/sub dir/x.csv", "数据.csv", "📊 report.csv", "ЦЕНЫ.csv", "İstanbul.csv", "straße.csv"),
    *(
        "e\u0301.csv",
        "sales,2024.csv",
        "sales;x.csv",
        "100%.csv",
        "a&b.csv",
        "$money.csv",
        "#1.csv",
    ),
    *("a+b.csv", "a=b.csv", "a~b.csv", "{x}.csv", "a!.csv", "who?.csv", "_.csv", "1.csv"),
    *("café – copy.csv", "a b  c.csv", "sales csv.csv", "data.backup.txt", "missing values.csv"),
    *("clean.csv", "model.csv", "join.csv", "the notebook.csv", "plot over time.csv"),
]
SENTENCES = [
    *("Profile {}", "Profile {}.", "Profile `{}`", "Profile “{}”", 'Profile "{}"', "Profile «{}»"),
    *("Profile '{}', please", "Can you profile ({})?", "profile {}: what is in it?"),
    *("Profile ‘{}’!", "{}: profile it"),
]


def planned(folder: Path, text: str, *files: str) -> list[str]:
    """The tables that a plan is about, in a folder with these files."""
    for name in files:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("a,b\n1,x\n2,y\n")
    return [step["files"][0] for step in Desk(folder).plan(text)["steps"]]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_found_by_its_name(name: str, tmp_path: Path) -> None:
    assert planned(tmp_path, f"Profile {name}", name, "other.csv", "zz.csv") == [name]


@pytest.mark.parametrize("name", each(6, NAMES))
def test_a_file_is_found_by_its_name_in_any_sentence(name: str, tmp_path: Path) -> None:
    files = (name, "other.csv", "zz.csv")
    found = {text: planned(tmp_path, text.format(name), *files) for text in SENTENCES}
    assert found == {text: [name] for text in SENTENCES}


@pytest.mark.parametrize(
    ("text", "files", "meant"),
    [
        ("Profile my sales.csv", ["sales.csv", "my sales.csv"], ["my sales.csv"]),
        ("Profile report-sales.csv", ["sales.csv", "report-sales.csv"], ["report-sales.csv"]),
        ("Profile sales.csv", ["sales.csv", "report-sales.csv"], ["sales.csv"]),
        ("Profile sales.csv.csv", ["sales.csv", "sales.csv.csv"], ["sales.csv.csv"]),
        ("Profile sales.csv", ["sales.csv", "sales.csv.csv"], ["sales.csv"]),
        ("Profile a.csv (1).csv", ["a.csv", "a.csv (1).csv"], ["a.csv (1).csv"]),
        (
            "Profile my sales.csv and sales.csv",
            ["sales.csv", "my sales.csv"],
            ["my sales.csv", "sales.csv"],
        ),
        ("Profile sales 2024", ["sales.csv", "sales 2024.csv"], ["sales 2024.csv"]),
        ("Profile Sales.csv", ["Sales.csv", "sales.csv"], ["Sales.csv"]),
        ("Profile sales.csv", ["Sales.csv", "sales.csv"], ["sales.csv"]),
        ("Profile sales.csv", ["sales.CSV", "sales.tsv"], ["sales.CSV"]),
        ("Profile caf\u00e9.csv", ["cafe\u0301.csv", "x.csv"], ["cafe\u0301.csv"]),
        ("Profile cafe\u0301.csv", ["caf\u00e9.csv", "x.csv"], ["caf\u00e9.csv"]),
        ("Profile it's.csv", ["it’s.csv", "x.csv"], ["it’s.csv"]),
        ("Profile it’s.csv", ["it's.csv", "x.csv"], ["it's.csv"]),
        ("Profile a b.csv", ["a\u00a0b.csv", "x.csv"], ["a\u00a0b.csv"]),
        ("Profile my\\ file.csv", ["my file.csv", "x.csv"], ["my file.csv"]),
        ("Profile my%20file.csv", ["my file.csv", "x.csv"], ["my file.csv"]),
        ("Profile sales.csv's columns", ["sales.csv", "x.csv"], ["sales.csv"]),
        ("Profile **sales.csv**…", ["sales.csv", "x.csv"], ["sales.csv"]),
        ("Profile data", ["data", "x.csv"], ["data"]),
    ],
)
def test_the_file_is_meant_that_a_reader_would_take(
    text: str, files: list[str], meant: list[str], tmp_path: Path
) -> None:
    assert planned(tmp_path, text, *files) == meant


@pytest.mark.process
@pytest.mark.parametrize("name", ["data.CSV.gz", "report.xlsx"])
def test_a_file_that_cannot_be_read_is_not_replaced_by_another(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x1f\x8b")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert f"I cannot read `{name}`" in Desk(tmp_path).ask(f"Profile {name}")
