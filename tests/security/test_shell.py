"""Command lines that hide what they do. The user has allowed all commands, and nobody can be
asked: whatever is not plain must not run. What a denied command would have done is on the disk.
"""

from __future__ import annotations

import pytest

from cowork_jupyter.domain.roles import AgentRole

from .house import House, code

pytestmark = pytest.mark.asyncio

RM = "rm precious.txt"

SUBSTITUTIONS = {
    "command substitution as a name": "$(echo rm) precious.txt",
    "backticks as a name": "`echo rm` precious.txt",
    "substitution in an argument": f"echo $({RM})",
    "substitution in double quotes": f'echo "$({RM})"',
    "substitution as a default value": f"echo ${{x:-$({RM})}}",
    "substitution in arithmetic": f"echo $((a[$({RM})]))",
    "substitution in a test": f"[[ -n $({RM}) ]]",
    "substitution in an index that test evaluates": f"test -v 'a[$({RM})]'",
    "substitution in an index that let evaluates": f"let 'a[$({RM})]=1'",
    "process substitution": f"cat <({RM})",
    "here-document that is expanded": f"cat <<E\n$({RM})\nE",
    "here-string that is expanded": f'cat <<< "$({RM})"',
    "a variable as a name": "X=rm; $X precious.txt",
    "a name put together": "a=r; b=m; $a$b precious.txt",
    "indirect variable": "x=y; y=rm; ${!x} precious.txt",
    "glob as a name": "/bin/r? precious.txt",
    "braces as a command": "{rm,precious.txt}",
    "escapes in a quoted name": "$'\\x72\\x6d' precious.txt",
    "separator from a variable": "rm${IFS}precious.txt",
}
WRAPPERS = {
    "assignment before a command": f"X=1 {RM}",
    "env": f"env {RM}",
    "env with an option": f"env -u X {RM}",
    "env that splits a string": f"env -S '{RM}'",
    "env that splits a string, attached": f"env -vS'{RM}'",
    "command": f"command {RM}",
    "exec": f"exec {RM}",
    "builtin eval": f"builtin eval '{RM}'",
    "eval": f"eval '{RM}'",
    "nohup": f"nohup {RM}",
    "timeout": f"timeout 5 {RM}",
    "nice": f"nice -n 5 {RM}",
    "setsid": f"setsid {RM}",
    "stdbuf": f"stdbuf -oL {RM}",
    "time": f"time {RM}",
    "negation": f"! {RM}",
    "busybox": f"busybox {RM}",
    "a shell": f"bash -c '{RM}'",
    "a shell in a shell": f"sh -c \"bash -c '{RM}'\"",
    "a shell that reads": f"echo '{RM}' | sh",
    "a shell with a here-document": f"bash <<'E'\n{RM}\nE",
    "xargs": "echo precious.txt | xargs rm",
    "a subshell": f"({RM})",
    "a group": f"{{ {RM}; }}",
    "an if": f"if true; then {RM}; fi",
    "a loop": "for f in precious.txt; do rm $f; done",
    "a case": f"case a in a) {RM};; esac",
    "a function": f"f() {{ {RM}; }}; f",
    "a function named like what is allowed": f"ls() {{ {RM}; }}\nls",
    "an alias": f"shopt -s expand_aliases\nalias ls='{RM}'\nls",
    "a trap": f"trap '{RM}' EXIT",
    "a coprocess": f"coproc {RM}",
    "in the background": f"true & {RM}",
    "through a pipe": f"true | {RM}",
    "a debug trap": f"trap '{RM}' DEBUG; true",
    "a prompt command": f"PS4='$({RM})'; set -x; true",
}
QUOTING = {
    "a backslash": "\\rm precious.txt",
    "quotes inside the name": "r''m precious.txt",
    "the name in quotes": "'rm' precious.txt",
    "the whole path": "/bin/rm precious.txt",
    "a path that goes around": "/usr/../bin/./rm precious.txt",
    "a line that goes on": "r\\\nm precious.txt",
    "a newline": f"true\n{RM}",
    "a carriage return": f"true\r\n{RM}",
    "a comment that ends": f"true # harmless\n{RM}",
    "a quote that is never closed": f"true '; {RM}",
    "a vertical tab": f"true\v;{RM}",
    "a line separator": f"true\u2028;{RM}",
    "letters from right to left": f"true \u202e;{RM}",
    "a space that is none": f"true\u00a0;{RM}",
    "zero width in the name": f"tr\u200bue;{RM}",
    "sixty harmless commands before it": "true; " * 60 + RM,
    "sixty more in one list": "true && " * 60 + RM,
    "ten thousand characters before it": "echo " + "x" * 10_000 + f"; {RM}",
}
FLAGS = {
    "find -delete": "find . -name precious.txt -delete",
    "find -exec": "find . -name precious.txt -exec rm {} ;",
    "find -execdir": "find . -name precious.txt -execdir rm {} +",
    "find -fprintf": "find . -fprintf precious.txt x",
    "find -fls": "find . -fls precious.txt",
    "sort -o": "sort -o precious.txt a.py",
    "sort -o, attached": "sort -oprecious.txt a.py",
    "sort --output": "sort --output=precious.txt a.py",
    "sort --out, cut short": "sort --out=precious.txt a.py",
    "sort --compress-program": "sort --compress-program=./x -S1 a.py",
    "sed -i": "sed -i s/p/q/ precious.txt",
    "sed w": "sed -n 'w precious.txt' a.py",
    "sed s///w": "sed s/4/5/wprecious.txt a.py",
    "sed s///e": "sed 's/.*/rm precious.txt/e' a.py",
    "sed e": "sed '1e rm precious.txt' a.py",
    "awk system": "awk 'BEGIN{system(\"rm precious.txt\")}'",
    "awk redirection": "awk '{print > \"precious.txt\"}' a.py",
    "awk getline": "awk 'BEGIN{\"rm precious.txt\"|getline}'",
    "tar --checkpoint-action": (
        "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm precious.txt' ."
    ),
    "tar --to-command": "tar xf x --to-command='rm precious.txt'",
    "tar --use-compress-program": "tar cf /dev/null -I 'rm precious.txt' a.py",
    "tar --remove-files": "tar cf /dev/null --remove-files precious.txt",
    "rg --pre": "rg --pre ./x answer",
    "rg --hostname-bin": "rg --hostname-bin ./x answer",
    "git -c core.pager": "git -c core.pager='rm precious.txt' -p log",
    "git -c alias": "git -c alias.x='!rm precious.txt' x",
    "git -c core.fsmonitor": "git -c core.fsmonitor='rm precious.txt' status",
    "git --output": "git diff --no-index --output=precious.txt a.py private/x.txt",
    "git --exec-path": "git --exec-path=. status",
    "git --git-dir": "git --git-dir=private status",
    "git grep --open-files-in-pager": "git grep --no-index -O'rm precious.txt' answer",
    "git archive --output": "git archive --output=precious.txt HEAD",
    "git checkout": "git checkout -- precious.txt",
    "man --pager": "man --pager='rm precious.txt' ls",
    "man -H": "man -H'rm precious.txt' ls",
    "tee": "tee precious.txt",
    "dd of": "dd if=a.py of=precious.txt",
    "truncate": "truncate -s 0 precious.txt",
    "uniq with an output": "uniq a.py precious.txt",
    "xxd with an output": "xxd a.py precious.txt",
    "tree -o": "tree -o precious.txt",
    "file -C": "file -C -m a.py",
    "date -s": "date -s 2001-01-01",
    "diff --to-file with a program": "diff --output=precious.txt a.py private/x.txt",
    "split": "split a.py precious.txt",
    "printf -v": "printf -v PATH .; ls",
    "read": "read PATH < a.py; ls",
    "mapfile -C": "mapfile -C 'rm precious.txt' -c 1 x < a.py",
    "compgen -C": "compgen -C 'rm precious.txt'",
    "hash -p": "hash -p ./x ls; ls",
    "enable -f": "enable -f ./x.so y",
    "source": "source x.sh",
    "a dot": ". ./x.sh",
}
NAMES = {
    "a file named like a flag": "rm -- -rf",
    "a file named like an output flag": "sort -- --output=precious.txt *",
    "what a glob makes of such files": "sort *",
    "a library loaded first": "LD_PRELOAD=./x.so ls",
    "a library loaded first by env": "env LD_PRELOAD=./x.so ls",
    "another search path": "PATH=.:$PATH ls",
    "another search path for all": "export PATH=.:$PATH; ls",
    "a start-up file for shells": "BASH_ENV=./x.sh bash a.sh",
    "a pager from the environment": "PAGER='rm precious.txt' man ls",
    "a preprocessor for less": "LESSOPEN='|rm precious.txt' less a.py",
}
REDIRECTIONS = {
    "over a file": "echo x > precious.txt",
    "over a file, forced": "echo x >| precious.txt",
    "at its end": "echo x >> precious.txt",
    "errors": "ls nowhere 2> precious.txt",
    "both": "echo x &> precious.txt",
    "for reading and writing": "echo x <> precious.txt",
    "of the shell itself": "exec 3> precious.txt",
    "in front of the command": "> precious.txt echo x",
    "with no command": "> precious.txt",
    "to a hook": "echo x > .git/hooks/pre-commit",
    "to a start-up file by way of a variable": "echo x > $HOME/.bashrc",
    "to a start-up file by way of a tilde": "echo x > ~/.bashrc",
    "outside": "echo x > ../outside/precious",
    "outside by way of cd": "cd .. && echo x > outside/precious",
    "to another machine": "echo x > /dev/tcp/127.0.0.1/9",
}


