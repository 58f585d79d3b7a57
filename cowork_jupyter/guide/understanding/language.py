"""Language and form of a text: questions, clauses that request one thing each, refused actions."""

from __future__ import annotations

import re
from typing import Literal

from .tokens import code_span, split_code_spans, tokens_in, word_set

Language = Literal["en", "de"]
_GERMAN = word_set(
    "der die das den dem des ein eine einen und oder ist sind nicht nach pro je im wie viele was "
    "welche welcher welches warum wieso zeige zeig bitte hallo danke hilfe kannst du gibt es fur "
    "mit von zeilen spalten tabelle daten durchschnitt umsatz vergleiche bereinige mir monat jahr "
    "anzahl fehlende werte ausreisser moin servus guten hat wer wo bis seit ohne diagramm dank "
    "vielen tschuss beispiele"
)
_ENGLISH = word_set(
    "the a an of and or is are not by per in how many what which why show please hello thanks help "
    "can you there for with from rows columns table data average compare clean me month year "
    "number missing values outliers hi hey who where until since without chart plot"
)
_ASKS = re.compile(
    r"\s*(?:and |so |but |hi,? |hey,? |hello,? )?(?:what|which|how|who|whom|when|where|why|is|are"
    r"|does|do|did|was|were|has|have|any|wie|welche[rsnm]?|was|wer|wo|wann|warum|wieso|gibt|hat|ist"
    r"|sind|haben|woher)\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:plot|draw|chart|graph|visuali[sz]e|histogram|scatter|clean|join|merge|predict|model"
    r"|diagramm|\w+diagramm|zeichne|bereinige)\b",
    re.IGNORECASE,
)


_IS = re.compile(r"\s*(?:is|are|how clean|ist|sind)\b", re.IGNORECASE)


def language_of(text: str) -> Language:
    words = [token.plain for token in tokens_in(text)]
    german = sum(word in _GERMAN for word in words)
    return "de" if german > sum(word in _ENGLISH for word in words) else "en"


def is_question(text: str) -> bool:
    """A plain question wants an answer instead of a plan."""
    is_question = bool(_ASKS.match(text)) or text[-20:].rstrip().endswith("?")
    return is_question and (bool(_IS.match(text)) or not _WANTS.search(text))


_CLAUSE_VERBS = (
    r"plot|draw|chart|graph|visuali[sz]e|clean|profile|describe|show|list|join|merge|combine|predict"
    r"|fit|train|compare|find|remove|drop|give me|tell me|make|create|calculate|compute|count|check"
    r"|analy[sz]e|zeig\w*|zeichne\w*|bereinig\w*|vergleich\w*|berechne|mach\w*|plotte|finde|erstelle"
)
_SPLIT = re.compile(
    r"\s*;\s*|\s*\n+\s*|(?<=[^\d\s])\.\s+(?=\S)"
    r"|[,\s]\s*(?:and\s+)?(?:then|afterwards|after that|danach|dann|anschlie\w{1,3}end)\b,?\s*"
    rf"|,?\s+(?:and|und)\s+(?:also\s+|auch\s+)?(?=(?:{_CLAUSE_VERBS})\b)|,\s*(?=(?:{_CLAUSE_VERBS})\b)",
    re.IGNORECASE,
)
_AND_BY = re.compile(r"\s+and\s+(?=(?:by|per|for each)\b)", re.IGNORECASE)
_BY = re.compile(r"\b(?:by|per|over time|for each)\b", re.IGNORECASE)
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”')
_GAPS = re.compile(
    r"\b(?:drop|remove|fill|keep)\b.{0,40}\b(?:missing|nan|null|gaps|duplicates)", re.I
)
_MAX_CLAUSES = 12


def clauses_in(text: str) -> list[str]:
    """Split a text into parts that request one thing each."""
    names: list[str] = []

    def hide(name: str) -> str:
        names.append(name)
        return f"\0{len(names) - 1}\0"

    hidden = "".join(
        hide(code_span(piece)) if is_code else _QUOTED.sub(lambda match: hide(match[0]), piece)
        for is_code, piece in split_code_spans(text.replace("\0", " "))
    )
    parts = [part for part in _SPLIT.split(hidden) if part and part.strip()]
    parts = [clause for part in _kept_together(parts) for clause in _two_charts(part)]
    clauses = [re.sub(r"\0(\d+)\0", lambda at: names[int(at[1])], part) for part in parts]
    return [part.strip() for part in clauses][:_MAX_CLAUSES] or [text]


def _kept_together(parts: list[str]) -> list[str]:
    """`clean it and drop missing values` is one request."""
    kept: list[str] = []
    for part in parts:
        if (
            kept
            and _GAPS.match(part.strip())
            and re.search(r"\bclean|\btidy|bereinig", kept[-1], re.I)
        ):
            kept[-1] += f", {part}"
        else:
            kept.append(part)
    return kept


def _two_charts(part: str) -> list[str]:
    """`plot price over time and by region` is two charts."""
    pieces = _AND_BY.split(part, maxsplit=1)
    if len(pieces) == 1 or not (found := _BY.search(pieces[0])):
        return [part]
    return [pieces[0], f"{pieces[0][: found.start()]} {pieces[1]}"]


_POLITE = (
    r"\s*(?:(?:please|pls|kindly|now|and|then|also|bitte|can|could|would|will|you|i|we|want|need|to"
    r"|like|let|us|me|just|kannst|du|dann|und)\b[\s,]*){0,8}"
)
_VERBS = (
    r"rename|convert|translate|e-?mail|mail|send|export|upload|download|publish|deploy|install"
    r"|encrypt|anonymi[sz]e|transpose|append|insert|overwrite|write|save|schedule|remind"
    r"|update|edit|tweet|multiply|divide|subtract"
    r"|replace(?!.{0,80}\b(?:missing|nan|nulls?|gaps|empty))"
    r"|benenne\w*|umbenenn\w*|konvertier\w*|wandle\w*|wandel|ubersetz\w*|übersetz\w*|schicken?"
    r"|sende[nt]?|exportier\w*|speicher\w*|installier\w*"
)
_PART = r"(?:column|field|row|spalte|zeile)s?\b"
_CANNOT = re.compile(
    rf"{_POLITE}(?:(?:{_VERBS})\b(?!\s+(?:by|per|over|count|rate|volume|time|date)\b)"
    r"|(?:change|set|ändere)\b(?=.{1,80}\b(?:to|into|zu)\b)(?!.{0,80}\bfrom\b)"
    r"|share\b(?=.{1,80}\bwith\b)"
    rf"|(?:add|create|insert|füge|erstelle)\b[^,;]{{0,30}}{_PART}"
    r"|(?:drop|delete|remove|lösche|entferne)\b(?!.{0,80}\b(?:missing|duplicate|empty|without|no"
    r"|fehlend|doppelt|leer))[^,;]{0,60}\b(?:columns?|fields?|spalten?|file|files|datei)\b)",
    re.IGNORECASE,
)


def is_unsupported(clause: str) -> bool:
    """Whether a clause requests an action that is not supported."""
    return bool(_CANNOT.match(clause[:300]))
