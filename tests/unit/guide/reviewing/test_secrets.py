"""Keys and passwords are found, never repeated, and not seen where there are none."""

from __future__ import annotations

import pytest

from cowork_jupyter.guide.reviewing.secrets import secret_remarks

from .cells import all_words, cell, file, notebook, places

KEY = "sk-" + "proj4Hq9ZtLw7Bx2Vc8Nm1"
HUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    ("source", "secret"),
    [
        (f'client = OpenAI(api_key="{KEY}")', KEY),
        (f"headers = {{'Authorization': 'Bearer {HUB}'}}", HUB),
        (f"!git clone https://me:{HUB}@github.com/me/private", HUB),
        ("aws = 'AKIA" + "Z7Q4M2N8P1R5T3V6'", "AKIAZ7Q4M2N8P1R5T3V6"),
        ("password = 'tr0ub4dor&3'", "tr0ub4dor&3"),
        ("connect(host='db', password='hunter2hunter2')", "hunter2hunter2"),
        ("os.environ['API_KEY'] = 'q7w8e9r0t1y2'", "q7w8e9r0t1y2"),
        ("config = {'client_secret': '0f9e8d7c6b5a4'}", "0f9e8d7c6b5a4"),
        ("db_token: str = 'zx81spectrum48k'", "zx81spectrum48k"),
        ("%env OPENAI_API_KEY=abc123def456ghi", "abc123def456ghi"),
        ("url = 'postgresql://ada:l0velace@db.example.org/sales'", "l0velace"),
        ("pem = '''-----BEGIN RSA PRIVATE KEY-----\nMIIEow'''", "MIIEow"),
    ],
)
def test_a_secret_is_found_and_not_repeated(source: str, secret: str) -> None:
    (found,) = secret_remarks(notebook("import os", source))
    assert (found.severity, found.cell and found.cell.number, found.line) == ("critical", 2, 1)
    assert secret not in all_words([found])
    assert secret not in found.finding("work.ipynb").text


@pytest.mark.parametrize(
    "source",
    [
        "password = os.environ['PASSWORD']",
        "password = getpass.getpass()",
        "password = ''",
        "api_key = 'your-api-key-goes-here-1'",
        "api_key = '<paste your key 123 here>'",
        "token = 'xxxxxxxxxxxxxxxxxxxx1'",
        "api_key = 'ollama'",
        "password = 'changeme123'",
        "tokens = 'the quick brown fox 12'",
        "token_count = 123456789",
        "key = 'customer_id_2024'",
        "sort_key = 'created_at_2024'",
        "tokenizer = 'bert-base-uncased-v2'",
        "secret_path = 'data/secret2024.csv'",
        "url = 'https://example.org/a:b@c'",
        "url = 'postgresql://user:password@localhost/db'",
        "url = f'postgresql://{user}:{password}@localhost/db'",
        "api_key = 'sk-...'",
        "api_key = 'sk-xxxxxxxxxxxxxxxxxxxx'",
        "risk-sk-analysis-of-sales = 1",
    ],
)
def test_what_is_no_secret_is_left_alone(source: str) -> None:
    assert places(secret_remarks, notebook(source)) == []


def test_a_secret_in_a_text_or_a_file_counts_too() -> None:
    text = cell(3, f"Use the key\n{KEY}", None, kind="markdown")
    reviewed = notebook("a = 1", "b = 2")
    assert places(secret_remarks, type(reviewed)("work.ipynb", [*reviewed.cells, text])) == [(3, 2)]
    assert places(secret_remarks, file(f"import os\n\nKEY = '{HUB}'\n")) == [(0, 3)]


def test_one_line_is_one_remark() -> None:
    assert places(secret_remarks, notebook(f'api_key = "{KEY}"; token = "{HUB}"')) == [(1, 1)]
