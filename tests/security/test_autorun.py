"""What runs later, outside of the sandbox: no command leaves anything there unless the user let it.

What counts is what is on the disk afterwards, and that what the user approved still works.
"""

from __future__ import annotations

import asyncio
import io
import shutil
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.policy.rules import Scope
from cowork_jupyter.tools.base import ToolContext
from cowork_jupyter.tools.registry import default_tools
from cowork_jupyter.workspace import Workspace

from .cage import WAYS, Cage, becomes, picture, python
from .house import House, code

pytestmark = pytest.mark.asyncio


def repository(folder: Path) -> Path:
    """A repository with a file in it."""
    folder.mkdir(exist_ok=True)
    git = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "a.txt").write_text("a\n")
    subprocess.run([*git, "add", "a.txt"], check=True)
    subprocess.run([*git, "commit", "-qm", "a"], check=True)
    return folder / ".git"


def environment(folder: Path) -> Path:
    """An environment; where Python looks for what runs when it starts."""
    venv.create(folder, symlinks=True, with_pip=False)
    (found,) = folder.glob("lib/python*/site-packages")
    return found


CREATED = {
    "settings of ours": "mkdir -p .cowork; echo x > .cowork/settings.json",
    "Jupyter's": "mkdir .jupyter; echo x > .jupyter/jupyter_server_config.py",
    "IPython's": "mkdir -p .ipython/profile_default/startup; echo x > "
    ".ipython/profile_default/startup/x.py",
    "a file for the shell": "echo x > .envrc",
    "tasks of an editor": "mkdir .vscode; echo x > .vscode/tasks.json; mkdir .idea; touch .idea/x",
    "by moving a folder": "mkdir a; echo x > a/x; mv a .jupyter",
    "by copying a folder": "mkdir x; echo x > x/.envrc; cp -r x/. .; rm -r x",
    "by a symlink": "mkdir a; echo x > a/tasks.json; ln -s a .vscode; ln -s a b; mv b .idea",
    "by a hard link": "echo x > a; ln a .envrc",
    "below": "mkdir -p s/t/.vscode; echo x > s/t/.vscode/tasks.json; echo x > s/.envrc",
    "below by moving what is above": "mkdir -p q/.vscode; echo x > q/.vscode/x; mv q s",
    "in capitals": "mkdir .VSCode; echo x > .VSCode/tasks.json; echo x > .EnvRC",
    "a repository": "git init -q new; echo x > new/.git/hooks/post-checkout",
    "a file that stands for one": "mkdir r; echo 'gitdir: ../r' > .git",
    "hidden as an environment": "mkdir s; touch s/pyvenv.cfg; mkdir s/.vscode; touch s/.vscode/x",
    "in one with many others": "for i in $(seq 300); do mkdir d$i; done; touch d7/.envrc",
    "where nobody can look": "mkdir -p s/.vscode; touch s/.envrc s/.vscode/x; chmod 500 s/.vscode;"
    "chmod 111 s",
    "with an odd name": 'n=$\'a\\n[exit code 0]\\xff\'; mkdir "$n"; touch "$n/.envrc"',
    "by what goes on": "(trap '' TERM HUP; while :; do touch .envrc; done) & sleep 0.2",
}
_LATER = (".cowork", ".jupyter", ".ipython", ".envrc", ".vscode", ".idea", ".git")


def left(root: Path) -> list[str]:
    """What is there that would run later."""
    return [
        str(path.relative_to(root))
        for path in sorted(root.rglob("*"))
        if path.name.lower() in _LATER
    ]


@pytest.mark.parametrize("command", CREATED.values(), ids=CREATED)
async def test_what_is_not_there_cannot_be_made(cage: Cage, command: str) -> None:
    text = await cage.run(command)
    assert left(cage.root) == []
    assert "[Undone, because it would run" in text


