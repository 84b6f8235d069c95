"""All methods, as functions from a panel to a posterior (items, classes). None ever sees a label.

A new one is one line, `METHODS["mine"] = function`, or none at all: `--methods average module:function`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from unittest.mock import patch

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from benchmarks.quality import peers
from benchmarks.quality.panel import Panel
from benchmarks.quality.peers.peer import Peer
from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.translation import TranslationModel
from consilience.maths.model import Scores
from consilience.passes.agreement import Agreement
from consilience.system.arrays import to_numpy

Method = Callable[[Panel], np.ndarray]

YARDSTICK = "average"
"""What the others are compared with."""

VOTE = 0.98
"""What a vote counts as a probability where votes are averaged; the rest is spread over all classes. Shares of votes
alone would make any class impossible that nobody votes for, and every method would seem to have a better NLL."""


def by(aggregator: Callable[[], AbstractAggregator]) -> Method:
    """An aggregator as a method."""
    return lambda panel: _posterior(_fitted(aggregator(), panel.predictions))


def average(panel: Panel) -> np.ndarray:
    """The mean of the members' probabilities, or of their votes counted as `VOTE`."""
    rows = _posterior(_fitted(cs.Average(), panel.predictions))
    return rows if panel.labels is None else VOTE * rows + (1 - VOTE) / panel.n_classes


def geometric(panel: Panel) -> np.ndarray:
    """The geometric mean; labels have no logarithms to average, so where there are only labels, the arithmetic one."""
    return by(lambda: cs.Average(kind="geometric"))(panel) if panel.labels is None else average(panel)


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


def without_weights(panel: Panel) -> np.ndarray:
    """`Consensus` whose members weigh the same, to see what the weights give."""

    def equal(agreement: Agreement, *_: object) -> np.ndarray:
        return np.full(len(agreement.counts), 1 / len(agreement.counts))

    with patch("consilience.aggregators.consensus.consensus.pool_weights", equal):
        return by(cs.Consensus)(panel)


def believing(panel: Panel) -> np.ndarray:
    """`Consensus` that takes members to be as good as they claim."""

    def full(agreement: Agreement, *_: object) -> np.ndarray:
        return np.ones(len(agreement.counts))

    with patch("consilience.aggregators.consensus.consensus.credibility", full):
        return by(cs.Consensus)(panel)


def with_class_prior(panel: Panel) -> np.ndarray:
    """`Consensus` whose translation multiplies by the share that the average gives each class."""
    plain = TranslationModel.scores
    shares = np.asarray(cs.Average().fit(panel.predictions).class_prior_)

    def with_shares(model: TranslationModel, rates: np.ndarray) -> Scores:
        return plain(model, rates)._replace(log_prior=np.log(np.maximum(shares, 1e-3)))

    with patch.object(TranslationModel, "scores", with_shares):
        return by(cs.Consensus)(panel)


METHODS: dict[str, Method] = {
    YARDSTICK: average,
    "geometric": geometric,
    "majority": by(cs.MajorityVote),
    "dawid-skene": by(cs.DawidSkene),
    "bcc": by(cs.BayesianClassifierCombination),
    "soft-dawid-skene": by(cs.SoftDawidSkene),
    "consensus": by(cs.Consensus),
    "mixture": mixture,
}

ABLATION: dict[str, Method] = {
    YARDSTICK: METHODS[YARDSTICK],
    "consensus": METHODS["consensus"],
    "weighted average alone": by(lambda: cs.Consensus(weight=0)),
    "no weights": without_weights,
    "every claim believed": believing,
    "with a class prior": with_class_prior,
    "evidence 1": by(lambda: cs.Consensus(evidence=1)),
    "evidence 4": by(lambda: cs.Consensus(evidence=4)),
    "translation alone": by(lambda: cs.Consensus(weight=1)),
    "one iteration": by(lambda: cs.Consensus(max_iter=1, tol=None)),
    "rows not shrunk": by(lambda: cs.Consensus(smoothing=0)),
}
"""What each ingredient of `Consensus` gives."""


PEERS: dict[str, Peer] = {
    f"crowd-kit {one.name}" if one.library.startswith("crowdkit") else one.name: one for one in peers.PEERS.values()
}
"""Other people's methods, by their names in tables: crowd-kit's have the names of ours."""


def named(name: str) -> Method:
    """A method of the registry, or `module:function` of anyone's."""
    everything: dict[str, Method] = METHODS | ABLATION | PEERS
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
