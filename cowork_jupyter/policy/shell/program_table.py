"""The rows of the table of programs; `programs` looks them up.

Of programs that read, print information, write or fetch all flags are known. Of those that run code
or other programs, install software or use the network they are not, so their own effects are
assumed of every use, and a row adds what some arguments do. Python modules, for `python -m`, are
among them.
"""

from __future__ import annotations

from .model import CommandEffect, names
from .options import ANYWHERE, NO_FLAGS, Flags, Operands, Program

_READS = frozenset({CommandEffect.READS})


def _reader(
    short: str = "", long: str = "", *, digits: bool = False, max_operands: int | None = None
) -> Program:
    return Program(_READS, Flags(short, long, digits), max_operands=max_operands)


def _lister(short: str = "", long: str = "") -> Program:
    """Shows names, sizes or kinds of files, not their contents."""
    return Program(_READS, Flags(short, long), names_only=True)


_SUM = _reader("bctwz", "binary check text tag zero ignore-missing quiet status strict warn")

FILE_READERS: dict[str, Program] = {
    "cat": _reader(
        "AbeEnstTuv",
        "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting",
    ),
    "tac": _reader("brs:", "before regex separator="),
    "nl": _reader("b:d:f:h:i:l:n:ps:v:w:", "body-numbering= number-format= number-width="),
    "head": _reader("c:n:qvz", "bytes= lines= quiet silent verbose zero-terminated", digits=True),
    "tail": _reader(
        "c:fFn:qs:vz",
        """bytes= follow? lines= pid= quiet silent retry sleep-interval= verbose zero-terminated""",
        digits=True,
    ),
    "wc": Program(
        _READS, Flags("clmLw", "bytes chars lines words max-line-length total="), names_only=True
    ),
    "less": Program(_READS, Flags("eEFiImMnNqQrRsSX")),
    "more": Program(_READS, Flags("dflcpsu")),
    "grep": Program(
        _READS,
        Flags(
            "aA:bB:cC:d:D:e:Ef<FGhHiIlLm:noPqrRsTUvVwxyZz",
            """extended-regexp fixed-strings basic-regexp perl-regexp regexp= file< ignore-case
            no-ignore-case word-regexp line-regexp null-data no-messages invert-match version
            help max-count= byte-offset line-number line-buffered with-filename no-filename
            label= only-matching quiet silent binary-files= text directories= devices= recursive
            dereference-recursive include= exclude= exclude-from< exclude-dir=
            files-without-match files-with-matches count initial-tab null before-context=
            after-context= context= color? colour? binary""",
            True,
        ),
        Operands.PATTERN,
    ),
    "rg": Program(
        _READS,
        Flags(
            "A:B:C:ce:f<Fg:hHiIlLm:M:nNopPqr:sSt:T:uUvVwx0.",
            """after-context= before-context= context= count count-matches regexp= file<
            fixed-strings glob= iglob= no-heading heading hidden no-ignore no-ignore-vcs
            ignore-case ignore-file< files files-with-matches files-without-match follow
            invert-match json line-number no-line-number line-regexp max-columns= max-count=
            max-depth= max-filesize= multiline multiline-dotall no-filename with-filename null
            only-matching passthru pcre2 pretty quiet replace= smart-case case-sensitive sort=
            sortr= stats text trim type= type-not= type-list unrestricted vimgrep word-regexp
            color= column version help one-file-system no-messages no-config""",
        ),
        Operands.PATTERN,
    ),
    "diff": _reader(
        "abBcdeEiI:nNpqrstTuU:wx:yW:C:",
        """brief report-identical-files context? unified? side-by-side width= recursive new-file
        ignore-case ignore-space-change ignore-all-space ignore-blank-lines exclude= color? text
        minimal normal suppress-common-lines strip-trailing-cr""",
    ),
    "cmp": _reader("bi:ln:s", "print-bytes ignore-initial= verbose bytes= quiet silent"),
    "comm": _reader("123z", "check-order nocheck-order output-delimiter= total zero-terminated"),
    "join": _reader("a:e:i1:2:j:o:t:v:z", "ignore-case header check-order nocheck-order"),
    "paste": _reader("d:sz", "delimiters= serial zero-terminated"),
    "cut": _reader(
        "b:c:d:f:nsz",
        """bytes= characters= delimiter= fields= complement only-delimited output-delimiter=
        zero-terminated""",
    ),
    "sort": _reader(
        "bcCdfghik:mMno>rRsS:t:uVz",
        """ignore-leading-blanks check? dictionary-order ignore-case general-numeric-sort
        human-numeric-sort ignore-nonprinting key= merge month-sort numeric-sort output> reverse
        random-sort stable field-separator= unique version-sort zero-terminated parallel= sort=""",
    ),
    "uniq": _reader(
        "cdDf:is:uw:z",
        """count repeated all-repeated? skip-fields= ignore-case skip-chars= unique check-chars=
        group? zero-terminated""",
        max_operands=1,
    ),
    "fold": _reader("bsw:", "bytes spaces width="),
    "fmt": _reader("cstuw:g:p:", "width="),
    "column": _reader(
        "c:ts:o:N:xeJn:R:H:O:", "table separator= output-separator= table-columns= json"
    ),
    "expand": _reader("it:", "initial tabs="),
    "rev": _reader(),
    "od": _reader("A:j:N:S:t:vw?abcdfiloxs", "address-radix= format= read-bytes= skip-bytes="),
    "hexdump": _reader("bcCdn:os:vxe:", "canonical length= skip="),
    "xxd": _reader("abc:Eeg:hil:o:ps:uv", "", max_operands=1),
    "strings": _reader("afn:t:e:o", "all bytes= radix= encoding=", digits=True),
    "jq": Program(
        _READS,
        Flags(
            "aceCMnrRsSjh",
            """arg= argjson= raw-output raw-input slurp compact-output null-input exit-status
            sort-keys color-output monochrome-output tab indent= join-output ascii-output""",
        ),
        Operands.PATTERN,
    ),
    "md5sum": _SUM,
    "sha1sum": _SUM,
    "sha256sum": _SUM,
    "sha512sum": _SUM,
    "cksum": _reader("a:z", "algorithm="),
    "ls": _lister(
        "aAbBcCdfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1",
        """all almost-all author escape block-size= ignore-backups color? directory dired classify?
        file-type format= full-time group-directories-first no-group human-readable si
        dereference hide= hyperlink? indicator-style= inode ignore= kibibytes literal
        numeric-uid-gid quote-name quoting-style= reverse recursive size sort= time= time-style=
        width= context zero""",
    ),
    "tree": _lister(
        "adfilL:P:I:pughDFqNQrstUvxXJCn",
        "dirsfirst noreport charset= filelimit= gitignore prune du si timefmt= inodes device",
    ),
    "du": _lister(
        "0abcd:DHhklLmPsSt:x",
        """null all apparent-size block-size= bytes total dereference max-depth= human-readable
        inodes summarize si threshold= time? time-style= exclude= one-file-system""",
    ),
    "df": _lister(
        "aB:hHiklPTt:vx:",
        """all block-size= human-readable si inodes local no-sync output? portability print-type
        type= total exclude-type=""",
    ),
    "stat": _lister("c:fLt", "dereference file-system format= printf= terse cached="),
    "file": _lister(
        "bEhiLNnprsv0kF:P:",
        """brief mime mime-type mime-encoding dereference no-dereference no-pad separator= raw
        version help extension""",
    ),
    "readlink": _lister(
        "femnqsvz", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet zero"
    ),
    "realpath": _lister(
        "eLmPqsz",
        """canonicalize-existing canonicalize-missing logical physical quiet relative-to=
        relative-base= strip no-symlinks zero""",
    ),
    "cd": Program(_READS, Flags("LPe"), max_operands=1),
}


