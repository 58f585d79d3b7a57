"""What a program does: looks it up in the tables, or says that it is not known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .git import examine_git
from .hidden import OPAQUE, SHELLS, WRAPPERS
from .lexer import ASSIGNMENT
from .model import Effect, names
from .options import Flags, Use, unknown_flag
from .special import SPECIAL
from .table import PROGRAMS
from .words import Quirk, Word

INTERPRETERS = names("""
    python pypy ipython node nodejs deno ruby perl php lua luajit r rscript julia java javac jshell
    scala kotlin groovy tclsh wish guile racket sbcl ghci ocaml erl elixir iex swift osascript
    octave matlab sqlite3 psql mysql duckdb mongosh redis-cli vi vim nvim view ed ex emacs nano bc
    dc m4 gdb awk gawk mawk nawk jupyter papermill
    """)
BUILDERS = names("""
    make gmake cmake ninja meson bazel ant mvn gradle gradlew rake just task go cargo rustc gcc g++
    cc clang tsc webpack vite dotnet sbt lein stack cabal pytest ruff mypy black isort flake8 pylint
    pre-commit coverage sphinx-build mkdocs dvc snakemake nextflow airflow dbt streamlit gunicorn
    uvicorn flask django-admin celery ansible ansible-playbook terraform vagrant crontab systemctl
    service launchctl open xdg-open
    """)
INSTALLERS = names("""
    pip pipx uv conda mamba micromamba poetry pdm pipenv npm pnpm yarn bun gem apt apt-get aptitude
    dpkg yum dnf rpm zypper pacman apk brew port snap flatpak choco winget cpan cpanm luarocks opam
    nix-env easy_install
    """)
_INSTALL_WORDS = names(
    "install add update upgrade uninstall remove sync ci download wheel create -S i"
)
_REMOTE = names("ssh scp sftp ftp nc ncat netcat telnet socat aws gcloud az gsutil gh")
_CHANGES_SHELL = names("""
    eval source . alias unalias trap coproc exec enable shopt bind complete compgen compopt read
    mapfile readarray let declare typeset local export readonly unset getopts pushd popd dirs ulimit
    umask fc history shift return break continue time logout suspend kill disown fg bg jobs
    """)
_STORES = re.compile(r"%[-+ #0-9.*']*[hlLjzt]*n")
_TELLS_VERSION = names(
    """
    python pypy node perl lua r rscript julia bash sh dash zsh make gmake cmake gcc g++ clang docker
    podman pip conda mamba uv ruff mypy jupyter
    """
)
"""Not those that run what the folder brings even then: yarn, mvn, gradle, pytest and the like."""
_PIP_READS = names("list show freeze check --version -V")
_PIP_FLAGS = Flags(
    "vqlf", "format= user local not-required files verbose quiet no-color disable-pip-version-check"
)
_CONDA_READS = frozenset([("env", "list"), ("info",), ("list",), ("--version",)])
_JUPYTER_READS = frozenset(
    [("--version",), ("--paths",), ("lab", "--version"), ("kernelspec", "list")]
)
_VERSION = frozenset([("--version",), ("-V",)])
_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/([^/]+)")
_NUMBERED = re.compile(r"(python|pypy|pip|perl|ruby|node|lua|php|gcc|clang)[0-9][0-9.]*")


def program_name(word: str) -> str:
    """The name that the tables know a program by; the path itself when it is no system program."""
    if match := _SYSTEM.fullmatch(word):
        word = match[1]
    if match := _NUMBERED.fullmatch(word):
        return match[1]
    return word


def examine(words: Sequence[Word]) -> Use:
    """What the program does with these words, as far as they prove it."""
    name, rest = program_name(words[0].text), words[1:]
    texts = tuple(word.text for word in rest)
    use = _examine_known(name, rest, texts)
    use.doubts += [doubt for check in _CHECKS.get(name, ()) for doubt in check(texts)]
    if name in _CHANGES_SHELL:
        use.doubts.append(f"“{name}” changes what the shell does next, or runs what it is told.")
    use.doubts += _word_doubts(name, rest)
    return use


def _examine_known(name: str, rest: Sequence[Word], texts: tuple[str, ...]) -> Use:
    if name == "git":
        return examine_git(rest)
    if name in SPECIAL:
        return SPECIAL[name](rest)
    if name in PROGRAMS:
        return PROGRAMS[name].examine(name, rest)
    if name == "command" and texts[:1] in (("-v",), ("-V",)):
        return Use({Effect.READS})
    if name == "env" and not texts:
        return Use({Effect.READS})
    if name in WRAPPERS:
        parsed = WRAPPERS[name][0].parse(rest, permuted=False)
        doubts = [unknown_flag(name, flag) for flag in parsed.unknown]
        return Use({Effect.RUNS_CODE}, doubts=doubts)
    return Use(_effects(name, texts))


def _effects(name: str, texts: tuple[str, ...]) -> set[Effect]:
    """Of programs whose flags are not looked at: they ask anyhow, the effects say why."""
    lower = name.lower()
    runs = lower in INTERPRETERS | BUILDERS | INSTALLERS | OPAQUE or name in SHELLS
    if lower in _TELLS_VERSION and texts in _VERSION:
        return {Effect.READS}
    if lower == "jupyter" and texts in _JUPYTER_READS:
        return {Effect.READS}
    if lower == "pip" and texts and texts[0] in _PIP_READS and not _pip_unknown(texts):
        return {Effect.READS}
    if lower in ("conda", "mamba") and texts in _CONDA_READS:
        return {Effect.READS}
    effects = set[Effect]()
    if lower in INSTALLERS and _INSTALL_WORDS & set(texts):
        effects |= {Effect.INSTALLS, Effect.NETWORK}
    if lower == "python" and texts[:2] == ("-m", "pip") and _INSTALL_WORDS & set(texts):
        effects |= {Effect.INSTALLS, Effect.NETWORK}
    if lower in _REMOTE:
        effects |= {Effect.NETWORK, Effect.RUNS_CODE}
    if runs or "/" in name:
        effects.add(Effect.RUNS_CODE)
    return effects or {Effect.UNKNOWN}


_WORD_DOUBTS = {
    Quirk.VARIABLE: "What “{}” stands for is not known.",
    Quirk.SUBSTITUTION: "What the shell puts in the place of “{}” is not known.",
    Quirk.BRACES: "The shell makes several words of “{}”.",
    Quirk.TILDE: "The shell puts a home folder in the place of “{}”.",
    Quirk.HISTORY: "A shell may take “{}” for an earlier command.",
    Quirk.ENCODING: "What “{}” says depends on the machine.",
    Quirk.UNREADABLE: "“{}” cannot be read for sure.",
}
_SHOWN = 80


def _word_doubts(name: str, rest: Sequence[Word]) -> list[str]:
    """`echo $HOME` only says something; for all others an unknown word may be a flag or a file."""
    doubts = list[str]()
    for word in rest:
        for quirk in sorted(word.quirks - ({Quirk.VARIABLE} if name == "echo" else set())):
            if quirk is not Quirk.GLOB:
                doubts.append(_WORD_DOUBTS[quirk].format(word.source[:_SHOWN]))
            elif name != "echo" and word.source[0] in "*?[-":
                doubts.append(f"A file name that “{word.source[:_SHOWN]}” finds could be a flag.")
    return doubts


def _pip_unknown(texts: tuple[str, ...]) -> list[str]:
    """Flags of pip that reach out, write a log or run another Python are not in the list."""
    return _PIP_FLAGS.parse([Word(text, text) for text in texts[1:]]).unknown


def _printf(texts: tuple[str, ...]) -> list[str]:
    """`%n` puts a number into a variable, which may be PATH."""
    sets = any(_STORES.search(text.replace("%%", "")) for text in texts)
    return ["It may set a variable."] if sets else []


def _less(texts: tuple[str, ...]) -> list[str]:
    return ["It gives the pager a command."] if any(text[:1] == "+" for text in texts) else []


def _date(texts: tuple[str, ...]) -> list[str]:
    """An operand that is no format sets the clock."""
    told = PROGRAMS["date"].flags.parse([Word(text, text) for text in texts]).operands
    return ["It may set the clock."] if any(word.text[:1] != "+" for word in told) else []


def _curl(texts: tuple[str, ...]) -> list[str]:
    sends = any("@" in (text[:1], text[2:3]) or "=@" in text for text in texts)
    local = any(text.lower().startswith("file:") for text in texts)
    return ["It may read or send a file."] if sends or local else []


def _jq(texts: tuple[str, ...]) -> list[str]:
    found = any(re.search(r"\b(?:import|include)\b", text) for text in texts)
    return ["The jq program may read other files."] if found else []


def _ps(texts: tuple[str, ...]) -> list[str]:
    """`ps e` shows the environment of other processes, and with it their secrets."""
    shows = any("environ" in text for text in texts) or any(
        "e" in text for text in texts if not text.startswith("-") and text.isalpha()
    )
    return ["It may show the environment of other programs."] if shows else []


def _env(texts: tuple[str, ...]) -> list[str]:
    """`env LD_PRELOAD=./x ls` does what an assignment before the command does."""
    sets = any(ASSIGNMENT.match(text) for text in texts)
    return ["It sets a variable for the command, which can change what that does."] if sets else []


def _shell(texts: tuple[str, ...]) -> list[str]:
    """`echo … | sh`: with no file and no text of its own, it runs what it is passed."""
    told = any(text[:1] not in ("-", "+") for text in texts) and "-s" not in texts
    passed = not told and texts not in _VERSION
    return ["The shell runs what it is passed, which is not spelled out."] if passed else []


_CHECKS: dict[str, tuple[Callable[[tuple[str, ...]], list[str]], ...]] = {
    "less": (_less,),
    "more": (_less,),
    "date": (_date,),
    "curl": (_curl,),
    "jq": (_jq,),
    "printf": (_printf,),
    "ps": (_ps,),
    "env": (_env,),
    **dict.fromkeys(SHELLS, (_shell,)),
}
