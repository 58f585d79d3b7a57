"""Programs that look at files, or at their names, sizes and kinds; see `table`."""

from __future__ import annotations

from .model import CommandEffect
from .options import Flags, Operands, Program

_READS = frozenset({CommandEffect.READS})


def _reader(
    short: str = """

        """,
    long: str = "",
    *,
    digits: bool = False,
    most: int | None = None,
) -> Program:
    return Program(_READS, Flags(short, long, digits), most=most)


def _lister(short: str = "", long: str = "") -> Program:
    """Shows names, sizes or kinds of files, not what is in them."""
    return Program(_READS, Flags(short, long), globs=True)


_SUM = _reader("bctwz", "binary check text tag zero ignore-missing quiet status strict warn")

LOOKING: dict[str, Program] = {
    "cat": _reader(
        "AbeEnstTuv",
        """
        show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting
        """,
    ),
    "tac": _reader("brs:", "before regex separator="),
    "nl": _reader("b:d:f:h:i:l:n:ps:v:w:", "body-numbering= number-format= number-width="),
    "head": _reader("c:n:qvz", "bytes= lines= quiet silent verbose zero-terminated", digits=True),
    "tail": _reader(
        "c:fFn:qs:vz",
        """
        bytes= follow? lines= pid= quiet silent retry sleep-interval= verbose
        zero-terminated
        """,
        digits=True,
    ),
    "wc": Program(
        _READS,
        Flags(
            "clmLw",
            """
        bytes chars lines words max-line-length total=
        """,
        ),
        globs=True,
    ),
    "less": Program(_READS, Flags("eEFiImMnNqQrRsSX")),
    "more": Program(_READS, Flags("dflcpsu")),
    "grep": Program(
        _READS,
        Flags(
            "aA:bB:cC:d:D:e:Ef<FGhHiIlLm:noPqrRsTUvVwxyZz",
            """
        extended-regexp fixed-strings basic-regexp perl-regexp regexp= file< ignore-case
        no-ignore-case word-regexp line-regexp null-data no-messages invert-match version
        help max-count= byte-offset line-number line-buffered with-filename no-filename
        label= only-matching quiet silent binary-files= text directories= devices= recursive
        dereference-recursive include= exclude= exclude-from< exclude-dir=
        files-without-match files-with-matches count initial-tab null before-context=
        after-context= context= color? colour? binary
        """,
            True,
        ),
        Operands.PATTERN,
    ),
    "rg": Program(
        _READS,
        Flags(
            "A:B:C:ce:f<Fg:hHiIlLm:M:nNopPqr:sSt:T:uUvVwx0.",
            """
        after-context= before-context= context= count count-matches regexp= file<
        fixed-strings glob= iglob= no-heading heading hidden no-ignore no-ignore-vcs
        ignore-case ignore-file< files files-with-matches files-without-match follow
        invert-match json line-number no-line-number line-regexp max-columns= max-count=
        max-depth= max-filesize= multiline multiline-dotall no-filename with-filename null
        only-matching passthru pcre2 pretty quiet replace= smart-case case-sensitive sort=
        sortr= stats text trim type= type-not= type-list unrestricted vimgrep word-regexp
        color= column version help one-file-system no-messages no-config
        """,
        ),
        Operands.PATTERN,
    ),
    "diff": _reader(
        "abBcdeEiI:nNpqrstTuU:wx:yW:C:",
        """
        brief report-identical-files context? unified? side-by-side width= recursive
        new-file ignore-case ignore-space-change ignore-all-space ignore-blank-lines
        exclude= color? text minimal normal suppress-common-lines strip-trailing-cr
        """,
    ),
    "cmp": _reader("bi:ln:s", "print-bytes ignore-initial= verbose bytes= quiet silent"),
    "comm": _reader("123z", "check-order nocheck-order output-delimiter= total zero-terminated"),
    "join": _reader("a:e:i1:2:j:o:t:v:z", "ignore-case header check-order nocheck-order"),
    "paste": _reader("d:sz", "delimiters= serial zero-terminated"),
    "cut": _reader(
        "b:c:d:f:nsz",
        """
        bytes= characters= delimiter= fields= complement only-delimited output-delimiter=
        zero-terminated
        """,
    ),
    "sort": _reader(
        "bcCdfghik:mMno>rRsS:t:uVz",
        """
        ignore-leading-blanks check? dictionary-order ignore-case general-numeric-sort
        human-numeric-sort ignore-nonprinting key= merge month-sort numeric-sort output>
        reverse random-sort stable field-separator= unique version-sort zero-terminated
        parallel= sort=
        """,
    ),
    "uniq": _reader(
        "cdDf:is:uw:z",
        """
        count repeated all-repeated? skip-fields= ignore-case skip-chars= unique
        check-chars= group? zero-terminated
        """,
        most=1,
    ),
    "fold": _reader("bsw:", "bytes spaces width="),
    "fmt": _reader("cstuw:g:p:", "width="),
    "column": _reader(
        "c:ts:o:N:xeJn:R:H:O:",
        """
        table separator= output-separator= table-columns= json
        """,
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
            """
        arg= argjson= raw-output raw-input slurp compact-output null-input exit-status
        sort-keys color-output monochrome-output tab indent= join-output ascii-output
        """,
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
        """
        all almost-all author escape block-size= ignore-backups color? directory dired
        classify? file-type format= full-time group-directories-first no-group
        human-readable si dereference hide= hyperlink? indicator-style= inode ignore=
        kibibytes literal numeric-uid-gid quote-name quoting-style= reverse recursive size
        sort= time= time-style= width= context zero
        """,
    ),
    "tree": _lister(
        "adfilL:P:I:pughDFqNQrstUvxXJCn",
        """
        dirsfirst noreport charset= filelimit= gitignore prune du si timefmt= inodes device
        """,
    ),
    "du": _lister(
        "0abcd:DHhklLmPsSt:x",
        """
        null all apparent-size block-size= bytes total dereference max-depth= human-readable
        inodes summarize si threshold= time? time-style= exclude= one-file-system
        """,
    ),
    "df": _lister(
        "aB:hHiklPTt:vx:",
        """
        all block-size= human-readable si inodes local no-sync output? portability
        print-type type= total exclude-type=
        """,
    ),
    "stat": _lister("c:fLt", "dereference file-system format= printf= terse cached="),
    "file": _lister(
        "bEhiLNnprsv0kF:P:",
        """
        brief mime mime-type mime-encoding dereference no-dereference no-pad separator= raw
        version help extension
        """,
    ),
    "readlink": _lister(
        "femnqsvz",
        """
        canonicalize canonicalize-existing canonicalize-missing no-newline quiet zero
        """,
    ),
    "realpath": _lister(
        "eLmPqsz",
        """
        canonicalize-existing canonicalize-missing logical physical quiet relative-to=
        relative-base= strip no-symlinks zero
        """,
    ),
    "cd": Program(_READS, Flags("LPe"), most=1),
}
