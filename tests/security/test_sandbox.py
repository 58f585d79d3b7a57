"""Ways out of the sandbox: files. What counts is what is on the disk afterwards.

That nothing outside changed is checked after each test, by the fixture.
"""

# ruff: noqa: ASYNC240 - looking at the disk takes no time here

from __future__ import annotations

import contextlib
import os
import socket
import stat
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from cowork_jupyter.domain.errors import CoworkError
from cowork_jupyter.workspace import Workspace
from cowork_jupyter.workspace.sandbox import sandbox
from cowork_jupyter.workspace.sandbox.landlock import landlock_version
from cowork_jupyter.workspace.sandbox.sandbox import Launch
from tests.quick import each

from .cage import PYTEST, SECRET, WAYS, Cage, picture, python
from .conftest import SECRETS

pytestmark = pytest.mark.asyncio


# Writing


async def test_write_outside(cage: Cage) -> None:
    await cage.run(
        f"echo x > {cage.outside}/new; echo x > ../outside/new; cp /etc/hosts ../outside"
    )


async def test_write_over_what_is_outside(cage: Cage) -> None:
    await cage.run(f"echo x > {cage.outside}/precious; echo x >> {cage.outside}/precious")


async def test_write_through_a_symlink(cage: Cage) -> None:
    (cage.root / "link").symlink_to(cage.outside)
    await cage.run(
        "echo x > link/new; echo x > link/precious; ln -s ../outside l2; echo x > l2/new"
    )


async def test_write_through_a_hard_link_made_by_the_command(cage: Cage) -> None:
    await cage.run(f"ln {cage.outside}/precious mine && echo x > mine")


async def test_rename_out_and_link_out(cage: Cage) -> None:
    await cage.run(f"echo x > a; echo x > b; mv a {cage.outside}/a; ln b {cage.outside}/b; ls")


async def test_rename_what_is_outside_into_the_workspace(cage: Cage) -> None:
    await cage.run(f"mv {cage.outside}/precious taken")


async def test_write_by_way_of_proc(cage: Cage) -> None:
    await cage.run(
        f"echo x > /proc/self/root{cage.outside}/new; echo x > /proc/self/cwd/../outside/new;"
        f"echo x > /proc/$PPID/root{cage.outside}/new; echo x > /proc/1/root{cage.outside}/new"
    )


async def test_truncate_outside(cage: Cage) -> None:
    await cage.python(f"import os; os.truncate({str(cage.outside / 'precious')!r}, 0)")
    await cage.run(f"truncate -s 0 {cage.outside}/precious; : > {cage.outside}/precious")


async def test_delete_outside(cage: Cage) -> None:
    await cage.run(f"rm -rf {cage.outside}; rmdir {cage.outside}; find .. -name precious -delete")


async def test_make_pipes_sockets_and_devices_outside(cage: Cage) -> None:
    await cage.run(f"mkfifo {cage.outside}/p; mknod {cage.outside}/d c 1 3; mkdir {cage.outside}/m")


async def test_permissions_outside(cage: Cage) -> None:
    before = (cage.outside / "precious").stat()
    await cage.run(f"chmod 0 {cage.outside}/precious; touch -d 2001-01-01 {cage.outside}/precious")
    after = (cage.outside / "precious").stat()
    same = (before.st_mode, before.st_mtime) == (after.st_mode, after.st_mtime)
    assert same or cage.admits("permissions and timestamps")
    (cage.outside / "precious").chmod(before.st_mode)


async def test_write_at_home(cage: Cage) -> None:
    before = picture(cage.home)
    await cage.run(
        "echo x >> ~/.bashrc; echo x > ~/.ssh/authorized_keys; mkdir ~/.config/autostart"
    )
    assert picture(cage.home) == before


async def test_write_into_the_system(cage: Cage) -> None:
    marks = ["/etc/cowork-was-here", "/usr/cowork-was-here", "/var/cowork-was-here"]
    await cage.run("; ".join(f"touch {mark}" for mark in marks))
    assert not any(Path(mark).exists() for mark in marks)


