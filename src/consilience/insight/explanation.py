"""Why this class and not that one: the evidence of each member, and of each probability it gave."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.special import log_softmax

from consilience.aggregators.base import check_is_aggregator
from consilience.answering.correction import ANSWER_FLOOR, FLOOR
from consilience.passes.reader import Reader, summarize
from consilience.passes.readers import read_anywhere
from consilience.system.tables import Table

if TYPE_CHECKING:
    from consilience.aggregators.base import AbstractAggregator
    from consilience.answering.correction import Correction
    from consilience.answering.rule import Rule
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

TINY = 1e-300
"""What a posterior of zero counts as under the logarithm."""


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """What tipped one item's answer from the runner-up to the winner, in nats.

    `log_odds` = log p(winner) - log p(runner_up) = `prior` + `by_member`.sum(), and `by_member` =
    `by_probability`.sum(over classes) + `normalizer`, exactly. Positive speaks for the winner.
    """

    item: Any
    winner: Any
    runner_up: Any
    posterior: FloatArray  # (classes,)
    log_odds: float
    prior: float  # of the class prior
    by_member: FloatArray  # (members,)
    by_probability: FloatArray  # (members, classes): of each probability, or label, a member gave
    normalizer: FloatArray  # (members,): of having answered at all (the Dirichlet's normalizing constants)
    said: FloatArray  # (members, classes): what each member said, NaN where nothing
    members: list[Any]
    classes: list[Any]

    def to_table(self) -> Table:
        """One row per member who answered, the most telling first."""
        is_silent = np.asarray(np.isnan(self.said).any(axis=1))
        order = [m for m in np.argsort(-np.abs(self.by_member), kind="stable") if not is_silent[m]]
        return Table(
            {
                "member": ["(class prior)", *(str(self.members[m]) for m in order)],
                "said": ["", *(self._said(m) for m in order)],
                "nats": [self.prior, *(float(self.by_member[m]) for m in order)],
                "mostly by": ["", *(self._mostly(m) for m in order)],
            }
        )

    def _said(self, member: int) -> str:
        row = self.said[member]
        top = np.argsort(-row, kind="stable")[:2]
        return ", ".join(f"{self.classes[k]} {row[k]:.2f}" for k in top if row[k] > 0)

    def _mostly(self, member: int) -> str:
        """What of its answer moved the posterior most: probabilities, and having answered at all."""
        row = np.append(self.by_probability[member], self.normalizer[member])
        names = [*self.classes, "(answering)"]
        top = [place for place in np.argsort(-np.abs(row), kind="stable")[:3] if abs(row[place]) > 0.005]
        return ", ".join(f"{names[place]} {row[place]:+.2f}" for place in top)

    def __repr__(self) -> str:
        """The answer in a line, then who tipped it."""
        places = {name: place for place, name in enumerate(self.classes)}
        first, second = (self.posterior[places[name]] for name in (self.winner, self.runner_up))
        return (
            f"item {self.item!r}: {self.winner} ({first:.3f}) over {self.runner_up} ({second:.3f}), "
            f"{self.log_odds:+.2f} nats\n{self.to_table()!r}"
        )


def explain(
    aggregator: AbstractAggregator,
    predictions: Any,
    item: Any,
    *,
    against: Any = None,
    **options: Any,
) -> Explanation:
    """What tips the answer of a fitted aggregator to one item.

    Explained is `aggregator.predict_proba` of that item, for the most probable class over the second (over the class
    `against`, where given). The log-odds of a mixture of an average and a posterior are split by the logarithmic
    mean L: log a - log b = (a - b) / L(a, b), which is exact. `options` go to the aggregator: `pure=True` explains
    Soft Dawid-Skene's eq. 3 alone, as the paper's appendix C does.
    """
    check_is_aggregator(aggregator)
    aggregator.check_options(options)
    everything = read_anywhere(predictions)
    one = aggregator.aligned(everything.take([everything.axes.items.position_of(item)]))
    rule = aggregator.rule(one, **options)
    said = one.to_array()[:, 0, :]
    pooled, log_pure, parts = _parts(rule, one)
    log_posterior = _log_mixture(rule.weight, pooled.sum(axis=0), log_pure)
    corrected = log_posterior if rule.correction is None else _log_corrected(rule.correction, log_posterior, one)
    first, second = _contenders(corrected, one, against)
    by_probability = np.zeros_like(said)
    normalizer = np.zeros(len(said))
    prior = 0.0
    scale = _logarithmic_mean(log_posterior[first], log_posterior[second])
    if rule.weight < 1:
        share = (1 - rule.weight) / scale
        by_probability[:, first] += share * pooled[:, first]
        by_probability[:, second] -= share * pooled[:, second]
    if rule.scores is not None and rule.weight > 0:
        share = 1.0
        if rule.weight < 1:
            share = rule.weight * _logarithmic_mean(log_pure[first], log_pure[second]) / scale
        features, n_answers = parts
        weights, bias = rule.scores.weights, rule.scores.bias
        by_probability += share * (weights[:, first] - weights[:, second]) * features
        normalizer = share * (bias[:, first] - bias[:, second]) * n_answers
        prior = float(share * (rule.scores.log_prior[first] - rule.scores.log_prior[second]))
    if rule.correction is not None:
        stretch, taught = _stretch(rule.correction, log_posterior[[first, second]]), rule.correction.scores(one)
        logs, _ = _features(Reader(one, log_floor=FLOOR))
        by_probability = stretch * by_probability + (taught.weights[:, first] - taught.weights[:, second]) * logs
        normalizer = stretch * normalizer
        prior = stretch * prior + float(taught.log_prior[first] - taught.log_prior[second])
    return Explanation(
        item=item,
        winner=one.classes[first],
        runner_up=one.classes[second],
        posterior=np.exp(corrected),
        log_odds=float(corrected[first] - corrected[second]),
        prior=prior,
        by_member=by_probability.sum(axis=1) + normalizer,
        by_probability=by_probability,
        normalizer=normalizer,
        said=said,
        members=one.members,
        classes=one.classes,
    )


def _parts(rule: Rule, one: Predictions) -> tuple[FloatArray, FloatArray, tuple[FloatArray, FloatArray]]:
    """Each member's part of the average; the log-posterior of the scores; their features and number of answers."""
    answers = one.harden() if rule.reads_labels else one
    totals, n_answers = _features(Reader(answers))
    shares = rule.member_weights / (rule.member_weights * n_answers).sum()
    pooled = shares[:, None] * totals
    if rule.scores is None:
        return pooled, np.zeros(one.n_classes), (totals, n_answers)
    features, n_answers = _features(Reader(answers, log_floor=rule.log_floor))
    log_joint = rule.scores.log_prior + (rule.scores.weights * features[:, None, :]).sum(axis=(0, 2))
    log_joint = log_joint + n_answers @ rule.scores.bias
    shift = log_joint.max()
    return pooled, log_joint - shift - np.log(np.exp(log_joint - shift).sum()), (features, n_answers)


