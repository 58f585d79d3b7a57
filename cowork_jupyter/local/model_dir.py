"""The model files on this machine: those that were downloaded, and which file a name means."""

from __future__ import annotations

from pathlib import Path

from ..domain.errors import InvalidInput, NotFound
from .catalogue import CATALOGUE, recommended

_MAGIC = b"GGUF"


class ModelDir:
    """The folder with the downloaded files."""

    def __init__(self, data_dir: Path) -> None:
        self.folder = data_dir / "models"

    def place_of(self, name: str) -> Path:
        """Where the recommended model with this name belongs, whether it is there or not."""
        found = recommended(name)
        if found is None:
            known = ", ".join(model.name for model in CATALOGUE)
            raise NotFound(f"There is no model '{name}'. Choose one of: {known}.")
        return self.folder / found.file

    def has(self, name: str) -> bool:
        """Whether it has been downloaded."""
        return self.place_of(name).is_file()

    def find(self, name_or_file: str) -> Path:
        """The file that somebody means who types a name or a path; it is there, and a model."""
        if recommended(name_or_file):
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
        """Model files in the folder that are not among the recommended ones."""
        ours = {model.file for model in CATALOGUE}
        return sorted(file for file in self.folder.glob("*.gguf") if file.name not in ours)

    def remove(self, name: str) -> int:
        """Delete a downloaded model and all parts of it; gives how many bytes that freed."""
        place = self.place_of(name)
        found = [file for file in (place, *self.parts_of(name)) if file.is_file()]
        if not found:
            raise NotFound(f"{name} is not downloaded.")
        freed = sum(file.stat().st_size for file in found)
        for file in found:
            file.unlink()
        return freed

    def parts_of(self, name: str) -> list[Path]:
        """What has arrived of downloads that were not finished."""
        return sorted(self.folder.glob(f"{self.place_of(name).name}.*.part"))


def is_model(file: Path) -> bool:
    """Whether a file begins as models do."""
    with file.open("rb") as opened:
        return opened.read(len(_MAGIC)) == _MAGIC
