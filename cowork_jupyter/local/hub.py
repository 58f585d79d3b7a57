"""What the publisher says about a file: its address, its exact size and its SHA-256.

The hub stores large files by their SHA-256 and lists it with each of them, so the checksum is
the publisher's own. It comes over an encrypted connection from the hub, while the file itself
may come from any of its mirrors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from ..domain.errors import CoworkError, NotFound, Unavailable
from .catalogue import Recommended

DEFAULT_HUB = "https://huggingface.co"
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Published:
    """A file as its publisher describes it."""

    address: str
    size: int
    sha256: str


def published(wanted: Recommended, client: httpx.Client, hub: str = DEFAULT_HUB) -> Published:
    """Ask the hub about a file."""
    hub = hub.rstrip("/")
    listing = _listing(f"{hub}/api/models/{wanted.repository}/tree/main", client)
    entry = next((item for item in listing if item.get("path") == wanted.file), None)
    if entry is None:
        raise NotFound(f"{hub}/{wanted.repository} no longer has {wanted.file}.")
    stored = entry.get("lfs") or {}
    size, sha256 = stored.get("size"), str(stored.get("oid", "")).removeprefix("sha256:")
    if not isinstance(size, int) or not _SHA256.fullmatch(sha256):
        raise CoworkError(
            f"{hub} gives no checksum for {wanted.file}, so it is impossible to tell whether "
            "the download is intact. Nothing was downloaded.",
            code="no_checksum",
        )
    return Published(
        f"{hub}/{wanted.repository}/resolve/main/{quote(wanted.file)}", size=size, sha256=sha256
    )


def refused(answer: httpx.Response, what: str) -> CoworkError:
    """What to tell the user about an answer that is no success."""
    host, status = answer.url.host, answer.status_code
    if status == 404:
        return NotFound(f"{host} does not have {what} (404).")
    if status in (401, 403):
        return CoworkError(f"{host} refuses to send {what} ({status}).", code="refused")
    return Unavailable(f"{host} reports an internal error (HTTP {status}). Try again later.")


def _listing(address: str, client: httpx.Client) -> list[dict[str, Any]]:
    try:
        answer = client.get(address)
    except httpx.HTTPError as error:
        raise Unavailable(
            f"Cannot reach the hub at {httpx.URL(address).host} ({type(error).__name__}). "
            "Check the network, or set HF_ENDPOINT to another hub."
        ) from error
    if answer.status_code != 200:
        raise refused(answer, "this model")
    try:
        listing = answer.json()
    except ValueError:
        listing = None
    if not isinstance(listing, list):
        raise Unavailable(f"{answer.url.host} does not answer like a model hub.")
    return [entry for entry in listing if isinstance(entry, dict)]
