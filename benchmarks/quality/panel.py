"""A panel: what several members say of the same items, and the truth, which only scores see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

import consilience as cs
from consilience.system.atomic import whole_file

AS_IT_IS = "as it is"
"""The kind of a panel that nothing was done to."""


@dataclass(frozen=True, eq=False)
class Panel:
    """What the members of one panel say. Exactly one of `probabilities` and `labels` is given."""

    name: str
    family: str  # panels of one family share members, items or a task
    kind: str  # `AS_IT_IS`, or how it was drawn from such a panel
    truth: np.ndarray  # (items,): the true classes, -1 where unknown
    n_classes: int
    probabilities: np.ndarray | None = None  # (members, items, classes), a NaN row where a member says nothing
    labels: np.ndarray | None = None  # (members, items), -1 where a member says nothing

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return len(self.votes)

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self.truth)

    @cached_property
    def votes(self) -> np.ndarray:
        """(members, items): the class each member finds most probable, the first of a tie; -1 where it says nothing."""
        if self.labels is not None:
            return self.labels
        assert self.probabilities is not None  # noqa: S101 - one of the two is given
        is_missing = np.isnan(self.probabilities[:, :, 0])
        return np.where(is_missing, -1, np.nan_to_num(self.probabilities).argmax(axis=2))

    @cached_property
    def predictions(self) -> cs.Predictions:
        """The same as a user would bring it."""
        if self.labels is not None:
            return cs.Predictions.from_labels(self.labels, self.n_classes)
        return cs.Predictions(self.probabilities, normalize=True)


def take(panel: Panel, items: np.ndarray, members: np.ndarray | None = None) -> Panel:
    """Some items and members of a panel."""
    members = np.arange(panel.n_members) if members is None else members
    places = np.ix_(members, items)
    return replace(
        panel,
        truth=panel.truth[items],
        probabilities=None if panel.probabilities is None else panel.probabilities[places],
        labels=None if panel.labels is None else panel.labels[places],
    )


def answered(panel: Panel) -> Panel:
    """The items that somebody answers, and the members who answer any of them."""
    has_answer = panel.votes >= 0
    return take(panel, np.flatnonzero(has_answer.any(axis=0)), np.flatnonzero(has_answer.any(axis=1)))


def keep(panel: Panel, folder: Path) -> None:
    """Write a panel to a file named for it."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {"truth": panel.truth.astype(np.int32)}
    if panel.labels is not None:
        arrays["labels"] = panel.labels.astype(np.int16)
    if panel.probabilities is not None:
        arrays["probabilities"] = panel.probabilities.astype(np.float32)
    with whole_file(folder / f"{panel.name}.npz") as file:
        np.savez_compressed(file, family=panel.family, kind=panel.kind, n_classes=panel.n_classes, **arrays)


def read(path: Path) -> Panel:
    """A panel that was kept."""
    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in ("probabilities", "labels") if name in file.files}
        family, kind, n_classes = str(file["family"]), str(file["kind"]), int(file["n_classes"])
        return Panel(path.stem, family, kind, file["truth"].astype(np.int64), n_classes, **arrays)


def read_all(folder: Path, kind: str) -> Iterator[Panel]:
    """All panels of a kind in a folder, by name."""
    for path in sorted(folder.glob("*.npz")):
        if (panel := read(path)).kind == kind:
            yield panel
