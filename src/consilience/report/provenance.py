"""Where a report comes from: the day, the data, the method, the labels, and the command."""

from __future__ import annotations

import sys
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.answers import parts_of
from consilience.report.rounding import text
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    from consilience.data.predictions import Predictions
    from consilience.insight.analysis import Analysis

FINGERPRINT = 12
"""How many hexadecimal digits of the checksum are shown."""


def provenance(analysis: Analysis, command: str | None) -> dict[str, Any]:
    """Where a report comes from. `command` is the command line, if there was one."""
    labelled = getattr(analysis.method, "labelled_", None)
    n_given = int(analysis.is_given.sum())
    n_learned = n_given or (0 if labelled is None else len(labelled.weights))
    return {
        "date": datetime.now().astimezone().date().isoformat(),
        "version": str(sys.modules["consilience"].__version__),  # by name: a room does not import the whole package
        "command": None if command is None else text(command, most=1000),
        "fingerprint": fingerprint(analysis.predictions),
        "method": type(analysis.method).__name__,
        "settings": text(" ".join(repr(analysis.method).split())),
        "iterations": int(analysis.method.n_iter_),
        "labels": _labels(n_learned, n_given, int((analysis.measurable >= 0).sum()), analysis.predictions.n_items),
    }


def _labels(n_learned: int, n_given: int, n_measured: int, n_items: int) -> str:
    """What labels did, in words."""
    taught = f"The method learned from {n_learned:,} {'label' if n_learned == 1 else 'labels'}."
    if not n_measured:
        return taught if n_learned else "No label was used."
    if n_given:
        return f"{taught} Labels of {n_measured:,} other items measured the answers."
    which = "all" if n_measured == n_items else f"{n_measured:,} of {n_items:,}"
    measured = f"Labels of {which} items measured the answers."
    if n_learned:
        return f"{taught} {measured} If some of them are the same, the scores of the fused answer are too good."
    return f"{measured} They took no part in making them."


def fingerprint(predictions: Predictions) -> str:
    """A short checksum of what the members said, with the names of members, items and classes.

    Two reports with the same fingerprint are about the same answers, in the same order.
    """
    checksum = sha256()
    for axis in predictions.axes:
        names = [] if not axis.is_named else [str(name) for name in axis.names]
        checksum.update(repr((axis.size, names)).encode("utf-8", errors="surrogatepass"))
    for member in predictions.soft:
        checksum.update(f"member {member.position}".encode())
        if member.items is not None:
            checksum.update(np.ascontiguousarray(member.items, dtype="<i8").tobytes())
        for _, rows in parts_of(member.rows):
            checksum.update(np.ascontiguousarray(to_numpy(rows), dtype="<f8").tobytes())
    if predictions.hard is not None:
        for column in (predictions.hard.items, predictions.hard.members, predictions.hard.labels):
            checksum.update(np.ascontiguousarray(column, dtype="<i8").tobytes())
    return checksum.hexdigest()[:FINGERPRINT]
