"""The code in a model's answer, whatever stands around it and however it is cut into pieces."""

from __future__ import annotations

import time

import pytest

from cowork_jupyter.llm.code_stream import CodeStream, is_code

CODE = 'import pandas as pd\n\ndf = pd.read_csv("a.csv")\nif len(df):\n    df.head()'

ANSWERS = {
    "a fence": f"```python\n{CODE}\n```",
    "a fence without a language": f"```\n{CODE}\n```\n",
    "words around it": f"The file has another name.\n\n```python\n{CODE}\n```\nThat is all.",
    "no fence": CODE,
    "no fence, words before it": f"Here is the corrected cell:\n\n{CODE}",
    "a fence that never ends": f"```py\n{CODE}",
    "thoughts": f"<think>Use ```python\nx = 1\n``` maybe?</think>\n```python\n{CODE}\n```",
    "thoughts without their beginning":
        f"Hm.\n```python\nx = 1\n```\n</think>\n```python\n{CODE}\n```",
    "an output first": f"It printed\n```text\n42\n```\nso:\n```python\n{CODE}\n```",
    "four backticks": f"````python\n{CODE}\n````",
    "a fence that only ends": f"{CODE}\n```\nDone.",
    "an indented fence": "1. Do this:\n   ```python\n"
    + "\n".join(f"   {line}" if line else "" for line in CODE.split("\n"))
    + "\n   ```",
}  # fmt: skip


def read(answer: str, size: int, **options: bool) -> tuple[str, CodeStream]:
    """What was shown, in pieces of this size."""
    stream, shown = CodeStream(**options), ""
    for start in range(0, len(answer), size):
        piece = stream.feed(answer[start : start + size])
        shown = "" if piece is None else shown + piece
    return shown + stream.finish(), stream


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_only_the_code_is_left(answer: str, size: int) -> None:
    shown, stream = read(answer, size)
    assert stream.code == CODE
    assert shown == CODE or answer.startswith("1. ")  # its indent goes at the end


def test_the_words_before_it_are_kept() -> None:
    assert read(ANSWERS["words around it"], 5)[1].prose == "The file has another name."


def test_the_first_character_leaves_as_soon_as_it_is_there() -> None:
    stream = CodeStream()
    assert stream.feed("Because.\n```python\n") == ""
    assert stream.feed("x") == "x"
    assert stream.feed(" =") == " ="


def test_without_a_fence_code_leaves_once_its_first_line_is_known_to_be_code() -> None:
    stream = CodeStream()
    assert stream.feed("import os") == ""
    assert stream.feed("\nx") == "import os\nx"


def test_what_continues_a_line_needs_no_line() -> None:
    assert CodeStream(bare=True).feed("by('region')") == "by('region')"
    assert read("```python\nby('region')\n```", 1, bare=True)[0] == "by('region')"


def test_a_completion_may_begin_with_a_new_line() -> None:
    assert read("\n    return 1", 1, bare=True)[0] == "\n    return 1"
    assert read("\n```python\nx\n```", 1, bare=True)[0] == "x"


def test_words_alone_are_no_code() -> None:
    shown, stream = read("I cannot fix this, because the data is not there.", 3)
    assert shown == stream.code == ""
    assert stream.prose.startswith("I cannot")


@pytest.mark.parametrize(
    "line", ["x = 1", "import os", "for x in y:", "@cache", "%pip install x", "print(x)", "f("]
)
def test_code_is_told_by_its_line(line: str) -> None:
    assert is_code(line)


@pytest.mark.parametrize(
    "line", ["Sure!", "Here is the code:", "The column is missing.", "", "Fixed", "Note: use it."]
)
def test_sentences_are_not_code(line: str) -> None:
    assert not is_code(line)


def test_half_a_character_never_gets_out() -> None:
    stream = CodeStream()
    stream.feed("```python\nx = '\ud83d")
    stream.feed("\ude00'\n```")
    assert stream.code == "x = '\N{GRINNING FACE}'"


@pytest.mark.parametrize(
    "hostile", ["`", " ", "<think>", "</think>", "```\n", "\n", "(", "x = (", "a " * 50]
)
def test_hostile_answers_take_time_in_proportion(hostile: str) -> None:
    began = time.process_time()
    stream = CodeStream()
    for _ in range(60_000 // len(hostile)):
        stream.feed(hostile)
    stream.finish()
    assert time.process_time() - began < 2
