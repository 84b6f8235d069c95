"""The posterior of all items of a fit, computed when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from consilience.system.arrays import Array


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """A posterior (items, classes) that takes no room yet."""

    is_large: bool  # whether it is better computed when it is asked for
    to_array: Callable[[], Array]
    chunks: Callable[[], Iterator[tuple[int, int, Array]]]  # first item, item after the last, rows
    is_remote: bool = False  # whether it stays on a cluster, computed or not
