"""Explain an answer: the evidence of each member, of each probability it gave, and of each expert of `Consensus`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from consilience.aggregators.base import AbstractAggregator, fitted_copy
from consilience.data.axes import some
from consilience.data.predictions import Predictions, place_of
from consilience.insight.arguments import by_predictions, given_or_consensus
from consilience.maths.shapley import MOST_COALITIONS
from consilience.passes.reader import read_anywhere
from consilience.system.arrays import FloatArray, IntArray
from consilience.system.tables import Table


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """What tipped one item's answer from the runner-up to the winner, as log-odds.

    `log_odds` = log p(winner) - log p(runner_up) = `prior` + `shares` + `by_member`.sum(), and `by_member` =
    `by_probability`.sum(over classes) + `normalizer`, exactly. Positive speaks for the winner.

    For `Consensus` the evidence of members are Shapley values: what a member adds to the log-odds, averaged over all
    orders in which the members may have answered (beyond 12 members, over a sample of orders). Nothing splits such a
    value by class, so `by_probability` has all of it at the class that the member finds most probable. `experts` says
    what each way to fuse that `Consensus` chooses among would have answered alone.
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
    experts: dict[str, float] = field(default_factory=dict)  # log-odds of each expert alone; empty of other methods
    shares: float = 0.0  # of the class shares that the method was given

    @property
    def influence(self) -> FloatArray:
        """How much each member moved this answer (members,): its share of all members' log-odds, whatever their sign.

        They sum to 1, or are 0 where nobody moved it.
        """
        moved = np.abs(self.by_member)
        return np.asarray(moved / max(float(moved.sum()), np.finfo(float).tiny))

    @property
    def heard(self) -> IntArray:
        """The positions of the members who answered, the strongest first."""
        order = np.argsort(-np.abs(self.by_member), kind="stable")
        return np.asarray(order[~np.isnan(self.said[order, 0])])

    def to_table(self) -> Table:
        """The class prior, class shares if they were given, and the members who answered, the strongest first."""
        rows = [("(class prior)", "", self.prior, float("nan"), "")]
        if self.shares:
            rows.append(("(class shares)", "", self.shares, float("nan"), ""))
        for m in self.heard.tolist():
            own, share = float(self.by_member[m]), float(self.influence[m])
            rows.append((str(self.members[m]), self._said(m), own, share, self._mostly(m)))
        names = ("member", "said", "log-odds", "influence", "mostly by")
        return Table(dict(zip(names, zip(*rows, strict=True), strict=True)))

    def _said(self, member: int) -> str:
        row = self.said[member]
        top = np.argsort(-row, kind="stable")[:2]
        return ", ".join(f"{self.classes[k]} {row[k]:.2f}" for k in top if row[k] > 0)

    def _mostly(self, member: int) -> str:
        """The parts of a member's answer that moved the posterior most."""
        row = np.append(self.by_probability[member], self.normalizer[member])
        names = [*self.classes, "(answering)"]
        top = [place for place in np.argsort(-np.abs(row), kind="stable")[:3] if abs(row[place]) > 0.005]
        return ", ".join(f"{names[place]} {row[place]:+.2f}" for place in top)

    def __repr__(self) -> str:
        """The answer in a line, then the members' evidence, and what the experts say."""
        first, second = (self.posterior[self.classes.index(name)] for name in (self.winner, self.runner_up))
        said = ", ".join(f"{name} {log_odds:+.2f}" for name, log_odds in self.experts.items())
        by_expert = f"\nlog-odds by each expert alone: {said}" if said else ""
        return (
            f"item {self.item!r}: {self.winner} ({first:.3f}) over {self.runner_up} ({second:.3f}), "
            f"log-odds {self.log_odds:+.2f}\n{self.to_table()!r}{by_expert}"
        )


@by_predictions
def explain(
    predictions: Any, item: Any, *, aggregator: AbstractAggregator | None = None, against: Any = None
) -> Explanation:
    """Explain the answer of an aggregator, `Consensus` by default, to one item.

    If the aggregator is not fitted, a copy is, to these predictions. It explains `aggregator.predict_proba`: why the
    most probable class leads the second, or the class `against` if given. For `Consensus` the evidence of members are
    Shapley values (see `Explanation`). `SoftDawidSkene.pure()` explains eq. 3 alone, as the paper's appendix C does.

    Examples
    --------
    >>> import consilience as cs
    >>> p, labels = cs.datasets.shifted_digits()
    >>> print(str(cs.explain(p, 98)).splitlines()[0])
    item 98: 6 (0.751) over 4 (0.196), log-odds +1.34
    """
    method = given_or_consensus(aggregator)
    everything = read_anywhere(predictions)
    if not hasattr(method, "members_"):
        method = fitted_copy(method, everything)
    place = place_of(everything, item)
    one = method.aligned(everything.take(slice(place, place + 1)))  # a slice does not count all items
    log_posterior, evidence = method.rule().explained(one)
    first, second = _contenders(log_posterior, one, against)
    found = evidence(first, second)
    return Explanation(
        item=one.items[0],
        winner=one.classes[first],
        runner_up=one.classes[second],
        posterior=np.exp(log_posterior),
        log_odds=float(log_posterior[first] - log_posterior[second]),
        by_member=found.by_probability.sum(axis=1) + found.normalizer,
        said=one.to_array()[:, 0, :],
        members=one.members,
        classes=one.classes,
        **found._asdict(),
    )


def _contenders(log_posterior: FloatArray, one: Predictions, against: Any) -> tuple[int, int]:
    first, second = np.argsort(-log_posterior, kind="stable")[:2].tolist()
    if against is None:
        return first, second
    other = one.axes.classes.find(against)
    if other is None:
        raise ValueError(f"against must be one of the classes {some(one.classes)}; got {against!r}")
    return (second if first == other else first), other


FEWEST_EXPLAINED, MOST_EXPLAINED = 5, 20
"""How many items are explained, where there are so many: more of them, the less each costs."""

WORK = 2e5  # about how many probabilities are computed for all explanations together


def influence_of(explanations: Iterable[Explanation]) -> FloatArray:
    """The influence of each member (members,) on the answers: the mean of its shares, given why `explained_items`.

    Items that nobody moves, as where all members say 50/50, tell nothing.
    """
    shares = np.array([why.influence for why in explanations])
    moved = shares[shares.any(axis=1)]
    return np.asarray(moved.mean(axis=0) if len(moved) else np.zeros(shares.shape[1]))


def explained_items(data: Predictions) -> IntArray:
    """The items whose explanations tell the influence of members, spread evenly over all."""
    each = min(2.0 ** min(data.n_members, 63), MOST_COALITIONS) * data.n_classes
    n_explained = min(data.n_items, int(np.clip(WORK / each, FEWEST_EXPLAINED, MOST_EXPLAINED)))
    return np.linspace(0, data.n_items - 1, n_explained).round().astype(np.intp)
