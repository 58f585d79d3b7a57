"""Commands that a command would run in turn, so that a deny rule sees through what wraps them.

Where the wrapper's flags are known, its command is found exactly. Where they are not, every rest of
its words counts as one: that denies too much rather than too little.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence

from .git import without_globals
from .lexer import ASSIGNMENT
from .model import names
from .options import Flags
from .words import Word

Argv = tuple[str, ...]
MOST = 64
"""How many hidden commands are looked at; a line with more is not plain."""

SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh")
WRAPPERS: dict[str, tuple[Flags, int]] = {
    "sudo": (Flags("AbEHnPSkKisu:g:h:p:C:T:U:r:t:D:R:", "user= group= preserve-env? login"), 0),
    "doas": (Flags("Lnsu:C:"), 0),
    "env": (Flags("iu:C:0v", "ignore-environment unset= chdir= null debug"), 0),
    "nohup": (Flags(), 0),
    "setsid": (Flags("cfw", "ctty fork wait"), 0),
    "nice": (Flags("n:", "adjustment=", digits=True), 0),
    "ionice": (Flags("c:n:t", "class= classdata="), 0),
    "timeout": (Flags("k:s:vf", "signal= kill-after= preserve-status foreground verbose"), 1),
    "time": (Flags("pf:o:av", "portability format= output= append verbose"), 0),
    "stdbuf": (Flags("i:o:e:", "input= output= error="), 0),
    "command": (Flags("p"), 0),
    "builtin": (Flags(), 0),
    "exec": (Flags("cla:"), 0),
    "coproc": (Flags(), 0),
    "xargs": (
        Flags(
            "0a:d:E:I:L:n:P:prs:tx",
            "null arg-file= delimiter= replace? max-lines? max-args= max-procs= no-run-if-empty",
        ),
        0,
    ),
    "chroot": (Flags(), 1),
    "taskset": (Flags("ac"), 1),
    "busybox": (Flags(), 0),
    "toybox": (Flags(), 0),
    "fakeroot": (Flags(), 0),
    "caffeinate": (Flags("dimsu"), 0),
}
OPAQUE = names("""
    su runuser ssh docker podman kubectl nerdctl parallel strace ltrace gdb lldb valgrind perf
    unshare nsenter systemd-run watch flock entr expect tmux screen at batch uv uvx pipx poetry pdm
    pipenv hatch rye conda mamba micromamba npx npm pnpm yarn bunx bun tox nox direnv nix nix-shell
    nix-env proxychains torsocks bwrap firejail unbuffer rlwrap dbus-run-session xvfb-run chpst
    setarch linux32 linux64 prlimit numactl cgexec softlimit script setpriv capsh start-stop-daemon
    """)
_COMMAND_FLAGS = {
    "git": (
        "-x",
        "--exec",
        "--extcmd",
        "--upload-pack",
        "--receive-pack",
        "-O",
        "--open-files-in-pager",
    ),
    "tar": ("--to-command", "-I", "--use-compress-program", "--rsh-command", "--info-script", "-F"),
    "sort": ("--compress-program",),
    "rg": ("--pre", "--hostname-bin"),
    "man": ("-P", "--pager"),
    "rsync": ("-e", "--rsh", "--rsync-path"),
    "env": ("-S", "--split-string"),
    "zip": ("-TT", "--unzip-command"),
    "split": ("--filter",),
    "fd": ("-x", "-X", "--exec", "--exec-batch"),
}
_TAKES_ASSIGNMENTS = frozenset(["env", "sudo", "doas"])
_FIND_RUNS = frozenset(["-exec", "-execdir", "-ok", "-okdir"])


class Hidden:
    """Collects the commands behind a command, those behind them, and so on."""

    def __init__(self, read: Callable[[str], Iterable[Argv]]) -> None:
        self.read = read
        self.found: dict[Argv, None] = {}
        self.too_many = False

    def look_behind(self, words: Argv) -> None:
        """Find them all, until there are too many."""
        waiting = [words]
        while waiting:
            for argv in self._behind(waiting.pop()):
                if not argv or argv in self.found or argv == words:
                    continue
                if len(self.found) >= MOST:
                    self.too_many = True
                    return
                self.found[argv] = None
                waiting.append(argv)

    def told(self, name: str, text: str) -> None:
        """A shell is given commands as its input."""
        if posixpath.basename(name) in SHELLS:
            for argv in self.read(text):
                self.found[argv] = None
                self.look_behind(argv)

    def _behind(self, words: Argv) -> Iterator[Argv]:
        name, rest = words[0], words[1:]
        base = posixpath.basename(name).lower()
        if base and base != name:
            yield (base, *rest)
            return
        if name in WRAPPERS:
            yield from _wrapped(name, rest)
        elif name in OPAQUE:
            yield from (rest[at:] for at in range(len(rest)))
            for text in rest:
                if " " in text:
                    yield from self.read(text)
        elif name == "git":
            yield from self._git(words)
        for text in _strings(name, rest):
            yield from self.read(text)
        if name in ("find", "fd"):
            yield from _find(rest)

    def _git(self, words: Argv) -> Iterator[Argv]:
        yield without_globals(words)
        for at, text in enumerate(words):
            key, _, value = text.partition("=")
            if value.startswith("!"):
                yield from self.read(value[1:])
            elif key.startswith("alias.") and value:
                yield from self.read("git " + value)
            elif text in ("run", "foreach"):
                yield words[at + 1 :]
                yield from self.read(" ".join(words[at + 1 :]))
            elif text.endswith("-filter"):
                yield from self.read(" ".join(words[at + 1 : at + 2]))


def _wrapped(name: str, rest: Argv) -> Iterator[Argv]:
    flags, skipped = WRAPPERS[name]
    parsed = flags.parse([Word(text, text) for text in rest], permuted=False)
    if parsed.unknown:
        yield from (rest[at:] for at in range(len(rest)))
        return
    inner = [word.text for word in parsed.operands]
    while name in _TAKES_ASSIGNMENTS and inner and ASSIGNMENT.match(inner[0]):
        del inner[0]
    yield tuple(inner[skipped:])


def _strings(name: str, rest: Argv) -> Iterator[str]:
    """Arguments that are command lines themselves."""
    if name in SHELLS:
        if any(text[:1] in "-+" and "c" in text for text in rest if text):
            yield from (text for text in rest if text[:1] not in ("-", "+"))
    elif name == "eval":
        yield " ".join(rest)
    elif name == "trap":
        yield from rest[:1]
    elif name == "alias":
        yield from (text.partition("=")[2] for text in rest if "=" in text)
    flags = _COMMAND_FLAGS.get(name, ())
    for at, text in enumerate(rest):
        flag, equals, value = text.partition("=")
        if flag in flags:
            yield value if equals else " ".join(rest[at + 1 : at + 2])
        elif flag == "--checkpoint-action":
            yield value.removeprefix("exec=")


def _find(rest: Sequence[str]) -> Iterator[Argv]:
    for at, text in enumerate(rest):
        if text in _FIND_RUNS or text in _COMMAND_FLAGS["fd"]:
            inner = list[str]()
            for word in rest[at + 1 :]:
                if word in (";", "+"):
                    break
                inner.append(word)
            yield tuple(inner)