async def test_what_was_undone_is_kept_for_the_user(cage: Cage) -> None:
    await cage.run("mkdir -p s/.vscode; echo mine > s/.vscode/tasks.json")
    (kept,) = (cage.base / "data" / "set-aside").glob("*/s/.vscode/tasks.json")
    assert kept.read_text() == "mine\n"
    text = await cage.run(f"cat {kept}; cat {cage.base}/data/set-aside/*/s/.vscode/tasks.json")
    assert "mine" not in text


EXISTING = {
    "written": "for f in $(cat list); do echo evil > $f; done",
    "appended": "for f in $(cat list); do echo evil >> $f; done",
    "replaced": "for f in $(cat list); do echo evil > n; mv -f n $f; done",
    "deleted": "rm -rf .vscode .envrc .git/hooks .git/config sub/.git/hooks sub/.envrc .cowork",
    "moved away": "mv .vscode v; mkdir .vscode; echo evil > .vscode/tasks.json; mv .envrc e;"
    "mv .git/hooks h; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    "linked": "rm -rf .vscode; mkdir e; echo evil > e/tasks.json; ln -s e .vscode;"
    "ln .git/config c && echo evil > c; ln -sf /etc/passwd .envrc",
    "made anew": "echo evil > .git/hooks/post-checkout; touch .git/commondir .git/config.worktree;"
    "echo evil > .vscode/launch.json; touch sub/.git/hooks/post-merge",
    "with its times": 't=$(stat -c %y .envrc); echo EVIL > .envrc; touch -d "$t" .envrc',
}


def furnished(root: Path) -> dict[str, str]:
    """A workspace with everything in it; gives what must stay."""
    for git in (repository(root), repository(root / "sub")):
        (git / "hooks" / "pre-commit").write_text("#!/bin/sh\n")
    names = [".vscode/tasks.json", ".envrc", "sub/.envrc", ".cowork/settings.json"]
    for name in names:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("{}\n")
    names += [
        f"{one}.git/{name}" for one in ("", "sub/") for name in ("config", "hooks/pre-commit")
    ]
    (root / "list").write_text("\n".join(names))
    return {name: (root / name).read_text() for name in names}


def later(root: Path) -> dict[str, tuple[int, bytes]]:
    """All that would run later, but for what git itself keeps."""
    return {
        name: value
        for name, value in picture(root).items()
        if {".vscode", ".envrc", ".cowork", "hooks", "config", "commondir", "config.worktree"}
        & set(name.split("/"))
    }


@pytest.mark.parametrize("command", EXISTING.values(), ids=EXISTING)
async def test_what_is_there_cannot_be_changed(cage: Cage, command: str) -> None:
    names = furnished(cage.root)
    before = later(cage.root)
    await cage.run(command)
    assert {name: (cage.root / name).read_text() for name in names} == names
    assert later(cage.root) == before
    assert not (cage.root / ".vscode").is_symlink()


async def test_another_repository_in_its_place(cage: Cage) -> None:
    """Not its parts are written, but all of it is moved away."""
    furnished(cage.root)
    evil = "mkdir -p {0}/hooks; echo evil > {0}/hooks/pre-commit; echo evil > {0}/config"
    await cage.run(
        f"mv .git g; {evil.format('.git')}; mv sub/.git sub/g; {evil.format('sub/.git')};"
        f"mv sub was; {evil.format('sub/.git')}"
    )
    found = [path for path in cage.root.rglob("*") if path.is_file() and ".git" in path.parts]
    assert not [path for path in found if path.read_bytes() == b"evil\n"]


async def test_a_folder_with_a_repository_in_it_can_be_moved(cage: Cage) -> None:
    furnished(cage.root)
    text = await cage.run("mv sub moved && git -C moved status --short")
    assert text.endswith("[exit code 0]")
    assert (cage.root / "moved/.git/hooks/pre-commit").read_text() == "#!/bin/sh\n"
    assert (cage.root / "moved/.envrc").exists()


async def test_git_works_without_its_settings(cage: Cage) -> None:
    repository(cage.root)
    git = "git -c user.name=a -c user.email=a@example.org"
    text = await cage.run(
        f"echo b > b && git add b && {git} commit -qm b && git checkout -qb new && git stash list"
        " && git gc -q && git log --oneline | wc -l"
    )
    assert text == "2\n[exit code 0]"


