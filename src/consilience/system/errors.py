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

BEGIN, VALUE, EACH, END = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3"
SAID = re.compile(f"{BEGIN}({'|'.join(FLAGS)})(?:{VALUE}(.*?))?{END}", re.DOTALL)
"""What to say inside a text, marked by characters that Unicode keeps for a program's own use."""


@final
@dataclass(frozen=True, slots=True)
class Say:
    """An argument that decides, perhaps with its value.

    >>> Say("label", "my verdict").in_python(), Say("label", "my verdict").in_command()
    ("label='my verdict'", "--label-column 'my verdict'")
    >>> Say("normalize").in_python(), Say("normalize").in_command(), Say("classes", ("a", "b")).in_command()
    ('normalize=True', '--normalize', '--classes=a,b')

    It may stand in the text of a message:

    >>> InvalidPredictions(f"name it with {Say('label')}").in_command()
    'name it with --label-column'
    """

    argument: str
    value: str | tuple[str, ...] | None = None

    def __str__(self) -> str:
        value = "".join(f"{EACH}{own}" for own in self.value) if isinstance(self.value, tuple) else self.value
        return f"{BEGIN}{self.argument}{'' if value is None else VALUE + value}{END}"

    def in_python(self) -> str:
        """As a keyword argument."""
        if self.argument == "normalize":
            return "normalize=True"
        value = list(self.value) if isinstance(self.value, tuple) else self.value
        return f"{self.argument}=" if value is None else f"{self.argument}={value!r}"

    def in_command(self) -> str:
        """As a flag."""
        flag = FLAGS[self.argument]
        if self.value is None:
            return flag
        if isinstance(self.value, tuple):
            return f"{flag}={shlex.quote(','.join(self.value))}"  # a class may be called -1
        return f"{flag} {shlex.quote(self.value)}"


@final
@dataclass(frozen=True, slots=True)
class Either:
    """Words that differ between Python and the command line for another reason than the name of an argument."""

    python: str
    command: str

    def in_python(self) -> str:
        """The words of Python."""
        return self.python

    def in_command(self) -> str:
        """The words of the command line."""
        return self.command


@contextmanager
def within(where: object) -> Iterator[None]:
    """Say of each refusal what it is about, such as a file."""
    try:
        yield
    except InvalidPredictions as error:
        raise error.within(where) from None


class InvalidPredictions(ValueError):  # noqa: N818 - it says what is wrong; "Error" would add nothing
    """The data cannot be used; the message says what was expected and what was given.

    A message is made of text and of what to `Say`, which each door puts into its own words.

    Examples
    --------
    >>> import consilience as cs
    >>> try:
    ...     cs.Predictions([[[0.9, 0.3]]])
    ... except cs.InvalidPredictions as error:
    ...     print(error)
    probabilities must sum to 1 over classes; item 0 of member 0 sums to 1.2. Say normalize=True to rescale on purpose
    """

    def __init__(self, *parts: str | Say | Either) -> None:
        self.parts = tuple(own for part in parts for own in (_parts(part) if isinstance(part, str) else [part]))
        super().__init__("".join(part if isinstance(part, str) else part.in_python() for part in self.parts))

    def within(self, where: object) -> InvalidPredictions:
        """The same about a part of something larger, such as a file."""
        return type(self)(f"{where}: ", *self.parts)

    def in_command(self) -> str:
        """The message in the words of the command line."""
        return "".join(part if isinstance(part, str) else part.in_command() for part in self.parts)


def _parts(text: str) -> list[str | Say]:
    """A text as texts and what to say between them."""
    parts: list[str | Say] = []
    end = 0
    for found in SAID.finditer(text):
        value = found[2]
        is_list = value is not None and value.startswith(EACH)
        parts += [text[end : found.start()], Say(found[1], tuple(value.split(EACH)[1:]) if is_list else value)]
        end = found.end()
    return [*parts, text[end:]]
