"""What this kernel keeps between cells: the link to the service, and its conversations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .link import Link
from .place import KernelPlace, place_of
from .server_link import server_link

if TYPE_CHECKING:
    from ...domain.settings import Settings
    from .own_link import OwnLink

_PAGE = 200
_MAX_TITLE = 80
"""The service cuts the titles it derives from a first message to this length."""

Context = dict[str, Any]


class KernelSession:
    """One per kernel, shared by magics, cards and `Cowork` objects."""

    def __init__(self, shell: Any = None) -> None:
        self._shell = shell
        self._own: OwnLink | None = None
        self._contexts: dict[tuple[str | None, str], str] = {}
        self._workspace: str | None = None
        self._files: dict[str, Any] | None = None
        self.inserted: set[str] = set()
        """Calls whose cells the front end was given already."""

    @property
    def link(self) -> Link:
        """The server's service if there is one, else our own, with the current settings."""
        return server_link() or self._own_link()

    @property
    def has_shell(self) -> bool:
        return self._shell is not None

    @property
    def place(self) -> KernelPlace:
        """As known when the kernel started."""
        return place_of(self._shell)

    @property
    def present_place(self) -> KernelPlace:
        """As known now: the server knows if the notebook was renamed meanwhile."""
        place = self.place
        if place.notebook is None or place.is_named_by_editor or self.link.kind == "kernel":
            return place
        answer = self._get_or_none("kernel")
        named = answer["notebook"] if answer else None  # older servers do not know this route
        return replace(place, notebook=Path(named)) if named else place

    def insert_below(self, source: str) -> None:
        """Ask the front end to insert a cell below the running one."""
        if self._shell is not None:
            self._shell.set_next_input(source)

    def close(self) -> None:
        if self._own is not None:
            self._own.close()
        self._own = self._workspace = None

    def notebook(self) -> str | None:
        """Relative to the workspace."""
        return self._notebook_at(self.present_place)

    def _notebook_at(self, place: KernelPlace) -> str | None:
        if place.notebook is None:
            return None
        if self._workspace is None:
            self._workspace = str(self.link.request("GET", "health")["workspace"])
        return place.notebook_in(self._workspace)

    def find(self, name: str | None) -> Context | None:
        """The conversation of that name in this notebook; without a name, its default one."""
        place = self.present_place
        notebook = self._notebook_at(place)
        context_id = self._contexts.get((notebook, name or ""))
        context = self._get_or_none(f"context/{context_id}") if context_id else None
        is_here = place.notebook is not None and place.notebook.exists()
        # The conversation follows a file that another tab renamed. If this tab then saved its
        # notebook under the old name again, it needs another one; else only our name is stale.
        if context is None or (is_here and context["notebook"] != notebook):
            context = self._find_stored(notebook, name)
        if context:
            self._contexts[notebook, name or ""] = context["id"]
        return context

    def open(self, name: str | None, role: str, model: str | None = None) -> Context:
        return self.find(name) or self.start(name, role, model)

    def start(self, name: str | None, role: str, model: str | None = None) -> Context:
        """Create a conversation, which has that name from now on."""
        notebook = self.notebook()
        fields = {"notebook": notebook, "title": name or "", "role": role, "model": model}
        context: Context = self.link.request("POST", "context", fields)
        self._contexts[notebook, name or ""] = context["id"]
        return context

    def contexts(self) -> list[Context]:
        """The conversations of this notebook, newest first; without one, of this kernel."""
        notebook = self.notebook()
        if notebook is None:
            ids = reversed(self._contexts.values())
            kept = [self._get_or_none(f"context/{context_id}") for context_id in ids]
            return [context for context in kept if context]
        return self._contexts_of(notebook)

    def _contexts_of(self, notebook: str) -> list[Context]:
        items: list[Context] = []
        after: int | None = None
        while True:
            query = f"notebook={quote(notebook, safe='')}&limit={_PAGE}"
            query += f"&after={after}" if after is not None else ""
            page = self.link.request("GET", f"context?{query}")
            items += page["items"]
            after = page["next"]
            if after is None:
                return items

    def _find_stored(self, notebook: str | None, name: str | None) -> Context | None:
        """Started by an earlier kernel of this notebook."""
        if notebook is None:
            return None
        for context in self._contexts_of(notebook):
            if context["title"] == name or (name is None and self._is_unnamed(context)):
                return context
        return None

    def _is_unnamed(self, context: Context) -> bool:
        """Whether its title is only derived from the first message."""
        if not context["title"]:
            return True
        first = self.link.request("GET", f"context/{context['id']}/messages?limit=1")["items"]
        first_line = _text(first[0]).strip().partition("\n")[0] if first else ""
        return bool(context["title"] == first_line[:_MAX_TITLE])

    def _get_or_none(self, address: str) -> dict[str, Any] | None:
        """Return None if nothing is there."""
        from ...domain.errors import CoworkError

        try:
            answer: dict[str, Any] = self.link.request("GET", address)
        except CoworkError as error:
            if error.code != "not_found":
                raise
            return None
        return answer

    def _own_link(self) -> Link:
        from .own_link import OwnLink

        settings = self._settings()
        if self._own is not None and self._own.settings != settings:
            self.close()
        if self._own is None:
            self._own = OwnLink(settings, self._shell)
        return self._own

    def _settings(self) -> Settings:
        """Jupyter's config files, overridden by IPython's own and `%config`."""
        from traitlets.config import Config

        from ..config import Cowork, jupyter_config

        if self._files is None:
            self._files = dict(jupyter_config().get("Cowork", {}))
        nearer = self._shell.config.get("Cowork", {}) if self._shell else {}
        config = Config({"Cowork": {**self._files, **nearer}})
        return Cowork(config=config).settings(workspace=Path.cwd())


def _text(message: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in message["content"])


_session: KernelSession | None = None


def session() -> KernelSession:
    global _session
    shell = _shell()
    if _session is None or _session._shell is not shell:
        _session = KernelSession(shell)
    return _session


def _shell() -> Any:
    import sys

    if "IPython" not in sys.modules:
        return None
    from IPython.core.getipython import get_ipython

    return get_ipython()
