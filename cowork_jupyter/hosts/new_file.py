from __future__ import annotations

from pathlib import Path

from ..domain.errors import Conflict, CoworkError


def write_new_file(path: Path, data: bytes) -> None:
    """Never overwrites anything. Raises CoworkError."""
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        raise Conflict(f"{path} already exists. Choose another name.") from None
    except OSError as error:
        raise CoworkError(f"Cannot write {path}: {error.strerror}.") from None
