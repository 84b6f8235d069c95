"""The exceptions of the project, and what a user is to say, as each door has it."""

from __future__ import annotations

import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, final

_FIRST_USE: dict[str, int] = {}  # the process in which polars was used first


def extra(library: str, *, name: str, use: str) -> Any:
    """The library; where it is missing, the error names the extra of the package that installs it.

    >>> extra("no_such_library", name="torch", use="to_torch")
    Traceback (most recent call last):
    ImportError: to_torch needs no_such_library, which is not installed: pip install "consilience[torch]"
    """
    try:
        return import_module(library)
    except ImportError as error:
        raise ImportError(
            f'{use} needs {library}, which is not installed: pip install "consilience[{name}]"'
        ) from error


def polars() -> Any:
    """The library that reads tables; raises in a process that was forked after it ran.

    A fork leaves its threads behind, and it would wait for them forever.
    """
    if _FIRST_USE.setdefault("polars", os.getpid()) != os.getpid():
        raise RuntimeError(
            "tables cannot be read in a process that was forked after tables were read: start processes by 'spawn' or "
            "'forkserver' of multiprocessing"
        )
    return import_module("polars")


PACKAGE = str(Path(__file__).resolve().parents[1])


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the first line on the call stack that is not part of this package."""
    frame, stacklevel = sys._getframe(1), 2  # noqa: SLF001 - Python 3.11 has no `skip_file_prefixes` yet
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)


FLAGS = {
    "item": "--item-column",
    "member": "--member-column",
    "label": "--label-column",
    "classes": "--classes",
    "items": "--items",
    "labels": "--labels",
    "normalize": "--normalize",
    "positive": "--positive",
    "format": "--from",
    "question": "--question",
}
"""What the command line calls the arguments that say what is in a table."""

BEGIN, OR, END = "\ufdd0", "\ufdd1", "\ufdd2"
EITHER = re.compile(f"{BEGIN}(.*?){OR}(.*?){END}", re.DOTALL)
"""The words of both doors inside a text, marked by characters that Unicode keeps for a program's own use."""


@final
@dataclass(frozen=True, slots=True)
class Either:
    """Words that differ between Python and the command line, for the text of a message."""

    python: str
    command: str

    def __str__(self) -> str:
        return f"{BEGIN}{self.python}{OR}{self.command}{END}"


@final
@dataclass(frozen=True, slots=True)
class Say:
    """An argument that decides, perhaps with its value, for the text of a message.

    >>> for said in (Say("label", "my verdict"), Say("normalize"), Say("classes", ("a", "b")), Say("items")):
    ...     error = InvalidPredictions(f"say {said}")
    ...     print(error, "|", error.in_command())
    say label='my verdict' | say --label-column 'my verdict'
    say normalize=True | say --normalize
    say classes=['a', 'b'] | say --classes=a,b
    say items= | say --items
    """

    argument: str
    value: str | tuple[str, ...] | None = None

    def __str__(self) -> str:
        name, flag, value = self.argument, FLAGS[self.argument], self.value
        if value is None:
            return str(Either("normalize=True" if name == "normalize" else f"{name}=", flag))
        if isinstance(value, tuple):  # the first class may be called -1, which would be a flag
            return str(Either(f"{name}={list(value)!r}", f"{flag}={shlex.quote(','.join(value))}"))
        return str(Either(f"{name}={value!r}", f"{flag} {shlex.quote(value)}"))


@contextmanager
def within(where: object) -> Iterator[None]:
    """Say of each refusal what it is about, such as a file."""
    try:
        yield
    except InvalidPredictions as error:
        raise error.within(where) from None


class InvalidPredictions(ValueError):  # noqa: N818 - it says what is wrong; "Error" would add nothing
    """The data cannot be used; the message says what was expected and what was given.

    What to `Say`, and words of `Either` door, stand in its text or beside it.

    Examples
    --------
    >>> import consilience as cs
    >>> try:
    ...     cs.Predictions([[[0.9, 0.3]]])
    ... except cs.InvalidPredictions as error:
    ...     print(error)
    probabilities must sum to 1 over classes; item 0 of member 0 sums to 1.2. Say normalize=True to rescale on purpose
    """

    def __init__(self, *parts: object) -> None:
        self.marked = "".join(map(str, parts))  # with the words of both doors
        super().__init__(EITHER.sub(r"\1", self.marked))

    def within(self, where: object) -> InvalidPredictions:
        """The same about a part of something larger, such as a file."""
        return type(self)(f"{where}: ", self.marked)

    def in_command(self) -> str:
        """The message in the words of the command line."""
        return EITHER.sub(r"\2", self.marked)
