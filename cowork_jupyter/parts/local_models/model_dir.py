"""The model files on this machine: those that were downloaded, and which file a name means."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...domain.errors import InvalidInput, NotFound


@dataclass(frozen=True)
class Recommended:
    name: str
    """As the user types it."""
    repository: str
    """`publisher/collection` on the hub."""
    file: str
    size: int
    """Approximate download size in bytes; the hub's listing gives the exact one."""
    memory: int
    """Approximate memory use in bytes."""
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


def find_recommended(name: str) -> Recommended | None:
    return next((model for model in CATALOGUE if model.name == name.lower()), None)


_MAGIC = b"GGUF"


class ModelDir:
    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "models"

    def place_of(self, name: str) -> Path:
        """The path of a recommended model, downloaded or not."""
        found = find_recommended(name)
        if found is None:
            known = ", ".join(model.name for model in CATALOGUE)
            raise NotFound(f"There is no model '{name}'. Choose one of: {known}.")
        return self.folder / found.file

    def find(self, name_or_file: str) -> Path:
        """Resolve a recommended name or a path to an existing GGUF file."""
        if find_recommended(name_or_file):
            place = self.place_of(name_or_file)
            if not place.is_file():
                raise NotFound(
                    f"{name_or_file} is not downloaded yet. "
                    f"Run: jupyter cowork model get {name_or_file}"
                )
            return place
        if not name_or_file.lower().endswith(".gguf"):
            self.place_of(name_or_file)  # says which names there are
        file = Path(name_or_file).expanduser().absolute()
        if not file.is_file():
            raise NotFound(f"There is no file {file}.")
        if not is_model(file):
            raise InvalidInput(f"{file} is not a GGUF model file.")
        return file

    def others(self) -> list[Path]:
        ours = {model.file for model in CATALOGUE}
        return sorted(file for file in self.folder.glob("*.gguf") if file.name not in ours)

    def remove(self, name: str) -> int:
        """Delete a downloaded model and its partial downloads; return the bytes freed."""
        place = self.place_of(name)
        found = [file for file in (place, *self.parts_of(name)) if file.is_file()]
        if not found:
            raise NotFound(f"{name} is not downloaded.")
        freed = sum(file.stat().st_size for file in found)
        for file in found:
            file.unlink()
        return freed

    def parts_of(self, name: str) -> list[Path]:
        return sorted(self.folder.glob(f"{self.place_of(name).name}.*.part"))


def is_model(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC
