"""Batches made ahead: the next ones are read and augmented while the network works on this one."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Part = TypeVar("Part")


def made_ahead(parts: Iterator[Part], n_parts: int = 2) -> Iterator[Part]:
    """The same parts in the same order, made by one other thread, this many before they are asked for."""
    with ThreadPoolExecutor(1) as pool:
        waiting = deque(pool.submit(next, parts, None) for _ in range(n_parts))
        while (part := waiting.popleft().result()) is not None:
            waiting.append(pool.submit(next, parts, None))
            yield part
