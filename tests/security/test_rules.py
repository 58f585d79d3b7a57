"""Rules that are bent: what is narrower, linked, broken, hidden or only looks like a rule."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.policy.rules import WRITABLE_SCOPES, Effect, Scope
from tests.scripted import call

from .house import House, code

pytestmark = pytest.mark.asyncio

TAKE = {"path": "precious.txt", "old_text": "precious", "new_text": "taken"}


@pytest.mark.parametrize("denied", WRITABLE_SCOPES)
@pytest.mark.parametrize("allowed", WRITABLE_SCOPES)
async def test_a_narrow_allowance_against_a_broad_denial(
    house: House, denied: Scope, allowed: Scope
) -> None:
    house.rule("deny", "update_file", denied)
    house.rule("allow", "update_file(/precious.txt)", allowed)
    house.look()
    house.says_yes()
    assert code(await house.attempt("update_file", **TAKE)) == "denied"


async def test_a_broad_allowance_against_a_narrow_denial(house: House) -> None:
    house.rule("allow", "*", Scope.GLOBAL)
    house.rule("deny", "update_file(*.txt)")
    house.says_yes()
    assert code(await house.attempt("update_file", **TAKE)) == "denied"


async def test_an_allowance_against_a_rule_that_asks(house: House) -> None:
    house.rule("ask", "update_file(/precious.txt)", Scope.GLOBAL)
    house.rule("allow", "update_file(/precious.txt)")
    assert code(await house.attempt("update_file", **TAKE)) == "denied_by_user"


async def test_a_link_that_is_allowed_to_a_file_that_is_not(house: House) -> None:
    (house.root / "mine.txt").symlink_to("precious.txt")
    house.rule("allow", "update_file(/mine.txt)")
    house.look()
    given = {**TAKE, "path": "mine.txt"}
    assert code(await house.attempt("update_file", **given)) == "denied_by_user"
    assert "precious.txt" in house.user.asked[0].resource


async def test_a_link_in_an_allowed_folder_that_leads_out_of_it(house: House) -> None:
    (house.root / "open").mkdir()
    (house.root / "open" / "door").symlink_to("../private")
    house.rule("allow", "update_file(/open/**)")
    house.look()
    given = {"path": "open/door/x.txt", "old_text": "private", "new_text": "public"}
    assert code(await house.attempt("update_file", **given)) == "denied_by_user"


async def test_a_link_with_another_name_to_a_denied_file(house: House) -> None:
    (house.root / "mine.txt").symlink_to("private/x.txt")
    house.rule("deny", "read_file(/private/**)")
    house.look()
    house.says_yes()
    assert code(await house.attempt("read_file", path="mine.txt")) == "denied"
    assert "private words" not in house.sent_to_model()


ON_A_SECOND_NAME: dict[str, dict[str, Any]] = {
    "read_file": {"path": "mine.csv"},
    "describe_table": {"path": "mine.csv"},
    "query_table": {"paths": ["mine.csv"], "sql": "SELECT * FROM mine"},
    "execute_command": {"command": "cat mine.csv"},
    "update_file": {"path": "mine.csv", "old_text": "private", "new_text": "public"},
}


@pytest.mark.parametrize("rule", ["/private/**", "x.txt", "/private/x.txt"])
async def test_a_second_name_of_a_denied_file(house: House, rule: str) -> None:
    (house.root / "mine.csv").hardlink_to(house.root / "private" / "x.txt")
    house.rule("deny", f"read_file({rule})")
    house.rule("deny", f"update_file({rule})")
    house.look()
    house.says_yes()
    for tool, given in ON_A_SECOND_NAME.items():
        assert code(await house.attempt(tool, **given)) == "denied", tool
    assert "private words" not in house.sent_to_model()


@pytest.mark.parametrize("tool", ["grep", "query_table", "execute_command"])
async def test_a_search_that_comes_across_a_second_name(house: House, tool: str) -> None:
    (house.root / "data").mkdir()
    (house.root / "data" / "mine.csv").hardlink_to(house.root / "private" / "x.txt")
    (house.root / "data" / "yours.csv").write_text("open words\n")
    house.rule("deny", "read_file(/private/**)")
    house.look()
    asked: dict[str, dict[str, Any]] = {
        "grep": {"pattern": "words"},
        "query_table": {"paths": ["data/*.csv"], "sql": "SELECT * FROM data"},
        "execute_command": {"command": "grep -r words data"},
    }
    await house.attempt(tool, **asked[tool])
    assert "private words" not in house.sent_to_model()


async def test_a_second_name_of_a_denied_file_outside(house: House) -> None:
    (house.root / "mine.csv").hardlink_to(house.home / ".bashrc")
    house.rule("deny", f"read_file(/{house.home}/.bashrc)")
    house.look()
    assert code(await house.attempt("read_file", path="mine.csv")) == "denied"


async def test_a_second_name_of_a_secret_asks(house: House) -> None:
    (house.root / "mine.csv").hardlink_to(house.root / ".env")
    house.look()
    assert code(await house.attempt("read_file", path="mine.csv")) == "denied_by_user"


async def test_a_file_with_harmless_names_is_read(house: House) -> None:
    (house.root / "mine.csv").hardlink_to(house.root / "a.py")
    house.rule("deny", "read_file(/private/**)")
    house.look()
    assert (await house.attempt("read_file", path="mine.csv"))["ok"]
    assert "answer = 42" in house.sent_to_model()


SPELLINGS = (
    "private/x.txt",
    "./private/x.txt",
    "private//x.txt",
    "private/./x.txt",
    "private/../private/x.txt",
    "{root}/private/x.txt",
    "{root}/../ws/private/x.txt",
)


async def test_another_spelling_of_a_denied_path(house: House) -> None:
    house.rule("deny", "read_file(/private/**)")
    house.says_yes()
    for spelling in SPELLINGS:
        path = spelling.format(root=house.root)
        assert code(await house.attempt("read_file", path=path)) == "denied", spelling
        assert code(await house.run(f"cat {path}")) == "denied", spelling
    assert "private words" not in house.sent_to_model()


READERS = (
    "cat private/x.txt",
    "cat < private/x.txt",
    "cd private && cat x.txt",
    "cd private; some-tool x.txt",
    "grep -r words .",
    "grep -r words",
    "grep --recursive words .",
    "rg words",
    "diff -r private .git",
    "head -n 5 ./private/x.txt",
    "cp private/x.txt y",
    "python3 private/x.txt",
    "timeout 9 grep -r words .",
)


async def test_a_command_that_reads_what_may_not_be_read(house: House) -> None:
    house.rule("deny", "read_file(/private/**)")
    house.rule("allow", "execute_command")
    house.says_yes()
    for command in READERS:
        assert code(await house.run(command)) == "denied", command
    assert "private words" not in house.sent_to_model()


async def test_a_search_that_comes_across_what_may_not_be_read(house: House) -> None:
    house.rule("deny", "read_file(/private/**)")
    house.says_yes()
    for tool, given in (("grep", {"pattern": "words"}), ("search_code", {"text": "words"})):
        await house.attempt(tool, **given)
    assert "private words" not in house.sent_to_model()


BROKEN = (
    "update_file(",
    "update_file)",
    "update_file(!precious.txt)",
    "update_file(../x)",
    "update_file()",
    "update_file(a\u202eb)",
    "update_file(a\u200bb)",
    "update_file(/precious.txt) ",
    "update_file(/a)(/b",
    "update_file\u00a0",
    "update_file(" + "x" * 5000 + ")",
)


async def test_a_broken_rule_in_the_settings(house: House) -> None:
    """What it meant is not known: until it is mended, it denies the tool that it names."""
    house.says_yes()
    for rule in BROKEN:
        settings = {"permissions": {"allow": ["update_file"], "ask": [], "deny": [rule]}}
        house.settings.user_settings.write_text(json.dumps(settings))
        house.look()
        with pytest.raises(InvalidInput):
            house.rule("allow", rule)
        assert code(await house.attempt("update_file", **TAKE)) == "denied", rule
        problems = [one.code for one in (await house.service.health()).problems]
        assert "rule_broken" in problems, rule


@pytest.mark.parametrize("rule", ["*(/a;b)", 'exec*(rm ")', "*($(x))", "execute_*(a | b)"])
async def test_a_rule_for_many_tools_that_is_no_command(house: House, rule: str) -> None:
    settings = {"permissions": {"deny": [rule], "allow": ["*"]}}
    house.settings.user_settings.write_text(json.dumps(settings))
    house.look()
    house.says_yes()
    assert code(await house.run("rm precious.txt")) == "denied"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("execute_command(git)", "git push"),
        ("execute_command(git push)", "git push --force"),
        ("execute_command(git status)", "git stash drop"),
        ("execute_command(git com)", "git commit -m x"),
        ("execute_command(rm a)", "rm precious.txt"),
        ("execute_command(rm)", "rm precious.txt"),
        ("execute_command(=rm a.py)", "rm a.py precious.txt"),
        ("execute_command(find)", "find . -delete"),
        ("execute_command(pip)", "pip install x"),
        ("execute_command(echo)", "echo x > precious.txt"),
        ("execute_command(cat)", "cat a.py | tee precious.txt"),
        ("execute_command(ls)", "ls; rm precious.txt"),
        ("read_file(//outside/**)", "cp a.py /outside/x"),
        ("delete_file", "mv a.py ../outside/x"),
    ],
)
async def test_a_rule_that_is_stretched(house: House, rule: str, command: str) -> None:
    house.rule("allow", rule)
    assert code(await house.run(command)) == "denied_by_user"


async def test_an_unknown_program_on_what_one_may_only_read(house: House) -> None:
    house.rule("allow", f"read_file(/{house.outside}/**)")
    house.rule("allow", "execute_command(some-tool)")
    command = f"some-tool {house.outside}/precious"
    assert code(await house.run(command)) == "denied_by_user"


async def test_rules_of_another_conversation(house: House) -> None:
    other = house.service.conversations.create().id
    house.service.rules.add(Effect.ALLOW, "update_file", Scope.SESSION, other)
    assert code(await house.attempt("update_file", **TAKE)) == "denied_by_user"


async def test_a_policy_of_another_job(house: House) -> None:
    policy = {"permissions": {"allow": ["update_file"]}}
    house.service.send_message(house.context, "Hello.", policy=policy)
    await house.ended(house.service.jobs.of(house.context)[0].id)
    assert code(await house.attempt("update_file", **TAKE)) == "denied_by_user"


async def test_a_lasting_rule_that_covers_more_than_was_shown(house: House) -> None:
    """Names with wildcards in them: the rule is about that one file."""
    (house.root / "*.txt").write_text("x\n")
    house.look()
    await house.attempt("update_file", path="*.txt", old_text="x", new_text="y")
    (rule,) = house.user.asked[0].rules
    house.rule("allow", rule)
    assert code(await house.attempt("update_file", **TAKE)) == "denied_by_user"


async def test_a_lasting_rule_for_what_runs_anything(house: House) -> None:
    for command in ("python3 x.py", "bash x.sh", "env x", "sudo ls", "npx x", "uv run x", "make"):
        await house.run(command)
        assert house.user.asked[-1].scopes == ["once"], command


async def test_a_lasting_rule_for_what_the_card_cannot_show(house: House) -> None:
    await house.tell(call("create_file", path="long.txt", content="x" * 300_000))
    (request,) = house.user.asked
    assert not request.shown.complete
    assert request.scopes == ["once"]


async def test_a_lasting_rule_for_a_folder_that_covers_what_is_in_it(house: House) -> None:
    """To remove an empty folder once is no leave to remove what will be in it."""
    (house.root / "empty").mkdir()
    house.look()
    await house.attempt("delete_file", path="empty")
    assert house.user.asked[0].scopes == ["once"]
