"""Texts that UTF-8 can carry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.surrogates import without_surrogates


def test_halves_are_joined_or_replaced_wherever_they_are_and_all_else_stays() -> None:
    value = {"a": ["x\udcff", 1, None, {"b\ud800": "ü"}], "c": "\ud83d\ude00!"}
    assert without_surrogates(value) == {"a": ["x�", 1, None, {"b�": "ü"}], "c": "😀!"}


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_can_be_encoded_afterwards(text: str) -> None:
    without_surrogates(text).encode()


@given(st.text())
def test_whole_text_stays(text: str) -> None:
    assert without_surrogates(text) == text
