"""Programs that run code or other programs, install software or use the network; see `table`.

Their flags are not all known, so their own effects are assumed of every use, and a row adds what
some arguments do. Also contains Python modules, for `python -m`.
"""

from __future__ import annotations

from .model import CommandEffect, names
from .options import ANYWHERE, NO_FLAGS, Flags, Program

_CODE = frozenset({CommandEffect.RUNS_CODE})
_PROGRAMS = frozenset({CommandEffect.RUNS_CODE, CommandEffect.RUNS_PROGRAMS})
_REMOTE = frozenset({CommandEffect.NETWORK, CommandEffect.RUNS_CODE})
_WRITES = frozenset({CommandEffect.WRITES})
_UNKNOWN = frozenset({CommandEffect.UNKNOWN})
_VERSION = ("--version", "-V")
_INSTALL = "install add update upgrade uninstall remove sync ci download wheel create -S i inject"

SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh")


def _runs(
    effects: frozenset[CommandEffect] = _CODE,
    *,
    tells: tuple[str, ...] = (),
    tells_with: Flags | None = None,
    wraps: int | None = None,
    kept: bool = False,
    runs: str = "",
    writes: str = "",
    deletes: str = "",
    sends: str = "",
    installs: str = "",
    installs_built: str = "",
) -> Program:
    """Own effects, and the arguments that add others. Installing implies the network, except for
    `installs_built`.
    """
    more = {
        CommandEffect.RUNS_PROGRAMS: runs,
        CommandEffect.WRITES: writes,
        CommandEffect.DELETES: deletes,
        CommandEffect.NETWORK: f"{sends} {installs}",
        CommandEffect.INSTALLS: f"{installs} {installs_built}",
    }
    return Program(
        effects,
        None,
        more={effect: text for effect, text in more.items() if text.strip()},
        tells=tells,
        tells_with=tells_with,
        wraps=wraps,
        kept=kept,
    )


def _rows(text: str, row: Program) -> dict[str, Program]:
    return dict.fromkeys(text.split(), row)


def _wrapper(flags: Flags = NO_FLAGS, skipped: int = 0) -> Program:
    """Runs the command that follows its flags and `skipped` operands."""
    return Program(_CODE, flags, wraps=skipped, kept=False)


_OPAQUE = _runs(_PROGRAMS, wraps=ANYWHERE)
_SERVER = _runs(_REMOTE)
_PIP = Flags(
    "vqlf", "format= user local not-required files verbose quiet no-color disable-pip-version-check"
)

_WRAPPERS: dict[str, Program] = {
    "sudo": _wrapper(
        Flags("AbEHnPSkKisu:g:h:p:C:T:U:r:t:D:R:", "user= group= preserve-env? login")
    ),
    "doas": _wrapper(Flags("Lnsu:C:")),
    "env": Program(
        _CODE,
        Flags("iu:C:0v", "ignore-environment unset= chdir= null debug"),
        more={CommandEffect.RUNS_PROGRAMS: "-S --split-string"},
        tells=("",),
        wraps=0,
        kept=False,
    ),
    "setsid": _wrapper(Flags("cfw", "ctty fork wait")),
    "nice": _wrapper(Flags("n:", "adjustment=", digits=True)),
    "ionice": _wrapper(Flags("c:n:t", "class= classdata=")),
    "timeout": _wrapper(
        Flags("k:s:vf", "signal= kill-after= preserve-status foreground verbose"), 1
    ),
    "time": _wrapper(Flags("pf:o:av", "portability format= output= append verbose")),
    "stdbuf": _wrapper(Flags("i:o:e:", "input= output= error=")),
    "command": Program(
        _CODE, Flags("p"), tells=("-v", "-V"), tells_with=NO_FLAGS, wraps=0, kept=False
    ),
    "exec": _wrapper(Flags("cla:")),
    "xargs": _wrapper(
        Flags(
            "0a:d:E:I:L:n:P:prs:tx",
            "null arg-file= delimiter= replace? max-lines? max-args= max-procs= no-run-if-empty",
        )
    ),
    "chroot": _wrapper(skipped=1),
    "taskset": _wrapper(Flags("ac"), 1),
    "caffeinate": _wrapper(Flags("dimsu")),
    **_rows("nohup builtin coproc busybox toybox fakeroot", _wrapper()),
}

