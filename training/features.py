"""Features of a panel, as the library itself computes them: what is trained on is what is answered with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.quality.panel import Panel
from consilience.aggregators.consensus.label_free_fit import fit_panel
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    Reading,
    candidates,
    item_features,
    pair_features,
    soft_logs,
)
from consilience.aggregators.consensus.panel import traits_of
from consilience.passes.reader import Reader

AVERAGE_SHARE, STATED = CLASS_TRAITS.index("share in average"), CLASS_TRAITS.index("stated share")
"""Where the shares of the average stand among the traits of classes, and the two traits of stated shares."""


class Features(NamedTuple):
    """Of a panel. Shares are stated by nobody yet: the traits for that are 0."""

    pair: np.ndarray  # (items, candidates, len(PAIR_FEATURES))
    item: np.ndarray  # (items, len(ITEM_FEATURES))
    candidates: np.ndarray  # (items, candidates): the classes looked at, in ascending order
    classes: np.ndarray  # (classes, len(CLASS_TRAITS))
    panel: np.ndarray  # (len(PANEL_TRAITS),)
    members: np.ndarray  # (members, len(MEMBER_TRAITS))
    own: np.ndarray  # (answers, candidates): soft logarithms of what members say, item by item
    said: np.ndarray  # (answers, candidates): log-likelihoods of their votes
    answer_item: np.ndarray  # (answers,)
    answer_member: np.ndarray  # (answers,)
    average: np.ndarray  # (items, classes): what other classes keep


def features_of(panel: Panel, items: np.ndarray | None = None) -> Features:
    """All numbers of a panel, or those of some of its items; traits are of all."""
    predictions = panel.predictions
    finding = fit_panel(predictions, None)
    traits = traits_of(finding)
    some = predictions if items is None else predictions.take(items)
    reader = Reader(some)
    reading = Reading(finding.experts, reader)
    parts = [reading.opinions(chunk) for chunk in reader.chunks]
    opinions = type(parts[0])(*(np.concatenate(part) for part in zip(*parts, strict=True)))
    places = candidates(opinions)
    looked_at = np.broadcast_to(np.arange(some.n_classes), opinions.average.shape) if places is None else places
    table = finding.experts.of_votes.reshape(some.n_members, some.n_classes, some.n_classes)
    return Features(
        pair_features(opinions, places).astype(np.float32),
        item_features(opinions).astype(np.float32),
        looked_at,
        *traits,
        *_evidence(some.to_array(), _votes(reader), table, looked_at),
        opinions.average,
    )


def _votes(reader: Reader) -> np.ndarray:
    """(members, items): the class that each member votes for; -1 where it does not."""
    hard = reader.predictions.votes().hard
    votes = np.full((reader.predictions.n_members, reader.predictions.n_items), -1)
    if hard is not None:
        votes[hard.members, hard.items] = hard.labels
    return votes


def _evidence(said: np.ndarray, votes: np.ndarray, table: np.ndarray, looked_at: np.ndarray) -> tuple[np.ndarray, ...]:
    """The evidence of all answers for the candidates of their items, and the item and member of each."""
    item, member = np.nonzero(~np.isnan(said[:, :, 0]).T)
    places = looked_at[item]
    own = np.take_along_axis(soft_logs(said[member, item].astype(np.float64), said.shape[2]), places, axis=1)
    vote = votes[member, item]
    of_vote = np.where(vote[:, None] < 0, 0.0, np.take_along_axis(table[member, np.maximum(vote, 0)], places, axis=1))
    return own.astype(np.float32), of_vote.astype(np.float32), item, member
