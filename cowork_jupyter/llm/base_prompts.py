"""Base prompts: the first part of every system prompt, before role and tools.

One comes with the package; users add more in a folder of theirs, and a workspace in
`.cowork/prompts`. Those of a workspace are listed, but reach a model only once the user trusts
them, because they speak with the user's voice. A prompt is looked up by name in the listing: input
never becomes a path.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from ..domain.errors import CoworkError, InvalidInput, NotFound
from ..domain.health import Problem
from ..domain.redaction import without_surrogates
from ..domain.roles import AgentRole
from ..policy.trust import Offer
from ..workspace import Workspace
from .prompt import read_prompt

DEFAULT_PROMPT = "default"
MAX_SIZE = 64 * 1024
"""Bytes of a prompt file; more would leave little room for the conversation."""
WORKSPACE_FOLDER = ".cowork/prompts"

Source = Literal["package", "user", "workspace"]
_ID = re.compile(r"\w[\w.-]{0,99}")


class BasePrompt(BaseModel):
    id: str
    title: str
    source: Source
    text: str
    trusted: bool = True


@dataclass
class PromptListing:
    """All base prompts, and what is wrong with those that were skipped."""

    items: list[BasePrompt]
    problems: list[Problem] = field(default_factory=list)


@dataclass
class BasePrompts:
    """Reads the prompts from disk each time, so that an edit counts from the next message."""

    user: Path | None = None
    workspace: Path | None = None
    trusts: Callable[[Offer], bool] = lambda _offer: False

    def listing(self) -> PromptListing:
        """The package's, then the user's, then the workspace's; the first of a name wins."""
        listing = PromptListing([_of_package()])
        for source, root, folder in self._folders():
            try:
                names = _names(root, folder)
            except NotFound:
                continue
            except CoworkError as error:
                listing.problems.append(_problem(f"The {source}'s folder of prompts", error))
                continue
            for name in names:
                try:
                    prompt = _read(source, root, folder, name, listing.items)
                    prompt.trusted = source == "user" or self.trusts(_offer(prompt))
                    listing.items.append(prompt)
                except CoworkError as error:
                    listing.problems.append(_problem(f"The {source}'s prompt '{name}'", error))
        return listing

    def find(self, prompt_id: str) -> BasePrompt | None:
        if prompt_id == DEFAULT_PROMPT:
            return _of_package()
        return next((item for item in self.listing().items if item.id == prompt_id), None)

    def usable(self, prompt_id: str) -> BasePrompt | None:
        prompt = self.find(prompt_id)
        return prompt if prompt and prompt.trusted else None

    def offers(self) -> Iterator[Offer]:
        for item in self.listing().items:
            if item.source == "workspace":
                yield _offer(item)

    def _folders(self) -> Iterator[tuple[Source, Path, str]]:
        if self.user:
            yield "user", self.user, "."
        if self.workspace:
            yield "workspace", self.workspace, WORKSPACE_FOLDER


def _offer(prompt: BasePrompt) -> Offer:
    return Offer("prompt", prompt.id, prompt.text)


def role_named(prompt_id: str) -> AgentRole | None:
    """A role's name stands for the default prompt in that role."""
    return next((role for role in AgentRole if role.value == prompt_id), None)


def _of_package() -> BasePrompt:
    text = read_prompt("base", f"{DEFAULT_PROMPT}.md")
    return BasePrompt(id=DEFAULT_PROMPT, title="Default", source="package", text=text)


def _names(root: Path, folder: str) -> list[str]:
    with Workspace(root).locate(folder) as place:
        names = [entry.name for entry in place.entries()]
    return [name for name in names if name.endswith(".md") and not name.startswith(".")]


def _read(
    source: Source, root: Path, folder: str, name: str, prompts: list[BasePrompt]
) -> BasePrompt:
    prompt_id = name.removesuffix(".md")
    _check_id(prompt_id, prompts)
    with Workspace(root).locate(f"{folder}/{name}") as place:
        text = place.read_text(MAX_SIZE).strip()
    if not text:
        raise InvalidInput("It is empty.")
    return BasePrompt(id=prompt_id, title=_title(prompt_id, text), source=source, text=text)


def _check_id(prompt_id: str, prompts: list[BasePrompt]) -> None:
    if not _ID.fullmatch(prompt_id):
        raise InvalidInput("Its name may contain only letters, digits, '_', '-' and '.'.")
    if role_named(prompt_id):
        raise InvalidInput("It has the name of a role, which is reserved here.")
    if any(prompt.id == prompt_id for prompt in prompts):
        raise InvalidInput("That name is already taken.")


def _title(prompt_id: str, text: str) -> str:
    first = text.partition("\n")[0]
    if first.startswith("# "):
        return first[2:].strip()
    title = re.sub(r"[_-]+", " ", prompt_id).strip()
    return title[:1].upper() + title[1:]


def _problem(what: str, error: CoworkError) -> Problem:
    message = f"{without_surrogates(what)} is skipped. {error.message}"
    return Problem(code="prompt_skipped", message=message)
