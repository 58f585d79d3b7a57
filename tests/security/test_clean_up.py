"""Cleaning up after a command: our own unconfined code must not do what the command could not.

What counts is that all files of the user's are there afterwards, that nothing is left which would
run later, and that what was set aside can be had back.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cowork_jupyter.domain.effects import BroughtBack
from cowork_jupyter.policy.shell.model import names

from .cage import Cage, picture
from .test_autorun import left, repository

pytestmark = pytest.mark.asyncio

PRECIOUS = ("important.csv", "data/a.csv", "data/deep/b.csv", "tools/tasks.json", "v/x.py", "a.txt")

LINKS = {
    "to the repository": "cd v; ln -s ../.git .vscode",
    "to the repository, from the top": "ln -s .git .vscode; ln -s .git .idea; ln -s .git .jupyter",
    "to a data file": "ln -s important.csv .envrc",
    "to a folder": "ln -s data .idea",
    "to the workspace": "ln -s . .idea; ln -s ../.. v/.vscode",
    "through another": "ln -s .git a1; ln -s a1 a2; ln -s a2 .vscode; ln -s data b; ln -s b .idea",
    "with an absolute path": "ln -s $PWD/.git .vscode; ln -s $PWD/data/a.csv .envrc",
    "to what is outside": "ln -s ../outside .vscode; ln -s ../outside/precious .envrc",
    "in a new folder": "mkdir .vscode; ln -s ../data .vscode/d; ln -s ../important.csv .vscode/t",
    "as an environment": "mkdir e; ln -s ../important.csv e/pyvenv.cfg; ln -s ../data e/conda-meta",
    "as hooks": "git init -q new; rm -r new/.git/hooks; ln -s ../../data new/.git/hooks",
    "as compiled files": "ln -s data __pycache__; ln -s ../.git v/__pycache__",
    "as an unknown settings folder": "ln -s .git .tool-of-tomorrow; ln -s data .x.json",
    "that leads nowhere yet": "ln -s later .vscode; mkdir later; mv data later/",
}
MOVES = {
    "a folder": "mv data .idea",
    "a file": "mv important.csv .envrc",
    "a folder with evil in it": "mkdir data/.vscode; echo evil > data/.vscode/t; mv data .idea",
    "into a new folder": "mkdir .idea; mv data important.csv .idea/; echo evil > .idea/x",
    "deep into a new folder": "mkdir -p .vscode/a/b; mv data .vscode/a/b/; echo evil > .vscode/x",
    "into one nobody can look into": "mkdir -p .vscode/a; mv data .vscode/a/; chmod 0 .vscode/*",
    "a hard link": "ln important.csv .envrc; mkdir .vscode; ln data/a.csv .vscode/tasks.json",
    "and something else in its place": "mv data .idea; mkdir data; echo fake > data/a.csv",
    "and back again": "mv data .idea; mv .idea data; mv v .envrc; mv .envrc v",
    "twice": "mv data .idea; mv .idea .vscode; mv important.csv x; mv x .envrc",
    "as an environment": "touch data/pyvenv.cfg; mkdir data/conda-meta; mv v data/lib",
    "as compiled files": "mv data __pycache__",
    "the folder it was in": "mkdir n; mv data n/; mv n .idea",
    "one over the other": "echo evil > n; mv -f n .envrc; mv important.csv .idea; rmdir nothing",
}


@pytest.fixture
def desk(cage: Cage) -> Iterator[Cage]:
    """A workspace with a repository and files; all of their contents are somewhere at the end."""
    repository(cage.root)
    for name in PRECIOUS[:-1]:
        path = cage.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"precious {name}\n")
    git = picture(cage.root / ".git")
    yield cage
    kept = {path.read_bytes() for path in cage.root.rglob("*") if path.is_file()}
    expected = [f"precious {name}\n".encode() for name in PRECIOUS[:-1]]
    assert [text for text in expected if text not in kept] == []
    assert picture(cage.root / ".git") == git
    done = subprocess.run(["git", "-C", str(cage.root), "fsck"], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def is_as_before(cage: Cage) -> bool:
    return all((cage.root / name).read_text() == f"precious {name}\n" for name in PRECIOUS[:-1])


@pytest.mark.parametrize("command", LINKS.values(), ids=LINKS)
async def test_what_a_link_leads_to_is_never_set_aside(desk: Cage, command: str) -> None:
    moves_data = "mv data" in command
    text = await desk.run(command)
    assert [name for name in left(desk.root) if name != ".git"] == []
    assert "[Undone, because" in text
    assert moves_data or is_as_before(desk)


@pytest.mark.parametrize("command", MOVES.values(), ids=MOVES)
async def test_what_existed_before_is_never_set_aside(desk: Cage, command: str) -> None:
    await desk.run(command)
    assert [name for name in left(desk.root) if name != ".git"] == []
    assert "fake" in command or "v data/lib" in command or is_as_before(desk)
    kept = list((desk.base / "data").glob("set-aside/**/*"))
    contents = [path.read_text() for path in kept if path.is_file() and path.stat().st_nlink == 1]
    assert not [text for text in contents if text.startswith("precious")]


async def test_what_has_lost_its_place_stays_beside_it(desk: Cage) -> None:
    text = await desk.run("mv data .idea; mkdir data; echo fake > data/a.csv")
    assert (desk.root / "idea.set-aside/deep/b.csv").read_text() == "precious data/deep/b.csv\n"
    assert (desk.root / "data/a.csv").read_text() == "fake\n"
    assert "set aside" in text or "Undone" in text


async def test_a_link_of_the_users_that_a_command_leads_elsewhere(desk: Cage) -> None:
    """The link was there before; so was all that it leads to now."""
    (desk.root / ".vscode").symlink_to("tools")
    await desk.run("mv tools t; ln -s .git tools; mkdir x; touch x/tasks.json")
    assert (desk.root / "t/tasks.json").exists() or (desk.root / "tools/tasks.json").exists()
    assert (desk.root / ".vscode").is_symlink()


async def test_the_inode_of_a_deleted_file_means_nothing(desk: Cage) -> None:
    """File systems give the number of a deleted file to the next new one."""
    for number in range(20):
        (desk.root / f"{number}.tmp").write_text("old")
    await desk.run("rm *.tmp; for i in $(seq 20); do mkdir d$i; echo evil > d$i/.envrc; done")
    assert [name for name in left(desk.root) if name != ".git"] == []
    assert not list(desk.root.glob("*.tmp"))


async def test_two_commands_hand_something_on(desk: Cage) -> None:
    """Prepared in one command, in the workspace or beside it, and put in its place by the next."""
    await desk.run(
        "mkdir t; echo evil > t/tasks.json; echo evil > e; mkdir $TMPDIR/t; touch $TMPDIR/t/x"
    )
    await desk.run("mv t .vscode; mv e .envrc; mv $TMPDIR/t .idea")
    assert [name for name in left(desk.root) if name != ".git"] == []
    assert (desk.root / "t/tasks.json").read_text() == "evil\n"


def bring_back(cage: Cage) -> BroughtBack:
    (batch,) = (cage.base / "data" / "set-aside").iterdir()
    (guard,) = cage.sandbox._guards.values()
    return guard.bring_back(batch.name)


async def test_what_was_set_aside_comes_back(desk: Cage) -> None:
    await desk.run(
        "mkdir -p s/.vscode; echo mine > s/.vscode/tasks.json; ln -s ../data s/.idea; rm -rf x"
    )
    returned = bring_back(desk)
    assert sorted(returned.restored) == ["s/.idea", "s/.vscode"]
    assert (desk.root / "s/.vscode/tasks.json").read_text() == "mine\n"
    assert (desk.root / "s/.idea").readlink() == Path("../data")
    assert "Undone" not in await desk.run("true")  # it is the user's now


async def test_nothing_is_overwritten_by_what_comes_back(desk: Cage) -> None:
    await desk.run("echo evil > .envrc; mkdir s; echo x > s/.envrc")
    (desk.root / ".envrc").write_text("mine\n")
    shutil.rmtree(desk.root / "s")
    returned = bring_back(desk)
    (left_out,) = returned.skipped
    assert (left_out.path, left_out.why) == (".envrc", "something else is there now")
    assert returned.restored == ["s/.envrc"]
    assert (desk.root / ".envrc").read_text() == "mine\n"
    assert bring_back(desk).skipped[0].path == ".envrc"


async def test_what_was_changed_comes_back_too(desk: Cage) -> None:
    (desk.root / ".envrc").write_text("mine\n")
    await desk.run("echo theirs > .envrc")
    assert (desk.root / ".envrc").read_text() == "mine\n"
    if desk.own_mounts:  # it was read-only
        assert not (desk.base / "data" / "set-aside").exists()
        return
    assert bring_back(desk).restored == [".envrc"]
    assert (desk.root / ".envrc").read_text() == "theirs\n"


async def test_only_what_was_set_aside_comes_back(desk: Cage) -> None:
    await desk.run("echo evil > .envrc")
    (guard,) = desk.sandbox._guards.values()
    odd = ("", ".", "..", "../data", "20261119-120000-0123456789abcdef", "x" * 300, "a\0b")
    for batch in odd:
        with pytest.raises(FileNotFoundError):
            guard.bring_back(batch)


async def test_an_index_that_somebody_has_edited_leads_nowhere(desk: Cage) -> None:
    await desk.run("echo evil > .envrc")
    (batch,) = (desk.base / "data" / "set-aside").iterdir()
    (guard,) = desk.sandbox._guards.values()
    index = {"root": str(desk.root), "items": {"../outside/x": "", "/etc/x": "", ".envrc": "../x"}}
    (batch / "set-aside.json").write_text(json.dumps(index))
    assert guard.bring_back(batch.name).restored == []
    (batch / "set-aside.json").write_text(json.dumps({"root": "/elsewhere", "items": {}}))
    with pytest.raises(FileNotFoundError):
        guard.bring_back(batch.name)


def _elsewhere(root: Path) -> Path:
    """A folder on another file system."""
    folders = Path("/dev/shm"), Path("/var/tmp")
    return next(folder for folder in folders if folder.stat().st_dev != root.stat().st_dev)


async def test_on_another_file_system_it_is_renamed_in_its_place(desk: Cage) -> None:
    """Nothing is copied, so nothing can be lost halfway."""
    with tempfile.TemporaryDirectory(dir=_elsewhere(desk.root)) as folder:
        desk.change(data_dir=Path(folder))
        text = await desk.run("mkdir -p s/.vscode; echo mine > s/.vscode/tasks.json; touch .envrc")
        assert [name for name in left(desk.root) if name != ".git"] == []
        assert (desk.root / "s/vscode.set-aside/tasks.json").read_text() == "mine\n"
        assert (desk.root / "envrc.set-aside").exists()
        assert "s/.vscode" in text
        (batch,) = (Path(folder) / "set-aside").iterdir()
        (guard,) = desk.sandbox._guards.values()
        assert sorted(guard.bring_back(batch.name).restored) == [".envrc", "s/.vscode"]
        assert (desk.root / "s/.vscode/tasks.json").read_text() == "mine\n"


async def test_where_moving_fails_nothing_is_deleted(desk: Cage) -> None:
    (desk.base / "data" / "set-aside").write_text("in the way")
    text = await desk.run("mkdir .vscode; echo mine > .vscode/tasks.json")
    assert (desk.root / ".vscode/tasks.json").read_text() == "mine\n"
    assert "[Could not be set aside: .vscode." in text
    shutil.rmtree(desk.root / ".vscode")


async def test_a_swap_while_it_is_moved_moves_nothing_else(
    desk: Cage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program of the user's puts something in its place at that very moment."""
    from cowork_jupyter.workspace.sandbox import set_aside

    check = set_aside._check_same

    def swap(folder: int, name: str, inode: int) -> None:
        (desk.root / ".vscode").rename(desk.root / "was")
        (desk.root / "tools").rename(desk.root / ".vscode")
        check(folder, name, inode)

    monkeypatch.setattr(set_aside, "_check_same", swap)
    text = await desk.run("mkdir .vscode; touch .vscode/tasks.json")
    assert (desk.root / ".vscode/tasks.json").read_text() == "precious tools/tasks.json\n"
    assert "Could not be set aside" in text


