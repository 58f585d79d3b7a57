"""Programs that change files or reach other machines; see `table`."""

from __future__ import annotations

from .model import CommandEffect
from .options import Flags, Operands, Program

_WRITES = frozenset({CommandEffect.WRITES})
_DELETES = frozenset({CommandEffect.DELETES, CommandEffect.WRITES})
_NETWORK = frozenset({CommandEffect.NETWORK})


def _writer(short: str, long: str, operands: Operands = Operands.WRITE) -> Program:
    return Program(_WRITES, Flags(short, long), operands)


CHANGING: dict[str, Program] = {
    "tee": _writer("aip", "append ignore-interrupts"),
    "touch": _writer("acd:fhmr<t:", "no-create date= no-dereference reference< time="),
    "mkdir": _writer("m:pvZ", "mode= parents verbose"),
    "cp": _writer(
        "abdfiHlLnPpPrRsS:t>Tuvx",
        """
        archive backup? force interactive link dereference no-clobber no-dereference
        preserve? no-preserve= parents recursive reflink? remove-destination sparse=
        symbolic-link target-directory> no-target-directory update? verbose one-file-system
        """,
        Operands.COPY,
    ),
    "mv": _writer(
        "bfinS:t>Tuv",
        """
        backup? force interactive no-clobber strip-trailing-slashes target-directory>
        no-target-directory update? verbose
        """,
        Operands.MOVE,
    ),
    "ln": _writer(
        "bfiLnPrsS:t>Tv",
        """
        backup? force interactive logical no-dereference physical relative symbolic
        target-directory> no-target-directory verbose
        """,
        Operands.COPY,
    ),
    "truncate": _writer("cor<s:", "no-create io-blocks reference< size="),
    "chmod": _writer(
        "cfvR",
        """
        changes quiet silent verbose recursive preserve-root no-preserve-root reference<
        """,
        Operands.MODE,
    ),
    "chown": _writer(
        "cfvRhHLP",
        """
        changes quiet silent verbose recursive dereference no-dereference
        """,
        Operands.MODE,
    ),
    "split": _writer(
        "a:b:C:dl:n:xe",
        """
        bytes= lines= number= suffix-length= numeric-suffixes? additional-suffix= verbose
        """,
    ),
    "gzip": _writer(
        "cdfhklLnNqrtvV123456789",
        """
        stdout decompress force keep list quiet recursive test verbose fast best
        """,
    ),
    "gunzip": _writer("cfhklLnNqrtvV", "stdout force keep list quiet recursive test verbose"),
    "zip": _writer("rqj0123456789uvfdx:i:@e", "recurse-paths quiet junk-paths"),
    "rm": Program(
        _DELETES,
        Flags(
            "dfiIrRv",
            """
        force interactive? one-file-system no-preserve-root preserve-root recursive dir
        verbose
        """,
        ),
        Operands.WRITE,
    ),
    "rmdir": Program(
        _DELETES,
        Flags(
            "pv",
            """
        ignore-fail-on-non-empty parents verbose
        """,
        ),
        Operands.WRITE,
    ),
    "unlink": Program(_DELETES, Flags(""), Operands.WRITE),
    "shred": Program(
        _DELETES,
        Flags(
            "fn:s:uvxz",
            """
        force iterations= size= remove? verbose exact zero
        """,
        ),
        Operands.WRITE,
    ),
    "curl": Program(
        _NETWORK,
        Flags(
            "0146aA:d:fgGH:iIkLm:o>r:sSu:vX:x:",
            """
        fail fail-with-body silent show-error location head include header= data= data-raw=
        json= request= output> user-agent= user= max-time= connect-timeout= retry=
        retry-delay= compressed insecure verbose get globoff range= http1.1 http2 ipv4 ipv6
        """,
        ),
        Operands.TEXT,
    ),
    "wget": Program(
        _NETWORK | _WRITES,
        Flags(
            "bcNqvS46O>P>t:T:U:",
            """
        continue timestamping quiet no-verbose show-progress output-document>
        directory-prefix> tries= timeout= user-agent= spider header= no-check-certificate
        """,
        ),
        Operands.TEXT,
    ),
    "rsync": Program(
        _NETWORK | _WRITES,
        Flags(
            "abcdghHiklLmnopPqrRStuvWxyz",
            """
        archive verbose compress progress partial recursive update dry-run checksum
        human-readable info= exclude= include= size-only times links perms stats existing
        ignore-existing bwlimit=
        """,
        ),
        Operands.COPY,
    ),
    "ping": Program(_NETWORK, Flags("46c:i:nqs:t:vw:W:"), Operands.TEXT),
    "dig": Program(_NETWORK, Flags("46x:t:p:"), Operands.TEXT),
    "nslookup": Program(_NETWORK, Flags(), Operands.TEXT),
    "host": Program(_NETWORK, Flags("46at:v"), Operands.TEXT),
}
