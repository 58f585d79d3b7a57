"""Commands behind commands, for deny rules."""

from __future__ import annotations

import pytest

from cowork_jupyter.policy.shell import analyse, matches_prefix

WRAPPED = [
    "env rm x",
    "env -i -u B A=1 rm x",
    "env -S 'rm x'",
    "env -S'rm x'",
    'env -S "rm x" y',
    "env -vS 'rm x'",
    "env -ivS'rm x'",
    "env -u A -S'rm x'",
    "env -S'-i A=1 rm' x",
    "env -S'-S\"rm x\"'",
    "env -S '\\_rm\\_x'",
    "env --split-string='rm x'",
    "env --split-string 'rm x'",
    "env --s='rm x'",
    "env --argv0 y -S'rm x'",
    "/usr/bin/env -S'rm x'",
    "nice env -S'rm x'",
    "/usr/bin/env rm x",
    "/bin/rm x",
    "./../../bin/rm x",
    "RM x",
    "sudo rm x",
    "sudo -u bob -n A=1 rm x",
    "sudo --unknown rm x",
    "doas rm x",
    "su -c 'rm x'",
    "su -c'rm x'",
    "su --command='rm x'",
    "nohup rm x",
    "setsid -w rm x",
    "timeout 5 rm x",
    "timeout -s KILL --kill-after=3 5 rm x",
    "nice rm x",
    "nice -n 5 rm x",
    "nice -5 rm x",
    "ionice -c 3 rm x",
    "stdbuf -oL rm x",
    "time rm x",
    "time -p rm x",
    "command rm x",
    "command -p rm x",
    "builtin rm x",
    "exec rm x",
    "exec -a ls rm x",
    "coproc rm x",
    "xargs rm x",
    "xargs -0 -n 1 -I {} rm x",
    "busybox rm x",
    "chroot / rm x",
    "bash -c 'rm x'",
    "bash -lc 'rm x'",
    "bash -x -c 'rm x'",
    "bash -c -x 'rm x'",
    "sh -c 'ls; rm x'",
    "sh -c 'FOO=1 rm x'",
    "sh -c \"sh -c 'rm x'\"",
    "/bin/sh -c 'rm x'",
    "eval rm x",
    "eval 'rm x'",
    'eval "ls; rm" x',
    "trap 'rm x' EXIT",
    "alias ls='rm x'",
    "find . -exec rm x \\;",
    "find . -name y -execdir rm x +",
    "find . -ok rm x ';'",
    "fd y -x rm x",
    "git -c alias.y='!rm x' y",
    "git rebase --exec 'rm x'",
    "git rebase -x 'rm x' main",
    "git bisect run rm x",
    "git submodule foreach 'rm x'",
    "git filter-branch --tree-filter 'rm x'",
    "tar cf a b --to-command='rm x'",
    "tar cf a b -I 'rm x'",
    "tar cf a b --checkpoint-action=exec='rm x'",
    "sort --compress-program='rm x' a",
    "rg --pre 'rm x' a",
    "rsync -e 'rm x' a b",
    "rsync -ave'rm x' a b",
    "tar cf a b -I'rm x'",
    "man -P'rm x' a",
    "ssh host rm x",
    "ssh host 'ls; rm x'",
    "docker run --rm -v a:b image rm x",
    "watch -n 1 'rm x'",
    "uv run rm x",
    "conda run -n base rm x",
    "npx -- rm x",
    "env nohup nice timeout 5 sudo sh -c 'env rm x'",
    "sudo " * 20 + "rm x",
    "bash <<< 'rm x'",
    "bash <<'E'\nls\nrm x\nE\n",
]


@pytest.mark.parametrize("text", WRAPPED)
def test_a_denied_command_is_seen_through_what_wraps_it(text: str) -> None:
    nested = [argv for command in analyse(text).commands for argv in command.nested]
    assert any(matches_prefix(argv, ("rm", "x")) for argv in nested)


def test_git_is_seen_without_its_own_flags() -> None:
    (command,) = analyse("git -C a -c b=c --no-pager push origin").commands
    assert ("git", "push", "origin") in command.nested


@pytest.mark.parametrize(
    "text", ["timeout 5 grep -r rm .", "sudo echo rm", "env A=rm ls", "env ls -S rm", "echo rm x"]
)
def test_arguments_are_not_taken_for_commands(text: str) -> None:
    (command,) = analyse(text).commands
    assert not any(argv[0] == "rm" for argv in command.nested)


def test_more_than_is_looked_at_is_a_doubt() -> None:
    assert not analyse("sudo " * 200 + "rm x").plain
    deep = "rm x"
    for _ in range(4):
        deep = "sh -c " + repr(deep).replace("\\\\", "\\")
    assert not analyse("eval " * 30 + deep).plain
