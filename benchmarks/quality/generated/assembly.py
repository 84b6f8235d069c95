"""From drawn answers to a panel that keeps its promises: every item answered, at least two true classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchmarks.quality.generated.answers import silence
from benchmarks.quality.panel import Panel

LEAST_ITEMS = 5


@dataclass(frozen=True, eq=False)
class Draft:
    """What a panel will be made of; exactly one of `probabilities` and `labels` is given."""

    truth: np.ndarray  # (items,)
    n_classes: int
    probabilities: np.ndarray | None = None  # (members, items, classes)
    labels: np.ndarray | None = None  # (members, items)

    def hardened(self) -> Draft:
        """The same as votes."""
        panel = Panel("", "", "", self.truth, self.n_classes, self.probabilities, self.labels)
        return replace(self, probabilities=None, labels=panel.votes)

    def silenced(self, rng: np.random.Generator, share: float, caution: float) -> Draft:
        """The same with fewer answers; `probabilities` must be given."""
        assert self.probabilities is not None  # noqa: S101 - the caller's promise
        return replace(self, probabilities=silence(self.probabilities, rng, share, caution))


def assemble(draft: Draft, name: str, kind: str) -> Panel | None:
    """The panel, without items that nobody answered; None where too little is left of it."""
    if draft.probabilities is not None:
        draft = replace(draft, probabilities=_exact(draft.probabilities))
    else:
        draft = replace(draft, labels=np.asarray(draft.labels, dtype=np.int64))
    panel = Panel(
        name, f"generated {kind}", "as it is", draft.truth, draft.n_classes, draft.probabilities, draft.labels
    )
    panel = answered(panel)
    return panel if is_whole(panel) else None


def answered(panel: Panel) -> Panel:
    """The same without items and members that have no answer."""
    has_answer = panel.votes >= 0
    if has_answer.any(axis=0).all() and has_answer.any(axis=1).all():
        return panel
    return select(panel, members=has_answer.any(axis=1), items=has_answer.any(axis=0))


def is_whole(panel: Panel) -> bool:
    """Whether enough items are left, and two classes to tell apart."""
    return panel.n_items >= LEAST_ITEMS and panel.n_members > 0 and len(np.unique(panel.truth[panel.truth >= 0])) > 1


def select(panel: Panel, *, members: np.ndarray | None = None, items: np.ndarray | None = None) -> Panel:
    """The same with some members and items only, given as places or as booleans."""
    members = np.arange(panel.n_members) if members is None else _places(members)
    items = np.arange(panel.n_items) if items is None else _places(items)
    if panel.labels is not None:
        return replace(panel, truth=panel.truth[items], labels=panel.labels[np.ix_(members, items)])
    assert panel.probabilities is not None  # noqa: S101 - one of the two is given
    return replace(panel, truth=panel.truth[items], probabilities=panel.probabilities[np.ix_(members, items)])


def _places(chosen: np.ndarray) -> np.ndarray:
    return np.flatnonzero(chosen) if chosen.dtype == bool else chosen


def _exact(probabilities: np.ndarray) -> np.ndarray:
    """Single precision is enough; sums are 1 to its rounding."""
    wide = probabilities.astype(np.float64)
    return (wide / wide.sum(axis=2, keepdims=True)).astype(np.float32)
