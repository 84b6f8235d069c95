"""Finds the items that need no new scores: those whose best class no other class can have overtaken.

Where there are many classes nearly every item has one responsibility of 1, and parameters move little from one pass to
the next. After a pass over all items (the reference) each item's lead is known: how far its best class is ahead of the
second. Scores are linear in the features x, so since then the score of class k has moved by `Δw_k · x + Δb_k`. That
differs from `Δw_k · c + Δb_k`, which is computed once for a centre c, by at most `|Δw_k| |x - c|` (Cauchy and Schwarz).
An item whose lead survives the worst case has the same single responsibility as before, up to rounding, so its product
is left out, and products are what a pass costs. Hamerly (2010) does this for k-means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from consilience.passes.kernels import Features, Layer, RowFeatures
from consilience.passes.responsibilities import Expected, expected_from, log_joint
from consilience.system.arrays import FloatArray, IntArray, is_sparse

CLASSES_AT_ONCE = 128
"""The weights of this many classes are compared at a time: all differences would take as much memory as the weights."""


class Margins(NamedTuple):
    """The best class of each item of a chunk, and its lead, at the reference."""

    best: npt.NDArray[np.int32]  # the class whose responsibility is 1
    lead: FloatArray  # by how much its score is ahead; 0 where several classes share the item
    radius: FloatArray  # |x - c|


class Drift(NamedTuple):
    """The score of class k has moved by `shift[k]`, give or take `radius * spread[k]`, and a constant of the item."""

    shift: FloatArray
    spread: FloatArray


@final
class Reference:
    """A pass that scores all items and notes their margins."""

    def __init__(self, layer: Layer, first: tuple[Features, ...], n_chunks: int) -> None:
        self.layer = layer
        self.centre = _dense(first).values.mean(axis=0)  # any centre is correct; the mean makes the bounds tight
        self.margins: list[Margins | None] = [None] * n_chunks

    def expect(
        self, place: int, features: tuple[Features, ...], known: IntArray | None, counts: FloatArray | None = None
    ) -> Expected:
        """The responsibilities of a chunk's items, which count so often each."""
        dense = _dense(features)
        scores = log_joint(features, known, self.layer, dense.values)
        expected = expected_from(scores, counts)
        if is_sparse(expected.values):
            self.margins[place] = _margins(expected.values, scores, _radius(dense, self.centre))
        return expected

    def settled(self, layer: Layer) -> list[npt.NDArray[np.bool_] | None]:
        """Which items of each chunk certainly stay as they were under another layer; None where none does."""
        drift = self._drift(layer)
        return [None if margins is None else _is_settled(margins, drift) for margins in self.margins]

    def _drift(self, layer: Layer) -> Drift:
        """How far scores have moved since this pass."""
        new, old = layer.dense.weights, self.layer.dense.weights
        shift = (layer.dense.total + layer.log_prior - self.layer.dense.total - self.layer.log_prior)[:, 0]
        spread = np.empty_like(shift)
        common = new.mean(axis=0) - old.mean(axis=0)  # a change that all classes share changes no lead
        for start in range(0, len(new), CLASSES_AT_ONCE):
            some = slice(start, start + CLASSES_AT_ONCE)
            change = new[some] - old[some] - common
            shift[some] += change @ self.centre
            spread[some] = np.sqrt(np.einsum("ki,ki->k", change, change))
        return Drift(shift, spread)


@final
class ScreenedPass:
    """A pass that scores the items that are not settled."""

    def __init__(self, reference: Reference, layer: Layer) -> None:
        self.layer = layer
        self._margins = reference.margins
        self._is_settled = reference.settled(layer)

    def n_scored(self, sizes: list[int]) -> int:
        """How many items it scores, of chunks of these sizes."""
        return sum(sizes) - sum(int(own.sum()) for own in self._is_settled if own is not None)

    def expect(
        self, place: int, features: tuple[Features, ...], known: IntArray | None, counts: FloatArray | None = None
    ) -> Expected:
        """The responsibilities of a chunk's items, which count so often each."""
        dense, margins, is_settled = _dense(features), self._margins[place], self._is_settled[place]
        if margins is None or is_settled is None:
            return expected_from(log_joint(features, known, self.layer, dense.values), counts)
        items, settled = np.flatnonzero(~is_settled), np.flatnonzero(is_settled)
        part = RowFeatures(dense.positions, dense.values[items], None)
        scores = log_joint((part,), None if known is None else known[items], self.layer, part.values)
        new = sparse.coo_array(expected_from(scores).values)
        values = np.concatenate([new.data, np.ones(len(settled), dtype=new.dtype)])
        true, item = np.concatenate([new.row, margins.best[settled]]), np.concatenate([items[new.col], settled])
        return Expected(sparse.csr_array((values, (true, item)), shape=(len(scores), len(is_settled))), None)


@final
class Screen:
    """Chooses the kind of pass: a new reference is made once the items scored since the last add up to all items.

    So a screened pass never scores more items than a full one, and a reference that saves nothing is soon replaced.
    """

    def __init__(self, sizes: list[int]) -> None:
        self._sizes = sizes  # items of each chunk
        self._reference: Reference | None = None
        self._n_scored = 0

    def next_pass(self, layer: Layer, first: Callable[[], tuple[Features, ...]]) -> Reference | ScreenedPass:
        """The pass that uses this layer; `first` gives the features of the first chunk."""
        if self._reference is not None:
            screened = ScreenedPass(self._reference, layer)
            self._n_scored += screened.n_scored(self._sizes)
            if self._n_scored < sum(self._sizes):
                return screened
        self._reference, self._n_scored = Reference(layer, first(), len(self._sizes)), 0
        return self._reference


def _dense(features: tuple[Features, ...]) -> RowFeatures:
    (dense,) = features
    assert isinstance(dense, RowFeatures)  # noqa: S101 - a reader screens nothing else
    return dense


def _least_lead(drift: Drift) -> float:
    """The lead at which all other responsibilities together are below the rounding error of 1, with an e to spare."""
    return float(np.log(len(drift.shift) / np.finfo(drift.shift.dtype).eps)) + 1


def _is_settled(margins: Margins, drift: Drift) -> npt.NDArray[np.bool_]:
    """Which items are sure to have the same single responsibility as at the reference."""
    lost = drift.shift.max() - drift.shift[margins.best]
    lost += (drift.spread.max() + drift.spread[margins.best]) * margins.radius
    return np.asarray(margins.lead - lost >= _least_lead(drift))


def _margins(responsibilities: sparse.csr_array, scores: FloatArray, radius: FloatArray) -> Margins:
    """The margins of a chunk that has been scored; the scores (classes, items) are overwritten."""
    n_classes, n_items = scores.shape
    best = np.zeros(n_items, dtype=np.int32)
    true = np.repeat(np.arange(n_classes, dtype=np.int32), np.diff(responsibilities.indptr))
    best[responsibilities.indices] = true  # right where there is one, and used only there
    items = np.arange(n_items)
    highest = scores[best, items]
    scores[best, items] = -np.inf
    lead = highest - scores.max(axis=0)
    lead[np.bincount(responsibilities.indices, minlength=n_items) != 1] = 0
    return Margins(best, lead, radius)


def _radius(features: RowFeatures, centre: FloatArray) -> FloatArray:
    """The distance of each item's features from the centre, a member at a time to save room."""
    width = len(centre) // len(features.positions)
    total = np.zeros(len(features.values), dtype=centre.dtype)
    for start in range(0, len(centre), width):
        part = features.values[:, start : start + width] - centre[start : start + width]
        total += np.einsum("ij,ij->i", part, part)
    return np.sqrt(total)
