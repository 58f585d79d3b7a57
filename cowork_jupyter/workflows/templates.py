"""Storage of templates: the user's own, and those that come with a workspace.

What comes with a folder is only data until the user has trusted it: it can be looked at, so
that they know what they would trust, but it is not listed, not run and shown to no model.
Trust applies to the text that was read, so a file that changes in between gains nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from ..domain.base_models import field_problems
from ..domain.errors import Conflict, CoworkError, Forbidden, InvalidInput, NotFound
from ..domain.health import Problem
from ..domain.redaction import without_surrogates
from ..policy.trust import Offer
from ..workspace import Workspace
from .template import SavedPlan, Source, Template

MAX_SIZE = 256 * 1024
MAX_TEMPLATES = 200
WORKSPACE_FOLDER = ".cowork/workflows"


@dataclass
class TemplateListing:
    items: list[Template] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass
class Templates:
    user: Path | None = None
    workspace: Path | None = None
    trusts: Callable[[Offer], bool] = lambda _offer: False

    def listing(self) -> TemplateListing:
        own_listing, brought = self._own(), self._brought()
        own = [template for template, _ in own_listing.templates]
        listing = TemplateListing(own, [*own_listing.problems, *brought.problems])
        mine = {template.name: template for template in own}
        for template, offer in brought.templates:
            if not self.trusts(offer) or _is_copy(template, mine):
                continue
            if template.name in mine:
                why = "You already have a template of that name."
                listing.problems.append(_problem(template.name, why))
            else:
                listing.items.append(template)
        return listing

    def offers(self) -> list[Offer]:
        """What came with the workspace, trusted or not, for the user to look at."""
        mine = {template.name: template for template, _ in self._own().templates}
        brought = self._brought().templates
        return [offer for template, offer in brought if not _is_copy(template, mine)]

    def save(self, template: Template, *, replace: bool = False) -> None:
        data = written(template)
        folder = self._own_folder()
        folder.mkdir(parents=True, exist_ok=True)
        what = f"The template '{template.name}'"
        _write(folder, _file(template.name), data, what, replace=replace)

    def share(self, template: Template, *, replace: bool = False) -> str:
        """Copy a template into the workspace for others who work there; returns its path."""
        if self.workspace is None:
            raise Forbidden("There is no workspace to share it in.")
        path, data = f"{WORKSPACE_FOLDER}/{_file(template.name)}", written(template)
        _write(self.workspace, path, data, path, replace=replace)
        return path

    def delete(self, template: Template) -> None:
        if template.source != "user":
            where = f"{WORKSPACE_FOLDER}/{_file(template.name)}"
            raise Forbidden(f"It belongs to the workspace. To delete it, remove {where}.")
        with Workspace(self._own_folder()).locate(_file(template.name), follow=False) as place:
            place.unlink()

    def _own(self) -> _Reading:
        return _Reading("user", self.user, ".")

    def _brought(self) -> _Reading:
        return _Reading("workspace", self.workspace, WORKSPACE_FOLDER)

    def _own_folder(self) -> Path:
        if self.user is None:
            raise Forbidden("There is no folder to keep templates in.")
        return self.user


class _Reading:
    def __init__(self, source: Source, root: Path | None, folder: str) -> None:
        self.templates: list[tuple[Template, Offer]] = []
        self.problems: list[Problem] = []
        if root is None:
            return
        try:
            names = _names(root, folder)
        except NotFound:
            return
        except CoworkError as error:
            self.problems.append(_problem(folder, error.message))
            return
        for name in names[:MAX_TEMPLATES]:
            try:
                text = _text(root, f"{folder}/{_file(name)}")
                offer = Offer("workflow", name, text)
                self.templates.append((_template(name, text, source), offer))
            except CoworkError as error:
                self.problems.append(_problem(name, error.message))
        if len(names) > MAX_TEMPLATES:
            why = f"Only the first {MAX_TEMPLATES} templates of a folder are read."
            self.problems.append(_problem(names[MAX_TEMPLATES], why))


def _write(root: Path, path: str, data: bytes, what: str, *, replace: bool) -> None:
    with Workspace(root).locate(path) as place:
        if not place.exists():
            place.create(data)
        elif replace:
            place.replace(data)
        else:
            raise Conflict(f"{what} already exists.", code="name_taken")


def _names(root: Path, folder: str) -> list[str]:
    with Workspace(root).locate(folder) as place:
        names = [entry.name for entry in place.entries()]
    visible = (name for name in names if name.endswith(".json") and not name.startswith("."))
    return [name.removesuffix(".json") for name in visible]


def _text(root: Path, path: str) -> str:
    with Workspace(root).locate(path) as place:
        return place.read_text(MAX_SIZE)


def _template(name: str, text: str, source: Source) -> Template:
    try:
        return Template.of(name, SavedPlan.model_validate_json(text), source)
    except ValidationError as error:
        raise InvalidInput(str(field_problems(error)[0])) from None
    except ValueError as error:
        raise InvalidInput(str(error)) from None


def written(template: Template) -> bytes:
    whole = template.saved.model_dump(mode="json", exclude_none=True)
    data = json.dumps(without_surrogates(whole), indent=2, ensure_ascii=False).encode()
    if len(data) > MAX_SIZE:
        raise InvalidInput(f"It is larger than {MAX_SIZE // 1024} KiB.", code="invalid_template")
    return data + b"\n"


def _is_copy(template: Template, mine: Mapping[str, Template]) -> bool:
    """Whether it is one of the user's own that they have shared."""
    return template.name in mine and mine[template.name].saved == template.saved


def _file(name: str) -> str:
    return f"{name}.json"


def _problem(name: str, why: str) -> Problem:
    message = f"Skipped the template '{without_surrogates(name)}'. {why}"
    return Problem(code="template_skipped", message=message)
