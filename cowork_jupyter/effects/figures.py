"""The figures in a Markdown text: what it claims in numbers, each with its precision.

Figures are whole numbers with or without separators (English, German, Swiss), decimals,
percentages, amounts with a currency, a unit or a scale (`1.9 M`, `3 Mio`), also in ranges and
tables. Numbers that name or count rather than measure are not: code, file names, links, dates,
times, years, versions, ids, ordinals, numbers of lists, headings, cells and steps, windows
(`last 30 days`, `5-fold`), levels (`95 % confidence`), bounds (`< 5 %`), ratios (`1:4`), and
whole numbers up to 12 without a sign, `%`, scale or currency, unless the text says that
something *is* that number.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

from ..domain.figures import MAX_ASSUMPTIONS, Assumption

_GERMAN = re.compile(
    r"\d\.\d{3},\d|\b(?:der|das|und|ist|sind|wurden?|mit|für|nicht|eine?r?|zum|beträgt|Prozent|Zeilen"
    r"|Spalten|Umsatz|Werte?|Mittelwert|Durchschnitt|Anteil|Summe|Mio|Mrd|Tsd|Tausend|Millionen)\b"
)
_SPACES = re.compile(r"[\s'’_\u202f\u00a0\u2009]")
_TIE = 1e-9
"""Relative slack around a half, which may be rounded in either direction."""


@dataclass(frozen=True)
class Reading:
    value: float
    step: float
    """What a unit of its last digit stands for: 0.1 for `61.4`."""

    @property
    def reach(self) -> float:
        """Maximum distance of a number that rounds to it. Halves go both ways."""
        return self.step / 2 * (1 + _TIE) + abs(self.value) * 1e-12

    def times(self, factor: float, widths: float = 1.0) -> Reading:
        return Reading(self.value * factor, self.step * abs(factor) * widths)


def is_german(text: str) -> bool:
    """Whether a text reads as German, where a comma is the decimal mark."""
    return _GERMAN.search(text) is not None


def readings_of(written: str, *, german: bool = False) -> list[Reading]:
    """Possible meanings of digits with separators, likeliest first; empty if it is not a number."""
    digits = _SPACES.sub("", written)
    marks = [char for char in digits if char in ".,"]
    if not marks:
        return [_reading(digits)]
    last = marks[-1]
    whole, _, rest = digits.rpartition(last)
    if len(set(marks)) == 2:
        other = "." if last == "," else ","
        return [_reading(whole.replace(other, ""), rest)] if last not in whole else []
    grouped = re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", digits)
    thousands = [_reading(digits.replace(last, ""))] if grouped else []
    decimal = [_reading(whole, rest)] if len(marks) == 1 else []
    if not (thousands and decimal):
        return thousands or decimal
    # In English it is clear which is meant; who writes German may still write numbers in English.
    english = [*thousands, *decimal] if last == "," else [*decimal, *thousands]
    return english[::-1] if german else english[:1]


def _reading(whole: str, decimals: str = "") -> Reading:
    return Reading(float(f"{whole or 0}.{decimals or 0}"), 10.0 ** -len(decimals))


MAX_TEXT = 20_000
_NO_WORDS = re.compile(r"\S{100,}|[^\S\n]{20,}|\n{3,}")
"""Runs that nobody reads, and that would cost the patterns below more than all the rest."""
_SMALL = 12
_SENTENCE = 100
"""Characters on each side in which a word may say that a number is a loss."""

_MONTH = (
    r"(?-i:Jan(?:uary|uar)?|Feb(?:ruary|ruar)?|Mar(?:ch)?|März|Apr(?:il)?|May|Mai|June?|Juni?|July?"
    r"|Juli|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Okt(?:ober)?|Nov(?:ember)?|De[cz](?:ember)?)"
)
_NAMED = (
    r"cells?|steps?|figures?|fig\.|tables?|sections?|chapters?|lines?|rows?|columns?|pages?|items?"
    r"|folds?|clusters?|groups?|epochs?|iterations?|parts?|phases?|levels?|class|seed"
    r"|random[_ ]state|ids?|numbers?|no\.|nr\.|issues?|tasks?|plans?|revisions?|options?|versions?"
    r"|attempts?|index|weeks?|days?|months?|KW|Woche|Tag|Monat|ISO|RFC|Windows|iPhone"
    r"|Zellen?|Schritte?|Abbildung(?:en)?|Tabellen?|Abschnitte?|Kapitel|Zeilen?|Spalten?|Seiten?"
    r"|Nummern?|Gruppen?|Klassen?|Teile?|Version(?:en)?"
)
_SOFTWARE = (
    r"version|Python|pandas|NumPy|polars|scikit-learn|sklearn|matplotlib|seaborn|SciPy|statsmodels|DuckDB"
    r"|Jupyter(?:Lab)?|IPython|PyTorch|TensorFlow|Java|Node(?:\.js)?"
)
_NO_FIGURES = [
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"^ {0,3}(```+|~~~+)[\s\S]*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)",
        r"(`+)(?!`).+?(?<!`)\1(?!`)",
        r"<!--[\s\S]{0,2000}?-->|</?[a-z][^<>\n]{0,500}>",
        r"\]\([^()\n]*\)|\[\^?\d+\]",
        r"\b(?:https?|ftp|file)://\S+|\S+@\S+\.\w+",
        r"(?<![\w/\\.~-])[\w/\\.~-]*[A-Za-z_][\w-]*[/\\][\w/\\.-]+",
        r"(?<![\w.-])[\w.-]*\w\.[A-Za-z]\w{1,7}\b",
        r"\b\d{4}-\d\d?(?:-\d\d?)?(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b",
        r"\b\d{4}/\d\d?(?:/\d\d?)?\b|\b\d\d?([./-])\d\d?\1(?:\d{4}|\d\d)\b(?![.,]?\d)",
        r"\b\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?:\s?[ap]m)?\b|\b\d\d?\s?(?:[ap]\.?m\b|Uhr\b|o'clock)",
        rf"\b\d\d?(?:st|nd|rd|th|\.)?\s(?:of\s)?{_MONTH}\b(?:,?\s\d{{4}}\b)?",
        rf"\b{_MONTH}\.?\s\d\d?(?:st|nd|rd|th)?\b(?![.,:]?\d)(?!\s?%|\s(?!was|is|has)[a-z]+s\b)"
        r"(?:,?\s\d{4}\b)?",
        r"\b(?!\d{1,3}(?:\.\d{3})+(?!\.?\d))v?\d+(?:\.\d+){2,}\w*",
        rf"\b(?:{_SOFTWARE}|v)\s?(?:[<>=~]=?)?\s?\d+(?:\.\d+)*\b(?!\s?%)",
        r"\b(?:section|chapter|Abschnitt|Kapitel)s?\s\d+(?:\.\d+)+\b",
        r"\b\d+:\d+\b|\b24/7\b|(?<=\b[A-Za-zχ])²?\(\d+(?:,\s?\d+)?\)",
        r"(?<=[^\s>=-])\s?[<>≤≥]=?\s?[$€£]?\d[\d.,]*\b(?:\s?%)?",
        rf"\b(?:{_NAMED})\s[#(]?\d+(?:(?:,\s|\s?(?:and|or|und|oder|to|bis|[-–—&/])\s?)\d+)*\b"
        r"(?![.,]\d|\s?%)",
        r"#\d+\b|§\s?\d+|\b\d{4}s\b",
        r"\b(?:top|first|last|next|previous|past|every|erste[nr]?|letzte[nr]?|nächste[nr]?)\s\d+\b"
        r"(?![.,]\d|\s?%)",
        r"^[ \t>]*[-*+•]\s",
        r"^[ \t>*_]*\d+(?:\.\d+)*[.)]\*{0,2}\s",
        r"^[ \t>]*#+\s+\d+(?:\.\d+)*[.):]?\s",
        r"\b\d+(?:\.\d+)?\s?-?%(?=[\s-]+(?:confidence|CI\b|credible|prediction|significance"
        r"|Konfidenz|Vertrauens|quantile|percentile|level\b))",
        r"\b(?:p|alpha|α)(?:-?(?:value|Wert))?\s?[<>≤≥=]\s?[01]?[.,](?:05|01|001|0001|1)\b",
        r"\b\d+/\d+(?=[\s-]+(?:split|train|Aufteilung))",
    )
]
_FORMULA = re.compile(r"\$(?=\S)([^$\n]{0,200}[=\\^_][^$\n]{0,200})(?<=\S)\$(?!\d)")
_SCALES = {
    "k": 1e3, "thousand": 1e3, "tsd": 1e3, "tausend": 1e3,
    "m": 1e6, "mn": 1e6, "mm": 1e6, "mio": 1e6, "million": 1e6, "millions": 1e6, "millionen": 1e6,
    "b": 1e9, "bn": 1e9, "billion": 1e9, "billions": 1e9, "mrd": 1e9, "milliarde": 1e9,
    "milliarden": 1e9, "trillion": 1e12, "trillions": 1e12,
    "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2.0**10, "mib": 2.0**20, "gib": 2.0**30,
}  # fmt: skip
_OF_BYTES = {"kb": 2.0**10, "mb": 2.0**20, "gb": 2.0**30, "tb": 2.0**40}
_NUMBER = (
    r"\d{1,3}(?:[,.'’\u202f\u00a0\u2009\x20]\d{3}){1,6}(?![\d])(?:[.,]\d+)?|\d+(?:[.,]\d+)?|\.\d+"
)
_GAP = r"[\x20\u00a0\u202f\u2009]"
"""Between a number and its unit; never a line break."""
_FIGURE = re.compile(
    rf"""(?<![\w#/\\.,^])(?<![A-Za-z][-–])
    (?P<sign>(?<![\w)%])(?:[-−–+]|±{_GAP}?)(?=[$€£¥.\d]))?
    (?P<before>(?:[$€£¥]|US\$|(?:USD|EUR|GBP|CHF)\s){_GAP}?)?
    (?P<number>{_NUMBER})(?P<power>[eE][-+]?\d+|{_GAP}?[×x·*]{_GAP}?10\^?\{{?[-−]?\d+\}}?)?
    (?:(?P<percent>{_GAP}?%|{_GAP}(?:percentage{_GAP}points?|percent|per{_GAP}cent|Prozent(?:punkte)?n?|pp)\b)
      |{_GAP}?(?P<scale>(?i:(?:tsd|mio|mrd)\.?|k|mn|bn|m|b|[kmgt]i?b)(?=[\s.,;:!?)*|€$£_]|$)
        |(?i:thousand|tausend|millions?|millionen|billions?|milliarden?|trillions?)\b)
    )?
    (?P<after>{_GAP}?(?:€|\$|£|¥|(?:USD|EUR|GBP|CHF|dollars?|[Ee]uros?)\b))?
    (?P<unit>{_GAP}?(?:[×x]|°[CF]|[kcm]?m²?|[kmµ]?g|t|l|ms|µs|s|min|h|kWh|MWh)(?![\w]))?
    (?!\w|-[A-Za-z]|[.,]\d|:\d)""",
    re.VERBOSE,
)
_ROUGHLY = re.compile(
    r"(?:\b(?:about|around|roughly|approximately|approx\.?|some|circa|ca\.?|etwa|rund|ungefähr)"
    r"|[~≈])\s?[*_]*$",
    re.IGNORECASE,
)
_BEYOND = re.compile(
    r"\b(?:nearly|almost|over|under|more than|less than|fewer than|above|below|at least|at most"
    r"|knapp|fast|gut|über|unter|mehr als|weniger als|mindestens|höchstens)\s?[*_]*$",
    re.IGNORECASE,
)
_LOSS = re.compile(
    r"\b(?:f[ae]ll(?:s|en|ing)?|dr[oa]pp?(?:s|ed|ing)?|declin\w*|decreas\w*|down|lower\w*|less"
    r"|fewer|loss\w*|lost|los(?:t|es|ing)|shr[aiu]nk\w*|reduc\w*|minus|negative\w*|below|deficit"
    r"|dipp?\w*|removed?|sank|sunk|worse|behind|gesunken|sinkt|sank|fiel\w*|gefallen|fällt"
    r"|Rückgang|weniger|verl[oi]\w*|Verlust\w*|negativ\w*|niedriger|abgenommen|verringer\w*"
    r"|reduzier\w*|geschrumpft|unter)\b",
    re.IGNORECASE,
)
_SAYS_IT_IS = re.compile(r"(?:[=≈:]|\b(?:is|was|equals|ist|war|beträgt|betrug))\s?[*_]*$")
_COUNTED = re.compile(
    r"\s(?:rows|records|orders|customers|users|values|entries|items|observations|samples|cases"
    r"|Zeilen|Datensätze|Werte|Einträge|Kunden|Bestellungen)\b"
)
_RANGE = re.compile(r"\s?(?:[-–—]|to|bis)\s?")


@dataclass(frozen=True)
class WrittenFigure:
    text: str
    readings: tuple[Reading, ...]
    """Possible meanings, likeliest first: `1,234` is another number in German."""
    is_percent: bool = False
    scale: float = 1.0
    may_be_loss: bool = False
    """Whether words around it may say that the number it comes from is negative."""
    start: int = 0
    end: int = 0

    @property
    def value(self) -> float:
        """The likeliest; of a percentage, the number before the sign."""
        return self.readings[0].value * self.scale

    @property
    def scales(self) -> tuple[float, ...]:
        """All that its scale may mean: bytes are counted in powers of 10 and of 2."""
        return (self.scale, *(two for key, two in _OF_BYTES.items() if _SCALES[key] == self.scale))


@lru_cache(maxsize=32)  # several checks ask for the figures of the same text
def find_figures(text: str) -> tuple[WrittenFigure, ...]:
    text = _NO_WORDS.sub(lambda run: "\n\n" if run[0][0] == "\n" else " ", text[:MAX_TEXT])
    plain = _without_names(text)
    german, losses = is_german(text), [match.span() for match in _LOSS.finditer(plain)]
    figures = [
        figure
        for match in _FIGURE.finditer(plain)
        if (figure := _figure(match, plain, german, losses))
    ]
    return tuple(_with_common_unit(figures, plain))


def _without_names(text: str) -> str:
    text = _FORMULA.sub(r" \1 ", text)
    for pattern in _NO_FIGURES:
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def _figure(
    match: re.Match[str], text: str, german: bool, losses: list[tuple[int, int]]
) -> WrittenFigure | None:
    sign, number, power = match["sign"] or "", match["number"], match["power"] or ""
    percent = bool(match["percent"]) or _is_in_percent_column(text, match.start())
    currency = match["before"] or match["after"]
    scale = _scale_of((match["scale"] or "").rstrip("."), bool(currency))
    before = text[max(0, match.start() - 30) : match.start()]
    is_plain = number.isdigit() and not (sign or power or percent or scale != 1 or currency)
    if is_plain and _is_no_figure(int(number), match, text, before):
        return None
    factor = _power_of(power) * (-1 if sign.strip() in ("-", "−", "–") else 1)
    widths = 1.0
    if _ROUGHLY.search(before) and not percent:
        widths = _trailing_unit(number)
    elif _BEYOND.search(before):
        widths = 2 * (1.0 if percent else _trailing_unit(number))
    read = readings_of(number, german=german)
    readings = tuple(
        reading.times(factor, widths) for reading in (read[:1] if widths > 1 else read)
    )
    return WrittenFigure(
        match[0].strip(),
        readings,
        percent,
        scale,
        not sign and _is_near(losses, match),
        match.start() + len(match[0]) - len(match[0].lstrip()),
        match.end(),
    )


def _is_near(losses: list[tuple[int, int]], match: re.Match[str]) -> bool:
    begin, end = match.start() - _SENTENCE, match.end() + _SENTENCE
    following = bisect_left(losses, (begin, 0))
    return following < len(losses) and losses[following][1] <= end


def _is_no_figure(number: int, match: re.Match[str], text: str, before: str) -> bool:
    """Whether an unmarked whole number merely counts, or names a year."""
    if number <= _SMALL:
        return number < 2 or not _SAYS_IT_IS.search(before)
    is_year = len(match["number"]) == 4 and 1900 <= number < 2100
    return is_year and not _COUNTED.match(text, match.end()) and not match["unit"]


def _scale_of(word: str, is_money: bool) -> float:
    """A lone `m` or `b` is a scale only of money; otherwise metres, or nothing."""
    if word in ("m", "b", "mm") and not is_money:
        return 1.0
    return _SCALES.get(word.lower(), 1.0)


def _power_of(written: str) -> float:
    exponent = re.search(r"[-−+]?\d+\}?$", written)
    if not exponent:
        return 1.0
    size = int(exponent[0].rstrip("}").replace("−", "-"))
    return float(10.0**size) if abs(size) <= 300 else 1.0


def _trailing_unit(number: str) -> float:
    """What the last nonzero digit of a number rounded by words stands for."""
    digits = re.sub(r"\D", "", number)
    if number[-1:] != "0" or re.search(r"[.,]\d{1,2}$", number):
        return 1.0
    unit, value = 10.0 ** (len(digits) - len(digits.rstrip("0"))), float(digits)
    while unit > value / 4 and unit > 1:
        unit /= 10
    return unit


def _is_in_percent_column(text: str, place: int) -> bool:
    begin = text.rfind("\n", 0, place) + 1
    if not text[begin:place].lstrip().startswith("|"):
        return False
    above = text[text.rfind("\n\n", 0, begin) + 1 : begin].splitlines()
    head = next((line for line in above if line.lstrip().startswith("|")), "").split("|")
    column = text.count("|", begin, place)
    return column < len(head) and "%" in head[column]


def _with_common_unit(figures: list[WrittenFigure], text: str) -> Iterator[WrittenFigure]:
    """In `10–20 %` and `1.2 to 1.4 million` the unit after the second applies to both."""
    for figure, following in pairwise(figures):
        is_range = _RANGE.fullmatch(text, figure.end, following.start) is not None
        if is_range and not figure.is_percent and figure.scale == 1:
            yield replace(figure, is_percent=following.is_percent, scale=following.scale)
        else:
            yield figure
    yield from figures[-1:]


_HEADING = re.compile(
    r"(?:#{1,6} )?(?:\*\*|__)? ?(?:(?:My|Key|Meine|Die) )?(?:Assumptions?|Annahmen?)"
    r"(?: (?:made|I made|used|getroffen))? ?:? ?(?:\*\*|__)? ?:?",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^[ \t>]*(?:[-*+•]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)$")
_NONE = re.compile(r"(?:none|no assumptions|keine?)\b.{0,20}", re.IGNORECASE)


def assumptions_in(text: str) -> list[Assumption]:
    """Parse the list under the last `Assumptions` heading, in any language of the interface.

    The heading may be Markdown, bold, or a line with a colon. Indented lines continue an item; the
    list ends at any other text.
    """
    lines = text.splitlines()
    headings = [at for at, line in enumerate(lines) if _is_heading(line)]
    if not headings:
        return []
    items: list[str] = []
    for line in lines[headings[-1] + 1 :]:
        if item := _ITEM.match(line):
            items.append(item[1])
        elif items and line[:1] in (" ", "\t") and line.strip():
            items[-1] += f" {line.strip()}"
        elif line.strip():
            break
    stated = [item.strip()[:2000] for item in items if not _NONE.fullmatch(item.strip())]
    return [Assumption.model_validate(item) for item in stated[:MAX_ASSUMPTIONS]]


def _is_heading(line: str) -> bool:
    words = " ".join(line.strip(" \t>").split())
    return len(line) < 200 and _HEADING.fullmatch(words) is not None
