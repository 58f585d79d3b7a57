"""Programs whose arguments are a language of their own: find, sed, awk, tar and such."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .model import CommandEffect, names
from .options import CommandUse, Flags, Parsed, glob_doubts, unknown_flag
from .table import PROGRAMS
from .words import Word


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
    given = list(words)
    if given and not given[0].text.startswith("-"):
        given[0] = Word("-" + given[0].text, given[0].source, given[0].quirks)
    parsed = _TAR.parse(given)
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
        use.brings = not parsed.has("-O", "--to-stdout")
    return use


_UNZIP = Flags("lvtpqod>jn", "")


def examine_unzip(words: Sequence[Word]) -> CommandUse:
    parsed = _UNZIP.parse(words)
    use = _reading("unzip", words, parsed)
    use.reads += [word.text for word in parsed.operands[:1]]
    if not parsed.has("-l", "-v", "-t", "-p"):
        use.effects.add(CommandEffect.WRITES)
        use.writes += parsed.writes or ["."]
        use.brings = True
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