async def test_write_where_other_programs_have_temporary_files(cage: Cage) -> None:
    victim = cage.base / "of-another-program"
    victim.write_text("plan")
    shared = Path(f"/dev/shm/cowork-was-here-{os.getpid()}")
    await cage.run(f"echo x > {victim}; echo x > {shared}")
    assert victim.read_text() == "plan"
    if cage.own_mounts:
        assert not shared.exists()
    shared.unlink(missing_ok=True)


async def test_kernel_settings(cage: Cage) -> None:
    setting = Path("/proc/sys/kernel/printk_ratelimit_burst")
    before = setting.read_text()
    await cage.run(f"echo 77 > {setting}; echo 77 > /proc/self/root{setting}")
    assert setting.read_text() == before


async def test_mounting_something_over_what_is_read_only(cage: Cage) -> None:
    mounts = Path("/proc/self/mounts").read_text()
    await cage.run(
        f"mount --bind . {cage.outside} && touch {cage.outside}/x;"
        "mount -o remount,rw,bind /; mount -o remount,rw /; umount -l /tmp; umount -l /run;"
        f"unshare -rm sh -c 'mount --bind . {cage.outside}; mount -o remount,rw /;"
        f" touch {cage.outside}/x'; touch {cage.outside}/x"
    )
    assert Path("/proc/self/mounts").read_text() == mounts


async def test_changing_the_root_folder(cage: Cage) -> None:
    code = f"import os; os.chroot('/'); os.chroot('..'); open({str(cage.outside / 'x')!r}, 'w')"
    assert "Error" in await cage.python(code)


async def test_an_open_descriptor_of_ours(cage: Cage) -> None:
    kept = os.open(cage.outside, os.O_RDONLY)
    os.set_inheritable(kept, True)
    try:
        code = "import os; print(sorted(os.listdir('/proc/self/fd')))"
        text = await cage.python(code)
        assert text.startswith("['0', '1', '2', '3']")  # the last one is the listing itself
        await cage.run(f"for n in $(seq 3 60); do touch /proc/self/fd/$n/new; done; touch {kept}")
    finally:
        os.close(kept)


async def test_devices(cage: Cage) -> None:
    disks = [p for p in Path("/dev").iterdir() if p.is_block_device() or p.name in ("mem", "kmsg")]
    reads = "; ".join(f"head -c 1 {disk} && echo READ-{disk.name}" for disk in disks)
    text = await cage.run(f"{reads}; mknod mine c 1 3; mknod disk b 8 0; ls")
    assert "READ-" not in text
    assert not any(stat.S_ISCHR(path.lstat().st_mode) for path in cage.root.iterdir())


# Swapping things while we look


async def test_the_folder_to_run_in_is_swapped_for_a_symlink(cage: Cage) -> None:
    (cage.root / "sub").mkdir()
    folder = os.open(cage.root / "sub", os.O_RDONLY)
    (cage.root / "sub").rename(cage.root / "moved")
    (cage.root / "sub").symlink_to(cage.outside)
    output = os.open(os.devnull, os.O_WRONLY)
    launch = Launch(
        ["/bin/sh", "-c", "echo x > new"], Workspace(cage.root), folder, "sub", output, {}, True
    )
    try:
        # It runs in the folder that was meant, or not at all.
        with contextlib.suppress(CoworkError):
            async with cage.sandbox.running(launch) as command:
                await command.wait()
    finally:
        os.close(folder)
        os.close(output)


async def test_a_folder_of_the_workspace_is_swapped_while_the_command_runs(cage: Cage) -> None:
    (cage.root / "sub").mkdir()
    await cage.run(
        "i=0; while [ $i -lt 200 ]; do mv sub was; ln -s ../outside sub; echo x > sub/new;"
        "rm sub; mv was sub; i=$((i+1)); done"
    )


async def test_a_command_that_cannot_be_confined_is_not_run(cage: Cage) -> None:
    cage.change(workspace=cage.base / "link")
    (cage.base / "link").symlink_to(cage.base / "ws")
    workspace = Workspace(cage.base / "ws")
    workspace.root = cage.base / "gone"
    folder = os.open(cage.base / "ws", os.O_RDONLY)
    output = os.open(os.devnull, os.O_WRONLY)
    launch = Launch(["/bin/touch", "ran"], workspace, folder, ".", output, {}, True)
    try:
        with pytest.raises((CoworkError, OSError)):
            async with cage.sandbox.running(launch):
                pass
    finally:
        os.close(folder)
        os.close(output)
    assert not (cage.base / "ws" / "ran").exists()


