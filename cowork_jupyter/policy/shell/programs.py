"""What a program does with its words: by the table, or by the language of its arguments.

Decisions, deny rules that look behind a command, and the offer of “Always allow” all use the table.
For programs with known flags any other flag asks. Left out are flags that run programs, write to
unexpected places, or read lists of files from a file: `sort --compress-program`, `rg --pre`, `tree
-o`, `wc --files0-from`, `date -s`; if such a flag names a command, the row says so, and deny rules
see that command. The arguments of find, sed, awk, tar and such are languages of their own. git's
sub-commands are in `git`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from .git import examine_git
from .lexer import ASSIGNMENT, Quirk, Word
from .model import CommandEffect, SimpleCommand, names
from .options import (
    NO_FLAGS,
    CommandUse,
    Flags,
    Parsed,
    Program,
    glob_doubts,
    mentions,
    unknown_flag,
)
from .program_table import CHANGING_COMMANDS, CODE_RUNNERS, FILE_READERS, INFO_COMMANDS, SHELLS

_READS = frozenset({CommandEffect.READS})
_RUNS = CommandEffect.RUNS_PROGRAMS


def _language(added_effects: dict[CommandEffect, str]) -> Program:
    return Program(_READS, NO_FLAGS, added_effects=added_effects)


_LANGUAGES: dict[str, Program] = {
    "find": _language(
        {
            _RUNS: "-exec -execdir -ok -okdir",
            CommandEffect.DELETES: "-delete",
            CommandEffect.WRITES: "-fprint -fprint0 -fls -fprintf",
        }
    ),
    "sed": _language({CommandEffect.WRITES: "-i --in-place"}),
    "tar": _language(
        {
            _RUNS: "--to-command -I --use-compress-program --rsh-command --info-script -F"
            " --checkpoint-action",
            CommandEffect.DELETES: "--remove-files",
        }
    ),
    "git": _language(
        {
            _RUNS: "-x --exec --extcmd --upload-pack --receive-pack -O --open-files-in-pager",
            CommandEffect.WRITES: "--output",
        }
    ),
    **dict.fromkeys(("awk", "gawk", "mawk"), Program(_READS, NO_FLAGS, always_allowable=False)),
}
_COMMAND_FLAGS = {
    "sort": "--compress-program",
    "rg": "--pre --hostname-bin",
    "man": "-P --pager -H",
    "rsync": "-e --rsh --rsync-path",
    "zip": "-TT --unzip-command",
    "split": "--filter",
}
"""Flags that name a command, of programs with known flags. They are unknown, so they ask."""
_KNOWN = {**FILE_READERS, **INFO_COMMANDS, **CHANGING_COMMANDS}

PROGRAMS: dict[str, Program] = {
    **CODE_RUNNERS,
    **_KNOWN,
    **{
        name: replace(_KNOWN[name], added_effects={_RUNS: text})
        for name, text in _COMMAND_FLAGS.items()
    },
    **_LANGUAGES,
}

_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/([^/]+)")
_NUMBERED = re.compile(r"(python|pypy|pip|perl|ruby|node|lua|php|gcc|clang)[0-9][0-9.]*")


def program_name(word: str) -> str:
    """The program's name in the table; the path itself if it is not a system program."""
    if match := _SYSTEM.fullmatch(word):
        word = match[1]
    if match := _NUMBERED.fullmatch(word):
        return match[1]
    return word


def row_of(word: str) -> Program | None:
    """`Rscript` is in the table in lower case."""
    name = program_name(word)
    return PROGRAMS.get(name) or CODE_RUNNERS.get(name.lower())


_COMPUTES = frozenset({CommandEffect.READS, CommandEffect.RUNS_CODE})
_EXECUTES = frozenset(
    {CommandEffect.RUNS_CODE, CommandEffect.RUNS_PROGRAMS, CommandEffect.INSTALLS}
)


def is_always_allowable(command: SimpleCommand) -> bool:
    """Whether a rule for this command's words limits what it would allow."""
    if not command.words or command.doubts or command.nested or command.writes_undeclared_paths:
        return False
    if command.effects & _EXECUTES and command.effects - _COMPUTES:
        return False
    name = program_name(command.words[0])
    row = row_of(name)
    return "/" not in name and (row is None or row.always_allowable)


def names_more_programs(words: Sequence[str], after: int) -> bool:
    """Whether the words after the first ones give it further programs to run."""
    row = row_of(words[0])
    return row is not None and any(mentions(words[after:], each) for each in row.arguments(_RUNS))


def matches_prefix(words: Sequence[str], prefix: Sequence[str]) -> bool:
    return bool(prefix) and tuple(words[: len(prefix)]) == tuple(prefix)


