"""Agent Skills: how-tos for kinds of work, each a folder with a SKILL.md.

A model is told what there is, and opens what fits. Skills come with a workspace, from the
user's own folder, and with the package. A workspace's are displayed, but reach a model only
once the user trusts them, with all their files: they speak with the user's voice.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path

from ...domain.errors import CoworkError, InvalidInput, NotFound
from ...domain.guidance import GuidanceSource
from ...domain.health import Problem
from ...domain.redaction import without_surrogates
from ...policy.settings_file import SettingsFile
from ...policy.trust import Offer
from ...workspace import Workspace
from .skill_files import (
    MAX_SIZE,
    SKILL_FILE,
    SkillFile,
    SkillFiles,
    SkillText,
    file_named,
    parse_skill,
)

SECTION = "skills_off"


class SkillSwitches:
    """Skills that the user has switched off by name, stored in their settings. On by default."""

    def __init__(self, user_settings: Path | None = None) -> None:
        self._file = SettingsFile(user_settings) if user_settings else None

    def is_on(self, name: str) -> bool:
        return name not in self._off()

    def set(self, name: str, *, on: bool) -> None:
        """Applies to every workspace."""
        off = [other for other in self._off() if other != name]
        if self._file:
            self._file.set(SECTION, (off if on else [*off, name]) or None)

    def _off(self) -> list[str]:
        """An invalid section switches nothing off."""
        kept = self._file.content().get(SECTION, []) if self._file else []
        return [name for name in kept if isinstance(name, str)] if isinstance(kept, list) else []


WORKSPACE_FOLDERS = (".cowork/skills", ".agents/skills", ".claude/skills")
SHIPPED = Path(__file__).parent / "shipped"
MAX_SKILLS = 50


@dataclass(frozen=True)
class Skill:
    about: SkillText
    source: GuidanceSource
    place: str
    """Its folder: below the workspace's, the user's or the package's."""
    text: str
    files: list[SkillFile]
    root: SkillFiles
    trusted: bool = True
    enabled: bool = True

    @property
    def name(self) -> str:
        return self.about.name

    @property
    def is_usable(self) -> bool:
        return self.trusted and self.enabled

    @property
    def path(self) -> str:
        """For display: relative to the workspace if it came with that."""
        root = self.root.root.root
        return self.place if self.source == "workspace" else str(root / self.place)

    @property
    def offer(self) -> Offer:
        """Includes the files, so that a changed script asks again."""
        return Offer("skill", self.place, "\n".join([self.text, *map(str, self.files)]))

    def read(self, file: str) -> str:
        data = self.root.read(self.place, file_named(self.files, file))
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(f"'{file}' is not UTF-8 text.", code="not_text") from None


@dataclass
class SkillListing:
    items: list[Skill] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def has(self, name: str, source: GuidanceSource) -> bool:
        """An untrusted skill takes a name only from its own source."""
        same = (skill for skill in self.items if skill.name == name)
        return any(skill.trusted or skill.source == source for skill in same)


@dataclass
class Skills:
    """Reads from disk each time, so that an edit applies from the next message.

    Only the package's own are read once: nobody edits those.
    """

    workspace: Path | None = None
    user: Path | None = None
    trusts: Callable[[Offer], bool] = lambda _offer: False
    switches: SkillSwitches = field(default_factory=SkillSwitches)

    def listing(self) -> SkillListing:
        """The workspace's first, then the user's, then ours; the first with a name wins."""
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
                    path = f"{folder}/{name}".removeprefix("./")
                    if found := _read(source, root, path, name):
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
        return [skill for skill in self.listing().items if skill.is_usable]

    def has_usable(self) -> bool:
        """Called often, so checks the cached skills of the package first."""
        return any(self.switches.is_on(skill.name) for skill in _shipped()) or bool(self.usable())

    def open(self, name: str) -> Skill:
        """Raises NotFound with the reason if an agent may not follow it."""
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
        if not any(skill.name == name for skill in self.listing().items):
            raise NotFound(f"There is no skill '{name}'.", code="no_skill")
        self.switches.set(name, on=on)

    def offers(self) -> Iterator[Offer]:
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
    """None if the folder has no SKILL.md; the folder may be a link within its root."""
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
