"""Libraries that only some uses need."""

from __future__ import annotations

from importlib import import_module
from typing import Any


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