FAMILIES = {
    "substitution": SUBSTITUTIONS,
    "wrapper": WRAPPERS,
    "quoting": QUOTING,
    "flag": FLAGS,
    "name": NAMES,
    "redirection": REDIRECTIONS,
}


async def ran(house: House, commands: dict[str, str], *refusals: str) -> dict[str, object]:
    """What became of those that were not refused so, one after the other in one house."""
    results = {name: await house.run(command) for name, command in commands.items()}
    errors = {name: result["error"] for name, result in results.items()}
    return {
        name: error for name, error in errors.items() if not error or error["code"] not in refusals
    }


@pytest.mark.parametrize("family", FAMILIES)
async def test_not_run_although_all_commands_are_allowed(house: House, family: str) -> None:
    for name in ("x", "x.sh", "ls", "a.sh"):
        (house.root / name).write_text(f"#!/bin/sh\n{RM}\n")
        (house.root / name).chmod(0o755)
    for name in ("-rf", "--output=precious.txt", "x.so"):
        (house.root / name).write_text("x")
    house.rule("allow", "execute_command")
    house.look()
    assert await ran(house, FAMILIES[family], "denied_by_user", "denied") == {}


SEEN_THROUGH = {
    "substitution": {
        name: SUBSTITUTIONS[name]
        for name in (
            "substitution in an argument",
            "substitution in double quotes",
            "substitution as a default value",
            "process substitution",
            "here-document that is expanded",
        )
    },
    "wrapper": {
        name: command
        for name, command in WRAPPERS.items()
        if name not in ("a shell that reads", "a shell with a here-document", "a prompt command")
    },
    "quoting": {
        name: line for name, line in QUOTING.items() if name != "a quote that is never closed"
    },
    "flag": {
        name: FLAGS[name]
        for name in ("find -exec", "find -execdir", "tar --checkpoint-action", "git -c alias")
    },
}


