"""What a role's file may say: never more than the role that it stands on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cowork_jupyter
from cowork_jupyter.domain.errors import InvalidInput
from cowork_jupyter.domain.roles import AgentRole, Permission, RoleSpec
from cowork_jupyter.roles.catalog import COLOURS, ICONS, RoleDeclaration

JS = Path(cowork_jupyter.__file__).parent.parent / "js"
STATISTICIAN: dict[str, object] = {
    "name": "statistician",
    "label": "Statistician",
    "description": "Tests hypotheses.",
    "based_on": "planner",
    "prompt": "You doubt.",
}
EVERYTHING = [permission.value for permission in Permission]


def written(**changes: object) -> str:
    """The statistician's file, with something different; None leaves a field out."""
    fields = {name: value for name, value in (STATISTICIAN | changes).items() if value is not None}
    return "\n".join(f"{name} = {_toml(value)}" for name, value in fields.items())


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def spec(**changes: object) -> RoleSpec:
    return RoleDeclaration.read(written(**changes)).spec()


@pytest.mark.parametrize("role", AgentRole)
def test_our_own_roles_are_written_in_the_same_form(role: AgentRole) -> None:
    text = (Path(cowork_jupyter.__file__).parent / "roles" / f"{role}.toml").read_text()
    declared = RoleDeclaration.read(text)
    assert (declared.label, declared.icon) == (role.spec.label, role.spec.icon)
    assert set(declared.permissions or []) == role.spec.permissions


def test_what_is_not_said_comes_from_the_role_it_stands_on() -> None:
    tester = spec(based_on="tester")
    assert tester.permissions == AgentRole.TESTER.spec.permissions
    assert tester.formats == AgentRole.TESTER.spec.formats
    assert not tester.commands_may_write
    assert spec(based_on="actor").commands_may_write
    assert spec(based_on="commander").delegates_to == AgentRole.COMMANDER.spec.delegates_to
    assert spec(prompt="You doubt.").prompt.endswith("STATISTICIAN role. You doubt.")


def test_less_can_be_asked_for() -> None:
    less = spec(based_on="actor", permissions=["read_files", "execute_commands"])
    assert less.permissions == {Permission.READ_FILES, Permission.EXECUTE_COMMANDS}
    assert not less.commands_may_write, "its commands would do what it may not"
    assert not spec(based_on="actor", commands_may_write=False).commands_may_write
    assert spec(based_on="commander", delegates_to=["reviewer"]).delegates_to == ("reviewer",)
    assert spec(formats=["review"]).formats == ("review",)


def test_who_may_do_more_than_whom() -> None:
    actor, careful = AgentRole.ACTOR.spec, spec(based_on="actor", commands_may_write=False)
    assert careful.permissions == actor.permissions
    assert careful.holds_at_most(actor)
    assert not actor.holds_at_most(careful)
    assert spec().holds_at_most(careful)


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "more permissions": ({"permissions": EVERYTHING}, "permissions: .* more than the planner"),
    "one permission more": (
        {"based_on": "designer", "permissions": ["read_files", "write_files"]},
        "write_files is more than the designer may have",
    ),
    "no reading": ({"based_on": "actor", "permissions": []}, "read_files is missing"),
    "an unknown permission": ({"permissions": ["read_files", "root"]}, r"permissions\[1\]"),
    "delegates": ({"delegates_to": ["actor"]}, "delegates_to: actor is more than the planner"),
    "delegating to itself": (
        {"based_on": "commander", "delegates_to": ["statistician"]},
        "delegates_to: statistician is more",
    ),
    "commands that write": ({"commands_may_write": True}, "commands_may_write: needs a base"),
    "a tester's that write": (
        {"based_on": "tester", "commands_may_write": True},
        "commands_may_write: needs a base",
    ),
    "no base": ({"based_on": None}, "based_on: must be one of planner, actor"),
    "a base of others": ({"based_on": "wizard"}, "based_on: must be one of"),
    "no prompt": ({"prompt": None}, "prompt: is missing"),
    "an empty prompt": ({"prompt": "  "}, "prompt: is missing"),
    "a long prompt": ({"prompt": "x" * 8_001}, "prompt: "),
    "no label": ({"label": None}, "label: is missing"),
    "a long label": ({"label": "x" * 41}, "label: "),
    "a label that turns around": ({"label": "rotca\\u202e"}, "label: .*visible characters"),
    "a label of two lines": ({"label": "Actor\\nPlanner"}, "label: .*visible characters"),
    "an icon of its own": ({"icon": "<svg onload=alert(1)>"}, "icon: "),
    "a colour of its own": ({"colour": "red; background: url(x)"}, "colour: "),
    "a format we do not know": ({"formats": ["tool_call"]}, r"formats\[0\]"),
    "a name with a path": ({"name": "../actor"}, "name: "),
    "a name in capitals": ({"name": "Planner"}, "name: "),
    "a name with a line behind": ({"name": "planner\\n"}, "name: "),
    "a built-in name": ({"name": "actor"}, "name: 'actor' is a built-in role"),
    "a word of ours": ({"name": "plan"}, "'plan' is reserved"),
    "an unknown field": ({"trusted": True}, "trusted: is unknown; choose from: name, label"),
    "a number": ({"label": 7}, "label: "),
}


@pytest.mark.parametrize(("changes", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_is_refused_with_the_reason(changes: dict[str, object], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        spec(**changes)


@pytest.mark.parametrize("text", ["", "name =", "[" * 5000, "\0", "name = 'a'\nname = 'b'"])
def test_hostile_files_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        RoleDeclaration.read(text).spec()


def test_the_browser_can_draw_every_icon_and_colour() -> None:
    drawn = (JS / "src/shared/ui/icons.tsx").read_text()
    assert [name for name in ICONS if not re.search(rf"^  {name}: (\(\) =>|')", drawn, re.M)] == []
    styled = (JS / "style/tokens.css").read_text()
    assert [name for name in COLOURS if f".cw-colour-{name} {{" not in styled] == []
