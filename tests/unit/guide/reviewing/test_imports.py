"""Imports in vain, and those that only look so."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.imports import import_remarks

from .cells import file, notebook, places


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
