"""A rule of one word allows reading and computing, whatever the table says a program can do.

For every program in it, and every option or sub-command that runs, writes, sends, installs or
deletes, a rule that is the program's name alone does not allow that use.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rules import Effect as Answer
from cowork_jupyter.policy.shell import CommandEffect, analyse, is_always_allowable
from cowork_jupyter.policy.shell.git import STASH, SUB_COMMANDS
from cowork_jupyter.policy.shell.options import Flags, Program
from cowork_jupyter.policy.shell.programs import PROGRAMS
from tests.quick import each

from .decisions import decided, grounds_in

BEYOND = set(CommandEffect) - {CommandEffect.READS, CommandEffect.RUNS_CODE, CommandEffect.UNKNOWN}
PYTHON = ("python -m {}", "python3 -m{}", "python3.12 -Im {}", "python -W ignore -X dev -Bm {}")


def spellings(argument: str) -> Iterator[str]:
    """The ways in which one option can be given."""
    if argument == "@":
        yield "@x"
        return
    yield f"{argument} x"
    if argument.startswith("--"):
        yield f"{argument}=x"
        yield f"{argument[:-1]}=x"
    elif len(argument) == 2 and argument.startswith("-"):
        yield f"{argument}x"


def writing(flags: Flags | None) -> Iterator[str]:
    """The flags that name a file to write."""
    if flags:
        yield from (f"-{letter}" for letter in re.findall(r"(.)>", flags.short))
        yield from (f"--{word[:-1]}" for word in flags.long.split() if word.endswith(">"))


def uses(name: str, row: Program) -> Iterator[str]:
    if row.effects & BEYOND or row.writes_undeclared_paths:
        yield f"{name} x y"
    if row.wraps is not None:
        yield f"{name} {'5 ' * max(row.wraps, 0)}some-tool x"
    options = [one for effect in row.added_effects for one in row.arguments(effect)]
    for option in (*options, *writing(row.flags)):
        yield from (f"{name} {spelled} y" for spelled in spellings(option))


def git_uses() -> Iterator[str]:
    subs = {**SUB_COMMANDS, **{f"stash {name}": sub for name, sub in STASH.items()}}
    for name, sub in subs.items():
        if sub.effects & BEYOND or sub.operands_write:
            yield f"git {name} x"
        for option in (*sub.history, *writing(sub.flags)):
            yield from (f"git {name} {spelled}" for spelled in spellings(option))


def of_table() -> Iterator[str]:
    for name, row in PROGRAMS.items():
        yield from uses(name, row)
        if row.flags is None:  # the others are no Python modules
            yield from (form.format(use) for use in uses(name, row) for form in PYTHON)
    yield from git_uses()


USES = list(dict.fromkeys(of_table()))
NOISE = ("-q", "-v", "--verbose", "sub/x.py", "2", "a=b")


@pytest.fixture(scope="module")
def anchors(tmp_path_factory: pytest.TempPathFactory) -> AnchorDirs:
    return grounds_in(tmp_path_factory.mktemp("table"))


def allowed(text: str, anchors: AnchorDirs) -> bool:
    rule = f"execute_command({text.split()[0]})"
    return (
        decided("execute_command", {"command": text}, anchors, allow=[rule]).effect is Answer.ALLOW
    )


@pytest.mark.parametrize("first", each(4, range(4)))
def test_no_rule_of_one_word_allows_what_the_table_calls_more_than_computing(
    anchors: AnchorDirs, first: int
) -> None:
    some = USES[first::4]
    assert len(some) > 250
    assert [text for text in some if allowed(text, anchors)] == []


@given(
    st.sampled_from(USES),
    st.lists(st.tuples(st.integers(1, 8), st.sampled_from(NOISE)), max_size=4),
)
@settings(
    max_examples=4 * settings().max_examples,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_nor_with_other_words_around_it(
    anchors: AnchorDirs, text: str, noise: list[tuple[int, str]]
) -> None:
    words = shlex.split(text)
    # `python x.py -m pip` runs x.py, so there only behind it all; else anywhere.
    first = len(words) if words[0].startswith("python") else 1
    for place, word in noise:
        words.insert(max(first, place), word)
    assert not allowed(shlex.join(words), anchors)


@pytest.mark.parametrize("effect", sorted(BEYOND - {CommandEffect.GIT_HISTORY}))
def test_the_table_knows_programs_that_do_it(effect: CommandEffect) -> None:
    assert [
        name for name, row in PROGRAMS.items() if effect in row.effects | row.added_effects.keys()
    ]


def test_what_runs_programs_installs_or_brings_files_is_never_offered_for_good() -> None:
    commands = [analyse(text).commands[0] for text in USES]
    runs = {CommandEffect.RUNS_PROGRAMS, CommandEffect.INSTALLS}
    doing = [one for one in commands if one.effects & runs or one.writes_undeclared_paths]
    assert len(doing) > 500
    assert [one.text for one in doing if is_always_allowable(one)] == []


def test_a_path_through_a_link_out_of_the_workspace_is_outside(tmp_path: Path) -> None:
    anchors = grounds_in(tmp_path)
    for text in ("python a.py way-out/x", "pytest --rootdir=way-out"):
        assert not allowed(text, anchors), text
        assert allowed(text.replace("way-out", "inside"), anchors), text
