"""Libraries that only some uses need."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

_FIRST_USE: dict[str, int] = {}
"""The process in which polars was used first."""


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
