"""Where templates are kept, and what of a workspace counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cowork_jupyter.domain.errors import Conflict, Forbidden, InvalidInput
from cowork_jupyter.domain.roles import AgentRole
from cowork_jupyter.policy.trust import Offer
from cowork_jupyter.workflows import Draft, Templates, Workflow, WorkflowRegistry, template_of
from cowork_jupyter.workflows.templates import MAX_SIZE, MAX_TEMPLATES
from cowork_jupyter.workflows.workflow import Parameters

from .plans import RAW, plan, template

WHOLE = {"title": "T", "description": "D", "plan": RAW}


def names(templates: Templates) -> list[str]:
    return [one.name for one in templates.listing().items]


def problems(templates: Templates) -> list[str]:
    return [one.message for one in templates.listing().problems]


def bring(workspace: Path, name: str, **changes: Any) -> None:
    """Put a template into a workspace, as a folder from elsewhere might have it."""
    folder = workspace / ".cowork/workflows"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps({**WHOLE, **changes}), encoding="utf-8")


def everything(_offer: Offer) -> bool:
    return True


@pytest.fixture
def templates(tmp_path: Path) -> Templates:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    return Templates(tmp_path / "data/templates", workspace)


def test_with_no_folders_there_are_none(templates: Templates) -> None:
    assert (names(templates), problems(templates)) == ([], [])
    assert names(Templates()) == []


def test_what_is_saved_is_there_again_as_it_was(templates: Templates) -> None:
    templates.save(template(title="Größe 📈"))
    (found,) = Templates(templates.user).listing().items
    assert found.saved == template(title="Größe 📈").saved
    assert found.source == "user"


def test_a_name_is_not_taken_over_unless_wished(templates: Templates) -> None:
    templates.save(template())
    with pytest.raises(Conflict):
        templates.save(template(title="Other"))
    assert templates.listing().items[0].title == "Clean sales"
    templates.save(template(title="Other"), replace=True)
    assert templates.listing().items[0].title == "Other"


def test_what_is_deleted_is_gone(templates: Templates) -> None:
    templates.save(template())
    templates.delete(template())
    assert names(templates) == []


def test_half_characters_of_a_model_do_not_make_a_file_unreadable(templates: Templates) -> None:
    odd = plan()
    odd.steps[0].reason = "Half \ud800 of it"
    templates.save(template_of(Draft(name="x"), odd))
    assert templates.listing().items[0].plan.steps[0].reason == "Half � of it"


def test_what_is_too_large_to_be_read_is_not_saved(templates: Templates) -> None:
    large = plan().model_copy(update={"goal": "x" * MAX_SIZE})
    with pytest.raises(InvalidInput):
        templates.save(template_of(Draft(name="x"), large))
    assert names(templates) == []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "Invalid JSON"),
        (b"\xff", "not UTF-8"),
        ("{}", "title: "),
        (json.dumps({**WHOLE, "plan": {}}), "plan.goal: "),
        (json.dumps({**WHOLE, "role": "actor"}), "role: "),
        (
            json.dumps(
                {"title": "T", "description": "D", "plan": RAW, "parameters": [{"name": "q"}]}
            ),
            "'{q}' does not occur",
        ),
        ("[" * 100_000, "Invalid JSON"),
        (" " * (MAX_SIZE + 1), "larger than"),
    ],
)
def test_a_broken_file_is_told_and_the_others_work(
    templates: Templates, content: str | bytes, why: str
) -> None:
    templates.save(template())
    assert templates.user
    data = content if isinstance(content, bytes) else content.encode()
    (templates.user / "broken.json").write_bytes(data)
    assert names(templates) == ["clean_sales"]
    (problem,) = problems(templates)
    assert problem.startswith("Skipped the template 'broken'. ")
    assert why in problem


def test_a_file_with_an_odd_name_is_told(templates: Templates) -> None:
    templates.save(template())
    assert templates.user
    (templates.user / "clean_sales.json").rename(templates.user / "Clean-sales.json")
    assert "lower-case letters" in problems(templates)[0]


def test_a_folder_of_thousands_is_not_read_to_its_end(templates: Templates) -> None:
    templates.save(template())
    assert templates.user
    text = (templates.user / "clean_sales.json").read_text()
    for number in range(MAX_TEMPLATES + 5):
        (templates.user / f"t{number}.json").write_text(text)
    assert len(names(templates)) == MAX_TEMPLATES
    assert f"Only the first {MAX_TEMPLATES}" in problems(templates)[0]


# With a workspace


def test_what_comes_with_a_folder_does_nothing_until_it_is_trusted(templates: Templates) -> None:
    assert templates.workspace
    bring(templates.workspace, "brought")
    assert names(templates) == []
    templates.trusts = everything
    assert names(templates) == ["brought"]
    assert templates.listing().items[0].source == "workspace"


def test_before_that_the_user_can_look_at_all_of_it(templates: Templates) -> None:
    assert templates.workspace
    bring(templates.workspace, "brought")
    (offer,) = templates.offers()
    assert (offer.kind, offer.name) == ("workflow", "brought")
    assert json.loads(offer.detail)["plan"] == RAW


def test_trust_is_in_what_was_seen_and_not_in_what_it_becomes(templates: Templates) -> None:
    assert templates.workspace
    bring(templates.workspace, "brought")
    seen = {offer.digest for offer in templates.offers()}
    templates.trusts = lambda offer: offer.digest in seen
    assert names(templates) == ["brought"]
    bring(templates.workspace, "brought", description="Something else.")
    assert names(templates) == []


def test_the_users_own_come_first(templates: Templates) -> None:
    assert templates.workspace
    templates.save(template("brought"))
    bring(templates.workspace, "brought")
    templates.trusts = everything
    assert [one.source for one in templates.listing().items] == ["user"]
    assert "You already have a template of that name" in problems(templates)[0]


def test_what_belongs_to_the_workspace_is_not_ours_to_delete(templates: Templates) -> None:
    assert templates.workspace
    bring(templates.workspace, "brought")
    templates.trusts = everything
    with pytest.raises(Forbidden, match=r"\.cowork/workflows/brought\.json"):
        templates.delete(templates.listing().items[0])
    assert names(templates) == ["brought"]


def test_a_link_out_of_the_workspace_is_not_followed(templates: Templates, tmp_path: Path) -> None:
    assert templates.workspace
    bring(tmp_path / "elsewhere", "secret")
    (templates.workspace / ".cowork").symlink_to(tmp_path / "elsewhere/.cowork")
    templates.trusts = everything
    assert (names(templates), templates.offers()) == ([], [])


# Among other workflows


def test_a_template_cannot_take_the_name_of_another_workflow(templates: Templates) -> None:
    templates.save(template())
    templates.save(template("other"))
    shipped = Workflow(
        name="other",
        title="Shipped",
        description="D",
        category="code",
        role=AgentRole.PLANNER,
        parameters=Parameters,
        request="Look.",
    )
    whole = WorkflowRegistry([shipped]).together_with(templates.listing())
    assert {name: one.title for name, one in whole.items()} == {
        "other": "Shipped",
        "clean_sales": "Clean sales",
    }
    assert "Skipped the template 'other'" in whole.problems[0].message
    assert [one.label for one in whole.categories()] == ["Code", "Templates"]