def _log_corrected(correction: Correction, log_posterior: FloatArray, one: Predictions) -> FloatArray:
    """The log-posterior with what labels taught."""
    taught, (logs, _) = correction.scores(one), _features(Reader(one, log_floor=FLOOR))
    sharpened = correction.sharpness * np.maximum(log_posterior, np.log(ANSWER_FLOOR))
    return np.asarray(log_softmax(sharpened + taught.log_prior + (taught.weights * logs[:, None, :]).sum(axis=(0, 2))))


def _stretch(correction: Correction, log_pair: FloatArray) -> float:
    """What becomes of the log-odds of two classes before the correction: sharpened, what is next to zero floored."""
    gap, floored = np.diff(log_pair)[0], np.diff(np.maximum(log_pair, np.log(ANSWER_FLOOR)))[0]
    return float(correction.sharpness * (floored / gap if gap != 0 else 1.0))


def _features(reader: Reader) -> tuple[FloatArray, FloatArray]:
    """The summed features (members, classes) of the only item, and how often each member answered it."""
    totals = np.zeros((reader.predictions.n_members, reader.n_classes))
    n_answers = np.zeros(len(totals))
    only = np.ones((1, 1))  # the responsibility of a single class: its sums are the features themselves
    for part in summarize(reader.chunks[0].features(), only).sums:
        totals[part.positions] += part.table.reshape(len(part.positions), -1)
        n_answers[part.positions] += part.answer_counts[:, 0]
    return totals, n_answers


def _log_mixture(weight: float, average: FloatArray, log_pure: FloatArray) -> FloatArray:
    if weight == 1:
        return log_pure
    return np.log(np.maximum((1 - weight) * average + weight * np.exp(log_pure) * (weight > 0), TINY))


def _logarithmic_mean(log_a: float, log_b: float) -> float:
    """(a - b) / (log a - log b), which tends to a as b does."""
    gap = abs(log_a - log_b)
    return float(np.exp(max(log_a, log_b)) * (-np.expm1(-gap) / gap if gap > 1e-12 else 1.0))


def _contenders(log_posterior: FloatArray, one: Predictions, against: Any) -> tuple[int, int]:
    order = np.argsort(-log_posterior, kind="stable")
    if against is None:
        return int(order[0]), int(order[1])
    if against not in one.classes:
        raise ValueError(f"against must be one of the classes {one.classes}; got {against!r}")
    other = one.classes.index(against)
    return int(order[0] if order[0] != other else order[1]), other