# Reading


async def test_read_secrets_at_home(cage: Cage) -> None:
    for name in SECRETS:
        assert (cage.home / name).read_text() == SECRET
    named = " ".join(f"~/{name} /proc/self/root{cage.home}/{name}" for name in SECRETS)
    assert SECRET not in await cage.run(f"cat {named}; grep -r s3cr3t ~; cat ~/.*/*")


async def test_read_a_secret_through_links(cage: Cage) -> None:
    key = cage.home / ".ssh" / "id_ed25519"
    (cage.root / "link").symlink_to(key)
    text = await cage.run(
        f"cat link; cp link copy; ln {key} hard; ln -s {key} soft; cat copy hard soft"
    )
    assert SECRET not in text
    assert not any(SECRET in p.read_text() for p in cage.root.iterdir() if not p.is_symlink())


async def test_read_a_secret_that_came_after_the_first_command(cage: Cage) -> None:
    await cage.run("true")
    for name in (".azure/token", ".config/rclone/rclone.conf", ".cargo/credentials.toml"):
        (cage.home / name).parent.mkdir(parents=True)
        (cage.home / name).write_text(SECRET)
    assert SECRET not in await cage.run("cat ~/.azure/* ~/.config/rclone/* ~/.cargo/*")


async def test_move_a_secret_to_where_it_can_be_read(cage: Cage) -> None:
    text = await cage.run("mv ~/.ssh ~/open; mv ~/.ssh ssh; cat ~/open/* ssh/*")
    assert SECRET not in text
    assert (cage.home / ".ssh" / "id_ed25519").exists()


async def test_read_our_own_records(cage: Cage) -> None:
    text = await cage.run(f"cat {cage.base}/data/cowork.sqlite; cp -r {cage.base}/data copy")
    assert SECRET not in text
    assert not any(path.is_file() for path in cage.root.rglob("*"))


async def test_read_our_records_in_the_workspace_itself(cage: Cage) -> None:
    cage.change(db_path=cage.root / "cowork.sqlite")
    (cage.root / "cowork.sqlite").write_text(SECRET)
    assert SECRET not in await cage.run("cat cowork.sqlite; mv cowork.sqlite x; cat x; cat *")
    assert (cage.root / "cowork.sqlite").read_text() == SECRET


async def test_read_passwords_of_the_system(cage: Cage) -> None:
    assert "root:" not in await cage.run("cat /etc/shadow /etc/gshadow /proc/self/root/etc/shadow")


async def test_read_sockets_and_tickets_of_others(cage: Cage) -> None:
    victim = cage.base / "krb5cc_0"
    victim.write_text(SECRET)
    assert SECRET not in await cage.run(f"cat {victim}; find /run -type f -exec cat {{}} + ")


async def test_home_is_closed(cage: Cage) -> None:
    assert "a,b" not in await cage.run("cat ~/data.csv; ls ~")


# The workspace is a home


async def test_home_as_workspace_keeps_its_secrets(cage: Cage) -> None:
    cage.change(workspace=cage.home)
    for role_runs in (cage.run, cage.test):
        text = await role_runs("cat .ssh/* .netrc .aws/*; grep -rs s3cr3t . ; mv .ssh x; cat x/*")
        assert SECRET not in text
    assert (cage.home / ".ssh" / "id_ed25519").exists()


async def test_home_as_workspace_keeps_its_start_up_files(cage: Cage) -> None:
    cage.change(workspace=cage.home)
    (cage.home / ".bashrc").write_text("mine")
    startup = cage.home / ".ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (cage.home / ".jupyter").mkdir()
    await cage.run(
        "echo evil >> .bashrc; echo evil > .bash_profile; echo evil > .zshenv; echo evil > evil;"
        "ln -s evil .bash_login; echo evil > .jupyter/x.py; mv .bashrc was; cp evil .profile;"
        "cd .ipython/profile_default/startup; echo evil > a.py; ln ~/evil b.py; ln -s ~/evil c.py"
    )
    assert (cage.home / ".bashrc").read_text() == "mine"
    assert list(startup.iterdir()) == list((cage.home / ".jupyter").iterdir()) == []
    for name in (".bash_profile", ".zshenv", ".bash_login", ".profile"):
        assert not os.path.lexists(cage.home / name)


