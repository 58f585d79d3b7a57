"""A block of Python as a reply: when it is a call, and what is said about broken code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.replies import ToolCalls
from cowork_jupyter.llm.code_reply import MAX_LEAD, only_block, syntax_problem, with_code
from cowork_jupyter.llm.reply import Reply
from cowork_jupyter.llm.reply_parser import read_reply


def code_of(text: str, *, expected: bool = False) -> str | None:
    """The code that a reply runs, if it does."""
    reply = with_code(read_reply(text), expected=expected)
    if not isinstance(reply.structured, ToolCalls):
        return None
    (call,) = reply.structured.tools
    assert call.tool == "run_code"
    return str(call.parameters["code"])


@pytest.mark.parametrize("language", ["python", "py", "Python", "python3", ""])
@pytest.mark.parametrize("before", ["", "Let me compute it:\n\n"])
@pytest.mark.parametrize("end", ["\n```", "\n```\n\n", ""])
def test_one_block_of_python_is_a_call(language: str, before: str, end: str) -> None:
    assert code_of(f"{before}```{language}\nx = 1\nprint(x){end}") == "x = 1\nprint(x)"


def test_the_words_before_it_stay_and_the_code_is_told_once() -> None:
    reply = with_code(read_reply("I count:\n```python\nlen(df)\n```"), expected=False)
    assert reply.text == "I count:"


@pytest.mark.parametrize(
    "text",
    [
        "It is 42.",
        "```python\nprint(1)\n```\nThis prints 1.",
        "```python\nprint(1)\n```\nand\n```python\nprint(2)\n```",
        "x" * (MAX_LEAD + 1) + "\n```python\nprint(1)\n```",
        "```bash\nls\n```",
        "```mermaid\ngraph TD\n```",
        "```\n42\n```",
        "```\nname, age\n```",
        "```\nsome words of an output\n```",
        "```python\n\n```",
        "Use `print(1)`.",
    ],
)
def test_an_answer_that_shows_code_is_an_answer(text: str) -> None:
    assert code_of(text) is None


def test_an_answer_in_the_users_form_is_no_code_in_a_fence_either() -> None:
    reply = with_code(read_reply("```python\n@rows[60]\n@mean[1.5]\n```"), expected=True)
    assert (reply.text, reply.structured, reply.problem) == ("@rows[60]\n@mean[1.5]", None, None)


def test_where_blocks_are_asked_for_words_around_one_are_only_talk() -> None:
    assert code_of("```python\nprint(1)\n```\nIt prints 1.", expected=True) == "print(1)"
    assert code_of("x" * 999 + "\n```python\nprint(1)\n```", expected=True) == "print(1)"
    assert code_of("It is 42.", expected=True) is None


def test_another_action_counts_and_not_the_block() -> None:
    call = '{"tool": "read_file", "parameters": {"path": "a.py"}}'
    reply = read_reply(call)
    assert with_code(reply, expected=True) is reply


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("x = 1\nprint((x", "line 2: print((x"),
        ("for x in y:\nprint(x)", "line 2: print(x)"),
        ("\x00", "null bytes"),
    ],
)
def test_code_that_python_cannot_read_is_a_problem_with_its_line(code: str, said: str) -> None:
    reply = with_code(Reply(text=f"```python\n{code}\n```"), expected=False)
    assert reply.structured is None
    assert said in (reply.problem or "")
    assert len(reply.problem or "") < 300


@pytest.mark.parametrize(
    "code",
    ["%matplotlib inline\nx = 1", "!pip list", "await f()", "x = (5\n% 3)", "if x:\n    %time f()"],
)
def test_what_a_notebook_runs_is_fine(code: str) -> None:
    assert syntax_problem(code) is None


@given(st.text())
def test_no_text_is_too_strange(text: str) -> None:
    with_code(Reply(text=text), expected=True)
    syntax_problem(text)
    block = only_block(text)
    assert block is None or block.code in text


@pytest.mark.parametrize(
    ("code", "added"),
    [
        ('df = pd.read_csv("a.csv")\nplt.plot(np.arange(3))', ["pandas", "numpy", "matplotlib"]),
        ("import pandas as pd\npd.DataFrame()", []),
        ("pd = 3\nprint(pd)", []),
        ("print(4)", []),
        ("%%time\npd.DataFrame()", []),
        ("from __future__ import annotations\npd.DataFrame()", []),
        ("%matplotlib inline\npd.DataFrame()", ["pandas"]),
    ],
)
def test_the_usual_imports_are_added_where_they_were_forgotten(code: str, added: list[str]) -> None:
    reply = with_code(read_reply(f"```python\n{code}\n```"), expected=True)
    assert isinstance(reply.structured, ToolCalls)
    ran = reply.structured.tools[0].parameters["code"]
    assert ran.endswith(code)
    lines = ran.removesuffix(code).splitlines()
    assert [line.split()[1].partition(".")[0] for line in lines] == added
