"""Programs that tell something about the machine or the time; see `table`."""

from __future__ import annotations

from .model import CommandEffect
from .options import Flags, Operands, Program

_READS = frozenset({CommandEffect.READS})


def _teller(short: str = "", long: str = "") -> Program:
    """Tells something; its operands are not files."""
    return Program(_READS, Flags(short, long), Operands.TEXT)


def _bare(short: str = "", long: str = "") -> Program:
    """Takes flags only; with an operand it would do something else."""
    return Program(_READS, Flags(short, long), Operands.NONE)


TELLING: dict[str, Program] = {
    "tr": _teller("cCdst", "complement delete squeeze-repeats truncate-set1"),
    "basename": _teller("as:z", "multiple suffix= zero"),
    "dirname": _teller("z", "zero"),
    "lsblk": _bare("abcdDfilmnO:o:pPrsStTx", "json output="),
    "pwd": _bare("LP", "logical physical"),
    "printf": _teller(""),
    "exit": _teller(),
    "sleep": _teller(""),
    "seq": _teller(
        "f:s:w",
        "format= separator= equal-width",
    ),
    "expr": _teller(""),
    "wait": _teller("n"),
    "date": _teller(
        "d:Iur<R",
        """
        date= iso-8601? rfc-3339= rfc-email utc universal reference< debug
        """,
    ),
    "cal": _teller("13jmswyn:"),
    "which": _teller("as", "all"),
    "whereis": _teller("bmslu"),
    "type": _teller("afptP"),
    "hash": _bare("l"),
    "whoami": _bare(""),
    "id": _teller("agGnruzZ", "group groups name real user zero"),
    "groups": _teller(""),
    "who": _bare("abdHlmpqrstTuw"),
    "uname": _bare(
        "asnrvmpio",
        """
        all kernel-name nodename kernel-release kernel-version machine processor
        hardware-platform operating-system
        """,
    ),
    "hostname": _bare("aAdfiIsy"),
    "arch": _bare(""),
    "nproc": _bare("", "all ignore="),
    "free": _bare("bkmghltvs:c:w", "bytes kibi mebi gibi human total wide"),
    "uptime": _bare("psV", "pretty since"),
    "tty": _bare("s"),
    "locale": _bare("amck", "all-locales charmaps"),
    "printenv": _teller("0", "null"),
    "ps": _teller(
        "aAcdeFfGg:HjLlMmNno:p:qrSsTt:U:u:VwXxyZ",
        """
        sort= forest no-headers headers pid= ppid= user= format=
        """,
    ),
    "pgrep": _teller("acd:fg:G:lnoP:s:t:u:U:vwx", "full list-full list-name newest oldest"),
    "lscpu": _bare("abcepJyx", "all json"),
    "nvidia-smi": _bare("Lq", "list-gpus query query-gpu= format="),
    "man": _teller("afkwV", "apropos whatis where path"),
}
