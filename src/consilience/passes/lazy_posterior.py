"""The posterior of the items of a fit: computed at once where it is small, else when somebody asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from consilience.system.arrays import Array

Chunks: TypeAlias = "Iterator[tuple[int, int, Array]]"
"""First item, item after the last, and their rows."""


@final
class LazyPosterior:
    """A posterior (items, classes). Until it is computed it holds on to the arrays that were fitted.

    A remote one lies on a cluster. It is an array there, and `chunks` brings it here block by block.
    """

    def __init__(
        self, compute: Callable[[], Array], chunks: Callable[[], Chunks], *, is_large: bool, is_remote: bool = False
    ) -> None:
        self._compute: Callable[[], Array] | None = compute
        self._chunks: Callable[[], Chunks] | None = chunks
        self._is_remote = is_remote
        self._values: Array | None = None
        if not is_large:
            self.to_array()

    @classmethod
    def of(cls, values: Array) -> LazyPosterior:
        """One that is known already."""
        return cls(lambda: values, lambda: iter(()), is_large=False)

    @property
    def is_computed(self) -> bool:
        """Whether its numbers are in memory."""
        return self._values is not None

    def to_array(self) -> Array:
        """All of it."""
        if self._compute is not None:
            self._values, self._compute = self._compute(), None
            if not self._is_remote:
                self._chunks = None  # and with it the arrays that were fitted
        return self._values

    def chunks(self) -> Chunks:
        """Some items at a time, so that a large posterior never has to be in memory."""
        if self._chunks is not None:
            yield from self._chunks()
        else:
            yield 0, len(self.to_array()), self.to_array()

    def __getstate__(self) -> dict[str, Any]:
        """A pickle or a deep copy holds the numbers, not how to compute them."""
        return {"_values": self.to_array(), "_compute": None, "_chunks": None, "_is_remote": False}
