"""What `make lint` says about translations."""

from __future__ import annotations

import pytest

from tests.messages import Catalogue, of_server, problems_of

HEAD = {"language": "xx", "pluralForms": "nplurals=3; plural=(n % 3);"}
ENGLISH: Catalogue = {"": {}, "Save": ["Save"], "%1 file": ["%1 file", "%1 files"]}


def test_a_translation_may_lack_messages_and_has_the_plural_forms_of_its_language() -> None:
    assert list(problems_of({"": HEAD, "%1 file": ["%1 a", "%1 b", "%1 c"]}, ENGLISH)) == []


@pytest.mark.parametrize(
    ("translation", "problem"),
    [
        ({}, "plural forms are missing"),
        ({"": HEAD, "Load": ["Laden"]}, "nobody says 'Load'"),
        ({"": HEAD, "%1 file": ["%1 a", "%1 b"]}, "number of forms"),
        ({"": HEAD, "Save": ["Speichern", "Sichern"]}, "number of forms"),
        ({"": HEAD, "%1 file": ["%1 a", "b", "%1 c"]}, "%1, %2, … differ"),
    ],
)
def test_what_would_look_wrong_on_the_screen_is_found(translation: Catalogue, problem: str) -> None:
    assert [problem in found for found in problems_of(translation, ENGLISH)] == [True]


def test_fixed_sentences_of_the_server_are_messages_and_what_only_models_read_is_not() -> None:
    found = set(of_server())
    assert {"Skip this step", "This conversation has no plan yet.", "Dataset", "Data"} <= found
    assert "All that the other needs to know." not in found