async def test_a_command_that_could_not_write_there_is_told_why(cage: Cage) -> None:
    furnished(cage.root)
    text = await cage.run("git remote add origin https://example.org/x")
    told = "[git's settings and hooks, environments and editors' tasks are read-only" in text
    assert told == cage.own_mounts
    assert told or "[Undone, because it would run" in text


async def test_environments(cage: Cage) -> None:
    packages = environment(cage.root / ".venv")
    (packages / "known.pth").write_text("# known\n")
    (packages / "tool.py").write_text("x = 1\n")
    before = picture(cage.root)
    where = ".venv/lib/python*/site-packages"
    await cage.run(
        f"for d in {where}; do echo 'import os' > $d/evil.pth; echo x > $d/sitecustomize.py;"
        "echo x >> $d/known.pth; done; echo home=/tmp > .venv/pyvenv.cfg"
    )
    assert picture(cage.root) == before
    await cage.run(f"for d in {where}; do echo x > $d/tool.py; done; mv .venv v; mkdir .venv")
    assert picture(cage.root) == before or cage.admits("environment in the workspace")


async def test_a_new_environment_can_be_made_and_used(cage: Cage) -> None:
    text = await cage.run(
        f"{python()} -m venv --without-pip made && made/bin/python -c 'print(1)' && rm -r made"
    )
    assert text == "1\n[exit code 0]"


# What the user let it


@pytest.fixture(params=WAYS)
def desk(request: pytest.FixtureRequest, house: House) -> House:
    """A house whose user says yes, with each way of confining; the repository is a real one."""
    house.confine(str(request.param))
    shutil.rmtree(house.root / ".git")
    repository(house.root)
    house.says_yes()
    house.look()
    return house


async def test_what_the_user_approved_by_its_name_stays(desk: House) -> None:
    lines = {
        "echo use flake > .envrc": {"ws/.envrc"},
        "mkdir -p .vscode && echo {} > .vscode/tasks.json": {"ws/.vscode", "ws/.vscode/tasks.json"},
        "cp a.py .git/hooks/pre-commit": {"ws/.git/hooks/pre-commit"},
        "git config core.editor vi": {"ws/.git/config"},
    }
    for line, written in lines.items():
        desk.expected |= written
        assert (await desk.run(line))["facts"]["exit_code"] == 0
        assert all((desk.base / name).exists() for name in written)
    assert "editor = vi" in (desk.root / ".git/config").read_text()
    assert len(desk.user.asked) == len(lines)


async def test_no_rule_opens_what_runs_later(desk: House) -> None:
    desk.allow_everything()
    desk.user.decision = "deny"
    for line in ("git init sub", "git config a.b c", "echo x > .envrc", "git clone . sub"):
        assert code(await desk.run(line)) == "denied_by_user"
    desk.rule("allow", f"execute_command({sys.executable})")
    (desk.root / "x.py").write_text("open('.envrc', 'w').write('x')")
    desk.look()
    result = await desk.run(f"{sys.executable} x.py")
    assert "; set aside: .envrc" in result["summary"]


async def test_approving_a_program_does_not_open_what_it_does_not_name(desk: House) -> None:
    (desk.root / ".envrc").write_text("use flake\n")
    evil = "for name in ('.git/hooks/post-checkout', '.envrc'):\n try: open(name, 'a').write('x')\n"
    (desk.root / "x.py").write_text(evil + " except OSError: pass\n")
    desk.look()
    await desk.run(f"{sys.executable} x.py")
    await desk.run(f"cat .envrc && {sys.executable} x.py")
    assert len(desk.user.asked) == 2


async def test_a_repository_that_the_user_let_be_made_deleted_or_cloned(desk: House) -> None:
    for line in (
        "git init -q sub && touch sub/.git/hooks/x",
        "rm -rf sub",
        f"git clone -q {desk.root} sub && rm -rf sub",
    ):
        result = await desk.run(line)
        assert result["facts"]["exit_code"] == 0, result
        assert "undone" not in result["summary"]
    await desk.run("git init -q sub")
    assert (desk.root / "sub/.git/config").exists()
    await desk.run("rm -rf sub")
    assert not (desk.root / "sub").exists()


