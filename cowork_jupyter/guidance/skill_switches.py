from __future__ import annotations

from pathlib import Path

from ..policy.settings_file import SettingsFile

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
