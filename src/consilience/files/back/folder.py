"""A folder that `datasets.load_dataset` reads: one split, `train`, with a row for each item."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from consilience.files.writing import check_posterior_path

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TOOL, FILE = "datasets", "train.parquet"


def check_folder(path: Path) -> None:
    """Raise if the folder cannot be made, or holds other files, which would be loaded too."""
    if not path.exists():
        check_posterior_path(path.with_name(FILE))  # beside it: the folder is not there yet
        return
    if not path.is_dir():
        raise NotADirectoryError(f"--to datasets writes a folder; {path} is a file")
    others = sorted(own.name for own in path.iterdir() if own.name != FILE)
    if others:
        raise FileExistsError(f"the folder must be new, or hold {FILE} alone; {path} holds {others[0]!r}")
    check_posterior_path(path / FILE)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """The file to write in the folder, which is made, and removed again if that fails."""
    is_new = not path.exists()
    path.mkdir(exist_ok=True)
    try:
        yield path / FILE
    except BaseException:
        if is_new:
            path.rmdir()
        raise
