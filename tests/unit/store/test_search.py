"""Finding conversations: by title, notebook and what was said, whatever the words are made of."""

from __future__ import annotations

import json

import pytest

from cowork_jupyter.domain.contexts import Context, FoundContext
from cowork_jupyter.domain.messages import ImagePart, Message, MessageType, TextPart
from cowork_jupyter.store import Store, reader
from cowork_jupyter.store.search import grams_of, query

from .appending import append_message


def conversation(store: Store, title: str = "", *said: str, notebook: str | None = None) -> Context:
    made = store.save_context(Context(title=title, notebook=notebook))
    for text in said:
        append_message(
            store, Message(context_id=made.id, role="user", content=[TextPart(text=text)])
        )
    return made


def found(store: Store, search: str) -> list[str]:
    return [one.title for one in store.contexts(search=search).items]


def test_all_words_have_to_be_in_it_wherever_they_stand(store: Store) -> None:
    conversation(store, "Sales", "Why is March low?", "April is fine.", notebook="eu/sales.ipynb")
    conversation(store, "Costs", "Why is March high?")
    assert found(store, "march") == ["Costs", "Sales"]
    assert found(store, "LOW march eu/") == ["Sales"]
    assert found(store, "low high") == []
    assert found(store, "april sales march") == ["Sales"]
    assert found(store, " \u3000 ") == ["Costs", "Sales"]


def test_letters_of_every_language_are_the_same_in_either_case(store: Store) -> None:
    conversation(store, "ÜBERSICHT", "Größe der ΣΤΉΛΗ")
    assert found(store, "übersicht GRÖSSE στήλη") == ["ÜBERSICHT"]


def test_accents_make_no_difference(store: Store) -> None:
    conversation(store, "one", "Un résumé für François, 한국어 und 東京都")
    for search in ("resume", "RÉSUMÉ", "fur francois", "fu\u0308r", "한국", "京都", "京"):
        assert found(store, search) == ["one"]
    assert found(store, "都京") == []


def test_words_are_found_inside_of_others_whatever_their_length(store: Store) -> None:
    conversation(store, "one", "A DataFrame of Q4")
    assert found(store, "frame") == found(store, "q4") == found(store, "4") == ["one"]
    assert found(store, "framed") == found(store, "q5") == []


def test_what_only_looks_like_the_word_is_not_it(store: Store) -> None:
    conversation(store, "one", "abcdef", "xabc bcd cdex")
    assert found(store, "abcdef") == ["one"]
    assert found(store, "abcde bcdef") == ["one"]
    conversation(store, "two", "xabc bcd cdex")  # has all that the index knows of `abcde`
    assert found(store, "abcde") == ["one"]


def test_a_common_short_word_is_found_in_old_messages_too(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation(store, "old", "to be", *["x"] * 100)
    conversation(store, "never", *["x"] * 5)
    monkeypatch.setattr(reader, "FEW_MESSAGES", 0)
    assert found(store, "to") == ["old"]


def test_a_hit_comes_with_the_words_around_it(store: Store) -> None:
    long = "word " * 50
    conversation(store, "Sales", f"{long}Straße nach\n\n*München* {long}", "Nothing of it.")
    (hit,) = store.contexts(search="munchen sales").items
    assert isinstance(hit, FoundContext)
    assert "Straße nach *München* word" in hit.snippet
    assert hit.snippet.startswith("…word ")
    assert hit.snippet.endswith(" word…")
    assert len(hit.snippet) < 130
    assert [one.model_dump().get("snippet") for one in store.contexts(search="sales").items] == [
        None
    ]


def test_deleted_ones_are_not_in_the_index_until_they_are_back(store: Store) -> None:
    keep, drop = conversation(store, "keep", "needle one"), conversation(store, "drop", "needle")
    with store.transaction() as tx:
        tx.trash_context(drop.id)
    assert found(store, "needle") == ["keep"]
    assert indexed(store, "needle") == 1
    with store.transaction() as tx:
        tx.restore_context(drop.id)
    assert found(store, "needle") == ["drop", "keep"]
    for one in (keep, drop):
        store.delete_context(one.id)
    assert indexed(store, "needle") == 0
    assert store._rows("SELECT * FROM said_grams") == []


def indexed(store: Store, word: str) -> int:
    """How many messages the index finds."""
    asked = query(grams_of(word), "AND")
    return len(store._rows("SELECT rowid FROM said WHERE said MATCH ?", asked))


@pytest.mark.parametrize(
    "text",
    ["%", "_", "100%", "a_b", "\\", "'", '"', "*", "NEAR(", "-x", "title:", "[", "$."],
)
def test_a_word_is_looked_for_as_it_is(store: Store, text: str) -> None:
    conversation(store, "with it", f"here: {text} it is")
    conversation(store, "without", "nothing of this sort, one axb or 1000")
    assert found(store, text) == ["with it"]


@pytest.mark.parametrize("form", ["type", "text", '{"', "media_type", "image/png", "aGVsbG8"])
def test_only_words_are_looked_through_not_how_they_are_stored(store: Store, form: str) -> None:
    made = conversation(store, "one", "hello")
    picture = ImagePart(media_type="image/png", data="aGVsbG8=")
    append_message(store, Message(context_id=made.id, role="user", content=[picture]))
    assert found(store, form) == []


def test_what_tools_gave_is_not_what_was_said(store: Store) -> None:
    made = conversation(store, "one")
    output = Message(
        context_id=made.id,
        role="tool",
        message_type=MessageType.TOOL_RESULT,
        content=[TextPart(text="needle")],
    )
    append_message(store, output)
    assert found(store, "needle") == []


def test_a_search_finds_only_what_one_may_see(store: Store) -> None:
    mine, theirs = conversation(store, "mine", "secret"), conversation(store, "theirs", "secret")
    with store.transaction() as tx:
        tx.set_owner(mine.id, "ada")
        tx.set_owner(theirs.id, "bob")
    assert [one.id for one in store.contexts(owner="ada", search="secret").items] == [mine.id]


def test_what_is_found_comes_in_pages_and_can_be_narrowed(store: Store) -> None:
    for number in range(5):
        conversation(store, str(number), "needle", notebook=f"{number % 2}.ipynb")
        conversation(store, "other")
    first = store.contexts(search="needle", limit=3)
    second = store.contexts(first.next, limit=3, search="needle")
    assert [one.title for one in [*first.items, *second.items]] == ["4", "3", "2", "1", "0"]
    assert second.next is None
    here = store.contexts(search="needle", notebook="1.ipynb").items
    assert [one.title for one in here] == ["3", "1"]


def test_many_words_are_no_harm(store: Store) -> None:
    conversation(store, "one", json.dumps([*range(1000)]))
    assert found(store, " ".join(str(number) for number in range(1000))) == ["one"]
    assert found(store, "x" * 100_000) == []


def test_pinned_ones_are_listed_apart(store: Store) -> None:
    pinned, other = conversation(store, "pinned"), conversation(store, "other")
    store.save_context(pinned.model_copy(update={"pinned": True}))
    assert [one.id for one in store.contexts(pinned=True).items] == [pinned.id]
    assert [one.id for one in store.contexts(pinned=False).items] == [other.id]
    assert len(store.contexts().items) == 2
