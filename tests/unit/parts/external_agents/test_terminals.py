from __future__ import annotations

from acp import schema

from cowork_jupyter.parts.external_agents.terminals import Terminal, command_line


def test_arguments_are_words_and_a_lone_command_is_a_line() -> None:
    assert command_line("cat", ["a b", "$HOME"], None) == "cat 'a b' '$HOME'"
    assert command_line("ls | wc -l", None, []) == "ls | wc -l"


def test_variables_come_first_and_only_if_they_are_some() -> None:
    given = [
        schema.EnvVariable(name="A", value="1; rm -rf ."),
        schema.EnvVariable(name="B=2; rm -rf . #", value="x"),
    ]
    assert command_line("make", ["all"], given) == "A='1; rm -rf .' make all"


def test_the_last_output_is_kept_in_whole_characters() -> None:
    terminal = Terminal(limit=5)
    terminal.add("abc")
    assert (terminal.text, terminal.cut) == ("abc", False)
    terminal.add("äöü")
    assert (terminal.text, terminal.cut) == ("öü", True)
