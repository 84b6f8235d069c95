"""Files that appear whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

PART_NAME = re.compile(r"\.[0-9a-f]{16}\.part")  # the name of a file that is being written
STALE = 24 * 3600  # nobody writes to such a file any more that has not been written to for so many seconds


def check_writable(path: str | os.PathLike[str], formats: Collection[str]) -> None:
    """Raise if no file of these formats can be written to this path; called before any work is done."""
    target = _place(path)
    if Path(path).suffix.lower() not in formats:
        raise ValueError(f"the output must end in one of {' '.join(formats)}; got {Path(path).name!r}")
    if not os.access(target.parent, os.W_OK):
        raise PermissionError(f"the output's directory must be writable; {target.parent} is not")


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to. It replaces the file at the path once all is written, and is removed after an error.

    A link is followed, as `open` does. A device or a pipe cannot be replaced, only written to. Errors name the path
    that was asked for.
    """
    target = _place(path)
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as file:
                yield file
            return
        with _beside(target) as file:
            yield file
    except OSError as error:
        if error.errno is None:  # NumPy counts bytes instead
            reason = f"not all of it could be written, as on a full disk ({error})"
            raise OSError(errno.ENOSPC, reason, str(path)) from error
        error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    """A new file in the target's folder that is renamed in the end."""
    _remove_stale_parts(target.parent)
    part = target.with_name(f".{secrets.token_hex(8)}.part")
    # Created as `open` would, so that the kernel applies the umask. We cannot read the umask without setting it, for a
    # moment and for all threads.
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        if target.exists():
            part.chmod(target.stat().st_mode & 0o777)  # the same people can read it as before
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _remove_stale_parts(folder: Path) -> None:
    """Remove what processes have left that were killed while they wrote here."""
    for part in folder.glob(".*.part"):
        with suppress(OSError):  # somebody else's, or removed by somebody else
            if PART_NAME.fullmatch(part.name) and time.time() - part.stat().st_mtime > STALE:
                part.unlink()


def _place(path: str | os.PathLike[str]) -> Path:
    """Where a file is to be written, links followed; raises where none can be."""
    try:
        target = Path(os.path.realpath(os.fspath(path)))
    except TypeError:
        raise TypeError(f"path must be text or a path; got {path!r}") from None
    except ValueError as error:
        raise ValueError(f"path must be a file's name; got {path!r} ({error})") from None
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "the output must be a file, and this is a directory", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"the output's directory must exist; {target.parent} does not", str(path))
    return target
