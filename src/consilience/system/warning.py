"""Warnings that point to the user's own line."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

PACKAGE = str(Path(__file__).resolve().parents[1])


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn of the first line on the call stack that is not part of this package."""
    frame, stacklevel = sys._getframe(1), 2  # noqa: SLF001 - Python 3.11 has no `skip_file_prefixes` yet
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, stacklevel = frame.f_back, stacklevel + 1
    warnings.warn(message, category, stacklevel=stacklevel)
