"""Which language a text is in, and whether it asks something."""

from __future__ import annotations

import re
from typing import Literal

from .tokens import tokens_in, word_set

Language = Literal["en", "de"]
_GERMAN = word_set(
    "der die das den dem des ein eine einen und oder ist sind nicht nach pro je im wie viele was"
    " welche welcher welches warum wieso zeige zeig bitte hallo danke hilfe kannst du gibt es fur"
    " mit von zeilen spalten tabelle daten durchschnitt umsatz vergleiche bereinige mir monat jahr"
    " anzahl fehlende werte ausreisser moin servus guten hat wer wo bis seit ohne diagramm dank"
    " vielen tschuss beispiele"
)
_ENGLISH = word_set(
    "the a an of and or is are not by per in how many what which why show please hello thanks help"
    " can you there for with from rows columns table data average compare clean me month year"
    " number missing values outliers hi hey who where until since without chart plot"
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


def asks(text: str) -> bool:
    """A plain question wants an answer instead of a plan."""
    is_question = bool(_ASKS.match(text)) or text[-20:].rstrip().endswith("?")
    return is_question and (bool(_IS.match(text)) or not _WANTS.search(text))