def _printer(short: str = "", long: str = "") -> Program:
    """Prints something; its operands are not files."""
    return Program(_READS, Flags(short, long), Operands.TEXT)


def _flags_only(short: str = "", long: str = "") -> Program:
    """Takes flags only; an operand would change what it does."""
    return Program(_READS, Flags(short, long), Operands.NONE)


INFO_COMMANDS: dict[str, Program] = {
    "tr": _printer("cCdst", "complement delete squeeze-repeats truncate-set1"),
    "basename": _printer("as:z", "multiple suffix= zero"),
    "dirname": _printer("z", "zero"),
    "lsblk": _flags_only("abcdDfilmnO:o:pPrsStTx", "json output="),
    "pwd": _flags_only("LP", "logical physical"),
    "printf": _printer(""),
    "exit": _printer(),
    "sleep": _printer(""),
    "seq": _printer("f:s:w", "format= separator= equal-width"),
    "expr": _printer(""),
    "wait": _printer("n"),
    "date": _printer(
        "d:Iur<R", "date= iso-8601? rfc-3339= rfc-email utc universal reference< debug"
    ),
    "cal": _printer("13jmswyn:"),
    "which": _printer("as", "all"),
    "whereis": _printer("bmslu"),
    "type": _printer("afptP"),
    "hash": _flags_only("l"),
    "whoami": _flags_only(""),
    "id": _printer("agGnruzZ", "group groups name real user zero"),
    "groups": _printer(""),
    "who": _flags_only("abdHlmpqrstTuw"),
    "uname": _flags_only(
        "asnrvmpio",
        """all kernel-name nodename kernel-release kernel-version machine processor
        hardware-platform operating-system""",
    ),
    "hostname": _flags_only("aAdfiIsy"),
    "arch": _flags_only(""),
    "nproc": _flags_only("", "all ignore="),
    "free": _flags_only("bkmghltvs:c:w", "bytes kibi mebi gibi human total wide"),
    "uptime": _flags_only("psV", "pretty since"),
    "tty": _flags_only("s"),
    "locale": _flags_only("amck", "all-locales charmaps"),
    "printenv": _printer("0", "null"),
    "ps": _printer(
        "aAcdeFfGg:HjLlMmNno:p:qrSsTt:U:u:VwXxyZ",
        "sort= forest no-headers headers pid= ppid= user= format=",
    ),
    "pgrep": _printer("acd:fg:G:lnoP:s:t:u:U:vwx", "full list-full list-name newest oldest"),
    "lscpu": _flags_only("abcepJyx", "all json"),
    "nvidia-smi": _flags_only("Lq", "list-gpus query query-gpu= format="),
    "man": _printer("afkwV", "apropos whatis where path"),
}


