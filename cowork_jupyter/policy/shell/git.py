"""git: effects of sub-commands by name and flags.

Reading a repository can run programs named in its configuration: `core.fsmonitor`, text conversion
and external diffs, clean filters, the pager. Reading sub-commands count as reading nevertheless,
because asking for every `git status` teaches people to click “allow”. That is fair because the
configuration lies in `.git`, which no rule opens for writing, because output is never a terminal
(no pager), and because commands run in the sandbox. What could point git at another repository,
with a configuration written by anybody, is a doubt: `-C`, `--git-dir`, and a `cd` earlier in the
line. So are flags that enable what is off by default (`--ext-diff`, `--textconv`), that write
(`--output`), or that name a program (`-c`, `--upload-pack`, `-O`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .lexer import Word
from .model import CommandEffect, names
from .options import NO_FLAGS, CommandUse, Flags, Parsed, unknown_flag

_READS = frozenset({CommandEffect.READS})
_WRITES = frozenset({CommandEffect.WRITES})
_HISTORY = frozenset({CommandEffect.WRITES, CommandEffect.GIT_HISTORY})
_NETWORK = frozenset({CommandEffect.NETWORK, CommandEffect.WRITES})

_DIFF_SHORT = "abDpusU:wWzM?C?B?O<S:G:lRX?"
_DIFF_LONG = """
    stat? numstat shortstat dirstat? summary name-only name-status patch no-patch patch-with-stat
    unified= raw minimal patience histogram diff-algorithm= color? no-color color-words?
    word-diff? word-diff-regex= check full-index binary abbrev? break-rewrites? find-renames?
    find-copies? no-renames irreversible-delete diff-filter= pickaxe-regex pickaxe-all relative?
    text ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines
    inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv
    ignore-submodules? submodule? src-prefix= dst-prefix= no-prefix cached staged merge-base
    ws-error-highlight= color-moved? compact-summary cc no-index"""
_LOG_SHORT = _DIFF_SHORT.replace("s", "").replace("D", "") + "n:igEFPL:cmtsq"
_LOG_LONG = (
    _DIFF_LONG
    + """ oneline pretty? format= abbrev-commit no-abbrev-commit graph decorate? no-decorate all
        branches? tags? remotes? since= after= until= before= author= committer= grep= max-count=
        skip= reverse first-parent merges no-merges follow date= topo-order date-order
        author-date-order all-match invert-grep regexp-ignore-case left-right cherry-pick
        cherry-mark cherry source no-walk? stdin name-only simplify-by-decoration walk-reflogs
        no-notes full-history ancestry-path? parents children left-only right-only boundary
        no-color numbered email relative-date show-notes? count"""
)


@dataclass(frozen=True)
class SubCommand:
    """A sub-command: its effects, and how some flags change them."""

    effects: frozenset[CommandEffect]
    flags: Flags = NO_FLAGS
    history: tuple[str, ...] = ()
    """Flags that discard something."""
    operands_write: frozenset[CommandEffect] | None = None
    """Effects with operands, if they differ (`git branch`, `git branch new`)."""
    listing: tuple[str, ...] = ()
    """Flags with which operands only select what is shown."""


_DIFF = SubCommand(_READS, Flags(_DIFF_SHORT, _DIFF_LONG))
_LOG = SubCommand(_READS, Flags(_LOG_SHORT, _LOG_LONG, digits=True))
_LIST = "list sort= format= contains? no-contains? merged? no-merged? points-at= column? no-column"
_FETCH = "all prune tags no-tags depth= quiet verbose dry-run force jobs= progress set-upstream"

SUB_COMMANDS: dict[str, SubCommand] = {
    "status": SubCommand(
        _READS,
        Flags(
            "sbvzu?",
            """short branch show-stash porcelain? long verbose untracked-files? ignored?
            ignore-submodules? column? no-column ahead-behind no-ahead-behind no-renames""",
        ),
    ),
    "diff": _DIFF,
    "diff-tree": _LOG,
    "diff-index": _DIFF,
    "diff-files": _DIFF,
    "log": _LOG,
    "show": _LOG,
    "whatchanged": _LOG,
    "rev-list": _LOG,
    "shortlog": _LOG,
    "reflog": _LOG,
    "blame": SubCommand(
        _READS, Flags("beflL:nps:tTwM?C?cS<", "porcelain line-porcelain show-name date=")
    ),
    "rev-parse": SubCommand(
        _READS,
        Flags(
            "q",
            """show-toplevel git-dir abbrev-ref? short? verify quiet is-inside-work-tree show-prefix
            symbolic-full-name all branches? tags? absolute-git-dir is-bare-repository show-cdup""",
        ),
    ),
    "ls-files": SubCommand(
        _READS,
        Flags(
            "cdmoistukzvX<x:",
            """cached deleted modified others ignored stage unmerged killed exclude=
            exclude-standard full-name error-unmatch abbrev? directory deduplicate""",
        ),
    ),
    "ls-tree": SubCommand(
        _READS, Flags("drtlz", "long name-only name-status full-name full-tree abbrev?")
    ),
    "cat-file": SubCommand(_READS, Flags("tsep", "batch-check? batch?")),
    "describe": SubCommand(
        _READS, Flags("", "all tags always dirty? long abbrev= match= exact-match")
    ),
    "merge-base": SubCommand(_READS, Flags("a", "all is-ancestor octopus independent fork-point")),
    "name-rev": SubCommand(_READS, Flags("", "tags name-only all always")),
    "show-ref": SubCommand(_READS, Flags("qds", "heads tags verify hash? abbrev?")),
    "for-each-ref": SubCommand(
        _READS, Flags("", "count= sort= format= contains? merged? points-at=")
    ),
    "count-objects": SubCommand(_READS, Flags("vH", "verbose human-readable")),
    "check-ignore": SubCommand(_READS, Flags("qvn", "quiet verbose non-matching no-index")),
    "grep": SubCommand(
        _READS,
        Flags(
            "acEe:FGhHiIlLnPqvwA:B:C:W",
            """cached untracked no-index ignore-case word-regexp invert-match extended-regexp
            fixed-strings perl-regexp line-number files-with-matches count color? heading break
            no-color and or not all-match max-depth= no-exclude-standard exclude-standard""",
        ),
    ),
    "version": SubCommand(_READS),
    "branch": SubCommand(
        _READS,
        Flags("avrdDmMcCfqtl", _LIST + " all remotes verbose show-current delete move force"),
        ("-d", "-D", "-m", "-M", "-C", "-f", "--delete", "--move", "--force"),
        _WRITES,
        ("--list", "-l", "-a", "-r", "--all", "--remotes", "--contains", "--merged"),
    ),
    "tag": SubCommand(
        _READS,
        Flags("ln?dam:fF<", _LIST + " delete annotate message= force"),
        ("-d", "-f", "--delete", "--force"),
        _WRITES,
        ("-l", "--list", "-n", "--contains", "--merged", "--points-at"),
    ),
    "add": SubCommand(_WRITES, Flags("AnufvN", "all update dry-run verbose force intent-to-add")),
    "commit": SubCommand(
        _WRITES,
        Flags(
            "am:F<qvnsC:",
            """all message= file< quiet verbose no-verify signoff amend no-edit allow-empty
            allow-empty-message author= date= dry-run reset-author""",
        ),
        ("--amend",),
    ),
    "mv": SubCommand(_WRITES, Flags("fknv", "force dry-run verbose")),
    "rm": SubCommand(
        _WRITES | {CommandEffect.DELETES}, Flags("rfnq", "cached force dry-run quiet")
    ),
    "init": SubCommand(_WRITES, Flags("qb:", "quiet bare initial-branch=")),
    "switch": SubCommand(
        _WRITES,
        Flags("cCtfd:", "create= force-create= track? force detach discard-changes quiet"),
        ("-C", "-f", "--force", "--force-create", "--discard-changes"),
    ),
    "checkout": SubCommand(
        _HISTORY, Flags("b:B:tfqp", "track? force quiet detach ours theirs orphan=")
    ),
    "restore": SubCommand(_HISTORY, Flags("s:SWq", "source= staged worktree quiet")),
    "merge": SubCommand(
        _WRITES,
        Flags("m:nq", "no-ff ff ff-only no-commit squash message= quiet no-edit abort continue"),
    ),
    "cherry-pick": SubCommand(_WRITES, Flags("xn", "no-commit abort continue skip quit")),
    "revert": SubCommand(_WRITES, Flags("nm:", "no-commit no-edit abort continue")),
    "apply": SubCommand(
        _WRITES, Flags("Rvp:", "check stat numstat reverse verbose cached index 3way")
    ),
    "rebase": SubCommand(_HISTORY, Flags("", "abort continue skip onto= autostash root")),
    "reset": SubCommand(_HISTORY, Flags("qN", "soft mixed hard merge keep quiet")),
    "clean": SubCommand(
        _HISTORY | {CommandEffect.DELETES}, Flags("dfnqxXe:", "force dry-run quiet exclude=")
    ),
    "gc": SubCommand(_HISTORY, Flags("q", "quiet auto aggressive prune?")),
    "prune": SubCommand(_HISTORY, Flags("nv")),
    "update-ref": SubCommand(_HISTORY, Flags("dm:")),
    "push": SubCommand(
        _NETWORK,
        Flags(
            "uqvndf",
            """set-upstream quiet verbose dry-run tags follow-tags all delete force
            force-with-lease? mirror prune no-verify progress porcelain""",
        ),
        ("-f", "-d", "--force", "--force-with-lease", "--delete", "--mirror", "--prune"),
    ),
    "fetch": SubCommand(_NETWORK, Flags("apqtvfj:n", _FETCH + " unshallow")),
    "pull": SubCommand(
        _NETWORK, Flags("qvrp", _FETCH + " rebase? no-rebase ff-only ff no-ff autostash")
    ),
    "clone": SubCommand(
        _NETWORK, Flags("qvb:o:n", "depth= branch= quiet verbose single-branch bare no-checkout")
    ),
    "ls-remote": SubCommand(
        frozenset({CommandEffect.NETWORK}), Flags("qht", "heads tags refs quiet exit-code symref")
    ),
}
_STASH_PUSH = Flags("um:kaqS", "message= include-untracked keep-index all quiet staged")
STASH = {
    "list": _LOG,
    "show": _LOG,
    "push": SubCommand(_WRITES, _STASH_PUSH),
    "pop": SubCommand(_WRITES, Flags("q", "index quiet")),
    "apply": SubCommand(_WRITES, Flags("q", "index quiet")),
    "drop": SubCommand(_HISTORY, Flags("q", "quiet")),
    "clear": SubCommand(_HISTORY),
}
_WORDS = {
    ("remote",): _READS,
    ("remote", "-v"): _READS,
    ("remote", "get-url"): _READS,
    ("remote", "show"): _NETWORK,
    ("remote", "update"): _NETWORK,
    ("worktree", "list"): _READS,
    ("submodule", "status"): _READS,
}
_UNDECLARED_WRITES = names(
    "switch checkout restore merge cherry-pick revert apply rebase reset pull stash"
)
"""They write the files of a commit or a patch, protected ones too, …"""
_ONLY_DECLARED_WRITES = {
    "checkout": ("-b", "--orphan"),
    "reset": ("--soft", "--mixed"),
    "apply": ("--check", "--stat", "--numstat", "--cached"),
}
"""… but not with these flags; a new branch that begins elsewhere does."""
_CONFIGURES = names("init clone config remote submodule worktree branch switch checkout lfs")
"""They write git's settings, some only sometimes: a new branch that tracks another one."""
_FOLLOWS: dict[str, tuple[str, ...]] = {
    "push": ("-u", "--set-upstream"),
    **dict.fromkeys(("fetch", "pull"), ("--set-upstream",)),
    **dict.fromkeys(("branch", "switch", "checkout"), ("-t", "--track")),
}
_OUTSIDE = re.compile(r"^/|(?:^|/)\.\.(?:/|$)")
_HISTORY_ANYHOW = frozenset(["filter-branch", "filter-repo", "replace", "fast-import", "reflog"])
_REFLOG_DROPS = (["expire"], ["delete"], ["drop"], ["write"])
_VALUED = frozenset(["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"])
_CONFIG_READS = names("--get --get-all --get-regexp --list -l")
_CONFIG_SCOPES = names("--global --local --system --show-origin --show-scope --name-only")


