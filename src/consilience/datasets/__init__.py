"""Three small panels of real classifiers, with the truth to score with; nothing is fetched.

The classifiers were trained for this project on data sets that scikit-learn brings along: the handwritten digits of
Alpaydin and Kaynak, and the breast tumours of Wolberg, Mangasarian, Street and Street (both of the UCI repository,
CC BY 4.0). Only the answers of the classifiers and the true classes are here, under the licence of this project.
`python -m training.datasets`, in a clone, makes them again. Similar panels took part in training `Consensus`, so these
show how it works, not how good it is. It may import from `system` and `data`.
"""

from __future__ import annotations

from importlib.resources import as_file, files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.predictions import Predictions

__all__ = ["Panel", "rare_eights", "shifted_digits", "tumour_rules"]

ANGLES = (0, 15, 30, 45)


class Panel(NamedTuple):
    """What the members say, and the true class of each item."""

    predictions: Predictions
    labels: npt.NDArray[Any]


def shifted_digits(angle: int = 30, *, uneven: bool = False) -> Panel:
    """Six classifiers that learned upright digits read 899 other ones, rotated.

    Parameters
    ----------
    angle
        By how many degrees: 0, 15, 30 or 45.
    uneven
        Keep 295 digits, so that each digit is about 0.7 times as frequent as the one before it. By default all
        digits are equally frequent.

    Examples
    --------
    >>> import consilience as cs
    >>> p, labels = cs.datasets.shifted_digits()
    >>> p
    Predictions(6 members × 899 items × 10 classes)
    >>> average, told = cs.Average().fit(p), cs.Consensus(class_shares="even").fit(p)
    >>> [round(cs.metrics.accuracy(model.posterior_, labels), 2) for model in (average, told)]
    [0.44, 0.63]
    """
    if angle not in ANGLES:
        raise ValueError(f"angle must be one of {', '.join(map(str, ANGLES))}; got {angle!r}")
    panel = _panel("shifted_digits", f"rotated {angle}")
    if not uneven:
        return panel
    predictions, labels = panel
    before = np.array([np.count_nonzero(labels[:place] == label) for place, label in enumerate(labels)])
    kept = np.flatnonzero(before < 90 * 0.7**labels)
    return Panel(predictions.take(kept), labels[kept])


def tumour_rules() -> Panel:
    """Rules vote whether a tumour is benign, each by one measurement, and only where the rule is sure.

    Two rules are there twice: `worst radius, copied` and `worst texture, copied`.

    Examples
    --------
    >>> import consilience as cs
    >>> p, labels = cs.datasets.tumour_rules()
    >>> p.classes
    ['malignant', 'benign']
    >>> [round(float((model.fit_predict(p) == labels).mean()), 3) for model in (cs.MajorityVote(), cs.DawidSkene())]
    [0.949, 0.927]
    """
    return _panel("tumour_rules", "votes")


def rare_eights() -> Panel:
    """Five classifiers look for the digit 8 in noisy images, of which one in forty is an 8.

    Examples
    --------
    >>> import consilience as cs
    >>> p, labels = cs.datasets.rare_eights()
    >>> p.classes, round(float((labels == "eight").mean()), 3)
    (['other', 'eight'], 0.025)
    """
    return _panel("rare_eights", "probabilities")


def _panel(name: str, kind: str) -> Panel:
    """A panel of a file of the package: votes, -1 where there is none, or probabilities in half precision."""
    with as_file(files("consilience.datasets") / f"{name}.npz") as path, np.load(path, allow_pickle=False) as file:
        answers, members, classes = file[kind], file["members"].tolist(), file["classes"]
        labels = classes[file["labels"]]
    names = {"members": members, "classes": classes.tolist()}
    if kind == "votes":
        return Panel(Predictions.from_labels(answers.astype(np.intp), len(classes), **names), labels)
    rows = answers.astype(np.float64)
    return Panel(Predictions(rows / rows.sum(axis=2, keepdims=True), **names), labels)