_WRITES = frozenset({CommandEffect.WRITES})
_DELETES = frozenset({CommandEffect.DELETES, CommandEffect.WRITES})
_NETWORK = frozenset({CommandEffect.NETWORK})


def _writer(short: str, long: str, operands: Operands = Operands.WRITE) -> Program:
    return Program(_WRITES, Flags(short, long), operands)


CHANGING_COMMANDS: dict[str, Program] = {
    "tee": _writer("aip", "append ignore-interrupts"),
    "touch": _writer("acd:fhmr<t:", "no-create date= no-dereference reference< time="),
    "mkdir": _writer("m:pvZ", "mode= parents verbose"),
    "cp": _writer(
        "abdfiHlLnPpPrRsS:t>Tuvx",
        """archive backup? force interactive link dereference no-clobber no-dereference preserve?
        no-preserve= parents recursive reflink? remove-destination sparse= symbolic-link
        target-directory> no-target-directory update? verbose one-file-system""",
        Operands.COPY,
    ),
    "mv": _writer(
        "bfinS:t>Tuv",
        """backup? force interactive no-clobber strip-trailing-slashes target-directory>
        no-target-directory update? verbose""",
        Operands.MOVE,
    ),
    "ln": _writer(
        "bfiLnPrsS:t>Tv",
        """backup? force interactive logical no-dereference physical relative symbolic
        target-directory> no-target-directory verbose""",
        Operands.COPY,
    ),
    "truncate": _writer("cor<s:", "no-create io-blocks reference< size="),
    "chmod": _writer(
        "cfvR",
        "changes quiet silent verbose recursive preserve-root no-preserve-root reference<",
        Operands.MODE,
    ),
    "chown": _writer(
        "cfvRhHLP",
        "changes quiet silent verbose recursive dereference no-dereference",
        Operands.MODE,
    ),
    "split": _writer(
        "a:b:C:dl:n:xe",
        "bytes= lines= number= suffix-length= numeric-suffixes? additional-suffix= verbose",
    ),
    "gzip": _writer(
        "cdfhklLnNqrtvV123456789",
        "stdout decompress force keep list quiet recursive test verbose fast best",
    ),
    "gunzip": _writer("cfhklLnNqrtvV", "stdout force keep list quiet recursive test verbose"),
    "zip": _writer("rqj0123456789uvfdx:i:@e", "recurse-paths quiet junk-paths"),
    "rm": Program(
        _DELETES,
        Flags(
            "dfiIrRv",
            """force interactive? one-file-system no-preserve-root preserve-root recursive dir
            verbose""",
        ),
        Operands.WRITE,
    ),
    "rmdir": Program(
        _DELETES, Flags("pv", "ignore-fail-on-non-empty parents verbose"), Operands.WRITE
    ),
    "unlink": Program(_DELETES, Flags(""), Operands.WRITE),
    "shred": Program(
        _DELETES,
        Flags("fn:s:uvxz", "force iterations= size= remove? verbose exact zero"),
        Operands.WRITE,
    ),
    "curl": Program(
        _NETWORK,
        Flags(
            "0146aA:d:fgGH:iIkLm:o>r:sSu:vX:x:",
            """fail fail-with-body silent show-error location head include header= data= data-raw=
            json= request= output> user-agent= user= max-time= connect-timeout= retry=
            retry-delay= compressed insecure verbose get globoff range= http1.1 http2 ipv4 ipv6""",
        ),
        Operands.TEXT,
    ),
    "wget": Program(
        _NETWORK | _WRITES,
        Flags(
            "bcNqvS46O>P>t:T:U:",
            """continue timestamping quiet no-verbose show-progress output-document>
            directory-prefix> tries= timeout= user-agent= spider header= no-check-certificate""",
        ),
        Operands.TEXT,
    ),
    "rsync": Program(
        _NETWORK | _WRITES,
        Flags(
            "abcdghHiklLmnopPqrRStuvWxyz",
            """archive verbose compress progress partial recursive update dry-run checksum
            human-readable info= exclude= include= size-only times links perms stats existing
            ignore-existing bwlimit=""",
        ),
        Operands.COPY,
    ),
    "ping": Program(_NETWORK, Flags("46c:i:nqs:t:vw:W:"), Operands.TEXT),
    "dig": Program(_NETWORK, Flags("46x:t:p:"), Operands.TEXT),
    "nslookup": Program(_NETWORK, Flags(), Operands.TEXT),
    "host": Program(_NETWORK, Flags("46at:v"), Operands.TEXT),
}