# What counts as start-up file


START_UP_FILES = names("""
    .claude/settings.json .cursor/mcp.json .gemini/settings.json .codex/c.toml .kiro/hooks/x
    .zed/tasks.json .devcontainer/devcontainer.json .husky/_/x .Rprofile .Renviron .RData .pdbrc
    mise.toml .mise.toml .npmrc kernels/x/kernel.json share/jupyter/kernels/x/kernel.json .env
    .env.local sitecustomize.py usercustomize.py x.pth sub/x.pth .pylintrc .condarc
    jupyter_server_config.py ipython_config.py ipython_kernel_config.json
    jupyter_lab_config.json .github/workflows/x.yml .pre-commit-config.yaml
    __pycache__/x.cpython-311.pyc .tool-of-tomorrow/config .tool-of-tomorrow.json opencode.json
    crush.json a.code-workspace x.sublime-project latexmkrc .config/x/y.toml .Tool-Of-Tomorrow
    deep/er/.zed/tasks.json .ghci
    """)
NEW = {
    "an environment": "mkdir -p .venv/bin .venv/lib/python3/site-packages; touch .venv/pyvenv.cfg"
    " .venv/bin/python .venv/lib/python3/site-packages/x.pth",
    "an environment of another name": "mkdir -p e/bin; touch e/pyvenv.cfg e/bin/python",
    "in an old folder": "touch v/pyvenv.cfg; mkdir v/conda-meta v/.vscode; touch v/x.pth",
    "settings and start-up files": f"for f in {' '.join(sorted(START_UP_FILES))};"
    " do mkdir -p $(dirname $f); echo x > $f; done",
}


