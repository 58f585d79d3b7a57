"""Finding conversations: by title, notebook and what was said, whatever the words are made of."""

from __future__ import annotations

import json

import pytest

from cowork_jupyter.domain.contexts import Context
from cowork_jupyter.domain.messages import ImagePart, Message, MessageType, TextPart
from cowork_jupyter.store import Store

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