_INTERPRETERS: dict[str, Program] = {
    **dict.fromkeys(SHELLS, _runs(tells=_VERSION, runs="-c")),
    **_rows("python pypy perl lua rscript julia", _runs(tells=_VERSION)),
    "node": _runs(tells=_VERSION, sends="--inspect --inspect-brk --inspect-wait"),
    "r": _runs(tells=_VERSION, installs="INSTALL", deletes="REMOVE", runs="-g --gui -d"),
    **_rows(
        """ipython nodejs ruby luajit java javac jshell scala kotlin groovy tclsh wish guile racket
        sbcl ghci ocaml erl elixir iex swift osascript octave matlab sqlite3 psql mysql duckdb
        mongosh redis-cli vi vim nvim view ed ex emacs nano bc dc m4 nawk papermill""",
        _runs(),
    ),
    "deno": _runs(installs="install add", sends="serve upgrade publish"),
    "php": _runs(sends="-S"),
    "jupyter": _runs(
        tells=(*_VERSION, "--paths", "lab --version", "kernelspec list"),
        installs="install enable disable labextension",
        deletes="remove uninstall clean",
        sends="lab notebook server nbclassic server-proxy",
    ),
}

_CHECKERS: dict[str, Program] = {
    "pytest": _runs(
        kept=True,
        sends="--pastebin --tx --rsyncdir --override-ini -o @",
        deletes="--basetemp --cache-clear --override-ini -o @",
        writes="--junitxml --junit-xml --log-file --debug --report-log --html",
    ),
    "ruff": _runs(
        kept=True,
        tells=_VERSION,
        writes="format --fix --fix-only --add-noqa --output-file -o",
        deletes="clean",
        sends="server",
    ),
    "mypy": _runs(
        kept=True,
        tells=_VERSION,
        installs="--install-types",
        writes="--junit-xml --html-report --xml-report --txt-report --cobertura-xml-report",
    ),
    **_rows("flake8 pylint", _runs(kept=True, writes="--output-file --output --generate-rcfile")),
    **_rows("black isort", _runs(_CODE | _WRITES)),
}

_BUILDERS: dict[str, Program] = {
    **_rows(
        "make gmake",
        _runs(
            tells=_VERSION,
            runs="--eval -E --file --makefile -f --directory -C --include-dir -I =",
            installs_built="install uninstall",
            deletes="clean distclean mrproper",
            sends="deploy publish upload release push",
        ),
    ),
    **_rows("gcc g++ clang", _runs(tells=_VERSION, runs="-wrapper @")),
    "cmake": _runs(
        tells=_VERSION,
        installs_built="--install install",
        runs="env time tar",
        deletes="rm remove remove_directory clean",
        writes="copy copy_directory copy_if_different rename touch make_directory create_symlink",
    ),
    **_rows(
        """ninja meson bazel ant mvn gradle gradlew rake just task rustc cc tsc webpack vite sbt
        lein stack cabal pre-commit sphinx-build mkdocs dvc snakemake nextflow airflow dbt celery
        django-admin manage.py""",
        _runs(
            installs="install add update restore",
            deletes="clean gc destroy flush",
            sends="deploy publish upload release push pull fetch serve runserver gh-deploy",
        ),
    ),
    "go": _runs(
        installs="install get", deletes="clean", sends="mod", runs="generate -exec -toolexec"
    ),
    "cargo": _runs(installs="install add update fetch", deletes="clean", sends="publish"),
    "dotnet": _runs(installs="add restore tool", sends="publish nuget"),
    "coverage": _runs(runs="run", writes="html xml json lcov annotate combine", deletes="erase"),
    "setup.py": _runs(installs="install develop", sends="upload register", writes="sdist build"),
    **_rows(
        "streamlit gunicorn uvicorn flask waitress-serve hypercorn daphne ansible ansible-playbook",
        _SERVER,
    ),
    **_rows("crontab systemctl service launchctl open xdg-open", _runs(_PROGRAMS)),
    **_rows("terraform tofu pulumi vagrant helm", _runs(_PROGRAMS | _REMOTE)),
}