def _reading(name: str, words: Sequence[Word], parsed: Parsed) -> CommandUse:
    """Reads by default; unknown flags and file patterns are doubts."""
    unknown = [unknown_flag(name, flag) for flag in parsed.unknown]
    return CommandUse({CommandEffect.READS}, doubts=[*unknown, *glob_doubts(words)])


_TAR = Flags(
    "tvf<zjJaxckpC>OhPuT<",
    """list extract get create verbose file< gzip bzip2 xz zstd auto-compress keep-old-files
    preserve-permissions directory> to-stdout exclude= strip-components= wildcards totals""",
)


def examine_tar(words: Sequence[Word]) -> CommandUse:
    """Without a known mode it is assumed to unpack."""
    arguments = list(words)
    if arguments and not arguments[0].text.startswith("-"):
        arguments[0] = Word("-" + arguments[0].text, arguments[0].source, arguments[0].quirks)
    parsed = _TAR.parse(arguments)
    use = _reading("tar", words, parsed)
    archives = [name for name in parsed.values("-f", "--file") if name != "-"]
    if any(":" in name for name in archives):
        use.doubts.append("The archive may be on another machine.")
    named = [word.text for word in parsed.operands]
    if parsed.has("-c", "-u", "--create"):
        use.effects.add(CommandEffect.WRITES)
        use.writes += archives
        use.reads += named
    elif parsed.has("-t", "--list"):
        use.reads += parsed.reads
    else:
        use.effects.add(CommandEffect.WRITES)
        use.reads += parsed.reads
        use.writes += parsed.writes or ["."]
        use.writes_undeclared_paths = not parsed.has("-O", "--to-stdout")
    return use


_UNZIP = Flags("lvtpqod>jn", "")


def examine_unzip(words: Sequence[Word]) -> CommandUse:
    parsed = _UNZIP.parse(words)
    use = _reading("unzip", words, parsed)
    use.reads += [word.text for word in parsed.operands[:1]]
    if not parsed.has("-l", "-v", "-t", "-p"):
        use.effects.add(CommandEffect.WRITES)
        use.writes += parsed.writes or ["."]
        use.writes_undeclared_paths = True
    return use


def examine_dd(words: Sequence[Word]) -> CommandUse:
    use = CommandUse({CommandEffect.READS, CommandEffect.WRITES}, doubts=glob_doubts(words))
    for word in words:
        name, _, value = word.text.partition("=")
        if name in ("if", "of"):
            (use.reads if name == "if" else use.writes).append(value)
        elif name not in ("bs", "count", "skip", "seek", "conv", "status", "ibs", "obs", "iflag"):
            use.doubts.append(unknown_flag("dd", name))
    return use


Examiner = Callable[[Sequence[Word]], CommandUse]


def _free(_words: Sequence[Word]) -> CommandUse:
    return CommandUse({CommandEffect.READS})


_FIND_PLAIN = names(
    """-daystart -depth -follow -mount -noleaf -xdev -empty -executable -nogroup -nouser -readable
    -writable -print -print0 -ls -prune -quit -true -false -not -a -and -o -or ! ( ) , -d -help
    --help -version --version"""
)
_FIND_VALUED = names(
    """-amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath
    -iregex -iwholename -links -lname -maxdepth -mindepth -mmin -mtime -name -newer -path -perm
    -printf -regex -regextype -samefile -size -type -uid -used -user -wholename -xtype -newermt"""
)
_FIND_RUNS, _FIND_DELETES, _FIND_WRITES = map(
    PROGRAMS["find"].arguments,
    (CommandEffect.RUNS_PROGRAMS, CommandEffect.DELETES, CommandEffect.WRITES),
)


def _find(words: Sequence[Word]) -> CommandUse:
    use = CommandUse({CommandEffect.READS}, doubts=glob_doubts(words))
    rest = [word.text for word in words]
    while rest and rest[0] in ("-H", "-L", "-P"):
        del rest[0]
    while rest and not (rest[0].startswith("-") or rest[0] in "!()"):
        use.reads.append(rest.pop(0))
    use.reads = use.reads or ["."]
    while rest:
        test = rest.pop(0)
        if test in _FIND_PLAIN:
            continue
        if test in _FIND_VALUED and rest:
            rest.pop(0)
        elif test in _FIND_RUNS:
            use.effects.add(CommandEffect.RUNS_PROGRAMS)
            use.doubts.append("find would run a program on what it finds.")
            while rest and rest.pop(0) not in (";", "+"):
                pass
        elif test in _FIND_DELETES:
            use.effects |= {CommandEffect.DELETES, CommandEffect.WRITES}
            use.writes += use.reads
            use.doubts.append("find would delete what it finds.")
        elif test in _FIND_WRITES and rest:
            use.effects.add(CommandEffect.WRITES)
            use.writes.append(rest.pop(0))
            del rest[: test == "-fprintf"]
        else:
            use.doubts.append(unknown_flag("find", test))
    return use


