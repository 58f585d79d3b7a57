"""Agent Skills: how-tos for kinds of work, each a folder with a SKILL.md.

A model is told what there is, and opens what fits. Skills come with a workspace, from the user's
own folder, and with the package. A workspace's are shown, but reach a model only once the user
trusts them, with all their files: they speak with the user's voice.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from ..domain.errors import CoworkError, InvalidInput, NotFound
from ..domain.guidance import GuidanceSource
from ..domain.health import Problem
from ..domain.surrogates import without_surrogates
from ..policy.trust import Offer
from ..workspace import Workspace
from .skill_files import SKILL_FILE, SkillFile, SkillFiles, file_named
from .skill_format import MAX_SIZE, SkillText, parse_skill
from .skill_switches import SkillSwitches

WORKSPACE_FOLDERS = (".cowork/skills", ".agents/skills", ".claude/skills")
SHIPPED = Path(__file__).parent / "shipped"
MAX_SKILLS = 50
"""In one folder."""


@dataclass(frozen=True)
class Skill:
    """One skill as it is on disk."""

    about: SkillText
    source: GuidanceSource
    place: str
    """Its folder: below the workspace's, the user's or the package's."""
    text: str
    """All of its SKILL.md."""
    files: list[SkillFile]
    root: SkillFiles
    trusted: bool = True
    """Whether a model gets to see it."""
    enabled: bool = True
    """Whether the user has it on."""

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def is_usable(self) -> bool:
        return self.trusted and self.enabled

    @property
    def path(self) -> str:
        """Where people find it: relative to the workspace if it came with that."""
        root = self.root.root.root
        return self.place if self.source == "workspace" else str(root / self.place)

    @property
    def offer(self) -> Offer:
        """All of it, so that a changed script asks again."""
        return Offer("skill", self.place, "\n".join([self.text, *map(str, self.files)]))

    def read(self, file: str) -> str:
        """The text of one of its files."""
        data = self.root.read(self.place, file_named(self.files, file))
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(f"'{file}' is not UTF-8 text.", code="not_text") from None


@dataclass
class SkillListing:
    """All skills, and what is wrong with those that were skipped."""

    items: list[Skill] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def has(self, name: str, source: GuidanceSource) -> bool:
        """Whether the name is taken. What is not trusted takes a name from its own kind only."""
        return any(
            skill.name == name and (skill.trusted or skill.source == source) for skill in self.items
        )