_CODE = frozenset({CommandEffect.RUNS_CODE})
_PROGRAMS = frozenset({CommandEffect.RUNS_CODE, CommandEffect.RUNS_PROGRAMS})
_REMOTE = frozenset({CommandEffect.NETWORK, CommandEffect.RUNS_CODE})
_UNKNOWN = frozenset({CommandEffect.UNKNOWN})
_VERSION = ("--version", "-V")
_INSTALL = "install add update upgrade uninstall remove sync ci download wheel create -S i inject"

SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash pwsh")


def _runs(
    effects: frozenset[CommandEffect] = _CODE,
    *,
    info_arguments: tuple[str, ...] = (),
    info_flags: Flags | None = None,
    wraps: int | None = None,
    always_allowable: bool = False,
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
    added_effects = {
        CommandEffect.RUNS_PROGRAMS: runs,
        CommandEffect.WRITES: writes,
        CommandEffect.DELETES: deletes,
        CommandEffect.NETWORK: f"{sends} {installs}",
        CommandEffect.INSTALLS: f"{installs} {installs_built}",
    }
    return Program(
        effects,
        None,
        added_effects={effect: text for effect, text in added_effects.items() if text.strip()},
        info_arguments=info_arguments,
        info_flags=info_flags,
        wraps=wraps,
        always_allowable=always_allowable,
    )


def _rows(text: str, row: Program) -> dict[str, Program]:
    return dict.fromkeys(text.split(), row)


def _wrapper(flags: Flags = NO_FLAGS, skipped: int = 0) -> Program:
    """Runs the command that follows its flags and `skipped` operands."""
    return Program(_CODE, flags, wraps=skipped, always_allowable=False)


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
        added_effects={CommandEffect.RUNS_PROGRAMS: "-S --split-string"},
        info_arguments=("",),
        wraps=0,
        always_allowable=False,
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
        _CODE,
        Flags("p"),
        info_arguments=("-v", "-V"),
        info_flags=NO_FLAGS,
        wraps=0,
        always_allowable=False,
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
    **dict.fromkeys(SHELLS, _runs(info_arguments=_VERSION, runs="-c")),
    **_rows("python pypy perl lua rscript julia", _runs(info_arguments=_VERSION)),
    "node": _runs(info_arguments=_VERSION, sends="--inspect --inspect-brk --inspect-wait"),
    "r": _runs(info_arguments=_VERSION, installs="INSTALL", deletes="REMOVE", runs="-g --gui -d"),
    **_rows(
        """ipython nodejs ruby luajit java javac jshell scala kotlin groovy tclsh wish guile racket
        sbcl ghci ocaml erl elixir iex swift osascript octave matlab sqlite3 psql mysql duckdb
        mongosh redis-cli vi vim nvim view ed ex emacs nano bc dc m4 nawk papermill""",
        _runs(),
    ),
    "deno": _runs(installs="install add", sends="serve upgrade publish"),
    "php": _runs(sends="-S"),
    "jupyter": _runs(
        info_arguments=(*_VERSION, "--paths", "lab --version", "kernelspec list"),
        installs="install enable disable labextension",
        deletes="remove uninstall clean",
        sends="lab notebook server nbclassic server-proxy",
    ),
}

