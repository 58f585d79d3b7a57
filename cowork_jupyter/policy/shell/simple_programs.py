"""Programs whose flags are all known: they read, print information, write, or fetch; see
`table`.
"""

from __future__ import annotations

from .model import CommandEffect
from .options import Flags, Operands, Program

_READS = frozenset({CommandEffect.READS})


def _reader(
    short: str = "", long: str = "", *, digits: bool = False, most: int | None = None
) -> Program:
    return Program(_READS, Flags(short, long, digits), most=most)


def _lister(short: str = "", long: str = "") -> Program:
    """Shows names, sizes or kinds of files, not their contents."""
    return Program(_READS, Flags(short, long), globs=True)


_SUM = _reader("bctwz", "binary check text tag zero ignore-missing quiet status strict warn")

LOOKING: dict[str, Program] = {
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
        _READS, Flags("clmLw", "bytes chars lines words max-line-length total="), globs=True
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
        most=1,
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
    "xxd": _reader("abc:Eeg:hil:o:ps:uv", "", most=1),
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
    "cd": Program(_READS, Flags("LPe"), most=1),
}


def _teller(short: str = "", long: str = "") -> Program:
    """Prints something; its operands are not files."""
    return Program(_READS, Flags(short, long), Operands.TEXT)


def _bare(short: str = "", long: str = "") -> Program:
    """Takes flags only; an operand would change what it does."""
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
    "seq": _teller("f:s:w", "format= separator= equal-width"),
    "expr": _teller(""),
    "wait": _teller("n"),
    "date": _teller(
        "d:Iur<R", "date= iso-8601? rfc-3339= rfc-email utc universal reference< debug"
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
        """all kernel-name nodename kernel-release kernel-version machine processor
        hardware-platform operating-system""",
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
        "sort= forest no-headers headers pid= ppid= user= format=",
    ),
    "pgrep": _teller("acd:fg:G:lnoP:s:t:u:U:vwx", "full list-full list-name newest oldest"),
    "lscpu": _bare("abcepJyx", "all json"),
    "nvidia-smi": _bare("Lq", "list-gpus query query-gpu= format="),
    "man": _teller("afkwV", "apropos whatis where path"),
}


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
