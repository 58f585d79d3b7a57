"""Programs that pack, unpack and copy whole images: tar, unzip, dd."""

from __future__ import annotations

from collections.abc import Sequence

from .model import CommandEffect
from .options import CommandUse, Flags, glob_doubts, unknown_flag
from .words import Word

_TAR = Flags(
    "tvf<zjJaxckpC>OhPuT<",
    """
    list extract get create verbose file< gzip bzip2 xz zstd auto-compress keep-old-files
    preserve-permissions directory> to-stdout exclude= strip-components= wildcards totals
    """,
)


def examine_tar(words: Sequence[Word]) -> CommandUse:
    """Without a known mode it is taken to unpack."""
    given = list(words)
    if given and not given[0].text.startswith("-"):
        given[0] = Word("-" + given[0].text, given[0].source, given[0].quirks)
    parsed = _TAR.parse(given)
    use = CommandUse(
        {CommandEffect.READS}, doubts=[unknown_flag("tar", flag) for flag in parsed.unknown]
    )
    use.doubts += glob_doubts(words)
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
    """Unpacks, unless a flag says only to look."""
    parsed = _UNZIP.parse(words)
    use = CommandUse(
        {CommandEffect.READS}, doubts=[unknown_flag("unzip", flag) for flag in parsed.unknown]
    )
    use.doubts += glob_doubts(words)
    use.reads += [word.text for word in parsed.operands[:1]]
    if not parsed.has("-l", "-v", "-t", "-p"):
        use.effects.add(CommandEffect.WRITES)
        use.writes += parsed.writes or ["."]
        use.brings = True
    return use


def examine_dd(words: Sequence[Word]) -> CommandUse:
    """Its arguments are all `name=value`."""
    use = CommandUse({CommandEffect.READS, CommandEffect.WRITES}, doubts=glob_doubts(words))
    for word in words:
        name, _, value = word.text.partition("=")
        if name in ("if", "of"):
            (use.reads if name == "if" else use.writes).append(value)
        elif name not in ("bs", "count", "skip", "seek", "conv", "status", "ibs", "obs", "iflag"):
            use.doubts.append(unknown_flag("dd", name))
    return use
