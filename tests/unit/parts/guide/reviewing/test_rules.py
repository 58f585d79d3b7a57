"""What rules find in code, and what they leave alone. Notebooks are written as they are read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from cowork_jupyter.parts.guide.review import (
    MAX_LENGTH,
    ReviewedCell,
    ReviewedFile,
    ReviewRule,
    analysis_remarks,
    error_remarks,
    except_remarks,
    path_remarks,
    secret_remarks,
    state_remarks,
)
from cowork_jupyter.tools.notebook.state import CellState
from tests.effects.catalogue import NOTEBOOKS
from tests.effects.notebooks import Notebook


def cell(number: int, source: str, count: int | None, **more: Any) -> ReviewedCell:
    kind, tags = more.pop("kind", "code"), more.pop("tags", ())
    return ReviewedCell(number, CellState(f"c{number}", kind, source, count, tags=tags), **more)


def notebook(*sources: str, counts: Iterable[int | None] | None = None) -> ReviewedFile:
    """Run in order, unless it is said otherwise."""
    ran = list(counts) if counts is not None else list(range(1, len(sources) + 1))
    pairs = zip(sources, ran, strict=True)
    cells = [cell(at, source, count) for at, (source, count) in enumerate(pairs, 1)]
    return ReviewedFile("work.ipynb", cells, "python", len(cells))


def file(source: str, path: str = "work.py") -> ReviewedFile:
    return ReviewedFile(path, [cell(0, source, None)], total=source.count("\n") + 1)


def places(rule: ReviewRule, reviewed: ReviewedFile) -> list[tuple[int, int | None]]:
    """The cells and lines that a rule remarks on."""
    return [(one.cell.number if one.cell else 0, one.line) for one in rule(reviewed)]


BY_CODE_ALONE = ("fit_before_split", "score_on_training_rows", "tuned_on_test", "no_seed")
READ = "import pandas as pd\nfrom sklearn.model_selection import train_test_split\n"
LEAK = (
    f"{READ}from sklearn.preprocessing import StandardScaler\ndf = pd.read_csv('a.csv')",
    "scaled = StandardScaler().fit_transform(df[['x']])",
    "# split\ntrain, test = train_test_split(scaled, random_state=1)",
)
KNOWN = [one for one in NOTEBOOKS if not one.defect or one.defect in BY_CODE_ALONE]


@pytest.mark.parametrize("one", KNOWN, ids=lambda n: n.name)
def test_analysis_warnings_need_no_data(one: Notebook) -> None:
    found = list(analysis_remarks(notebook(*one.cells)))
    assert bool(found) is bool(one.defect)
    severity = "major" if one.defect == "no_seed" else "critical"
    assert {remark.severity for remark in found} <= {severity}


DRAWS = "import numpy as np", "x = np.random.rand(3)"
SHOWN = (
    f"{READ}df = pd.read_csv('a.csv')\npd.to_datetime(df['day'])",
    "(df\n .sort_values('ä')\n .head())  # é",
)


@pytest.mark.parametrize(
    ("reviewed", "expected"),
    [
        (notebook(*DRAWS), [(2, 1)]),
        (notebook(DRAWS[0], "np.random.seed(1)", DRAWS[1]), []),
        (notebook(*SHOWN), []),  # what a cell shows at its end is not thrown away
        (notebook(f"{SHOWN[0]}\nx = 1"), [(1, 4)]),
        (notebook(*LEAK), [(2, 1)]),
        (file("\n".join(LEAK)), [(0, 5)]),
        (ReviewedFile("a.r", file("\n".join(LEAK)).cells, "R"), []),
        (notebook(f"# {'x' * MAX_LENGTH}", *LEAK), []),
    ],
)
def test_analysis_spans_cells(reviewed: ReviewedFile, expected: list[tuple[int, int]]) -> None:
    assert places(analysis_remarks, reviewed) == expected


FOUND = {
    except_remarks: [
        "try: f()\nexcept: pass",
        "try: f()\nexcept Exception:\n    pass",
        "try: f()\nexcept Exception:\n    'ignored'",
    ],
    error_remarks: ["for x in :\n    pass"],
    path_remarks: [
        "df = pd.read_csv('/home/ada/sales.csv')",
        r"df = pd.read_excel(r'C:\Users\ada\sales.xlsx')",
        r"open(r'\\server\share\a.txt')",
        "f = open(f'/home/ada/{name}.csv')",
    ],
}
LEFT_ALONE = {
    except_remarks: [
        "try: f()\nexcept FileNotFoundError: pass",
        "try: f()\nexcept Exception as error:\n    print(error)",
        "try: f()\nexcept:\n    log()\n    raise",
    ],
    error_remarks: [
        "await fetch()",
        "%matplotlib inline\n!ls\nfiles = !ls\ndf?\n?df",
        "%%bash\nls | wc -l",
    ],
    path_remarks: [
        "df = pd.read_csv('../sales.csv')",
        "requests.get('https://example.org/home/ada')",
        r"re.compile(r'a:\\d+')",
        "ratio = 'a:b'",
        "text = 'see /home/ada'",
    ],
    secret_remarks: [
        "password = os.environ['PASSWORD']",
        "api_key = 'your-api-key-goes-here-1'",
        "api_key = '<paste your key 123 here>'",
        "api_key = 'ollama'",
        "token_count = 123456789",
        "tokenizer = 'bert-base-uncased-v2'",
        "secret_path = 'data/secret2024.csv'",
        "url = 'https://example.org/a:b@c'",
        "url = 'postgresql://user:password@localhost/db'",
        "url = f'postgresql://{user}:{password}@localhost/db'",
        "api_key = 'sk-...'",
        "risk-sk-analysis-of-sales = 1",
    ],
}
CASES = [(rule, source, True) for rule, sources in FOUND.items() for source in sources]
CASES += [(rule, source, False) for rule, sources in LEFT_ALONE.items() for source in sources]


@pytest.mark.parametrize(("rule", "source", "found"), CASES)
def test_rule_matches_only_its_lines(rule: ReviewRule, source: str, found: bool) -> None:
    reviewed = notebook("x = 1", source, counts=[None, None])
    assert [number for number, _line in places(rule, reviewed)] == [2] * found


def test_expected_errors_are_not_reported() -> None:
    meant = cell(2, "1 / 0", 2, failed=True, tags=("raises-exception",))
    ran = cell(3, "some %strange ipython", 3)
    reviewed = ReviewedFile("work.ipynb", [cell(1, "1 / 0", 1, failed=True), meant, ran])
    assert places(error_remarks, reviewed) == [(1, None)]


KEY = "sk-" + "proj4Hq9ZtLw7Bx2Vc8Nm1"
HUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("source", "secret"),
    [
        (f'client = OpenAI(api_key="{KEY}")', KEY),
        (f"headers = {{'Authorization': 'Bearer {HUB}'}}", HUB),
        (f"!git clone https://me:{HUB}@github.com/me/private", HUB),
        ("password = 'tr0ub4dor&3'", "tr0ub4dor&3"),
        ("connect(host='db', password='hunter2hunter2')", "hunter2hunter2"),
        ("os.environ['API_KEY'] = 'q7w8e9r0t1y2'", "q7w8e9r0t1y2"),
        ("config = {'client_secret': '0f9e8d7c6b5a4'}", "0f9e8d7c6b5a4"),
        ("%env OPENAI_API_KEY=abc123def456ghi", "abc123def456ghi"),
        ("url = 'postgresql://ada:l0velace@db.example.org/sales'", "l0velace"),
        ("pem = '''-----BEGIN RSA PRIVATE KEY-----\nMIIEow'''", "MIIEow"),
    ],
)
def test_secret_is_found_and_never_quoted(source: str, secret: str) -> None:
    (found,) = secret_remarks(notebook("import os", source))
    assert (found.severity, found.cell and found.cell.number, found.line) == ("critical", 2, 1)
    assert secret not in f"{found.comment} {found.advice}"
    assert secret not in found.finding("work.ipynb").text


def test_secrets_are_found_in_text_cells_and_files_once_a_line() -> None:
    text = cell(3, f"Use the key\n{KEY}", None, kind="markdown")
    assert places(secret_remarks, ReviewedFile("work.ipynb", [cell(1, "a = 1", 1), text])) == [
        (3, 2)
    ]
    assert places(secret_remarks, file(f"import os\n\nKEY = '{HUB}'\n")) == [(0, 3)]
    assert places(secret_remarks, notebook(f'api_key = "{KEY}"; token = "{HUB}"')) == [(1, 1)]


@pytest.mark.parametrize(
    ("cells", "counts", "words"),
    [
        (["x = 1", "y = x + 1"], [5, 2], ["stale: it uses `x` and ran as [2], before cell 1"]),
        (["x = 1", "y = x", "y * 2"], [5, 6, 3], ["stale: it uses `y` and ran as [3], before"]),
        (["x = 1", "x = 2", "x"], [1, None, 2], ["has not run, but cell 3, which uses its `x`"]),
        (
            ["y = 1", "z = y\nprint(gone)"],
            [1, 2],
            ["`gone`, which no cell defines, and yet it ran"],
        ),
        (["print(p)"], [None], ["`p`, which no cell defines, so it cannot run"]),
        # what runs from top to bottom is left alone
        (["df = 1", "df = df + 1", "df"], [1, 2, 3], []),
        (["x = 1", "y = x"], [None, None], []),
        (["%%capture out\nx = 1", "out.show()\nx"], [1, 2], []),
        (["%run setup.py", "prices"], [1, 2], []),
        (["exec('x = 1')", "x"], [1, 2], []),
        (["from math import *", "sin(1)"], [1, 2], []),
        (["def f():\n    return later", "later = 1", "f()"], [1, 2, 3], []),
        (["this is no python", "unknown"], [1, 2], []),
    ],
)
def test_stale_and_undefined_names_are_found(
    cells: list[str], counts: list[int | None], words: list[str]
) -> None:
    found = list(state_remarks(notebook(*cells, counts=counts)))
    assert len(found) == len(words)
    assert all(said in one.comment for one, said in zip(found, words, strict=True))
    assert {one.severity for one in found} <= {"major"}


def test_name_defined_below_is_found() -> None:
    order, later = state_remarks(notebook("y = 1\nprint(x)", "x = 1", counts=[2, 1]))
    assert "`x`, which only a cell below it defines" in later.comment
    assert (later.severity, later.line, order.severity) == ("major", 2, "minor")


def test_execution_order_is_minor_and_ignored_in_files() -> None:
    (found,) = state_remarks(notebook("x = 1", "y = 2", counts=[2, 1]))
    assert (found.severity, found.cell and found.cell.number) == ("minor", 2)
    assert places(state_remarks, file("print(unknown)")) == []
