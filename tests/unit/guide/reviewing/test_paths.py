"""Absolute paths, and what only looks like one."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.paths import path_remarks

from .cells import notebook, places


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
