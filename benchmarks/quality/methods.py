"""All methods, as functions from a panel to a posterior (items, classes). None ever sees a label.

A new one is one line, `METHODS["mine"] = function`, or none at all: `--methods average module:function`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from benchmarks.quality import peers
from benchmarks.quality.families import side_of
from benchmarks.quality.panel import Panel
from benchmarks.quality.peers.peer import Peer
from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.learned.experts import VOTE
from consilience.system.arrays import to_numpy

Method = Callable[[Panel], np.ndarray]

FOLDS = Path(__file__).parents[2] / "training" / "folds"
"""Weights of `Consensus` that were trained with some families left out, which their names tell: `make train`."""

YARDSTICK = "average"
"""What the others are compared with."""


def by(aggregator: Callable[[], AbstractAggregator]) -> Method:
    """An aggregator as a method."""
    return lambda panel: _posterior(_fitted(aggregator(), panel.predictions))


def average(panel: Panel) -> np.ndarray:
    """The mean of the members' probabilities, or of their votes counted as `VOTE`.

    Shares of votes alone would make any class impossible that nobody votes for, and every method would seem to have a
    better NLL.
    """
    rows = _posterior(_fitted(cs.Average(), panel.predictions))
    return rows if panel.labels is None else VOTE * rows + (1 - VOTE) / panel.n_classes


def geometric(panel: Panel) -> np.ndarray:
    """The geometric mean; labels have no logarithms to average, so where there are only labels, the arithmetic one."""
    return by(lambda: cs.Average(kind="geometric"))(panel) if panel.labels is None else average(panel)


def consensus(panel: Panel) -> np.ndarray:
    """`Consensus`, by a network that has not seen the panel's family."""
    return by(lambda: cs.Consensus(weights=unseen(panel.family)))(panel)


def unseen(family: str) -> Path | None:
    """The weights that were trained without a tuning family; None, those of the package, have seen no other family."""
    if side_of(family) != "tuning":
        return None
    found = [path for path in FOLDS.glob("*.npz") if family in path.stem.split("+")]
    if len(found) != 1:
        raise FileNotFoundError(f"there must be one file of weights without {family} in {FOLDS}; got {len(found)}")
    return found[0]


def mixture(panel: Panel) -> np.ndarray:
    """.4 average + .2 Dawid-Skene + .4 of the members' votes, each translated to what it tells of the truth.

    Member m's vote for class j becomes p(true = k | vote = j) ∝ ν_k π_mkj, with ν and π as Dawid-Skene learned them.
    Ad hoc weights that no principle gives, and hard to beat.
    """
    mean, learned = average(panel), _fitted(cs.DawidSkene(), panel.predictions)
    meaning = learned.class_prior_[None, :, None] * learned.confusion_
    meaning /= meaning.sum(axis=1, keepdims=True)
    members, items = np.nonzero(panel.votes >= 0)
    translated = np.zeros_like(mean)
    np.add.at(translated, items, meaning.transpose(0, 2, 1)[members, panel.votes[members, items]])
    translated /= np.bincount(items, minlength=len(mean))[:, None]
    return 0.4 * mean + 0.2 * _posterior(learned) + 0.4 * translated


METHODS: dict[str, Method] = {
    YARDSTICK: average,
    "geometric": geometric,
    "majority": by(cs.MajorityVote),
    "dawid-skene": by(cs.DawidSkene),
    "bcc": by(cs.BayesianClassifierCombination),
    "soft-dawid-skene": by(cs.SoftDawidSkene),
    "consensus": consensus,
    "mixture": mixture,
}

PEERS: dict[str, Peer] = {
    f"crowd-kit {one.name}" if one.library.startswith("crowdkit") else one.name: one for one in peers.PEERS.values()
}
"""Other people's methods, by their names in tables: crowd-kit's have the names of ours."""


def named(name: str) -> Method:
    """A method of the registry, or `module:function` of anyone's."""
    everything: dict[str, Method] = METHODS | PEERS
    if name in everything:
        return everything[name]
    module, found, function = name.partition(":")
    if not found:
        raise ValueError(f"method must be module:function or one of {', '.join([*METHODS, *PEERS])}; got {name!r}")
    method: Method = getattr(import_module(module), function)
    return method


def _fitted(aggregator: AbstractAggregator, predictions: cs.Predictions) -> AbstractAggregator:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the default number of iterations is part of the method
        return aggregator.fit(predictions)


def _posterior(fitted: AbstractAggregator) -> np.ndarray:
    return to_numpy(fitted.posterior_).astype(np.float64)
