"""Nothing hides in what a card shows."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.policy.visible import visible


def test_what_reorders_or_hides_text_is_spelled_out() -> None:
    assert visible("rm \u202egnp.x\r\x00") == "rm ⟨U+202E⟩gnp.x⟨U+000D⟩⟨U+0000⟩"
    assert visible("a\u200bb\u2028c") == "a⟨U+200B⟩b⟨U+2028⟩c"


def test_ordinary_text_stays_as_it_is() -> None:
    assert visible("ls\t-la\n# größer 日本 → 🎉") == "ls\t-la\n# größer 日本 → 🎉"


@given(st.text())
def test_nothing_invisible_is_left(text: str) -> None:
    left = set(visible(text)) - {"\n", "\t"}
    assert not any(unicodedata.category(char)[0] == "C" for char in left)
