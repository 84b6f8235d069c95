"""What numbers are made of: checksums of images, of files and of the code.

Whatever is kept is kept under the checksum of what it was made of, so that other data, other weights or other code make
other numbers, and none is passed off as another's.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import consilience
from paper.jpegs import JpegFiles

if TYPE_CHECKING:
    from paper.datasets import Images

LENGTH = 16


def checksum(*parts: object) -> str:
    """Of what parts look like in print, each told apart from the next."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:LENGTH]


def of_file(path: Path) -> str:
    """Of a file's bytes, read once as long as it stays as it is."""
    stat = path.stat()
    return _of_file(path, stat.st_size, stat.st_mtime_ns)


@cache
def _of_file(path: Path, _: int, __: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:LENGTH]


def of_images(images: Images) -> str:
    """Of pixels and labels; of images that are files, which are too many to read, of their names and sizes."""
    pixels = images.pixels
    if isinstance(pixels, JpegFiles):
        shown = checksum([(path.parent.name, path.name, path.stat().st_size) for path in pixels.paths])
    else:
        shown = of_array(pixels)
    return checksum(shown, of_array(images.labels))


def of_array(array: np.ndarray) -> str:
    """Of an array's numbers, shape and type."""
    content = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
    return checksum(array.shape, array.dtype.str, content)


@cache
def of_code() -> str:
    """Of all modules of the package and of the experiments as they run: comments and layout do not count."""
    folders = Path(consilience.__file__).parent, Path(__file__).parent
    return checksum(
        [
            (path.relative_to(folder.parent).as_posix(), as_run(path.read_text("utf-8")))
            for folder in folders
            for path in _modules(folder)
        ]
    )


def _modules(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.py"))


def as_run(source: str) -> str:
    """A module without what does not run."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [line for line in node.body if not _is_text(line)] or [ast.Pass()]
    return ast.dump(tree)


def _is_text(line: ast.stmt) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant) and isinstance(line.value.value, str)
