"""Random calls, rules and plans: a decision is always made, and what is not plain never runs.

The shell analysis has a fuzz test of its own; here it is whole decisions, as the gate makes
them, with rules that allow everything.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.calls import decompose
from cowork_jupyter.policy.decision import DecidedCall, DecisionContext, Grant, decide_call
from cowork_jupyter.policy.paths import AnchorDirs, PathPattern
from cowork_jupyter.policy.protected import protection
from cowork_jupyter.policy.rules import Effect, Rule, RuleSet, Scope, read_rule
from cowork_jupyter.policy.shell import analyse
from cowork_jupyter.tools.registry import default_tools

TOOLS = default_tools()
FUZZ = settings(
    max_examples=3 * settings().max_examples,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)

PIECES = [
    *(
        "ls",
        "cat",
        "rm",
        "-rf",
        "a.py",
        ".env",
        "..",
        "/etc/passwd",
        "*",
        "?",
        "~",
        "$HOME",
        "$(x)",
    ),
    *(
        "`x`",
        "'",
        '"',
        "\\",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "\n",
        "\r",
        "\t",
        " ",
        ">",
        ">>",
        "<",
        "<<E",
    ),
    *("(", ")", "{", "}", "[", "]", "!", "#", "=", "X=1", "if", "then", "fi", "for", "do", "done"),
    *(
        "case",
        "esac",
        "function",
        "f()",
        "eval",
        "exec",
        "env",
        "sudo",
        "git",
        "-c",
        "find",
        "-exec",
    ),
    *(
        "xargs",
        "sh",
        "python",
        "$'",
        "\\x72",
        "${",
        "}",
        "$((",
        "))",
        "<(",
        "2>&1",
        "\u202e",
        "\u2028",
    ),
    *(
        "\u00a0",
        "\x00",
        "\x1b",
        "\ud800",
        "é",
        "--",
        "-",
        "sort",
        "-o",
        "tee",
        "E\n",
        ":",
        ",",
        "%",
    ),
]
lines = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join),
    st.text(max_size=60),
)
paths = st.one_of(
    st.lists(
        st.sampled_from(
            [".", "..", "a.py", ".git", "hooks", ".env", "x", "~", "", "\0", "\ud800", "*"]
        ),
        max_size=8,
    ).map("/".join),
    st.text(max_size=40),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), lines, paths),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(lines, inner, max_size=3)),
    max_leaves=6,
)
tool_names = st.one_of(st.sampled_from(sorted([*TOOLS, "*", "exec*", "mcp__x", "delegate"])), lines)
rule_texts = st.one_of(
    st.tuples(tool_names, paths).map(lambda both: f"{both[0]}({both[1]})"),
    st.tuples(tool_names, lines).map(lambda both: f"{both[0]}({both[1]})"),
    tool_names,
)
rules = st.lists(
    st.builds(read_rule, st.sampled_from(list(Effect)), rule_texts, st.sampled_from(list(Scope))),
    max_size=6,
)
EVERYTHING = [
    read_rule(Effect.ALLOW, text, scope)
    for scope in Scope
    for text in ("*", *TOOLS, "execute_command(rm)", "update_file(**)", "read_file(//**)")
]


@pytest.fixture
def anchors(tmp_path: Path) -> AnchorDirs:
    for name in (".git/hooks/x", ".env", "a.py", "x/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    return AnchorDirs.of(tmp_path, tmp_path / "home")


def decided(
    anchors: AnchorDirs,
    tool: str,
    given: dict[str, Any],
    rules: list[Rule],
    role: AgentRole = AgentRole.ACTOR,
    grant: Grant | None = None,
) -> DecidedCall:
    call = decompose(tool, TOOLS[tool].permissions, given, anchors)
    return decide_call(role, call, DecisionContext(anchors, RuleSet(rules), grant, confined=True))


@FUZZ
@given(
    tool=st.sampled_from(sorted(TOOLS)),
    path=values,
    command=values,
    cwd=values,
    role=st.sampled_from(list(AgentRole)),
    several=rules,
)
def test_whatever_is_called_is_decided(
    anchors: AnchorDirs,
    tool: str,
    path: Any,
    command: Any,
    cwd: Any,
    role: AgentRole,
    several: list[Rule],
) -> None:
    given = {"path": path, "command": command, "cwd": cwd}
    judgement = decided(anchors, tool, given, several, role)
    assert judgement.because
    if not role.permits(TOOLS[tool].permissions):
        assert judgement.effect is Effect.DENY
    judgement.narrowest_rules(anchors)


@FUZZ
@given(command=lines)
def test_a_command_that_is_not_plain_is_never_allowed(anchors: AnchorDirs, command: str) -> None:
    judgement = decided(anchors, "execute_command", {"command": command}, EVERYTHING)
    if not analyse(command).plain:
        assert judgement.effect is not Effect.ALLOW, command


@FUZZ
@given(command=lines)
def test_a_command_that_bash_cannot_read_is_never_allowed(
    anchors: AnchorDirs, command: str
) -> None:
    judgement = decided(anchors, "execute_command", {"command": command}, EVERYTHING)
    if judgement.effect is Effect.ALLOW and command.strip():
        raw = command.encode()
        read = subprocess.run(["bash", "-n", "-c", "--", raw], capture_output=True, check=False)
        assert read.returncode == 0, command


@FUZZ
@given(command=lines, grant_files=st.lists(paths, max_size=3))
def test_a_plan_never_covers_what_is_not_plain(
    anchors: AnchorDirs, command: str, grant_files: list[str]
) -> None:
    tools = frozenset([*TOOLS, *Permission, "*"])
    grant = Grant(1, tools, tuple(grant_files))
    judgement = decided(anchors, "execute_command", {"command": command}, [], grant=grant)
    if judgement.effect is Effect.ALLOW:
        assert analyse(command).plain


@FUZZ
@given(command=lines, denied=st.sampled_from(["rm", "cat", "ls", "git", "sh", "python", "tee"]))
def test_a_denied_program_is_never_allowed(anchors: AnchorDirs, command: str, denied: str) -> None:
    """Whatever is around it: if it is seen as a command, it is denied."""
    deny = read_rule(Effect.DENY, f"execute_command({denied})", Scope.SESSION)
    rules = [*EVERYTHING, deny]
    judgement = decided(anchors, "execute_command", {"command": command}, rules)
    seen = {words[0] for one in analyse(command).commands for words in (one.words, *one.nested)}
    if denied in seen:
        assert judgement.effect is Effect.DENY
    if judgement.effect is Effect.ALLOW:
        assert denied not in seen


@FUZZ
@given(path=paths, several=rules)
def test_no_rule_opens_a_protected_place(
    anchors: AnchorDirs, path: str, several: list[Rule]
) -> None:
    allowing = [*several, *EVERYTHING]
    judgement = decided(anchors, "create_file", {"path": path}, allowing)
    target = judgement.call.parts[0].target
    assert target is not None
    if protection(target) or not target.is_inside(anchors.root):
        inside = target.is_inside(anchors.root)
        named = any(one.pattern and one.names("create_file") for one in several)
        assert judgement.effect is not Effect.ALLOW or (not inside and named)


@FUZZ
@given(path=paths, several=rules)
def test_a_denial_beats_every_allowance(
    anchors: AnchorDirs, path: str, several: list[Rule]
) -> None:
    deny = read_rule(Effect.DENY, "update_file(**)", Scope.GLOBAL)
    judgement = decided(anchors, "update_file", {"path": path}, [*several, *EVERYTHING, deny])
    target = judgement.call.parts[0].target
    assert target is not None
    if target.is_inside(anchors.root) and target.real != anchors.root:
        assert judgement.effect is Effect.DENY


@FUZZ
@given(text=rule_texts, effect=st.sampled_from(list(Effect)))
def test_a_rule_is_read_or_denies(anchors: AnchorDirs, text: str, effect: Effect) -> None:
    rule = read_rule(effect, text, Scope.SESSION)
    if rule.problem:
        assert rule.counts_as is Effect.DENY
    if rule.tool in TOOLS and rule.problem:
        given = {"path": "a.py", "command": "ls"}
        assert decided(anchors, rule.tool, given, [*EVERYTHING, rule]).effect is Effect.DENY


@FUZZ
@given(pattern=paths, path=paths)
def test_a_pattern_matches_or_is_refused(anchors: AnchorDirs, pattern: str, path: str) -> None:
    try:
        made = PathPattern(pattern)
    except ValueError:
        return
    assert made.matches(f"{anchors.root}/{path}", anchors) in (True, False)
    assert not made.matches("/elsewhere", anchors) or pattern.startswith("/")


@FUZZ
@given(tool=st.sampled_from(["update_file", "create_file", "read_file"]), path=paths)
def test_a_lasting_rule_allows_exactly_what_was_asked(
    anchors: AnchorDirs, tool: str, path: str
) -> None:
    """What "always allow" writes allows that call, and not the one beside it."""
    judgement = decided(anchors, tool, {"path": path}, [])
    texts = judgement.narrowest_rules(anchors)
    if not texts:
        return
    kept = [read_rule(Effect.ALLOW, text, Scope.SESSION) for text in texts]
    assert decided(anchors, tool, {"path": path}, kept).effect is Effect.ALLOW
    target = judgement.call.parts[0].target
    if target and target.real != anchors.root:
        again = decided(anchors, tool, {"path": f"{target.spelled}-other"}, kept)
        by_rule = again.verdicts[0].because.startswith("The rule")
        assert again.effect is not Effect.ALLOW or not by_rule


@FUZZ
@given(command=lines)
def test_a_lasting_rule_for_a_command_allows_exactly_that(
    anchors: AnchorDirs, command: str
) -> None:
    judgement = decided(anchors, "execute_command", {"command": command}, [])
    texts = judgement.narrowest_rules(anchors)
    if judgement.effect is Effect.ASK and texts:
        kept = [read_rule(Effect.ALLOW, text, Scope.SESSION) for text in texts]
        given = {"command": command}
        assert decided(anchors, "execute_command", given, kept).effect is Effect.ALLOW
        given = {"command": f"{command} --more"}
        assert decided(anchors, "execute_command", given, kept).effect is not Effect.ALLOW