def examine_git(words: Sequence[Word]) -> CommandUse:
    """`words` begin behind the name."""
    rest = list(words)
    doubts = list[str]()
    while rest and rest[0].text.startswith("-"):
        flag = rest.pop(0).text
        if flag in ("--version", "-v") and not rest:
            return CommandUse(set(_READS))
        if flag not in ("--no-pager", "--no-optional-locks", "--literal-pathspecs"):
            doubts.append(f"The flag {flag} makes git use other settings.")
        if flag in _VALUED:
            del rest[:1]
    if not rest:
        return CommandUse(set(_READS), doubts=doubts)
    name = rest.pop(0).text
    use = _examine_sub(name, rest)
    use.doubts = doubts + use.doubts
    return use


def without_globals(words: Sequence[str]) -> tuple[str, ...]:
    """Turn `git -C x -c y=z push` into `git push`, which is what a rule names."""
    rest = list(words[1:])
    while rest and rest[0].startswith("-"):
        flag = rest.pop(0)
        if flag in _VALUED:
            del rest[:1]
    return (words[0], *rest)


def configures_git(words: Sequence[str]) -> bool:
    """Whether a command writes a repository's settings or hooks."""
    if len(words) < 2 or words[0] != "git":
        return False
    name, *rest = without_globals(words)[1:] or ("",)
    return name in _CONFIGURES or any(flag in rest for flag in _FOLLOWS.get(name, ()))