@pytest.mark.parametrize("command", NEW.values(), ids=NEW)
async def test_new_start_up_files_are_set_aside(desk: Cage, command: str) -> None:
    before = {path for path in picture(desk.root) if not path.startswith(".git/")}
    text = await desk.run(command)
    after = {path for path in picture(desk.root) if not path.startswith(".git/")}
    empty = {"e", "kernels", "kernels/x", "share", "share/jupyter", "share/jupyter/kernels", "sub"}
    empty |= {"share/jupyter/kernels/x", "deep", "deep/er"}
    assert after - before <= empty
    assert before <= after
    assert "[Undone, because" in text


SKIPPED = {
    "node_modules": "node_modules/evil/index.js",
    "an old node_modules": "old/node_modules/known/lib/evil.js",
    "tox": ".tox/py311/bin/python",
    "a cache": ".cache/x/y",
    "an unknown settings folder": ".known-tool/hooks.json",
}


@pytest.mark.parametrize("path", SKIPPED.values(), ids=SKIPPED)
async def test_what_is_new_where_nobody_looks_closely_is_named(desk: Cage, path: str) -> None:
    for name in ("old/node_modules/known/lib/x.js", ".known-tool/state"):
        (desk.root / name).parent.mkdir(parents=True)
        (desk.root / name).write_text("old")
    text = await desk.run(f"sleep 0.05; mkdir -p $(dirname {path}); echo x > {path}")
    named = text.partition("[New where programs may run it later: ")[2].partition(".]")[0]
    assert named
    assert path == named or path.startswith(f"{named}/")
    assert (desk.root / path).exists()


