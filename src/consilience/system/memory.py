"""How much memory this machine has, and whether what is asked for fits in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from consilience.system.errors import InvalidPredictions

MOST_SHARE = 0.5
"""The share of the machine's memory that one fit may take."""

LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
"""Where a container's own limit stands."""


def machine_bytes() -> int:
    """The memory of this machine, container or process, whichever is least; no limit where it cannot be told."""
    found = [sys.maxsize]
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in LIMITS:
        try:
            found.append(int(path.read_text()))
        except (OSError, ValueError):  # not there, or "max"
            continue
    try:
        import resource  # noqa: PLC0415 - Windows has none

        found.append(resource.getrlimit(resource.RLIMIT_AS)[0])
    except ImportError:
        pass
    return min(n_bytes for n_bytes in found if n_bytes > 0)


def check_fits(n_bytes: int, what: str) -> None:
    """Raise if something would take more than its share of the memory."""
    most = int(MOST_SHARE * machine_bytes())
    if n_bytes > most:
        raise InvalidPredictions(
            f"a fit must take at most {MOST_SHARE:.0%} of the memory, {_in_words(most)}; {what} would take about "
            f"{_in_words(n_bytes)}"
        )


def _in_words(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:,.1f} GiB"