def _examine_sub(name: str, rest: list[Word]) -> CommandUse:
    texts = [word.text for word in rest]
    if name in _HISTORY_ANYHOW and (name != "reflog" or texts[:1] in _REFLOG_DROPS):
        return CommandUse(
            set(_HISTORY), doubts=[f"Cowork does not check what git {name} would change."]
        )
    if name == "stash":
        action = "push" if not texts or texts[0].startswith("-") else rest.pop(0).text
        sub = STASH.get(action)
    elif name == "config":
        return _examine_config(texts)
    elif name in ("remote", "worktree", "submodule"):
        effects = _WORDS.get((name, *texts[:1])) if len(texts) < 3 else None
        if effects is not None and not (len(texts) == 2 and texts[0] == "-v"):
            return CommandUse(set(effects))
        return CommandUse(set(_WRITES), doubts=[f"Cowork does not know what git {name} does here."])
    else:
        sub = SUB_COMMANDS.get(name)
    if sub is None:
        return CommandUse(
            {CommandEffect.UNKNOWN}, doubts=[f"Cowork does not know what git {name} does."]
        )
    return _examine_flags(name, sub, sub.flags.parse(rest), texts)


def _examine_config(texts: list[str]) -> CommandUse:
    asks = [text for text in texts if text.startswith("-")]
    if any(text in _CONFIG_READS for text in asks) and set(asks) <= _CONFIG_READS | _CONFIG_SCOPES:
        return CommandUse(set(_READS))
    return CommandUse(set(_WRITES), doubts=["git's settings can name programs that git then runs."])


