"""Decisions about calls: who may, what asks, and which reason counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.plan import PlanStep
from cowork_jupyter.domain.roles import AgentRole, Permission
from cowork_jupyter.policy.calls import Preview, decompose
from cowork_jupyter.policy.decision import (
    UNCONFINED,
    DecidedCall,
    DecisionContext,
    Grant,
    always_denied,
    decide_call,
)
from cowork_jupyter.policy.paths import AnchorDirs
from cowork_jupyter.policy.rules import Effect, Rule, RuleSet, Scope, read_rule
from cowork_jupyter.tools.registry import default_tools

TOOLS = default_tools()
GROUNDS = AnchorDirs("/work", "/home/ada")
ALLOW, ASK, DENY = Effect.ALLOW, Effect.ASK, Effect.DENY


def rule(effect: Effect, text: str, scope: Scope = Scope.SESSION) -> Rule:
    return read_rule(effect, text, scope)


def step(*tools: str, files: tuple[str, ...] = ()) -> Grant:
    made = PlanStep(id="1", step_number=1, action="do", tools_needed=list(tools), files=list(files))
    return Grant.of(made)


def decided(
    tool: str,
    parameters: dict[str, Any],
    *rules: Rule,
    role: AgentRole = AgentRole.ACTOR,
    grant: Grant | None = None,
    confined: bool = True,
    anchors: AnchorDirs = GROUNDS,
    rewrite: bool = False,
) -> DecidedCall:
    preview = Preview("diff", "", rewrite)
    call = decompose(tool, TOOLS[tool].permissions, parameters, anchors, preview=preview)
    return decide_call(role, call, DecisionContext(anchors, RuleSet(rules), grant, confined))


def command(text: str, *rules: Rule, **given: Any) -> Effect:
    return decided("execute_command", {"command": text}, *rules, **given).effect


@pytest.mark.parametrize(
    ("role", "tool", "effect"),
    [
        (AgentRole.PLANNER, "read_file", ALLOW),
        (AgentRole.PLANNER, "update_file", DENY),
        (AgentRole.PLANNER, "execute_command", DENY),
        (AgentRole.ACTOR, "update_file", ASK),
        (AgentRole.ACTOR, "delete_file", ASK),
        (AgentRole.DESIGNER, "create_file", ASK),
        (AgentRole.DESIGNER, "delete_file", DENY),
        (AgentRole.REVIEWER, "create_file", DENY),
    ],
)
def test_defaults_without_rules(role: AgentRole, tool: str, effect: Effect) -> None:
    given = {"command": "pytest"} if tool == "execute_command" else {"path": "a.py"}
    made = decided(tool, given, role=role)
    assert made.effect is effect
    assert made.because
    if effect is DENY:
        assert role.value in made.because[0]


def test_no_rule_lifts_the_ceiling() -> None:
    everything = rule(ALLOW, "*"), rule(ALLOW, "update_file(**)")
    made = decided("update_file", {"path": "a"}, *everything, role=AgentRole.PLANNER)
    assert made.effect is DENY


@pytest.mark.parametrize("narrow", list(Effect))
@pytest.mark.parametrize("wide", list(Effect))
def test_deny_beats_ask_beats_allow_however_specific(narrow: Effect, wide: Effect) -> None:
    rules = rule(narrow, "update_file(/src/a.py)"), rule(wide, "update_file", Scope.GLOBAL)
    strength = [ALLOW, ASK, DENY]
    expected = max(narrow, wide, key=strength.index)
    for order in (rules, rules[::-1]):
        assert decided("update_file", {"path": "src/a.py"}, *order).effect is expected


def test_the_reason_names_the_rule() -> None:
    made = decided("update_file", {"path": "a.py"}, rule(DENY, "update_file(*.py)"))
    assert made.because == ["The rule 'deny update_file(*.py) (session)' denies a.py."]


@pytest.mark.parametrize("text", ["git -c a=b status", "echo $(id)", "  "])
def test_a_reason_is_one_sentence(text: str) -> None:
    for why in decided("execute_command", {"command": text}).because:
        assert why.endswith(".")
        assert not why.endswith("..")


def test_a_new_notebook_is_said_to_be_created() -> None:
    (why,) = decided("create_notebook", {"path": "n.ipynb"}).because
    assert why == "It creates n.ipynb; nothing allows that yet."


def test_what_is_not_trusted_does_not_count() -> None:
    untrusted = read_rule(ALLOW, "update_file", Scope.WORKSPACE, active=False)
    assert decided("update_file", {"path": "a"}, untrusted).effect is ASK


def test_a_rule_that_cannot_be_read_denies_what_it_names() -> None:
    broken = rule(ALLOW, "update_file(!x)")
    made = decided("update_file", {"path": "a"}, broken)
    assert made.effect is DENY
    assert "cannot be read" in made.because[0]
    assert decided("read_file", {"path": "a"}, broken).effect is ALLOW


@pytest.mark.parametrize("path", [".git/config", ".cowork/settings.json", ".env", ".bashrc"])
def test_protected_places_ask_whatever_rules_and_plans_say(path: str) -> None:
    grant = step("update_file", "create_file", files=(path,))
    for tool in ("update_file", "create_file"):
        allow = rule(ALLOW, f"{tool}(/{path})"), rule(ALLOW, "*")
        assert decided(tool, {"path": path}, *allow, grant=grant).effect is ASK
        assert decided(tool, {"path": path}, *allow, rule(DENY, tool)).effect is DENY


def test_reading_a_secret_asks_and_reading_the_rest_does_not() -> None:
    assert decided("read_file", {"path": ".env"}, rule(ALLOW, "read_file")).effect is ASK
    assert decided("read_file", {"path": "a.py"}).effect is ALLOW


def test_what_may_not_be_read_may_not_be_searched_either() -> None:
    deny = rule(DENY, "read_file(private/**)")
    assert decided("grep", {"pattern": "x", "path": "private/notes"}, deny).effect is DENY
    assert decided("grep", {"pattern": "x", "path": "public"}, deny).effect is ALLOW


def test_a_notebook_is_a_file_to_rules() -> None:
    for tool, like in (("edit_cell", "update_file"), ("create_notebook", "create_file")):
        given = {"path": "a.ipynb"}
        assert decided(tool, given, rule(DENY, f"{like}(*.ipynb)")).effect is DENY
        assert decided(tool, given, rule(ALLOW, f"{like}(/a.ipynb)")).effect is ALLOW
        assert decided(tool, given, rule(ALLOW, f"{like}(/b.ipynb)")).effect is ASK


# The grant of an approved plan


@pytest.mark.parametrize(
    ("grant", "tool", "path", "effect"),
    [
        (step("update_file", files=("a.py",)), "update_file", "a.py", ALLOW),
        (step("write_files", files=("a.py",)), "update_file", "./a.py", ALLOW),
        (step("update_file", files=("src/",)), "update_file", "src/a.py", ALLOW),
        (step("update_file"), "update_file", "a.py", ALLOW),
        (step("update_file", files=("a.py",)), "update_file", "b.py", ASK),
        (step("read_file", files=("a.py",)), "update_file", "a.py", ASK),
        (step("read_file"), "create_file", "new.py", ALLOW),  # mentioned; it overwrites nothing
        (step("delete_file", files=("a.py",)), "delete_file", "a.py", ASK),
        (step("update_file", files=("../x",)), "update_file", "../x", ASK),
    ],
)
def test_an_approved_plan_grants_its_tools_on_its_files(
    grant: Grant, tool: str, path: str, effect: Effect
) -> None:
    assert decided(tool, {"path": path}, grant=grant).effect is effect


def test_a_plan_does_not_cover_replacing_most_of_a_file() -> None:
    grant = step("update_file", files=("a.py",))
    assert decided("update_file", {"path": "a.py"}, grant=grant, rewrite=True).effect is ASK
    exact = rule(ALLOW, "update_file(/a.py)")
    assert decided("update_file", {"path": "a.py"}, exact, rewrite=True).effect is ALLOW
    bare = rule(ALLOW, "update_file")
    assert decided("update_file", {"path": "a.py"}, bare, rewrite=True).effect is ASK


def test_plan_does_not_grant_a_symlink_target(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text("x")
    (tmp_path / "a.py").symlink_to("real.py")
    grant = step("update_file", files=("a.py",))
    given = {"path": "a.py"}
    made = decided("update_file", given, grant=grant, anchors=AnchorDirs.of(tmp_path))
    assert made.effect is ASK


# Commands


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("ls -la", ALLOW),
        ("cat a.py", ALLOW),
        ("grep -n x a.py | head -3", ALLOW),
        ("cat .env", ASK),
        ("cat /etc/passwd", ASK),
        ("cat ../other/x", ASK),
        ("cat ~/notes", ASK),
        ("python x.py", ASK),
        ("rm x", ASK),
        ("pip install x", ASK),
        ("curl http://x", ASK),
        ("git push", ASK),
        ("git reset --hard", ASK),
        ("ls > out.txt", ASK),
        ("ls > .git/config", ASK),
        ("ls $(rm x)", ASK),
        ("unknown_program x", ASK),
        ("", ASK),
        ("ls; (", ASK),
        ("x" * 10_001, ASK),
    ],
)
def test_read_only_commands_run_others_ask(text: str, effect: Effect) -> None:
    assert command(text) is effect


@pytest.mark.parametrize(
    "text", ["*", "execute_command", "execute_command(ls)", "execute_command(=ls)"]
)
@pytest.mark.parametrize("scope", list(Scope))
def test_without_a_sandbox_no_rule_allows_a_command(text: str, scope: Scope) -> None:
    given = {"command": "ls"}
    made = decided("execute_command", given, rule(ALLOW, text, scope), confined=False)
    assert (made.effect, made.because) == (ASK, [UNCONFINED])
    assert made.each_time
    denying = rule(ALLOW, text, scope), rule(DENY, "execute_command(ls)")
    assert command("ls", *denying, confined=False) is DENY


@pytest.mark.parametrize("text", ["ls", "ls $(id)", "git push", "rm x", "ls > x", "ls; (", ""])
def test_without_a_sandbox_every_command_asks(
    text: str,
) -> None:
    allow = rule(ALLOW, "*"), rule(ALLOW, "update_file"), rule(ALLOW, "network(*)")
    assert command(text, *allow, grant=step("execute_command"), confined=False) is ASK
    assert not decided("execute_command", {"command": text}, *allow).each_time


def test_asking_rule_is_named_without_a_sandbox() -> None:
    asking = rule(ASK, "execute_command(ls)")
    made = decided("execute_command", {"command": "ls"}, asking, confined=False)
    assert made.because == [f"The rule '{asking}' asks about ls.", UNCONFINED]


@pytest.mark.parametrize(
    ("text", "policy", "effect"),
    [
        ("pytest -q", ["execute_command(=pytest -q)"], ALLOW),
        ("pytest -q", ["execute_command(pytest -q)"], ASK),
        ("pytest -q", ["execute_command"], ASK),
        ("pytest -q", ["*"], ASK),
        ("pytest -x", ["execute_command(=pytest -q)"], ASK),
        ("pytest -q && ls", ["execute_command(=pytest -q)"], ASK),
        ("pytest -q && ls", ["execute_command(=pytest -q)", "execute_command(=ls)"], ALLOW),
        ("pytest -q > out", ["execute_command(=pytest -q)"], ASK),
    ],
)
def test_without_a_sandbox_only_an_exact_policy_rule_allows(
    text: str, policy: list[str], effect: Effect
) -> None:
    rules = RuleSet([rule(ALLOW, one) for one in policy])
    call = decompose(
        "execute_command", TOOLS["execute_command"].permissions, {"command": text}, GROUNDS
    )
    assert decide_call(AgentRole.ACTOR, call, DecisionContext(GROUNDS, rules)).effect is ASK
    around = DecisionContext(GROUNDS, rules, unattended=rules)
    assert decide_call(AgentRole.ACTOR, call, around).effect is effect
    denied = RuleSet([*rules, rule(DENY, "execute_command(pytest)")])
    strict = DecisionContext(GROUNDS, denied, unattended=denied)
    assert decide_call(AgentRole.ACTOR, call, strict).effect is DENY


def test_tester_needs_the_sandbox_for_commands() -> None:
    assert command("pytest -q", role=AgentRole.TESTER) is ALLOW
    assert command("pytest $(x)", role=AgentRole.TESTER) is ASK
    assert command("pytest -q", role=AgentRole.TESTER, confined=False) is DENY


def test_every_command_of_a_line_must_be_allowed_by_itself() -> None:
    allow = rule(ALLOW, "execute_command(pytest)")
    assert command("pytest -q", allow) is ALLOW
    assert command("pytest -q && make x", allow) is ASK
    assert command("pytest -q && make x", allow, rule(ALLOW, "execute_command(make x)")) is ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "rm x",
        "true; " * 60 + "rm x",
        "FOO=1 rm x",
        "env rm x",
        "env -S'rm -rf src'",
        "env -vS 'rm -rf src'",
        "env --split-string='rm -rf src'",
        "nohup rm x",
        "sh -c 'rm x'",
        "echo $(rm x)",
        "(rm x)",
        "r''m x",
        "\\rm x",
        "find . -exec rm x \\;",
        "ls | xargs rm",
    ],
)
def test_a_denied_command_is_denied_however_it_is_wrapped(text: str) -> None:
    assert command(text, rule(DENY, "execute_command(rm)")) is DENY


def test_allowed_command_with_a_doubt_asks() -> None:
    allow = rule(ALLOW, "execute_command(ls)")
    for text in ("ls $(rm x)", "FOO=1 ls", "ls <(rm x)", "ls `rm x`", "ls\x00"):
        assert command(text, allow) is ASK, text


def test_redirects_count_as_writes() -> None:
    allow = rule(ALLOW, "execute_command(echo)")
    assert command("echo x > a.txt", allow) is ASK
    assert command("echo x > a.txt", allow, rule(ALLOW, "update_file(a.txt)")) is ALLOW
    assert command("echo x > a.txt", allow, rule(DENY, "create_file(a.txt)")) is DENY


def test_denied_file_may_not_be_named_in_a_command() -> None:
    deny = rule(DENY, "read_file(private/**)")
    assert command("cat private/x", deny) is DENY
    assert command("python tool.py private/x", deny) is DENY
    assert command("python tool.py --in=private/x", deny) is DENY
    assert command("cat public/x", deny) is ALLOW


def test_web_address_is_not_a_path() -> None:
    deny = rule(DENY, "delete_file")
    assert command("curl https://example.org/a", deny) is ASK  # it uses the network
    exact = rule(ALLOW, "execute_command(curl https://example.org/a)")
    network = rule(ALLOW, "network(example.org)")
    assert command("curl https://example.org/a", deny, exact, network) is ALLOW
    assert command("curl file:///etc/passwd", deny, exact) is DENY


def test_a_bare_rule_does_not_allow_installing_or_the_network() -> None:
    bare = rule(ALLOW, "execute_command")
    assert command("python x.py", bare) is ALLOW
    assert command("pip install x", bare) is ASK
    assert command("git push", bare) is ASK
    exact = rule(ALLOW, "execute_command(pip install x)")
    assert command("pip install x", exact) is ASK
    assert command("pip install x", exact, rule(ALLOW, "network(pypi.org)")) is ALLOW


@pytest.mark.parametrize(
    "text",
    [
        "python -mpip install x",
        "python -Im pip install x",
        "python -m uv pip install x",
        "python -m conda install x",
        "python -m ensurepip",
        "python -m http.server",
        "python -m webbrowser https://example.org",
        "git apply x.patch",
        "git merge x",
        "git cherry-pick x",
        "git revert x",
        "git am x",
        "git commit -m x",
        "git checkout -- .envrc",
        "pytest --pastebin=all",
        "pytest --basetemp=sub",
        "pytest -o addopts=--basetemp=sub",
        "terraform apply",
        "coverage run x.py",
        "ansible-playbook x.yml",
        "make install",
        "make clean",
        "curl https://example.org",
        "timeout 5 some-tool",
        "bash -c some-tool",
        "python x.py -o/etc/x",
        "make DESTDIR=/usr all",
        "make '--eval=$(shell some-tool)'",
        "make --ev=x: all",
        "make -E x:",
        "make SHELL=./x",
        "make CC=./x all",
        "make CFLAGS+=-fplugin=./x",
        "make -f other.mk",
        "make -sfother.mk",
        "make --makefile=other.mk",
        "make -C sub",
        "make --directory sub",
        "make --include-dir=sub",
        "make -I sub",
        "gmake -kC sub",
        "make MAKEFILES=other.mk",
        "make -- SHELL=./x",
    ],
)
def test_one_word_rule_allows_only_reading_and_computing(text: str) -> None:
    assert command(text, rule(ALLOW, f"execute_command({text.split()[0]})")) is ASK


def test_the_reason_names_the_rule_that_does_not_go_that_far() -> None:
    allow = rule(ALLOW, "execute_command(git)")
    made = decided("execute_command", {"command": "git commit -m x"}, allow)
    assert f"The rule '{allow}' does not cover that." in made.because[0]


@pytest.mark.parametrize(
    "text",
    ["python x.py", "python -m unittest", "pytest -q tests", "make all", "git log -3", "bash x.sh"],
)
def test_a_rule_of_one_word_allows_reading_and_computing(text: str) -> None:
    assert command(text, rule(ALLOW, f"execute_command({text.split()[0]})")) is ALLOW


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git commit -m x", "git commit"),
        ("git checkout -b new", "git checkout -b"),
        ("git reset --soft x", "git reset --soft"),
        ("make install x", "make install"),
        ("make -C sub all", "make -C sub"),
        ("timeout 5 some-tool x", "timeout 5 some-tool"),
        ("coverage run x.py", "coverage run"),
    ],
)
def test_a_rule_allows_what_its_words_say(text: str, words: str) -> None:
    assert command(text, rule(ALLOW, f"execute_command({words})")) is ALLOW


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("make -C sub --eval=x:", "make -C sub"),
        ("make -f a.mk -f b.mk", "make -f a.mk"),
        ("make CC=gcc SHELL=./x", "make CC=gcc"),
        ("bash -c some-tool -c other-tool", "bash -c some-tool"),
    ],
)
def test_a_rule_that_names_one_program_covers_no_other(text: str, words: str) -> None:
    assert command(text, rule(ALLOW, f"execute_command({words})")) is ASK


@pytest.mark.parametrize(
    "text",
    [
        "git merge x",
        "git apply x",
        "git switch x",
        "git checkout -b new x",
        "git reset --hard x",
        "git stash pop",
        "tar xf x.tar",
        "unzip x.zip",
        "patch -p1",
        "timeout 5 git merge x",
    ],
)
def test_undeclared_writes_ask_whatever_rules_say(text: str) -> None:
    rules = (rule(ALLOW, f"execute_command(={text})"), rule(ALLOW, "*"))
    assert command(text, *rules) is ASK


def test_a_path_that_leads_outside_through_a_link_is_outside(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (root / "data").symlink_to(tmp_path / "outside")
    (root / "near").symlink_to("x.py")
    anchors = AnchorDirs.of(root)
    allow = rule(ALLOW, "execute_command(python)")
    texts = ("data", "data/x", "--out=data/x", "-odata/x", "out=data/x", "./data/new/y")
    for text in texts:
        assert command(f"python x.py {text}", allow, anchors=anchors) is ASK, text
    assert command("python x.py near", allow, anchors=anchors) is ALLOW


def test_a_plan_covers_commands_as_far_as_the_sandbox_holds_them() -> None:
    grant = step("execute_command")
    assert command("python x.py", grant=grant) is ALLOW
    assert command("python x.py", grant=grant, confined=False) is ASK
    assert command("pip install x", grant=grant) is ASK
    assert command("rm x", grant=grant) is ASK
    assert command("git commit -m x", grant=grant) is ASK
    assert command("python x.py", grant=step("update_file")) is ASK


# The network


@pytest.mark.parametrize(
    ("text", "hosts"),
    [
        ("ls -l", []),
        ("python x.py", []),
        ("python x.py https://example.org", []),
        ("curl -sL https://Example.org./a", ["example.org"]),
        ("curl example.org other.net/x", ["example.org", "other.net"]),
        ("curl -x proxy.net:80 https://user:word@example.org:81/", ["example.org", "proxy.net"]),
        ("curl https://0x7f.1/ http://2130706433", ["*"]),
        ("curl http://[::1]:80/", ["*"]),
        ("wget -q http://127.0.0.1:80/a", ["127.0.0.1"]),
        ("git push https://example.org/x.git", ["example.org"]),
        ("git push git@example.org:x.git main", ["example.org"]),
        ("git push", ["*"]),
        ("git push origin main", ["*"]),
        ("scp a me@example.org:b", ["example.org"]),
        ("scp -o ProxyCommand=x a me@example.org:b", ["*"]),
        ("pip install 'pandas>=2' numpy", ["pypi.org"]),
        ("python -m pip install pandas", ["pypi.org"]),
        ("pip install -r needed.txt", ["*"]),
        ("pip install git+https://example.org/x", ["example.org", "*"]),
        ("./curl https://example.org", ["example.org", "*"]),
        ("curl https://example.org | python x.py", ["example.org", "*"]),
        ("curl https://example.org | head -3", ["example.org"]),
        ("bash -c 'curl https://example.org; python x.py'", ["example.org", "*"]),
        ("gh pr list", ["*"]),
    ],
)
def test_hosts_of_a_command(text: str, hosts: list[str]) -> None:
    call = decompose("execute_command", {Permission.EXECUTE_COMMANDS}, {"command": text}, GROUNDS)
    assert [part.host for part in call.parts if part.host] == hosts


def test_only_a_network_rule_allows_the_network() -> None:
    line = "curl https://example.org/a"
    curl, here = rule(ALLOW, "execute_command(curl)"), rule(ALLOW, "network(example.org)")
    assert command(line, rule(ALLOW, f"execute_command({line})")) is ASK
    assert command(line, rule(ALLOW, "*"), rule(ALLOW, "execute_command")) is ASK
    assert command(line, here) is ASK  # nor does it allow the command
    assert command(line, curl, here) is ALLOW
    assert command(line, curl, rule(ALLOW, "network(EXAMPLE.org)")) is ALLOW
    assert command(line, curl, rule(ALLOW, "network(*.org)")) is ALLOW
    assert command(line, curl, rule(ALLOW, "network")) is ALLOW
    assert command(line, curl, rule(ALLOW, "network(*)")) is ALLOW
    assert command(line, curl, rule(ALLOW, "network(*.example.org)")) is ASK
    assert command(f"{line} https://other.net", curl, here) is ASK
    assert command(line, curl, here, rule(ASK, "network")) is ASK
    assert command(line, curl, here, rule(DENY, "network(*.org)")) is DENY
    assert command(line, rule(DENY, "network")) is DENY


def test_a_remote_is_the_host_that_the_repository_says(tmp_path: Path) -> None:
    config = tmp_path / ".git" / "config"
    config.parent.mkdir()
    anchors = AnchorDirs(str(tmp_path), "/home/ada")
    rules = [rule(ALLOW, "execute_command(git push)"), rule(ALLOW, "network(example.org)")]

    def push(settings: str, text: str = "git push origin main") -> Effect:
        config.write_text(settings)
        return command(text, *rules, anchors=anchors)

    there = '[remote "origin"]\n\turl = git@example.org:x.git\n\tfetch = +refs/heads/*\n'
    assert push(there) is ALLOW
    assert push(there, "git push") is ASK
    assert push(there, "git push other") is ASK
    assert push(there + "\tpushurl = https://other.net/x\n") is ASK
    assert push(there.replace("example.org", "other.net")) is ASK
    assert push(there + '[url "https://other.net"]\n\tinsteadOf = git@example.org\n') is ASK


def test_host_rule_does_not_cover_an_unnamed_host() -> None:
    push, here = rule(ALLOW, "execute_command(git push)"), rule(ALLOW, "network(example.org)")
    anywhere = rule(ALLOW, "network")
    assert command("git push", push, here) is ASK
    assert command("git push", push, anywhere) is ALLOW
    assert command("git push", push, anywhere, rule(DENY, "network(other.net)")) is ASK
    assert command("git push", push, anywhere, rule(DENY, "network")) is DENY


def test_a_command_that_wants_the_network_asks_for_it() -> None:
    grant = step("execute_command")
    wanted = {"command": "python x.py", "needs_network": True}
    exact = rule(ALLOW, "execute_command(=python x.py)")
    for judgement in (
        decided("execute_command", wanted, grant=grant),
        decided("execute_command", wanted, exact),
    ):
        assert judgement.effect is ASK
        assert judgement.because == ["Uses the network: hosts it does not name."]
    assert decided("execute_command", wanted, exact, rule(ALLOW, "network")).effect is ALLOW
    without = decided("execute_command", {"command": "python x.py"}, exact)
    assert without.effect is ALLOW
    assert not without.call.network


def test_always_allow_offers_the_network_by_host() -> None:
    fetch = {"command": "curl https://example.org/a"}
    assert kept("execute_command", fetch) == [
        "execute_command(=curl https://example.org/a)",
        "network(example.org)",
    ]
    assert kept("execute_command", {"command": "curl -d x"}) == []


# What a lasting answer would write


def kept(tool: str, parameters: dict[str, Any]) -> list[str]:
    return decided(tool, parameters).narrowest_rules(GROUNDS)


def test_always_allow_writes_the_narrowest_rule() -> None:
    assert kept("update_file", {"path": "a[1].py"}) == [r"update_file(/a\[1\].py)"]
    assert kept("execute_command", {"command": "git commit -m x"}) == [
        "execute_command(=git commit -m x)"
    ]
    assert kept("execute_command", {"command": "git add a && git tag b > log"}) == [
        "execute_command(=git add a)",
        "execute_command(=git tag b)",
        "update_file(/a)",
        "update_file(/log)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "python x.py",
        "bash -c x",
        "env x",
        "sudo x",
        "npx x",
        "ls $(x)",
        "ls > .git/x",
        "pip install x",
    ],
)
def test_always_allow_is_not_offered_for_runners(text: str) -> None:
    assert kept("execute_command", {"command": text}) == []


@pytest.mark.parametrize(
    ("tool", "parameters"),
    [
        ("update_file", {"path": "a[1].py"}),
        ("create_file", {"path": "weird *?{name}.txt"}),
        ("execute_command", {"command": "git push https://example.org/x main"}),
        ("delete_file", {"path": "x"}),
    ],
)
def test_the_rule_that_is_offered_allows_just_that(tool: str, parameters: dict[str, Any]) -> None:
    rules = [rule(ALLOW, text) for text in kept(tool, parameters)]
    assert rules
    assert decided(tool, parameters, *rules).effect is ALLOW
    other = {key: f"{value}x" for key, value in parameters.items()}
    assert decided(tool, other, *rules).effect is ASK


def test_a_bare_denial_takes_the_tool_away() -> None:
    rules = [rule(DENY, "execute_command"), rule(DENY, "read_file(x)"), rule(ASK, "grep")]
    assert always_denied(rules, TOOLS) == {"execute_command"}


parts = st.sampled_from(["a.py", "src/b.py", ".git/x", "../out", ".env", "c d.txt"])
texts = st.sampled_from(
    ["*", "update_file", "update_file(src)", "update_file(**)", "create_file", "read_file(*.py)"]
)
rules = st.lists(st.builds(rule, st.sampled_from(Effect), texts), max_size=6)
tools = st.sampled_from(["read_file", "update_file", "create_file", "delete_file"])


@given(tools, parts, rules, st.sampled_from(AgentRole))
def test_one_more_rule_that_denies_never_opens_anything(
    tool: str, path: str, given_rules: list[Rule], role: AgentRole
) -> None:
    before = decided(tool, {"path": path}, *given_rules, role=role).effect
    after = decided(tool, {"path": path}, *given_rules, rule(DENY, tool), role=role).effect
    assert after is DENY
    without = [one for one in given_rules if one.effect is not ALLOW]
    strength = [ALLOW, ASK, DENY]
    stricter = decided(tool, {"path": path}, *without, role=role).effect
    assert strength.index(stricter) >= strength.index(before)