@pytest.mark.parametrize("family", SEEN_THROUGH)
async def test_a_denial_holds_although_the_user_says_yes(house: House, family: str) -> None:
    house.rule("deny", "execute_command(rm)")
    house.rule("allow", "execute_command")
    house.says_yes()
    assert await ran(house, SEEN_THROUGH[family], "denied") == {}
    assert house.user.asked == []


async def test_nul_in_a_command(house: House) -> None:
    house.says_yes()
    assert code(await house.run(f"true\0; {RM}")) == "bad_parameters"


async def test_a_program_in_the_workspace_named_like_a_harmless_one(house: House) -> None:
    """`ls` runs without asking, so it must be the system's."""
    for name in ("ls", "bin/ls"):
        path = house.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{house.loot}\n")
        path.chmod(0o755)
    house.look()
    result = await house.run("ls")
    assert result["ok"]
    assert house.user.asked == []


async def test_a_program_of_the_folder_by_its_path(house: House) -> None:
    (house.root / "ls").write_text(f"#!/bin/sh\n{RM}\n")
    (house.root / "ls").chmod(0o755)
    house.look()
    assert code(await house.run("./ls")) == "denied_by_user"
    assert house.user.asked[0].scopes == ["once"], "what it does can change: no lasting rule"


async def test_what_was_left_in_the_background(house: House) -> None:
    house.says_yes()
    await house.run(f"sh -c 'sleep 1000; {house.loot}' & setsid sh -c 'sleep 1000; {house.loot}' &")
    assert len(house.user.asked) == 1


async def test_sixty_questions_that_tire_the_user(house: House) -> None:
    """Denied once, a call stays denied: the same is not asked in a loop for ever."""
    for _ in range(3):
        await house.run(RM)
    assert len(house.user.asked) == 3
    assert house.service.rules.all() == []


async def test_a_planner_with_a_plain_command(house: House) -> None:
    assert code(await house.run("ls", AgentRole.PLANNER)) == "not_permitted"