@dataclass
class Skills:
    """The skills as they are on disk now, so that an edit counts from the next message.

    Only the package's own are read once: nobody edits those.
    """

    workspace: Path | None = None
    """The workspace's top folder."""
    user: Path | None = None
    """The user's own folder of skills."""
    trusts: Callable[[Offer], bool] = lambda _offer: False
    """Whether the user trusts what a workspace brings along."""
    switches: SkillSwitches = field(default_factory=SkillSwitches)

    def listing(self) -> SkillListing:
        """The workspace's first, then the user's, then ours; a name is taken once."""
        listing = SkillListing()
        for source, root, folder in self._folders:
            try:
                names = _names(root, folder)
            except NotFound:
                continue
            except CoworkError as error:
                what = f"The folder {folder if source == 'workspace' else 'of your own skills'}"
                listing.problems.append(_problem(what, error))
                continue
            for name in names:
                try:
                    found = _read(source, root, f"{folder}/{name}".removeprefix("./"), name)
                    if found:
                        self._add(found, listing)
                except CoworkError as error:
                    listing.problems.append(_problem(f"The {source}'s skill '{name}'", error))
        for skill in _shipped():
            try:
                self._add(skill, listing)
            except CoworkError as error:
                listing.problems.append(_problem(f"The package's skill '{skill.name}'", error))
        return listing

    def _add(self, skill: Skill, listing: SkillListing) -> None:
        if any(_is_same(other, skill) for other in listing.items):
            return
        if listing.has(skill.name, skill.source):
            raise InvalidInput("That name is already taken.")
        trusted = skill.source != "workspace" or self.trusts(skill.offer)
        enabled = self.switches.is_on(skill.name)
        listing.items.append(replace(skill, trusted=trusted, enabled=enabled))

    def usable(self) -> list[Skill]:
        """Those that are trusted and on."""
        return [skill for skill in self.listing().items if skill.is_usable]

    def has_usable(self) -> bool:
        """Whether there are any; asked often, so what comes with the package is asked first."""
        return any(self.switches.is_on(skill.name) for skill in _shipped()) or bool(self.usable())

    def open(self, name: str) -> Skill:
        """The skill that an agent may follow; else why there is none."""
        items = self.listing().items
        found = [skill for skill in items if skill.name == name]
        for skill in found:
            if skill.is_usable:
                return skill
        usable = [skill.name for skill in items if skill.is_usable]
        close = difflib.get_close_matches(name, usable, n=3, cutoff=0.5) or usable
        choose = f" Choose one of: {', '.join(close)}." if close else ""
        if any(skill.trusted for skill in found):
            raise NotFound(f"The skill '{name}' is switched off.{choose}", code="skill_off")
        if found:
            why = f"The skill '{name}' came with this folder and is not trusted yet.{choose}"
            raise NotFound(why, code="skill_not_trusted")
        raise NotFound(f"There is no skill '{name}'.{choose}", code="no_skill")

    def switch(self, name: str, *, on: bool) -> None:
        """Have agents told of it, or not."""
        if not any(skill.name == name for skill in self.listing().items):
            raise NotFound(f"There is no skill '{name}'.", code="no_skill")
        self.switches.set(name, on=on)

    def offers(self) -> Iterator[Offer]:
        """The skills that the workspace brings along."""
        for item in self.listing().items:
            if item.source == "workspace":
                yield item.offer

    @cached_property
    def _folders(self) -> list[tuple[GuidanceSource, SkillFiles, str]]:
        folders: list[tuple[GuidanceSource, SkillFiles, str]] = []
        if self.workspace:
            files = SkillFiles(Workspace(self.workspace))
            folders += [("workspace", files, folder) for folder in WORKSPACE_FOLDERS]
        if self.user:
            folders.append(("user", SkillFiles(Workspace(self.user)), "."))
        return folders


def _read(source: GuidanceSource, root: SkillFiles, folder: str, name: str) -> Skill | None:
    """The skill in a folder, if there is one; the folder may be a link within its root."""
    try:
        with root.root.locate(f"{folder}/{SKILL_FILE}") as place:
            data, found = place.read(MAX_SIZE + 1), place.path
    except NotFound:
        return None
    place_of = found.removesuffix(f"/{SKILL_FILE}")
    about = parse_skill(data, name)
    return Skill(about, source, place_of, data.decode("utf-8-sig"), root.of(place_of), root)


@cache
def _shipped() -> tuple[Skill, ...]:
    """The package's own, which stay as they are."""
    root = SkillFiles(Workspace(SHIPPED))
    found = [_read("package", root, name, name) for name in _names(root, ".")]
    return tuple(skill for skill in found if skill)


def _is_same(skill: Skill, other: Skill) -> bool:
    """Whether two folders are one: `.claude/skills` may be a link to `.agents/skills`."""
    return skill.root is other.root and skill.place == other.place


def _names(root: SkillFiles, folder: str) -> list[str]:
    with root.root.locate(folder) as place:
        entries = place.entries()
    names = [entry.name for entry in entries if entry.kind in ("folder", "link")]
    names = [name for name in names if not name.startswith((".", "_"))]
    if len(names) > MAX_SKILLS:
        raise InvalidInput(f"It has more than {MAX_SKILLS} skills.")
    return names


def _problem(what: str, error: CoworkError) -> Problem:
    message = f"{without_surrogates(what)} is skipped. {error.message}"
    return Problem(code="skill_skipped", message=message)
