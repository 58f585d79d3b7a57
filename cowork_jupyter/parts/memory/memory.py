"""The memory of a workspace: one Markdown file in it, which the user reads, changes and deletes.

It is used as long as its text is what the user has kept or trusted; like everything that comes
with a folder, other text has no effect.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...agents.guidance import GuidanceFinder
from ...domain.contexts import Context
from ...domain.errors import Conflict, CoworkError, InvalidInput, NotFound
from ...domain.guidance import TITLE, Guidance, GuidanceText, lines_in, remove_note
from ...domain.redaction import without_surrogates
from ...domain.roles import AgentRole
from ...domain.settings import PromptProfile
from ...llm.relevance import fitness
from ...llm.tokens import estimate_tokens
from ...policy.trust import Offer, Trust
from ...policy.visible import spell_hidden
from ...workspace import PathHandle, Workspace

MEMORY_FILE = ".cowork/memory.md"
MAX_SIZE = 32 * 1024
TOKENS: dict[PromptProfile, int] = {"full": 800, "thin": 200}


@dataclass(frozen=True)
class MemoryText:
    text: str
    """Empty if there is no file."""
    trusted: bool

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True)
class WorkspaceMemory(GuidanceFinder):
    root: Path
    trust: Trust
    is_on: bool = True

    def read(self) -> MemoryText:
        try:
            with self._place() as place:
                data = place.read(MAX_SIZE + 1)
        except NotFound:
            return MemoryText("", trusted=True)
        text = _text(data)
        return MemoryText(text, trusted=self.trust.is_trusted(_offer(text)))

    def write(self, text: str, fingerprint: str) -> MemoryText:
        """Replace it at the user's request, who has seen the text of the fingerprint."""
        self.refuse_unless(fingerprint)
        text = without_surrogates(text).strip()
        if not text or text == TITLE:
            self.forget()
            return self.read()
        data = f"{text}\n".encode()
        if len(data) > MAX_SIZE:
            why = f"The memory would be larger than {MAX_SIZE // 1024} KiB. Forget something first."
            raise InvalidInput(why, code="memory_full")
        with self._place() as place:
            if place.exists():
                place.replace(data)
            else:
                place.make_parents()
                place.create(data)
        self.trust.add(_offer(_text(data)))
        return self.read()

    def forget(self, words: str = "") -> None:
        """Delete the file; with words, only the lines that contain them."""
        if words:
            known = self.read()
            self.refuse_unless_trusted(known)
            self.write(remove_note(known.text, words), known.fingerprint)
            return
        with self._place() as place:
            if place.exists():
                place.unlink()

    def refuse_unless_trusted(self, known: MemoryText) -> None:
        """To change a part of it would be to trust the rest unseen."""
        if not known.trusted:
            why = f"You do not trust {MEMORY_FILE} as it is. Review the whole file first."
            raise Conflict(why, code="memory_not_trusted")

    def refuse_unless(self, fingerprint: str) -> None:
        """A change that the user has not seen must not be lost."""
        if fingerprint != self.read().fingerprint:
            why = f"{MEMORY_FILE} has changed meanwhile. Look at it again."
            raise Conflict(why, code="changed_since_shown")

    def _place(self) -> PathHandle:
        """Does not follow links: a folder could make any file ours to change."""
        return Workspace(self.root).locate(MEMORY_FILE, follow=False)

    def offers(self) -> Iterator[Offer]:
        try:
            text = self.read().text
        except CoworkError:  # what cannot be read cannot be trusted
            return
        if text:
            yield _offer(text)

    def texts(
        self,
        role: AgentRole,  # noqa: ARG002
        context: Context,  # noqa: ARG002
        request: str,
        profile: PromptProfile,
    ) -> Iterator[GuidanceText]:
        """What fits into a prompt: if not all, the lines relevant to the request.

        Nothing if it cannot be read, or is not trusted.
        """
        try:
            known = self.read() if self.is_on else MemoryText("", trusted=False)
        except CoworkError:
            return
        text = _fitting(known.text, request, TOKENS[profile]) if known.trusted else ""
        if text:
            tokens = estimate_tokens(text)
            about = Guidance(kind="memory", name=MEMORY_FILE, source="workspace", tokens=tokens)
            yield GuidanceText(about, text)


def _fitting(text: str, request: str, room: int) -> str:
    lines = [note for note in lines_in(spell_hidden(text)) if note[0] not in ("", TITLE[2:])]
    whole = _render(lines, set(range(len(lines))))
    if estimate_tokens(whole) <= room:
        return whole
    scores = fitness([line for _, line in lines], request)
    chosen: set[int] = set()
    for place in sorted(range(len(lines)), key=lambda at: -scores[at]):
        if estimate_tokens(_render(lines, {*chosen, place})) <= room:
            chosen.add(place)
    return _render(lines, chosen)


def _render(lines: list[tuple[str, str]], chosen: set[int]) -> str:
    written: list[str] = []
    for place, (heading, line) in enumerate(lines):
        if place in chosen:
            title = f"## {heading}"
            written += [line] if title in written else [title, line]
    return "\n".join(written)


def _offer(text: str) -> Offer:
    return Offer("memory", MEMORY_FILE, text)


def _text(data: bytes) -> str:
    if len(data) > MAX_SIZE:
        raise InvalidInput(f"{MEMORY_FILE} is larger than {MAX_SIZE // 1024} KiB.")
    try:
        return data.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise InvalidInput(f"{MEMORY_FILE} is not UTF-8 text.") from None
