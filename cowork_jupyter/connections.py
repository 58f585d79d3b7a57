"""Chooses what answers, and remembers what the user chose. Configuration always comes first."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .domain.connection import Connection
from .domain.errors import Conflict, InvalidInput
from .domain.health import ModelState
from .domain.settings import Settings
from .llm.keys import Keys
from .llm.reachable import look
from .policy.settings_file import SettingsFile

if TYPE_CHECKING:
    from .llm.chunks import Chunk, Request
    from .llm.client import LanguageModel
    from .local.model import LocalModel

SECTION = "model"
"""What the user's settings file calls the choice: `{"base_url", "model"}` or `{"local"}`."""


class Connections:
    """The connection there is now."""

    def __init__(self, settings: Settings) -> None:
        self._configured = settings.connection
        self._file = SettingsFile(settings.user_settings)
        self._keys = Keys()
        self._known: tuple[dict[str, Any], Connection] | None = None

    @property
    def is_configured(self) -> bool:
        """Whether the configuration names a model, so that nothing is to be chosen here."""
        return not self._configured.is_guide

    def current(self) -> Connection:
        """What answers now."""
        if self.is_configured:
            return self._configured
        content = self._file.content()
        if self._known is None or self._known[0] is not content:
            self._known = (content, self._read(content.get(SECTION)))
        return self._known[1]

    def choose(self, base_url: str, model: str, api_key: str = "") -> Connection:
        """Use this server from now on, also after a restart."""
        if self.is_configured:
            raise Conflict(
                "The model is set in the configuration or the environment, which comes first. "
                "Remove COWORK_BASE_URL and COWORK_MODEL there to choose one here.",
                code="model_configured",
            )
        address = base_url.rstrip("/")
        if not address.startswith(("http://", "https://")):
            raise InvalidInput(
                f"base_url: '{base_url}' is not a web address. "
                "It should look like http://localhost:11434/v1.",
                code="invalid_address",
            )
        if api_key:
            self._keys.keep(address, api_key)
        self._file.set(SECTION, {"base_url": address, "model": model})
        return self.current()

    def forget(self) -> Connection:
        """Go back to the guide; the key goes too."""
        before = self.current()
        if before.chosen:
            self._keys.drop(before.base_url)
            self._file.set(SECTION, None)
        return self.current()

    def secrets(self) -> list[str]:
        """Every key that is known here."""
        return [key for key in (self._configured.api_key, *self._keys.all()) if key]

    def _read(self, chosen: object) -> Connection:
        if not isinstance(chosen, dict):
            return Connection()
        base_url, model, local = (chosen.get(one) for one in ("base_url", "model", "local"))
        if isinstance(local, str) and local:
            file = Path(local).expanduser()
            return Connection(model=file.stem, local=file, chosen=True)
        if not isinstance(base_url, str) or not base_url:
            return Connection()
        name = model if isinstance(model, str) else ""
        return Connection(base_url, name, self._keys.get(base_url), chosen=True)


class Answering:
    """The model as agents know it: whatever is connected when they ask."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._made: dict[Connection, LanguageModel] = {}
        self._local: dict[Connection, LocalModel] = {}

    @property
    def name(self) -> str:
        """Who answers now."""
        return self._model().name

    async def aclose(self) -> None:
        """Let go of all that was ever asked."""
        for model in self._made.values():
            await model.aclose()
        self._made.clear()

    def stream(self, request: Request) -> AsyncGenerator[Chunk, None]:
        """Ask, and yield the answer as it comes."""
        return self._model().stream(request)

    def local_state(self) -> ModelState | None:
        """How a model of one's own stands, loading too; None where another one answers."""
        if self._connections.current().local is None:
            return None
        self._model()
        return self._local[self._connections.current()].server.state()

    async def address(self) -> Connection:
        """Where it can be asked directly; a model of one's own is started for that."""
        connection = self._connections.current()
        if connection.local is None:
            return connection
        self._model()
        served = await self._local[connection].server.endpoint()
        return Connection(served.base_url, served.model, served.api_key)

    def _model(self) -> LanguageModel:
        connection = self._connections.current()
        if connection not in self._made:
            self._made[connection] = self._make(connection)
        return self._made[connection]

    def _make(self, connection: Connection) -> LanguageModel:
        if connection.is_guide:
            from .guide.model import GuideModel

            return GuideModel()
        if connection.local:
            from .local.model import LocalModel

            self._local[connection] = LocalModel(connection.local)
            return self._local[connection]
        from .llm.client import Model

        address, name = connection.base_url, connection.model
        return Model(base_url=address, model=name, api_key=connection.api_key)


def state_of(connection: Connection) -> ModelState:
    """How a connection stands, by one look at it that starts nothing."""
    if connection.local:
        from .local.server import LocalServer

        return LocalServer(connection.local).state()
    return look(connection)