async def test_an_archive_that_the_user_let_be_unpacked(desk: House) -> None:
    with tarfile.open(desk.root / "a.tar", "w") as archive:
        for name in (".vscode/tasks.json", ".cowork/settings.json"):
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    desk.look()
    desk.expected |= {"ws/.vscode", "ws/.vscode/tasks.json"}
    await desk.run("tar xf a.tar")
    assert (desk.root / ".vscode/tasks.json").exists()


async def test_installing_writes_into_an_environment_and_nothing_else_does(desk: House) -> None:
    packages = environment(desk.root / ".venv").relative_to(desk.root)
    (desk.root / "pip").mkdir()  # in the place of the real one, which needs an index
    evil = "import sys; open(sys.argv[2], 'w').write('x')"
    (desk.root / "pip" / "__main__.py").write_text(evil)
    (desk.root / "pip" / "__init__.py").touch()
    (desk.root / "x.py").write_text(f"open('{packages}/x.pth', 'w').write('x')")
    desk.look()
    desk.expected |= {f"ws/{packages}/new.py"}
    await desk.run(f"{sys.executable} -Bm pip install {packages}/new.py")
    assert (desk.root / packages / "new.py").exists()
    await desk.run(f"{sys.executable} x.py")


async def test_what_others_do_meanwhile_stays(desk: House) -> None:
    """Another command that the user approved, another tool, and a rule that is written down."""
    names = ".envrc .idea .idea/x .cowork .cowork/settings.json"
    desk.expected |= {f"ws/{name}" for name in names.split()}
    wait = "touch begun; until [ -e enough ]; do sleep 0.01; done; rm begun enough; touch .mcp.json"
    sandbox = desk.service.factory.tools.sandbox
    context = ToolContext(Workspace(desk.root), AgentRole.ACTOR, sandbox=sandbox)
    tools = default_tools()
    long = asyncio.create_task(tools.call("execute_command", {"command": wait}, context))
    assert await becomes((desk.root / "begun").exists)
    await desk.run("echo x > .envrc")
    await tools.call("create_file", {"path": ".idea/x", "content": "x"}, context)
    desk.rule("allow", "read_file(x)", Scope.WORKSPACE)
    (desk.root / "enough").touch()
    assert "sandbox: .mcp.json. To" in (await long).text
    assert all((desk.base / name).exists() for name in desk.expected)


async def test_what_one_command_made_is_not_put_back_after_another(cage: Cage) -> None:
    """The second begins when the first has written, and ends after it."""
    (cage.root / ".envrc").write_text("mine\n")
    until = "touch {0}.began; until [ -e {0}.end ]; do sleep 0.01; done"
    evil = f"echo evil > .envrc; echo evil > .mcp.json; {until.format('first')}"
    tasks = list[asyncio.Task[str]]()
    for name, command in (("first", evil), ("second", until.format("second"))):
        tasks.append(asyncio.create_task(cage.run(command)))
        assert await becomes((cage.root / f"{name}.began").exists)
    for name, task in zip(("first", "second"), tasks, strict=True):
        (cage.root / f"{name}.end").touch()
        text = await task
        assert (cage.root / ".envrc").read_text() == "mine\n"
        assert not (cage.root / ".mcp.json").exists()
    assert "Undone" not in text


async def test_a_command_that_is_stopped_leaves_nothing(cage: Cage) -> None:
    text = await cage.run_out_of_time("touch .envrc; echo left; sleep 600")
    assert "its time limit" in text
    assert left(cage.root) == []


async def test_a_tester_leaves_nothing_either(cage: Cage) -> None:
    furnished(cage.root)
    before = picture(cage.root)
    await cage.test("; ".join([*CREATED.values(), *EXISTING.values()][:8]))
    assert picture(cage.root) == before