_INSTALLERS: dict[str, Program] = {
    "pip": _runs(
        tells=("list", "show", "freeze", "check", *_VERSION),
        tells_with=_PIP,
        installs=_INSTALL,
        sends="index search lock --outdated --uptodate --index-url --proxy",
        writes="config --log",
        deletes="purge",
    ),
    **_rows(
        """gem apt apt-get aptitude dpkg yum dnf rpm zypper pacman apk brew port snap flatpak choco
        winget cpan cpanm luarocks opam easy_install playwright""",
        _runs(installs=f"{_INSTALL} -i --install -U reinstall"),
    ),
    **_rows(
        "conda mamba micromamba",
        _runs(
            _PROGRAMS,
            wraps=ANYWHERE,
            tells=("env list", "info", "list", "--version", "-V"),
            installs=_INSTALL,
        ),
    ),
    "uv": _runs(_PROGRAMS, wraps=ANYWHERE, tells=_VERSION, installs=_INSTALL),
    **_rows(
        "pipx poetry pdm pipenv npm pnpm yarn bun nix-env hatch rye",
        _runs(_PROGRAMS, wraps=ANYWHERE, installs=_INSTALL, sends="publish"),
    ),
}

_STARTERS: dict[str, Program] = {
    **_rows(
        """su runuser kubectl nerdctl parallel strace ltrace gdb lldb valgrind perf unshare nsenter
        systemd-run watch flock entr expect tmux screen at batch uvx npx bunx tox nox direnv nix
        nix-shell proxychains torsocks bwrap firejail unbuffer rlwrap dbus-run-session xvfb-run
        chpst setarch linux32 linux64 prlimit numactl cgexec softlimit script setpriv capsh
        start-stop-daemon""",
        _OPAQUE,
    ),
    **_rows("docker podman", _runs(_PROGRAMS, wraps=ANYWHERE, tells=_VERSION)),
    "ssh": _runs(_PROGRAMS | _REMOTE, wraps=ANYWHERE),
    **_rows("scp sftp ftp nc ncat netcat telnet socat", _runs(_REMOTE)),
    **_rows("aws gcloud az gsutil gh twine gdown kaggle http https httpie wget2", _runs(_REMOTE)),
    "fd": _runs(_UNKNOWN, kept=True, runs="-x -X --exec --exec-batch"),
    "patch": Program(_WRITES, None, brings=True, kept=False),
}

_MODULES: dict[str, Program] = {
    **_rows(
        """http.server webbrowser antigravity pydoc xmlrpc.server wsgiref.simple_server smtpd ftplib
        telnetlib pyftpdlib aiohttp.web twisted notebook jupyterlab nltk.downloader
        huggingface_hub""",
        _SERVER,
    ),
    "ensurepip": _runs(frozenset({CommandEffect.INSTALLS}) | _CODE),
    "spacy": _runs(installs="download"),
    **_rows("venv virtualenv compileall zipapp build lib2to3", _runs(_CODE | _WRITES)),
    **_rows("zipfile tarfile", _runs(writes="-e --extract -c --create")),
    **_rows("json.tool gzip cProfile profile trace", _runs(writes="-o -C -d --coverdir --outfile")),
}

RUNNING: dict[str, Program] = {
    **_INTERPRETERS,
    **_CHECKERS,
    "py.test": _CHECKERS["pytest"],
    **_BUILDERS,
    **_INSTALLERS,
    **_STARTERS,
    **_MODULES,
    **_WRAPPERS,
}