async def test_home_as_workspace_can_be_worked_in(cage: Cage) -> None:
    (cage.home / "project").mkdir()
    cage.change(workspace=cage.home)
    text = await cage.run("cd project && mkdir a && echo x > a/b && mv a/b c && cat c ../data.csv")
    assert "x\na,b" in text


async def test_settings_that_a_workspace_carries(cage: Cage) -> None:
    for name in (".cowork", ".jupyter", ".ipython"):
        (cage.root / name).mkdir()
        (cage.root / name / "rules").write_text("mine")
    before = picture(cage.root)
    await cage.run("for d in .cowork .jupyter .ipython; do echo x > $d/rules; rm -rf $d; done")
    assert picture(cage.root) == before


# The tester


async def test_tester_cannot_change_the_workspace(cage: Cage) -> None:
    for name in ("a", "folder/b", ".git/config", ".git/hooks/pre-commit"):
        (cage.root / name).parent.mkdir(parents=True, exist_ok=True)
        (cage.root / name).write_text("mine")
    before = picture(cage.root)
    await cage.test(
        "echo x > a; echo x > new; rm -rf folder; mv a c; ln a d; ln -s a e; mkdir f; : > a;"
        "echo x > .git/config; echo x > .git/hooks/pre-commit; mkfifo g; truncate -s 0 folder/b;"
        "git config user.name x; cp a $TMPDIR/a; mv $TMPDIR/a .; ln $TMPDIR/a h"
    )
    assert picture(cage.root) == before


async def test_tester_cannot_change_permissions(cage: Cage) -> None:
    (cage.root / "a").write_text("mine")
    before = picture(cage.root)
    await cage.test("chmod 777 a; chmod 700 .")
    assert picture(cage.root) == before or cage.admits("permissions and timestamps")


async def test_tester_has_a_folder_for_scratch_that_goes_away(cage: Cage) -> None:
    code = (
        "echo $TMPDIR; cd $COWORK_SCRATCH && mkdir a && echo x > a/b && mv a/b c && cat c && mktemp"
    )
    text = await cage.test(code)
    assert "exit code 0" in text
    assert "\nx\n" in text
    name = Path(text.splitlines()[0]).name
    assert list(Path(tempfile.gettempdir()).glob(f"cowork-*/tests/{name}")) == []