_SED = Flags("Ee:nrsuzi?", "quiet silent expression= regexp-extended separate null-data in-place?")
_SED_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\.)*/)"
_SED_SAFE = re.compile(
    rf"""
    \s* (?: {_SED_ADDRESS} (?: ,[+~]?{_SED_ADDRESS} )? \s* !? )? \s*
    (?: [pdqQ=lNDPhHgGxn]
      | s / (?: [^/\\\n] | \\. )* / (?: [^/\\\n] | \\[^\n] )* / [gpiI0-9]*
      | s \| (?: [^|\\\n] | \\. )* \| (?: [^|\\\n] | \\[^\n] )* \| [gpiI0-9]*
      | s \# (?: [^\#\\\n] | \\. )* \# (?: [^\#\\\n] | \\[^\n] )* \# [gpiI0-9]*
      | y / [^/\\\n]* / [^/\\\n]* /
    ) \s*
    """,
    re.VERBOSE,
)


def _sed(words: Sequence[Word]) -> CommandUse:
    """Scripts can write (`w`) and run programs (`e`), so only harmless commands are known."""
    parsed = _SED.parse(words)
    use = _reading("sed", words, parsed)
    files = [word.text for word in parsed.operands]
    scripts = parsed.values("-e", "--expression") or [files.pop(0) if files else ""]
    for script in scripts:
        if not all(
            _SED_SAFE.fullmatch(part) for part in re.split(r"[;\n]", script) if part.strip()
        ):
            use.doubts.append(f"Cowork does not know what the sed script “{script}” does.")
    use.reads += files
    if parsed.has("-i", "--in-place"):
        use.effects.add(CommandEffect.WRITES)
        backups = parsed.values("-i", "--in-place")
        use.writes += [name + ending for name in files for ending in ("", *backups)]
        if any("/" in value or "*" in value for value in backups):
            use.doubts.append("Cowork does not know where sed would keep the old file.")
    return use


_AWK = Flags("F:v:", "field-separator= assign=")
_AWK_DANGER = re.compile(
    r"system|getline|[>@]|(?<!\|)\|(?!\|)|ARG[CV]|close|PROCINFO|SYMTAB|FUNCTAB|\\"
)


def _awk(words: Sequence[Word]) -> CommandUse:
    """Harmless if nothing in the program could write, run or open."""
    parsed = _AWK.parse(words, permuted=False)
    use = _reading("awk", words, parsed)
    program, *files = [word.text for word in parsed.operands] or [""]
    if _AWK_DANGER.search(program):
        use.doubts.append("The awk program may write files or run programs.")
    use.reads += [name for name in files if name != "-"]
    return use


_TEST_SIGNS = names("= == != -eq -ne -lt -le -gt -ge -nt -ot -ef -a -o ! ( )")
_TEST_FLAG = re.compile(r"-[bcdefghkLNnOopGrSstuwxz]")


def _test(words: Sequence[Word]) -> CommandUse:
    """`-v` and `-R` are left out: they evaluate array indexes, which can run commands."""
    use = CommandUse({CommandEffect.READS}, doubts=glob_doubts(words))
    for word in words:
        text = word.text
        if text in _TEST_SIGNS or text == "]" or _TEST_FLAG.fullmatch(text):
            continue
        if text.startswith("-") and not text[1:].isdigit():
            use.doubts.append(unknown_flag("test", text))
        use.reads += [text] if "/" in text or "." in text else []
    return use


_SET_SAFE = re.compile(r"[-+][eux]+|-[eux]*o|pipefail|errexit|nounset|xtrace")


def _set(words: Sequence[Word]) -> CommandUse:
    use = CommandUse({CommandEffect.READS})
    if not words or not all(_SET_SAFE.fullmatch(word.text) for word in words):
        use.doubts.append("It changes how the shell reads the rest of the line.")
    return use


SPECIAL: dict[str, Examiner] = {
    "echo": _free,
    "true": _free,
    "false": _free,
    ":": _free,
    "find": _find,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "tar": examine_tar,
    "test": _test,
    "[": _test,
    "set": _set,
    "unzip": examine_unzip,
    "dd": examine_dd,
}


