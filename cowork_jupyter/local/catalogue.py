"""The model files that we recommend: free to use for anything, and known to work with us.

Sizes are rounded, to choose by. What is downloaded is held against the exact size and the
checksum that the publisher's hub gives, see `hub`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recommended:
    """One file of one publisher."""

    name: str
    """What people type."""
    repository: str
    """Its publisher and collection, as the hub calls them."""
    file: str
    size: int
    """About how many bytes are downloaded."""
    memory: int
    """About how many bytes it takes while it answers."""
    licence: str
    good_for: str


_GB = 10**9

CATALOGUE = (
    Recommended(
        name="qwen2.5-coder-1.5b",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=int(1.1 * _GB),
        memory=int(2.5 * _GB),
        licence="Apache-2.0",
        good_for="any laptop; small tasks, one at a time",
    ),
    Recommended(
        name="qwen2.5-coder-7b",
        repository="Qwen/Qwen2.5-Coder-7B-Instruct-GGUF",
        file="qwen2.5-coder-7b-instruct-q4_k_m.gguf",
        size=int(4.7 * _GB),
        memory=int(7 * _GB),
        licence="Apache-2.0",
        good_for="16 GB of memory; plans with several steps",
    ),
    Recommended(
        name="qwen2.5-coder-14b",
        repository="Qwen/Qwen2.5-Coder-14B-Instruct-GGUF",
        file="qwen2.5-coder-14b-instruct-q4_k_m.gguf",
        size=int(9 * _GB),
        memory=int(13 * _GB),
        licence="Apache-2.0",
        good_for="32 GB of memory or a graphics card; the best of these",
    ),
)
"""From small to large. The family's 3B model is not here: its licence forbids commercial use."""


def recommended(name: str) -> Recommended | None:
    """The one with this name, however it is capitalised."""
    return next((model for model in CATALOGUE if model.name == name.lower()), None)