@pytest.mark.parametrize("cage", each(len(WAYS), WAYS), indirect=True)
async def test_tester_can_run_pytest_in_a_read_only_workspace(cage: Cage) -> None:
    (cage.root / "test_it.py").write_text(
        "def test_it(tmp_path):\n    (tmp_path / 'a').write_text('x')\n"
    )
    (cage.root / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    before = picture(cage.root)
    text = await cage.test(f"{PYTEST} -q --lf test_it.py")
    assert "1 passed" in text, text
    assert picture(cage.root) == before


# Honest work


async def test_actor_can_use_git(cage: Cage) -> None:
    text = await cage.run(
        "git init -q . && echo x > a && git add a && git mv a b &&"
        "git -c user.name=n -c user.email=e commit -qm first && git log --oneline"
    )
    assert "first" in text, text
    assert "exit code 0" in text


@pytest.mark.parametrize("cage", each(len(WAYS), WAYS), indirect=True)
async def test_actor_can_make_an_environment_and_run_tests_in_it(cage: Cage) -> None:
    (cage.root / "test_it.py").write_text("def test_it(): pass\n")
    text = await cage.run(
        f"{python()} -m venv --without-pip env && env/bin/python -c 'print(6 * 7)' &&"
        f"{python()} -m pip --version && {PYTEST} -q -p no:cacheprovider test_it.py"
    )
    assert "42" in text, text
    assert "1 passed" in text, text


async def test_actor_can_work_in_parallel(cage: Cage) -> None:
    code = (
        "import multiprocessing as m, tempfile\n"
        "print(m.get_context('fork').Pool(2).map(abs, [-6, 7]))\n"
        "tempfile.NamedTemporaryFile().write(b'x')\n"
    )
    assert (await cage.python(code)).startswith("[6, 7]\n")


async def test_actor_can_move_files_between_folders(cage: Cage) -> None:
    text = await cage.run(
        "mkdir a b; echo x > a/f; mv a/f b/f; ln b/f a/g; chmod 700 b; cat a/g b/f"
    )
    assert text == "x\nx\n[exit code 0]"


async def test_what_one_command_leaves_in_its_temporary_folder_the_next_one_finds(
    cage: Cage,
) -> None:
    await cage.run("echo kept > $TMPDIR/note")
    assert "kept" in await cage.run("cat $TMPDIR/note")


async def test_nothing_is_left_in_the_temporary_folder_at_the_end(cage: Cage) -> None:
    await cage.run("echo x > $TMPDIR/note")
    (made,) = cage.sandbox._scratch.work.glob("note")
    cage.sandbox.close()
    assert not made.parent.parent.exists()


async def test_programs_and_devices_are_there(cage: Cage) -> None:
    text = await cage.run(
        "ls /usr/bin | wc -l; echo x > /dev/null; head -c 2 /dev/urandom | wc -c; date"
    )
    assert "exit code 0" in text
    assert "denied" not in text


async def test_a_local_socket_of_another_program(cage: Cage) -> None:
    path = cage.base / "agent.sock"
    with socket.socket(socket.AF_UNIX) as agent:
        agent.bind(str(path))
        agent.listen()
        agent.setblocking(False)
        text = await cage.python(
            f"import socket\nsocket.socket(socket.AF_UNIX).connect({str(path)!r})\nprint('in')"
        )
        with pytest.raises(BlockingIOError):
            agent.accept()
    assert "in\n" not in text


# Other machines


def only(way: str) -> pytest.MarkDecorator:
    """For what makes sense with one way of confining only."""
    return pytest.mark.parametrize("cage", [one for one in WAYS if one == way], indirect=True)


USER_NAMESPACES = not subprocess.run(["unshare", "-Urm", "true"], capture_output=True).returncode


@only("landlock alone")
@pytest.mark.parametrize("version", range(1, landlock_version() + 1))
async def test_older_kernels_hold_what_they_promise(cage: Cage, version: int) -> None:
    cage.sandbox.capabilities = replace(cage.sandbox.capabilities, landlock=version)
    text = await cage.run(
        f"echo x > {cage.outside}/new; echo x > mine; rm -rf ../outside; cat ~/.netrc"
    )
    assert SECRET not in text
    assert (cage.root / "mine").read_text() == "x\n"
    assert "mine" in await cage.test("rm mine; echo x > new; ls")
    assert [path.name for path in cage.root.iterdir()] == ["mine"]


@only("landlock" if USER_NAMESPACES else "landlock alone")
async def test_namespaces_of_an_ordinary_user(cage: Cage) -> None:
    """Root does not need them; where they work they are tried all the same."""
    if not USER_NAMESPACES:  # then it must be said that something is missing
        assert cage.admits("their own mounts")
        return
    cage.sandbox.capabilities = replace(cage.sandbox.capabilities, namespaces="user")
    (cage.root / "a").write_text("mine")
    await cage.run(f"echo x > {cage.outside}/new; chmod 0 {cage.outside}/precious; echo x > b")
    assert stat.S_IMODE((cage.outside / "precious").stat().st_mode) != 0
    before = picture(cage.root)
    assert set(before) == {"a", "b"}
    text = await cage.test(
        "chmod 0 a; rm a; cat ~/.netrc; grep CapEff /proc/self/status; cat /proc/net/dev"
    )
    assert SECRET not in text
    assert "CapEff:\t0000000000000000" in text
    assert "lo:" in text
    assert "eth" not in text
    assert picture(cage.root) == before


async def test_a_keeper_that_was_ended_is_replaced(cage: Cage) -> None:
    await cage.run("true")
    keeper = sandbox._LAUNCHER._process
    assert keeper is not None
    keeper.kill()
    keeper.wait()
    for _ in range(3):
        assert "again" in await cage.run("echo again")
    assert sandbox._LAUNCHER._process is not keeper
