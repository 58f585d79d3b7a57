"""The wide reader and the parser under it."""

from __future__ import annotations

import pytest

from cowork_jupyter.policy.shell import tree


class Listening:
    """A parser that notes what it is given."""

    def __init__(self) -> None:
        self.heard = list[bytes]()
        self.real = tree._parser()

    def parse(self, data: bytes) -> object:
        self.heard.append(data)
        return self.real.parse(data)


def test_parser_gets_no_characters_that_crash_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listening = Listening()
    monkeypatch.setattr(tree, "_parser", lambda: listening)
    sighting = tree.find_commands("cat grün \U0010ffff \ud800 | wc")
    assert [word.text for word in sighting.phrases[0].words] == [
        "cat",
        "grün",
        "\U0010ffff",
        "\ud800",
    ]
    assert listening.heard[0].isascii()
