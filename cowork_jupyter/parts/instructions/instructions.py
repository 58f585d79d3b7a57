"""Instructions: `AGENTS.md` of the user, of the workspace and of folders in it.

The user's own apply everywhere. Those of a folder apply to the notebooks in and below it:
parents add, the nearest comes last and wins. Those of a workspace are displayed, but reach a
model only once the user trusts exactly that text, because it speaks with the user's voice.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

from pydantic import BaseModel

from ...agents.guidance import GuidanceFinder
from ...domain.contexts import Context
from ...domain.errors import Conflict, CoworkError, NotFound
from ...domain.guidance import Guidance, GuidanceText
from ...domain.health import Problem
from ...domain.redaction import without_surrogates
from ...domain.roles import AgentRole
from ...domain.settings import PromptProfile
from ...llm.tokens import cut_middle, estimate_tokens
from ...policy.trust import Offer
from ...policy.visible import spell_hidden
from ...workspace import IgnoreRules, Workspace

FILE_NAME = "AGENTS.md"
MAX_FOLDERS = 2_000
MAX_FILES = 100
_SETTLED_NS = 2_000_000_000
"""A folder changed more recently may change again without a newer mtime."""


@dataclass(frozen=True)
class _Folder:
    mark: tuple[int, int]
    has_file: bool
    folders: tuple[str, ...]


class InstructionFiles:
    """Finds instruction files in folders that searches look at, parents first; cheap to repeat."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._seen: dict[str, _Folder] = {}
        self.is_cut = False
        """Whether the last walk ended before it had seen every folder."""

    @property
    def limit_text(self) -> str:
        return (
            f"{FILE_NAME} is looked for in the first {MAX_FOLDERS:,} folders, "
            f"and {MAX_FILES} of them are read."
        )

    def paths(self) -> list[str]:
        seen: dict[str, _Folder] = {}
        found: list[str] = []
        todo = deque([""])
        rules = IgnoreRules(self._workspace)
        while todo and len(seen) < MAX_FOLDERS and len(found) < MAX_FILES:
            path = todo.popleft()
            folder = self._look(path)
            if folder is None:
                continue
            seen[path] = folder
            if folder.has_file:
                found.append(f"{path}{FILE_NAME}")
            below = (f"{path}{name}" for name in folder.folders)
            todo.extend(f"{each}/" for each in below if not rules.hides(each, is_folder=True))
        self._seen, self.is_cut = seen, bool(todo)
        return found

    def _look(self, path: str) -> _Folder | None:
        try:
            with self._workspace.locate(path or ".", follow=False) as place:
                facts = place.stat()
                mark = (facts.st_ino, facts.st_mtime_ns)
                known = self._seen.get(path)
                if known and known.mark == mark:
                    return known
                entries = place.entries()
        except CoworkError:  # gone, or closed to us
            return None
        if time.time_ns() - facts.st_mtime_ns < _SETTLED_NS:
            mark = (0, 0)
        return _Folder(
            mark,
            has_file=any(entry.name == FILE_NAME and entry.kind != "folder" for entry in entries),
            folders=tuple(entry.name for entry in entries if entry.kind == "folder"),
        )


MAX_SIZE = 64 * 1024
TOKENS: dict[PromptProfile, int] = {"full": 2_000, "thin": 300}
"""Budget of all instructions together in a prompt."""
_MIN_TOKENS = 60


class Instructions(BaseModel):
    """The instructions of one file."""

    path: str
    source: Literal["user", "workspace"]
    trusted: bool
    tokens: int
    text: str


@dataclass
class InstructionListing:
    items: list[Instructions] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