HONEST = (
    *(".gitignore", ".ipynb_checkpoints/a.ipynb", ".pytest_cache/x", ".coverage", "o.zarr/.zarray"),
    *("out/._SUCCESS.crc", "out/.part-0.parquet.crc", ".dvc/tmp/x", ".nextflow.log", "a/.gitkeep"),
    *(".~lock.sales.ods#", "Makefile", "conftest.py", "config.json", "x.py", ".hypothesis/x"),
)  # fmt: skip


async def test_what_honest_work_leaves_stays(desk: Cage) -> None:
    text = await desk.run(
        "; ".join(f"mkdir -p $(dirname {name}); echo x > {name}" for name in HONEST)
    )
    assert [name for name in HONEST if not (desk.root / name).exists()] == []
    assert "Undone" not in text
    assert "New where" not in text


async def test_python_leaves_no_compiled_files_to_be_set_aside(desk: Cage) -> None:
    (desk.root / "m.py").write_text("x = 1\n")
    text = await desk.run(f"{sys.executable} -c 'import m; print(m.x)'; ls $PYTHONPYCACHEPREFIX")
    assert "1\n" in text
    assert "Undone" not in text
    assert not (desk.root / "__pycache__").exists()


async def test_compiled_files_that_are_there_cannot_be_replaced(desk: Cage) -> None:
    cache = desk.root / "v/__pycache__"
    cache.mkdir()
    (cache / "x.cpython-311.pyc").write_bytes(b"compiled")
    await desk.run("cd v/__pycache__; echo evil > n; mv n x.cpython-311.pyc; echo evil > y.pyc")
    assert b"evil\n" not in {path.read_bytes() for path in cache.iterdir()}
