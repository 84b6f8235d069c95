"""The posterior of all items of a fit, computed when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.arrays import Array, like_array
from consilience.expectation import DENSE_NUMBERS, Reader, as_rows, clamp, expect, pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from consilience.expectation import Expectation, ReadChunk
    from consilience.features import Scores


@final
@dataclass(frozen=True, eq=False)
class Belief:
    """A posterior (items, classes) that takes no room: how to compute the rows of each chunk of items."""

    reader: Reader
    rows: Callable[[ReadChunk], Array]
    example: Array  # of the library and precision of the result

    @property
    def is_large(self) -> bool:
        """Whether it is better computed when it is asked for."""
        return self.reader.predictions.n_items * self.reader.n_classes > DENSE_NUMBERS

    def to_array(self) -> Array:
        """All rows."""
        return self.reader.gather(self.rows, self.example)

    def chunks(self) -> Iterator[tuple[int, int, Array]]:
        """Some rows at a time: the first item, the item after the last, and the rows."""
        for chunk in self.reader.chunks:
            yield chunk.chunk.start, chunk.chunk.stop, like_array(self.rows(chunk), self.example)


def averaged_belief(averages: Reader, expectation: Expectation) -> Belief:
    """What the E steps of a fit have made of the average of the answers."""
    weights = np.ones(averages.predictions.n_members)
    example = averages.predictions.example()

    def rows(chunk: ReadChunk) -> Array:
        average = expectation.kept * pool(chunk, weights, example)
        rest = expectation.rests[chunk.place]
        # Clamped once more, because the weights of a clamped row sum to 1 only up to rounding.
        return clamp(average if rest is None else average + as_rows(rest, example), chunk.known)

    return Belief(averages, rows, example)


def scored_belief(reader: Reader, scores: Scores, example: Array) -> Belief:
    """The softmax of the scores."""
    layer = reader.layer(scores)
    own = reader.predictions.example()
    return Belief(reader, lambda chunk: as_rows(expect(chunk, layer, own).values, own), example)