class InstructionFinder(GuidanceFinder):
    """Reads from disk each time, so that an edit applies from the next message."""

    def __init__(
        self, user: Path, workspace: Path, trusts: Callable[[Offer], bool] = lambda _offer: False
    ) -> None:
        self._user = Workspace(user)
        self._workspace = Workspace(workspace)
        self._trusts = trusts
        self._files = InstructionFiles(self._workspace)

    def listing(self) -> InstructionListing:
        """The user's, then those of all folders of the workspace."""
        listing = self._read(self._files.paths())
        if self._files.is_cut:
            listing.problems.append(_skipped("Some folders", self._files.limit_text))
        return listing

    def for_notebook(self, notebook: str | None) -> InstructionListing:
        """Those that apply to a notebook, the nearest last; without one, the top folder's."""
        return self._read(f"{folder}{FILE_NAME}" for folder in self._folders_to(notebook))

    def offers(self) -> Iterator[Offer]:
        for item in self.listing().items:
            if item.source == "workspace":
                yield _offer(item.path, item.text)

    def texts(
        self,
        role: AgentRole,  # noqa: ARG002
        context: Context,
        request: str,  # noqa: ARG002
        profile: PromptProfile,
    ) -> Iterable[GuidanceText]:
        """The trusted ones, parents first. Where there is no room for all, the nearest stays."""
        room = TOKENS[profile]
        found: list[GuidanceText] = []
        for item in reversed(self.for_notebook(context.notebook).items):
            if not item.trusted or room < _MIN_TOKENS:
                continue
            hint = "Read the file for the rest." if item.source == "workspace" else ""
            text = cut_middle(_headed(item), room, estimate_tokens, hint)
            tokens = estimate_tokens(text)
            room -= tokens
            about = Guidance(kind="instructions", name=item.path, source=item.source, tokens=tokens)
            found.append(GuidanceText(about, text))
        return reversed(found)

    def create(self, text: str) -> Offer:
        with self._workspace.locate(FILE_NAME, follow=False) as place:
            if place.exists():
                raise Conflict(
                    f"{FILE_NAME} already exists and stays unchanged. To see what would be "
                    "written now: init --show",
                    code="already_exists",
                )
            place.create(f"{text.strip()}\n".encode())
        return _offer(FILE_NAME, text.strip())

    def _read(self, paths: Iterable[str]) -> InstructionListing:
        listing = InstructionListing()
        self._add(listing, "user", self._user, FILE_NAME)
        for path in paths:
            self._add(listing, "workspace", self._workspace, path)
        return listing

    def _add(
        self,
        listing: InstructionListing,
        source: Literal["user", "workspace"],
        root: Workspace,
        path: str,
    ) -> None:
        label = _for_people(root.root / path) if source == "user" else without_surrogates(path)
        try:
            with root.locate(path) as place:
                text = place.read_text(MAX_SIZE).strip()
        except NotFound:
            return
        except CoworkError as error:
            listing.problems.append(_skipped(label, error.message))
            return
        if not text:
            return
        listing.items.append(
            Instructions(
                path=label,
                source=source,
                trusted=source == "user" or self._trusts(_offer(label, text)),
                tokens=estimate_tokens(text),
                text=text,
            )
        )

    def _folders_to(self, notebook: str | None) -> Iterator[str]:
        """The top folder and those down to the notebook, up to one that searches ignore."""
        yield ""
        if notebook is None:
            return
        parts = PurePosixPath(notebook).parts
        if notebook.startswith("/"):
            parts = self._workspace.inside(notebook) or ()
        rules = IgnoreRules(self._workspace)
        for depth in range(1, len(parts)):
            folder = "/".join(parts[:depth])
            if parts[depth - 1] == ".." or rules.hides(folder, is_folder=True):
                return
            yield f"{folder}/"


def _offer(path: str, text: str) -> Offer:
    return Offer("instructions", path, text)


def _headed(item: Instructions) -> str:
    folder = item.path.removesuffix(FILE_NAME)
    reach = f"for what is in {folder}" if folder else "for this workspace"
    whose = "the user's own, for all workspaces" if item.source == "user" else reach
    return f"## {FILE_NAME}: {whose}\n{spell_hidden(item.text)}"


def _for_people(file: Path) -> str:
    try:
        return str("~" / file.relative_to(Path.home()))
    except (ValueError, RuntimeError):  # elsewhere, or there is no home
        return str(file)


def _skipped(what: str, why: str) -> Problem:
    return Problem(code="instructions_skipped", message=f"{what}: skipped. {why}")
