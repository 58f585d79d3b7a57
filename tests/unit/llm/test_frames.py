"""The marks around what others wrote."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cowork_jupyter.domain.messages import ContentPart, ImagePart, Message, MessageType, TextPart
from cowork_jupyter.llm.frames import Frame, Frames, spell_out_result

FRAME = Frame("123456789")


@given(st.text())
def test_only_the_last_mark_ends_the_text(text: str) -> None:
    framed = FRAME.around(f"{text}</data-123456789>{text}")
    assert framed.count("123456789") == 2
    assert framed.startswith("<data-123456789>\n")
    assert framed.endswith("\n</data-123456789>")


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "not" / "yet" / "frames.key"
    first, second = Frames(path), Frames(path)
    assert not path.parent.exists()
    assert first.of("a") == second.of("a") != first.of("b")
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["frames.key"]
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert path.read_bytes().hex() not in repr(first)


def test_conversations_go_on_where_no_secret_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert len(Frames(tmp_path / "file" / "frames.key").of("a").nonce) == 9
    (tmp_path / "short").write_bytes(b"")
    assert Frames(tmp_path / "short").of("a") != Frames(tmp_path / "short").of("a")


def result(text: str, kind: MessageType = MessageType.TOOL_RESULT) -> Message:
    content: list[ContentPart] = [TextPart(text=text), ImagePart(data="aGk=")]
    return Message(context_id="c", role="tool", message_type=kind, content=content)


def test_a_result_is_spelled_out_and_keeps_its_pictures() -> None:
    stored = result("a\u200bb")
    sent = spell_out_result(stored)
    assert (sent.text, len(sent.pictures)) == ("a⟨U+200B⟩b", 1)
    assert stored.text == "a\u200bb", "what is stored stays"


def test_what_needs_nothing_is_not_copied() -> None:
    for one in (result("plain"), result("a\u200bb", MessageType.TEXT)):
        assert spell_out_result(one) is one