_CHANGES_SHELL = names("""
    eval source . alias unalias trap coproc exec enable shopt bind complete compgen compopt read
    mapfile readarray let declare typeset local export readonly unset getopts pushd popd dirs
    ulimit umask fc history shift return break continue time logout suspend kill disown fg bg
    jobs""")
_STORES = re.compile(r"%[-+ #0-9.*']*[hlLjzt]*n")
_VERSION = frozenset([("--version",), ("-V",)])


def examine(words: Sequence[Word]) -> CommandUse:
    name, rest = program_name(words[0].text), words[1:]
    texts = tuple(word.text for word in rest)
    use = _examine_known(name, rest)
    use.doubts += [doubt for check in _CHECKS.get(name, ()) for doubt in check(texts)]
    if name in _CHANGES_SHELL:
        use.doubts.append(f"“{name}” changes what the shell does next, or runs its arguments.")
    use.doubts += _word_doubts(name, rest)
    return use


def _examine_known(name: str, rest: Sequence[Word]) -> CommandUse:
    if name == "git":
        return examine_git(rest)
    if name in SPECIAL:
        return SPECIAL[name](rest)
    row = row_of(name)
    if row:
        return row.examine(name, rest)
    return CommandUse({CommandEffect.RUNS_CODE if "/" in name else CommandEffect.UNKNOWN})


_WORD_DOUBTS = {
    Quirk.VARIABLE: "Cowork does not know what “{}” stands for.",
    Quirk.SUBSTITUTION: "Cowork does not know what the shell substitutes for “{}”.",
    Quirk.BRACES: "The shell expands “{}” to several words.",
    Quirk.TILDE: "The shell replaces “{}” with a home folder.",
    Quirk.HISTORY: "A shell may take “{}” for an earlier command.",
    Quirk.ENCODING: "What “{}” says depends on the machine.",
    Quirk.UNREADABLE: "“{}” cannot be parsed reliably.",
}
_MAX_QUOTED = 80


def _word_doubts(name: str, rest: Sequence[Word]) -> list[str]:
    """`echo $HOME` only prints; for all others an unknown word may be a flag or a file."""
    doubts = list[str]()
    for word in rest:
        for quirk in sorted(word.quirks - ({Quirk.VARIABLE} if name == "echo" else set())):
            if quirk is not Quirk.GLOB:
                doubts.append(_WORD_DOUBTS[quirk].format(word.source[:_MAX_QUOTED]))
            elif name != "echo" and word.source[0] in "*?[-":
                doubts.append(
                    f"A file name that “{word.source[:_MAX_QUOTED]}” finds could be a flag."
                )
    return doubts


def _printf(texts: tuple[str, ...]) -> list[str]:
    """`%n` sets a variable, which may be PATH."""
    sets = any(_STORES.search(text.replace("%%", "")) for text in texts)
    return ["It may set a variable."] if sets else []


def _less(texts: tuple[str, ...]) -> list[str]:
    return ["It passes a command to the pager."] if any(text[:1] == "+" for text in texts) else []


def _date(texts: tuple[str, ...]) -> list[str]:
    """An operand that is not a format sets the clock."""
    flags = INFO_COMMANDS["date"].flags
    assert flags is not None
    operands = flags.parse([Word(text, text) for text in texts]).operands
    return ["It may set the clock."] if any(word.text[:1] != "+" for word in operands) else []


def _curl(texts: tuple[str, ...]) -> list[str]:
    sends = any("@" in (text[:1], text[2:3]) or "=@" in text for text in texts)
    local = any(text.lower().startswith("file:") for text in texts)
    return ["It may read or send a file."] if sends or local else []


def _jq(texts: tuple[str, ...]) -> list[str]:
    may_import = any(re.search(r"\b(?:import|include)\b", text) for text in texts)
    return ["The jq program may read other files."] if may_import else []


def _ps(texts: tuple[str, ...]) -> list[str]:
    """`ps e` shows the environment of other processes, including secrets."""
    shows = any("environ" in text for text in texts) or any(
        "e" in text for text in texts if not text.startswith("-") and text.isalpha()
    )
    return ["It may show the environment of other programs."] if shows else []


def _env(texts: tuple[str, ...]) -> list[str]:
    """`env LD_PRELOAD=./x ls` is like an assignment before the command."""
    doubt = "It sets a variable for the command, which can change what the command does."
    return [doubt] if any(ASSIGNMENT.match(text) for text in texts) else []


def _shell(texts: tuple[str, ...]) -> list[str]:
    """In `echo … | sh` the shell runs its input."""
    named = any(text[:1] not in ("-", "+") for text in texts) and "-s" not in texts
    passed = not named and texts not in _VERSION
    return ["The shell runs its input, which the command does not spell out."] if passed else []


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
