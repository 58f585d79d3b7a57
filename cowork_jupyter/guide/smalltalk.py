"""Greetings, thanks and `what can you do`: short answers in the user's language, with examples
made of the tables that are there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from . import texts
from .file_names import is_table
from .script import Script
from .sources import read_head
from .tables import Table
from .understanding.language import Language, language_of
from .understanding.names import TableNames, is_key
from .understanding.slots import main_measure
from .understanding.synonyms import usual_aggregate
from .understanding.tokens import tokens_in, word_set

Topic = Literal["hello", "thanks", "help", "bye"]

# One of these words is needed, the others may stand beside it.
_NEEDED: dict[Topic, frozenset[str]] = {
    "hello": word_set(
        "hello hi hey hallo moin servus greetings howdy hiya morning tag morgen abend evening "
        "afternoon yo gruezi"
    ),
    "thanks": word_set(
        "thanks thank thx danke dankeschon dank merci cheers great super nice perfect cool awesome "
        "prima toll wonderful ok okay"
    ),
    "help": word_set(
        "help hilfe hilf do kannst are bist ask funktioniert work commands examples beispiele able "
        "capabilities features"
    ),
    "bye": word_set("bye goodbye tschuss ciao later wiedersehen dann"),
}
_BESIDE: dict[Topic, str] = {
    "hello": "good guten gruss dich there how are you wie geht es dir",
    "thanks": "you vielen very much so good well done sehr schon",
    "help": "what can you was du who wer to tun i how does this wie das use mir me please bitte for"
    " support could alles machen",
    "bye": "see you auf bis",
}
_TALK = {topic: words | word_set(_BESIDE[topic]) for topic, words in _NEEDED.items()}
_MAX_WORDS = 9
_SAID: dict[Topic, dict[Language, str]] = {
    "hello": {
        "en": "Hello! I am the built-in guide: I read your tables and answer by rules.",
        "de": "Hallo! Ich bin der eingebaute Guide: Ich lese deine Tabellen und antworte nach "
        "Regeln.",
    },
    "thanks": {"en": "You are welcome.", "de": "Gern geschehen."},
    "bye": {"en": "Goodbye.", "de": "Bis bald."},
    "help": {
        "en": "I answer questions about your tables, draw charts, clean, join and profile them, "
        "score a baseline model, and explain or order notebooks. I follow rules; I am not "
        "a language model.",
        "de": "Ich beantworte Fragen zu deinen Tabellen, zeichne Diagramme, bereinige, verbinde "
        "und beschreibe sie, bewerte ein einfaches Modell, erkläre oder ordne Notebooks. Ich folge "
        "Regeln; ich bin kein Sprachmodell.",
    },
}
_TRY: dict[Language, str] = {"en": "Try for example:", "de": "Versuche zum Beispiel:"}
_NO_TABLE: dict[Language, str] = {
    "en": "I see no table here yet: add a CSV, Excel, JSON or Parquet file.",
    "de": "Ich sehe hier noch keine Tabelle: Lege eine CSV-, Excel-, JSON- oder Parquet-Datei ab.",
}


def topic_of(text: str) -> Topic | None:
    """None if the text requests something."""
    tokens = [token.plain for token in tokens_in(text) if token.kind != "sign"]
    if not tokens or len(tokens) > _MAX_WORDS:
        return None
    said = set(tokens)
    order: tuple[Topic, ...] = ("bye", "thanks", "hello", "help")
    only = next((topic for topic in order if said <= _TALK[topic] and said & _NEEDED[topic]), None)
    if only or not said <= frozenset().union(*_TALK.values()):
        return only
    # `Hello, what can you do?` is about the latter.
    return next((topic for topic in reversed(order) if said & _NEEDED[topic]), None)


def small_talk(script: Script, text: str) -> str:
    """Empty if the text requests something."""
    topic = topic_of(text)
    if topic is None:
        return ""
    tables = _first_table(script) if topic in ("hello", "help") else []
    return texts.sign(_answer(topic, tables, language_of(text)))


def _first_table(script: Script) -> list[Table]:
    """A table for the examples; failing to read one is fine."""
    listed = script.call("list_directory", path=".", depth=3)
    files = listed.facts.get("files", []) if listed.ok else []
    tables = [file for file in files if is_table(file) and not file.endswith((".txt", ".json"))]
    for path in tables[:2]:
        head = read_head(script, path)
        if head.table:
            return [head.table]
    return []


def _answer(topic: Topic, tables: Sequence[Table], language: Language) -> str:
    said = _SAID[topic][language]
    if topic in ("thanks", "bye"):
        return said
    lines = examples(tables, language)
    if not lines:
        return f"{said} {_NO_TABLE[language]}"
    return "\n".join([said, "", _TRY[language], *(f"- “{line}”" for line in lines)])


def examples(tables: Sequence[Table], language: Language) -> list[str]:
    if not tables:
        return []
    table = tables[0]
    measure = main_measure(TableNames(table))
    groups = [column.name for column in table.categories if not is_key(column.name)]
    german = language == "de"
    found = []
    if measure and groups:
        sums = usual_aggregate(measure) == "sum"
        how = ("Summe" if sums else "Mittelwert") if german else ("sum" if sums else "mean")
        by = f"{measure} nach {groups[0]}" if german else f"of {measure} by {groups[0]}"
        found.append(f"{how} {by}")
    if measure and table.of_kind("date"):
        found.append(f"{measure} pro Monat" if german else f"plot {measure} by month")
    name = table.path.rsplit("/", 1)[-1]
    if groups and len(found) < 2:
        found.append(f"Anzahl nach {groups[0]}" if german else f"number of rows by {groups[0]}")
    found.append(f"Welche Spalten hat {name}?" if german else f"Which columns does {name} have?")
    return found[:3]
