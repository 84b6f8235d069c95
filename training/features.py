"""Features of a panel, as the library itself computes them: what is trained on is what is answered with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.quality.panel import Panel
from consilience.aggregators.consensus.finding import find
from consilience.aggregators.consensus.traits import traits_of
from consilience.answering.learned.experts import Reading
from consilience.answering.learned.features import NAMES, candidates, item_features, pair_features
from consilience.passes.reader import Reader

AVERAGE = NAMES.index("item and class: average")
"""Where the average stands, which all answers are compared with."""


class Features(NamedTuple):
    """Of a panel."""

    values: np.ndarray  # (items, candidates, features), in the order of `NAMES`
    candidates: np.ndarray  # (items, candidates): the classes looked at, in ascending order
    average: np.ndarray  # (items, classes): what other classes keep


def features_of(panel: Panel) -> Features:
    """All numbers of a panel."""
    predictions = panel.predictions
    finding = find(predictions, None)
    traits = traits_of(finding.found)
    reader = Reader(predictions)
    reading = Reading(finding.experts, reader)
    parts = []
    for chunk in reader.chunks:
        opinions = reading.opinions(chunk)
        n_items, n_classes = opinions.average.shape
        places = candidates(opinions)
        looked_at = np.broadcast_to(np.arange(n_classes), (n_items, n_classes)) if places is None else places
        size = looked_at.shape
        values = [
            pair_features(opinions, places),
            traits.classes[looked_at],
            np.broadcast_to(item_features(opinions)[:, None], (*size, item_features(opinions).shape[1])),
            np.broadcast_to(traits.panel, (*size, len(traits.panel))),
        ]
        parts.append(Features(np.concatenate(values, axis=2).astype(np.float32), looked_at, opinions.average))
    return Features(*(np.concatenate(part) for part in zip(*parts, strict=True)))
