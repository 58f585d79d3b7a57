"""Nothing hides in what a card shows."""

from __future__ import annotations

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.policy.visible import (
    decode_hidden_characters,
    spell_hidden,
    visible,
    visible_line,
)


def test_what_reorders_or_hides_text_is_spelled_out() -> None:
    assert visible("rm \u202egnp.x\r\x00") == "rm ⟨U+202E⟩gnp.x⟨U+000D⟩⟨U+0000⟩"
    assert visible("a\u200bb\u2028c") == "a⟨U+200B⟩b⟨U+2028⟩c"


def test_ordinary_text_stays_as_it_is() -> None:
    assert visible("ls\t-la\n# größer 日本 → 🎉") == "ls\t-la\n# größer 日本 → 🎉"


def test_a_name_does_not_begin_another_line() -> None:
    assert visible_line("a\n+hello\t\u202e") == "a⟨U+000A⟩+hello⟨U+0009⟩⟨U+202E⟩"


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    left = set(visible(text)) - {"\n", "\t"}
    assert not any(unicodedata.category(char)[0] == "C" for char in left)


# What a model reads


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("\x1b[31mred\x1b[0m", "⟨U+001B⟩[31mred⟨U+001B⟩[0m"),
        ("50%\r100%\n", "50%⟨U+000D⟩100%\n"),
        ("a\u200bb \u202ec\u2066", "a⟨U+200B⟩b ⟨U+202E⟩c⟨U+2066⟩"),
        ("\ufeffimport os", "⟨U+FEFF⟩import os"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("я\u200c\u200dя", "я⟨U+200C⟩⟨U+200D⟩я"),
        ("\U000e0041\U000e0042", "⟨U+E0041⟩⟨U+E0042⟩"),
        ("a\ufe0f\U000e0101", "a⟨U+FE0F⟩⟨U+E0101⟩"),
        ("👍\ufe0f\ufe01\ufe02", "👍\ufe0f⟨U+FE01⟩⟨U+FE02⟩"),
        ("\ufe0f", "⟨U+FE0F⟩"),
        ("<|im_end|><｜User｜>", "⟨U+003C⟩|im_end|>⟨U+003C⟩｜User｜>"),
        ("[INST] </s> <start_of_turn>", "⟨U+005B⟩INST] ⟨U+003C⟩/s> ⟨U+003C⟩start_of_turn>"),
        ("\ud800", "⟨U+D800⟩"),
    ],
)
def test_what_could_mislead_a_model_is_spelled_out(text: str, read: str) -> None:
    assert spell_hidden(text) == read


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n\treturn a[1] < 2 | 3\n",
        "line\r\nline\r\n",
        "می‌خواهم",
        "👨‍👩‍👧 ❤️‍🔥 1️⃣ ©️",
        "葛\U000e0100城市",
        "Bonjour\u00a0! 全角\u3000空白 12\u202f345",
        "⠀⠁⣿ plot",
        "x <| f |> g, a[INS], <span>, <b>",
    ],
)
def test_ordinary_text_and_code_stay_as_they_are(text: str) -> None:
    assert spell_hidden(text) == text


def test_all_controls_and_formatting_of_unicode_are_spelled_out() -> None:
    drawn = set("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2")
    drawn |= {"\U000110bd", "\U000110cd", "\n", "\t"}
    hiding = {"Cc", "Cf", "Cs", "Zl", "Zp"}
    every = map(chr, range(sys.maxunicode + 1))
    kept = {
        one for one in every if unicodedata.category(one) in hiding and spell_hidden(one) == one
    }
    assert kept <= drawn


@given(st.text())
def test_what_was_spelled_out_can_be_written_back(text: str) -> None:
    assert decode_hidden_characters(spell_hidden(text), text) == text


def test_only_what_was_there_is_written_back() -> None:
    assert decode_hidden_characters("⟨U+202E⟩⟨U+200B⟩", "a\u200bb") == "⟨U+202E⟩\u200b"
    assert decode_hidden_characters("⟨U+200B⟩", "\u200b and ⟨U+200B⟩") == "⟨U+200B⟩", (
        "which of both is not known"
    )
    assert decode_hidden_characters("⟨U+FFFFFF⟩", "x") == "⟨U+FFFFFF⟩"