def _examine_flags(name: str, sub: SubCommand, parsed: Parsed, texts: list[str]) -> CommandUse:
    use = CommandUse(set(sub.effects), parsed.reads, parsed.writes)
    use.doubts += [unknown_flag(f"git {name}", flag) for flag in parsed.unknown]
    operands = [word.text for word in parsed.operands]
    if sub.operands_write and operands and not parsed.has(*sub.listing):
        use.effects |= sub.operands_write
    if parsed.has(*sub.history):
        use.effects |= _HISTORY
    if CommandEffect.NETWORK in use.effects:
        if any("::" in operand for operand in operands):
            use.doubts.append("The address names a program that git would run.")
        if name == "push" and any(operand[:1] in ("+", ":") for operand in operands):
            use.effects |= _HISTORY
    if name in ("diff", "grep"):  # both accept files outside the repository
        outside = parsed.has("--no-index")
        use.reads += [operand for operand in operands if outside or _OUTSIDE.search(operand)]
    if name in ("add", "rm", "mv", "restore"):
        use.writes += operands
    if name == "checkout" and parsed.has("-b", "--orphan") and "--" not in texts:
        use.effects = set(_WRITES)
    if name in ("init", "clone") or parsed.has(*_FOLLOWS.get(name, ())):
        use.doubts.append("It writes git's settings, which can name programs that git runs.")
    stays = parsed.has(*_ONLY_DECLARED_WRITES.get(name, ())) and not (
        name == "checkout" and operands
    )
    use.writes_undeclared_paths = (
        name in _UNDECLARED_WRITES and CommandEffect.WRITES in use.effects and not stays
    )
    return use
