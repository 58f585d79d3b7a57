"""API keys that were typed in: stored in the system's keyring if there is one, else in memory.

They are never written to a file of ours.
"""

from __future__ import annotations

from typing import Any

_SERVICE = "cowork-jupyter"


class Keys:
    def __init__(self) -> None:
        self._here: dict[str, str] = {}

    def get(self, address: str) -> str:
        if address in self._here:
            return self._here[address]
        ring = _keyring()
        try:
            key = ring.get_password(_SERVICE, address) if ring else None
        except Exception:  # a keyring that is locked or broken has no key for us
            key = None
        self._here[address] = key or ""
        return self._here[address]

    def keep(self, address: str, key: str) -> bool:
        """Return whether the key outlasts this session."""
        self._here[address] = key
        ring = _keyring()
        if not ring:
            return False
        try:
            ring.set_password(_SERVICE, address, key)
        except Exception:
            return False
        return True

    def drop(self, address: str) -> None:
        self._here.pop(address, None)
        ring = _keyring()
        try:
            if ring and ring.get_password(_SERVICE, address) is not None:
                ring.delete_password(_SERVICE, address)
        except Exception:  # what cannot be reached cannot be used either
            return

    def all(self) -> list[str]:
        """All known keys, for redaction."""
        return [key for key in self._here.values() if key]


def has_keyring() -> bool:
    """Whether keys outlast this session, as far as can be told without storing one."""
    ring = _keyring()
    try:
        return bool(ring) and ring.get_keyring().priority > 0
    except Exception:  # whatever a backend raises, it keeps nothing for us
        return False


def _keyring() -> Any:
    try:
        import keyring
    except ImportError:
        return None
    return keyring
