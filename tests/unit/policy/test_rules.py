"""Rules: what they are about, and what becomes of those that cannot be read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.policy.paths import AnchorDirs, Target
from cowork_jupyter.policy.rules import (
    Effect,
    Rule,
    RuleSet,
    Scope,
    exact_command,
    matches_command,
    matches_path,
    read_rule,
)

GROUNDS = AnchorDirs("/work", "/home/ada")


def rule(text: str, effect: Effect = Effect.ALLOW) -> Rule:
    return read_rule(effect, text, Scope.SESSION)


@pytest.mark.parametrize(
    ("text", "tool", "pattern"),
    [
        ("read_file", "read_file", None),
        ("update_file(data/*.csv)", "update_file", "data/*.csv"),
        ("update_file(a (1).txt)", "update_file", "a (1).txt"),
        ("execute_command(git status)", "execute_command", "git status"),
        ("mcp__db__query", "mcp__db__query", None),
    ],
)
def test_a_rule_is_a_tool_and_perhaps_a_pattern(text: str, tool: str, pattern: str | None) -> None:
    read = rule(text)
    assert (read.tool, read.pattern, read.problem) == (tool, pattern, None)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("update_file(", "update_file"),
        ("update_file(!x)", "update_file"),
        ("update_file(../x)", "update_file"),
        ("update_file()", "update_file"),
        ("execute_command(ls; rm x)", "execute_command"),
        ("execute_command(ls | sh)", "execute_command"),
        ("execute_command('open)", "execute_command"),
        ("execute_command()", "execute_command"),
        ("execute_command(ls\u202e)", "execute_command"),
        ("mcp__db__query(x)", "mcp__db__query"),
        ("tool(a) and more", "tool"),
        ("", ""),
        ("x" * 5000, "x" * 5000),
    ],
)
def test_unreadable_rule_says_why_and_denies(text: str, named: str) -> None:
    read = rule(text, Effect.ALLOW)
    assert read.problem
    assert read.counts_as is Effect.DENY
    assert read.tool == named
    assert read.is_bare


def test_resource_rule_names_its_server_without_pattern() -> None:
    wrong = rule("read_resource(docs:*)")
    assert wrong.problem == (
        "it takes no pattern; mcp__server__resources.read is about those of one server"
    )
    assert wrong.counts_as is Effect.DENY
    right = rule("mcp__docs__resources.read")
    assert right.problem is None
    assert right.names("mcp__docs__resources.read")
    assert not right.names("mcp__docs__resources.list")
    assert rule("mcp__docs").names("mcp__docs__resources.read")


@given(st.text(max_size=60), st.sampled_from(Effect), st.sampled_from(Scope))
def test_reading_a_rule_never_fails(text: str, effect: Effect, scope: Scope) -> None:
    read = read_rule(effect, text, scope)
    assert read.problem is None or read.counts_as is Effect.DENY


@pytest.mark.parametrize(
    ("text", "words", "fits"),
    [
        ("execute_command", "anything at all", True),
        ("execute_command(git status)", "git status", True),
        ("execute_command(git status)", "git status -s", True),
        ("execute_command(git status)", "git statusx", False),
        ("execute_command(git status)", "git", False),
        ("execute_command(git st)", "git status", False),
        ("execute_command(=git status)", "git status", True),
        ("execute_command(=git status)", "git status -s", False),
        ("execute_command(git status *)", "git status -s", True),
        ("execute_command(git status:*)", "git status -s", True),
        ("execute_command(ls 'a b')", "ls|a b", True),
    ],
)
def test_a_command_is_matched_by_whole_words(text: str, words: str, fits: bool) -> None:
    split = words.split("|") if "|" in words else words.split()
    assert matches_command(rule(text), split) is fits


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_the_rule_for_a_command_fits_it_and_nothing_longer(words: list[str]) -> None:
    read = rule(exact_command(words))
    if read.problem is None:
        assert matches_command(read, words)
        assert not matches_command(read, [*words, "more"])


def test_to_allow_link_and_target_must_fit_to_deny_either() -> None:
    link = Target("/work/safe/link", "/work/secret/file")
    assert not matches_path(rule("read_file(safe)"), link, GROUNDS)
    assert not matches_path(rule("read_file(secret)"), link, GROUNDS)
    assert matches_path(rule("read_file(safe)", Effect.DENY), link, GROUNDS)
    assert matches_path(rule("read_file(secret)", Effect.DENY), link, GROUNDS)
    assert matches_path(rule("read_file(secret)", Effect.ASK), link, GROUNDS)


@pytest.mark.parametrize(
    ("text", "tool", "about"),
    [
        ("mcp__db", "mcp__db__query", True),
        ("mcp__db", "mcp__dbx__query", False),
        ("mcp__db__*", "mcp__db__query", True),
        ("*", "read_file", True),
        ("read_file", "read_files", False),
    ],
)
def test_a_rule_may_be_about_all_tools_of_a_server(text: str, tool: str, about: bool) -> None:
    assert rule(text).names(tool) is about


def test_the_same_rule_has_the_same_id_and_another_has_not() -> None:
    assert rule("read_file").id == rule("read_file").id
    assert rule("read_file").id != rule("read_file", Effect.DENY).id
    assert rule("read_file").id != read_rule(Effect.ALLOW, "read_file", Scope.GLOBAL).id


_NAMES = st.sampled_from(["a", "b", "ab", "a.csv", "*", "**", "?", "{a,b}", "[ab]", "\\*", ""])
_PATTERNS = st.builds(
    lambda start, names: start + "/".join(names),
    st.sampled_from(["", "/", "./", "~/", "//", "//work/", "//home/ada/"]),
    st.lists(_NAMES, min_size=1, max_size=4),
)
_PATHS = st.builds(
    lambda root, names: "/".join([root, *names]),
    st.sampled_from(["/work", "/home/ada", "/home", "/elsewhere"]),
    st.lists(st.sampled_from(["a", "b", "ab", "a.csv", "*"]), max_size=4),
)


@given(patterns=st.lists(_PATTERNS, max_size=8), link=_PATHS, real=_PATHS)
def test_looking_rules_up_by_place_leaves_none_out(
    patterns: list[str], link: str, real: str
) -> None:
    rules = RuleSet(
        rule(f"read_file({pattern})", effect)
        for pattern in patterns
        for effect in (Effect.ALLOW, Effect.DENY)
    )
    target = Target(link, real)
    matching = [each for each in rules if matches_path(each, target, GROUNDS)]
    near = rules.about_path(("read_file",), target, GROUNDS)
    assert [each for each in near if matches_path(each, target, GROUNDS)] == matching
