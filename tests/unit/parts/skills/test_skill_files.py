"""SKILL.md: what is read, and what is refused with a word."""

from __future__ import annotations

import time

import pytest

from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.parts.skills.skill_files import MAX_SIZE, SkillText, parse_skill


def parsed(front_matter: str, body: str = "Do it.", folder: str = "joins") -> SkillText:
    return parse_skill(f"---\n{front_matter}\n---\n{body}\n".encode(), folder)


def refused(front_matter: str, body: str = "Do it.") -> str:
    with pytest.raises(InvalidInput) as caught:
        parsed(front_matter, body)
    return caught.value.message


def test_name_description_and_body() -> None:
    skill = parsed("name: joins\ndescription: Combine\n  tables.", "# Joins\n\nCount first.\n")
    assert (skill.name, skill.description) == ("joins", "Combine tables.")
    assert skill.body == "# Joins\n\nCount first."
    assert (skill.license, skill.compatibility, skill.allowed_tools) == ("", "", [])


def test_all_that_the_convention_has() -> None:
    skill = parsed(
        "name: joins\ndescription: >-\n  Combine\n  tables.\nlicense: MIT\n"
        "compatibility: Needs git\nmetadata:\n  author: [a, b]\nmodel: opus\n"
        "allowed-tools: Read, Bash(git status:*) Bash(*)"
    )
    assert skill.description == "Combine tables."
    assert (skill.license, skill.compatibility) == ("MIT", "Needs git")
    assert skill.allowed_tools == ["Read", "Bash(git status:*)", "Bash(*)"]


def test_wishes_may_be_a_list() -> None:
    skill = parsed("name: joins\ndescription: x\nallowed-tools:\n  - Read\n  - Bash(ls)")
    assert skill.allowed_tools == ["Read", "Bash(ls)"]


def test_values_are_texts_whatever_they_look_like() -> None:
    skill = parsed("name: joins\ndescription: yes\nlicense: 2024-01-01\ncompatibility: !!int 3")
    assert (skill.description, skill.license, skill.compatibility) == ("yes", "2024-01-01", "3")


def test_windows_line_ends_and_a_byte_order_mark() -> None:
    data = b"\xef\xbb\xbf---\r\nname: joins\r\ndescription: x\r\n---\r\nDo it.\r\n"
    assert parse_skill(data, "joins").body == "Do it."


def test_a_rule_in_the_body_ends_nothing() -> None:
    assert parsed("name: joins\ndescription: x", "a\n\n---\n\nb").body == "a\n\n---\n\nb"


@pytest.mark.parametrize(
    ("front_matter", "why"),
    [
        ("description: x", "name: is missing"),
        ("name: joins", "description: is missing"),
        ("name: joins\ndescription:", "description"),
        (f"name: joins\ndescription: {'x' * 1025}", "description"),
        (f"name: {'a' * 65}\ndescription: x", "name"),
        ("name: Joins\ndescription: x", "name"),
        ("name: -joins\ndescription: x", "name"),
        ("name: jo--ins\ndescription: x", "name"),
        ("name: ../joins\ndescription: x", "name"),
        ("name: merges\ndescription: x", "its folder is called 'joins'"),
        ("name: joins\ndescription: Use when: asked", "in line 3"),
        ("- name", "must be lines such as"),
        ("just words", "must be lines such as"),
        ("name: joins\ndescription: x\nname: joins", "'name' appears twice"),
        ("name: &n joins\ndescription: *n", "anchors"),
        ("? [a]\n: b\nname: joins\ndescription: x", "must be text"),
        ("name: joins\ndescription: x\nmetadata: " + "[" * 2000 + "]" * 2000, "nested"),
        ("name: joins\ndescription: x\nnotes: " + "y" * 20_000, "larger than 16 KiB"),
        ("name: joins\ndescription: a\x00b", "characters"),
        ("name: joins\ndescription: x\nallowed-tools: {a: b}", "allowed-tools"),
        ("name: joins\ndescription: [a, b]", "description"),
    ],
)
def test_what_is_wrong_is_said(front_matter: str, why: str) -> None:
    assert why in refused(front_matter)


def test_objects_are_never_made() -> None:
    skill = parsed("name: joins\ndescription: !!python/name:os.system x")
    assert skill.description == "x"


def test_a_small_text_cannot_grow_without_end() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{f'*{chr(97 + n)}, ' * 9}]" for n in range(8)]
    before = time.thread_time()
    assert "anchors" in refused("\n".join(lines))
    assert time.thread_time() - before < 5


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"# Joins\n", "must begin with front matter"),
        (b"\n---\nname: joins\n---\n", "must begin with front matter"),
        (b"---\nname: joins\ndescription: x\n", "must begin with front matter"),
        (b"---\nname: joins\ndescription: x\n---\n \n", "body"),
        (b"---\nname: joins\ndescription: \xff\n---\nx", "not UTF-8"),
        (b"x" * (MAX_SIZE + 1), "larger than 64 KiB"),
    ],
)
def test_files_that_are_no_skills(data: bytes, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        parse_skill(data, "joins")
