"""What the rules for code find, and what they leave alone."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.reviewed_file import ReviewedFile
from cowork_jupyter.guide.reviewing.rules import (
    MAX_LENGTH,
    MAX_SIZE,
    analysis_remarks,
    error_remarks,
    except_remarks,
    import_remarks,
    output_remarks,
    path_remarks,
)
from tests.effects.catalogue import NOTEBOOKS
from tests.effects.notebooks import Notebook

from .cells import cell, file, notebook, places

BY_CODE_ALONE = ("fit_before_split", "score_on_training_rows", "tuned_on_test", "no_seed")
READ = "import pandas as pd\nfrom sklearn.model_selection import train_test_split\n"
LEAK = (
    f"{READ}from sklearn.preprocessing import StandardScaler\ndf = pd.read_csv('a.csv')",
    "scaled = StandardScaler().fit_transform(df[['x']])",
    "# split\ntrain, test = train_test_split(scaled, random_state=1)",
)


@pytest.mark.parametrize("one", [one for one in NOTEBOOKS if not one.defect], ids=lambda n: n.name)
def test_work_done_right_is_left_alone(one: Notebook) -> None:
    assert [remark.comment for remark in analysis_remarks(notebook(*one.cells))] == []


@pytest.mark.parametrize(
    "one", [one for one in NOTEBOOKS if one.defect in BY_CODE_ALONE], ids=lambda n: n.name
)
def test_what_code_alone_can_tell_is_told(one: Notebook) -> None:
    assert list(analysis_remarks(notebook(*one.cells)))


def test_leakage_is_critical_and_placed_in_its_cell() -> None:
    (found,) = analysis_remarks(notebook(*LEAK))
    assert found.severity == "critical"
    assert (found.cell and found.cell.number, found.line) == (2, 1)
    assert "before the split" in found.comment
    assert "training rows" in found.advice


def test_a_seed_in_another_cell_counts() -> None:
    draws = "import numpy as np", "x = np.random.rand(3)"
    assert places(analysis_remarks, notebook(*draws)) == [(2, 1)]
    assert places(analysis_remarks, notebook(draws[0], "np.random.seed(1)", draws[1])) == []


def test_what_a_cell_shows_at_its_end_is_not_thrown_away() -> None:
    shown = (
        f"{READ}df = pd.read_csv('a.csv')\npd.to_datetime(df['day'])",
        "(df\n .sort_values('ä')\n .head())  # é",
    )
    assert places(analysis_remarks, notebook(*shown)) == []
    assert places(analysis_remarks, notebook(f"{shown[0]}\nx = 1")) == [(1, 4)]


def test_a_file_is_read_as_a_whole_and_one_of_another_language_not_at_all() -> None:
    reviewed = file("\n".join(LEAK))
    assert places(analysis_remarks, reviewed) == [(0, 5)]
    assert places(analysis_remarks, type(reviewed)("a.r", reviewed.cells, "R")) == []


def test_what_is_too_long_is_left_out() -> None:
    long = f"# {'x' * MAX_LENGTH}"
    assert places(analysis_remarks, notebook(long, *LEAK)) == []


@pytest.mark.parametrize(
    ("handler", "severity"),
    [
        ("except: pass", "major"),
        ("except Exception:\n    pass", "major"),
        ("except BaseException as e:\n    ...", "major"),
        ("except:\n    x = None", "minor"),
    ],
)
def test_swallowed_errors_are_found(handler: str, severity: str) -> None:
    (found,) = except_remarks(notebook(f"try:\n    x = f()\n{handler}"))
    assert (found.severity, found.line) == (severity, 3)


@pytest.mark.parametrize(
    "handler",
    [
        "except FileNotFoundError: pass",
        "except Exception as error:\n    print(error)",
        "except:\n    log()\n    raise",
        "except (ValueError, KeyError): pass",
    ],
)
def test_errors_that_are_expected_or_told_are_left_alone(handler: str) -> None:
    assert places(except_remarks, notebook(f"try:\n    x = f()\n{handler}")) == []


def test_a_loop_that_goes_on_over_every_error_swallows_them() -> None:
    source = "for x in y:\n    try:\n        f(x)\n    except Exception:\n        continue"
    assert places(except_remarks, notebook(source)) == [(1, 4)]


def test_a_cell_that_ended_with_an_error_is_found_unless_it_is_meant_to() -> None:
    cells = [
        cell(1, "1 / 0", 1, failed=True),
        cell(2, "1 / 0", 2, failed=True, tags=("raises-exception",)),
        cell(3, "1 / 1", 3),
    ]
    assert places(error_remarks, ReviewedFile("work.ipynb", cells)) == [(1, None)]


@pytest.mark.parametrize(
    ("source", "count", "found"),
    [
        ("for x in :\n    pass", None, True),
        ("print 'x'", None, True),
        ("some %strange ipython, that ran", 4, False),
        ("await fetch()", None, False),
        ("%matplotlib inline\n!ls\nfiles = !ls\ndf?\n?df", None, False),
        ("%%bash\nls | wc -l", None, False),
        ("%%time\nx = 1", None, False),
    ],
)
def test_what_is_no_python_is_found_only_if_it_never_ran(
    source: str, count: int | None, found: bool
) -> None:
    assert bool(places(error_remarks, notebook(source, counts=[count]))) is found


@pytest.mark.parametrize(("size", "found"), [(0, 0), (MAX_SIZE, 0), (MAX_SIZE + 1, 1)])
def test_a_very_large_output_is_found(size: int, found: int) -> None:
    reviewed = ReviewedFile("work.ipynb", [cell(1, "df", 1, output_size=size)])
    assert len(places(output_remarks, reviewed)) == found


@pytest.mark.parametrize(
    ("cells", "place"),
    [
        (["import json", "x = 1"], (1, 1)),
        (["import numpy as np\nimport pandas as pd", "pd.DataFrame()"], (1, 1)),
        (["x = 1", "from math import pi, tau\ntau"], (2, 1)),
        (["import os.path", "open('a.os')"], (1, 1)),
        (["def f():\n    import re\n    return 1"], (1, 2)),
        (["import json", "json = 'a.json'\nopen('a.json')"], (1, 1)),
    ],
)
def test_what_nothing_uses_is_found(cells: list[str], place: tuple[int, int]) -> None:
    assert places(import_remarks, notebook(*cells)) == [place]


@pytest.mark.parametrize(
    "cells",
    [
        ["import pandas as pd", "pd.read_csv('a.csv')"],
        ["import numpy as np", "%timeit np.sum(x)"],
        ["import numpy as np", "%%time\nnp.sum([1])"],
        ["import pandas as pd", "%%sql\nselect * from pd"],
        ["import pandas as pd", "def f(x: 'pd.DataFrame') -> None: ..."],
        ["import numpy as np", "df.query('x > @np.pi')"],
        ["import numpy as np", "this is not yet python, but np is in it"],
        ["from math import *", "x = 1"],
        ["from __future__ import annotations", "x = 1"],
        ["import hvplot.pandas", "df.hvplot()"],
        ["from sklearn.experimental import enable_iterative_imputer", "x = 1"],
        ["import matplotlib  # noqa: F401", "x = 1"],
        ["try:\n    import polars\nexcept ImportError:\n    polars = None", "x = 1"],
        ["import os", "print(f'{os.sep}')"],
        ["import os as _os", "x = 1"],
        ["import xml.etree.ElementTree", "xml.etree.ElementTree.parse('a.xml')"],
        ["import json", "del json"],
    ],
)
def test_what_is_used_or_meant_is_left_alone(cells: list[str]) -> None:
    assert places(import_remarks, notebook(*cells)) == []


def test_a_package_passes_on_what_it_imports() -> None:
    source = "from .model import Guide\nfrom .words import signed as signed\n"
    assert places(import_remarks, file(source, "pkg/__init__.py")) == []
    assert places(import_remarks, file(source, "pkg/guide.py")) == [(0, 1)]


def test_several_names_of_a_line_are_one_remark() -> None:
    (found,) = import_remarks(notebook("from math import pi, tau, e", "e"))
    assert found.comment == "`pi`, `tau` are imported and never used."


@pytest.mark.parametrize(
    "source",
    [
        "df = pd.read_csv('/home/ada/sales.csv')",
        "DATA = '/Users/ada/data'",
        r"df = pd.read_excel(r'C:\Users\ada\sales.xlsx')",
        "df = pd.read_excel('D:/data/sales.xlsx')",
        r"open(r'\\server\share\a.txt')",
        "df.to_parquet('/data/out.parquet')",
        "sys.path.append('/mnt/code')",
        "%cd /home/ada/project",
        "!cp /Users/ada/a.csv .",
        "f = open(f'/home/ada/{name}.csv')",
    ],
)
def test_a_path_of_one_machine_is_found(source: str) -> None:
    assert places(path_remarks, notebook("x = 1", source)) == [(2, 1)]


@pytest.mark.parametrize(
    "source",
    [
        "df = pd.read_csv('data/sales.csv')",
        "df = pd.read_csv('../sales.csv')",
        "open('/dev/null')",
        "Path('/proc')",
        "open('/tmp/scratch.txt')",
        "requests.get('https://example.org/home/ada')",
        "client.get('/users/1')",
        "app.route('/home')",
        "re.compile(r'a:\\d+')",
        "ratio = 'a:b'",
        "s3 = 's3://bucket/home/ada'",
        "text = 'see /home/ada'",
        "parts = name.split('/')",
        "!pip install pandas",
    ],
)
def test_what_is_there_everywhere_or_no_path_is_left_alone(source: str) -> None:
    assert places(path_remarks, notebook(source)) == []
