"""Secrets stay out of text, however it comes."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.redaction import (
    HIDDEN,
    LogRedaction,
    Mask,
    MaskedStream,
    is_real_key,
    without_surrogates,
)

KEY = "sk-abc-0123456789"


@given(st.lists(st.sampled_from([KEY, KEY[:5], KEY[5:], "s", "sk-", "plain ", "\n"])), st.data())
def test_stream_masks_secrets_across_pieces(words: list[str], data: st.DataObject) -> None:
    whole = "".join(words)
    stream, shown, at = MaskedStream(Mask([KEY])), "", 0
    while at < len(whole):
        size = data.draw(st.integers(1, 8))
        shown += stream.add(whole[at : at + size])
        at += size
    shown += stream.rest()
    assert shown == Mask([KEY])(whole)
    assert KEY not in shown


def test_only_what_may_begin_a_secret_waits() -> None:
    stream = MaskedStream(Mask([KEY]))
    assert stream.add("tests") == "test"
    assert stream.add(" passed") == "s passed"
    assert MaskedStream(Mask()).add("tests") == "tests"


def test_keys_that_come_later_are_hidden_too() -> None:
    mask = Mask()
    assert mask(KEY) == KEY
    mask.add([KEY])
    assert mask(f"a {KEY} b") == f"a {HIDDEN} b"


@pytest.mark.parametrize("word", ["", "ollama", "lm-studio", "not-needed", "EMPTY", "sk-1234"])
def test_made_up_keys_are_words_like_others(word: str) -> None:
    assert not is_real_key(word)
    assert is_real_key(KEY)


def test_our_log_has_no_keys(caplog: pytest.LogCaptureFixture) -> None:
    ours = logging.getLogger("cowork_jupyter")
    redaction = LogRedaction(Mask([KEY]), ours)
    ours.addHandler(redaction)
    try:
        raise ValueError(f"no such thing: {KEY}")
    except ValueError:
        logging.getLogger("cowork_jupyter.agents.jobs").exception("With %s", KEY)
    finally:
        ours.removeHandler(redaction)
    assert f"With {HIDDEN}" in caplog.text
    assert f"ValueError: no such thing: {HIDDEN}" in caplog.text
    assert KEY not in caplog.text


@pytest.mark.parametrize("where", ["nobody", "the server", "the root"])
def test_a_warning_is_written_once_whoever_handles_it(
    where: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, ours = logging.getLogger(), logging.Logger("ours")
    monkeypatch.setattr(root, "handlers", [])
    server, written = logging.Logger("server"), io.StringIO()
    ours.parent = root if where == "the root" else server
    if where != "nobody":
        ours.parent.addHandler(logging.StreamHandler(written))
    ours.addHandler(LogRedaction(Mask([KEY]), ours))
    ours.addHandler(LogRedaction(Mask(), ours))  # of another service
    ours.warning("With %s", KEY)
    seen = capsys.readouterr().err if where == "nobody" else written.getvalue()
    assert seen.splitlines() == [f"With {HIDDEN}"]
    assert capsys.readouterr().err == ""


def test_surrogates_are_joined_or_replaced() -> None:
    value = {"a": ["x\udcff", 1, None, {"b\ud800": "ü"}], "c": "\ud83d\ude00!"}
    assert without_surrogates(value) == {"a": ["x�", 1, None, {"b�": "ü"}], "c": "😀!"}


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_can_be_encoded_afterwards(text: str) -> None:
    without_surrogates(text).encode()


@given(st.text())
def test_whole_text_stays(text: str) -> None:
    assert without_surrogates(text) == text