_CHECKERS: dict[str, Program] = {
    "pytest": _runs(
        always_allowable=True,
        sends="--pastebin --tx --rsyncdir --override-ini -o @",
        deletes="--basetemp --cache-clear --override-ini -o @",
        writes="--junitxml --junit-xml --log-file --debug --report-log --html",
    ),
    "ruff": _runs(
        always_allowable=True,
        info_arguments=_VERSION,
        writes="format --fix --fix-only --add-noqa --output-file -o",
        deletes="clean",
        sends="server",
    ),
    "mypy": _runs(
        always_allowable=True,
        info_arguments=_VERSION,
        installs="--install-types",
        writes="--junit-xml --html-report --xml-report --txt-report --cobertura-xml-report",
    ),
    **_rows(
        "flake8 pylint",
        _runs(always_allowable=True, writes="--output-file --output --generate-rcfile"),
    ),
    **_rows("black isort", _runs(_CODE | _WRITES)),
}

_BUILDERS: dict[str, Program] = {
    **_rows(
        "make gmake",
        _runs(
            info_arguments=_VERSION,
            runs="--eval -E --file --makefile -f --directory -C --include-dir -I =",
            installs_built="install uninstall",
            deletes="clean distclean mrproper",
            sends="deploy publish upload release push",
        ),
    ),
    **_rows("gcc g++ clang", _runs(info_arguments=_VERSION, runs="-wrapper @")),
    "cmake": _runs(
        info_arguments=_VERSION,
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
        info_arguments=("list", "show", "freeze", "check", *_VERSION),
        info_flags=_PIP,
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
            info_arguments=("env list", "info", "list", "--version", "-V"),
            installs=_INSTALL,
        ),
    ),
    "uv": _runs(_PROGRAMS, wraps=ANYWHERE, info_arguments=_VERSION, installs=_INSTALL),
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
    **_rows("docker podman", _runs(_PROGRAMS, wraps=ANYWHERE, info_arguments=_VERSION)),
    "ssh": _runs(_PROGRAMS | _REMOTE, wraps=ANYWHERE),
    **_rows("scp sftp ftp nc ncat netcat telnet socat", _runs(_REMOTE)),
    **_rows("aws gcloud az gsutil gh twine gdown kaggle http https httpie wget2", _runs(_REMOTE)),
    "fd": _runs(_UNKNOWN, always_allowable=True, runs="-x -X --exec --exec-batch"),
    "patch": Program(_WRITES, None, writes_undeclared_paths=True, always_allowable=False),
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

CODE_RUNNERS: dict[str, Program] = {
    **_INTERPRETERS,
    **_CHECKERS,
    "py.test": _CHECKERS["pytest"],
    **_BUILDERS,
    **_INSTALLERS,
    **_STARTERS,
    **_MODULES,
    **_WRAPPERS,
}
