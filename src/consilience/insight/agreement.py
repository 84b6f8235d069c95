"""How much members agree beyond chance, with each other and with themselves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.special import stdtrit

from consilience.data.answers import HardAnswers
from consilience.data.predictions import Predictions
from consilience.insight.arguments import look_at
from consilience.metrics.scores import Estimate, wilson
from consilience.system.arrays import FloatArray, IntArray
from consilience.system.tables import Table

UNKNOWN = Estimate(np.nan, np.nan, np.nan)
AGREEMENT_LEVEL = 0.95  # of the intervals
NEVER_SEEN = 3  # what was not seen on n items happens on fewer than 3 / n of them, with 95 % confidence


@final
@dataclass(frozen=True, eq=False)
class PanelAgreement:
    """How much the members of a panel agree beyond chance; prints as a table.

    All of it is about labels: for probabilities, the most probable class. 1 means that all agree, 0 that
    they agree as often as blind answers would, less than 0 that they agree less often. Agreement is not accuracy:
    members who share their errors agree on them.

    Attributes
    ----------
    alpha
        Krippendorff's alpha of nominal labels, with a 95 % interval over items. Members may leave items out; chance is
        what answers drawn from all of the panel's would do. The interval is too narrow where all but a handful of
        items are of one class.
    fleiss_kappa
        Fleiss' kappa, in the form for panels with gaps: all items weigh the same, however many answers they have.
    ac1
        Gwet's AC1, which falls less where one class is frequent.
    observed
        The share of the pairs of answers to an item that are the same, in the mean over items.
    by_member
        (members,): how much each member agrees with the other answers to its items, beyond what its own shares of
        labels and theirs do by chance. A member who always says the frequent class gets 0.
        NaN if nothing can be compared.
    kappa
        (members, members): Cohen's kappa of each pair of `compared` members, from the items that both answered.
    kappa_error
        Its standard error (Cohen, 1960).
    compared
        The names of the members compared in pairs, those with the most answers.
    n_items
        The number of items with at least two answers, on which all of this rests.
    ordinal_alpha
        Krippendorff's alpha of ordered classes, where two answers that are further apart disagree more: by how many
        answers lie between them. None of classes without an order. Its interval takes these distances as known.
    """

    alpha: Estimate
    fleiss_kappa: Estimate
    ac1: Estimate
    observed: float
    by_member: FloatArray
    kappa: FloatArray
    kappa_error: FloatArray
    compared: list[Any]
    n_items: int
    ordinal_alpha: Estimate | None = None

    def to_table(self) -> Table:
        """One row per coefficient of the panel."""
        found = {"Krippendorff's alpha": self.alpha, "Fleiss' kappa": self.fleiss_kappa, "Gwet's AC1": self.ac1}
        if self.ordinal_alpha is not None:
            found = {"Krippendorff's alpha, ordinal": self.ordinal_alpha, **found}
        return Table.of_rows({"coefficient": name, **estimate._asdict()} for name, estimate in found.items())

    def sentence(self) -> str:
        """Alpha and Fleiss' kappa in one line, with what they mean."""
        if not self.n_items:
            return "No item has two answers, so nothing can be said of agreement."
        if np.isnan(self.alpha.value):
            return "All answers name the same class, so nothing can be said of agreement beyond chance."
        ratings = self.ordinal_alpha
        before = "" if ratings is None else f"{ratings.text('.2f')} as ratings, as plain classes "
        return (
            "Agreement beyond chance (0: as by chance, 1: all agree): Krippendorff's alpha "
            f"{before}{self.alpha.text('.2f')}, Fleiss' kappa {self.fleiss_kappa.text('.2f')}; "
            "guides for annotation ask for 0.8, at least 0.667"
        )

    def __repr__(self) -> str:
        """The table, and what it rests on."""
        same = f"two answers to an item are the same in {self.observed:.1%}; " if self.n_items else ""
        return f"{self.to_table()!r}\n({same}{self.n_items:,} items with at least two answers)"


def agreement(predictions: Any) -> PanelAgreement:
    """How much the members agree beyond chance: with all, each with the others, and in pairs.

    It needs neither labels nor a fit. Chance follows from how often members say each class: where one class is
    frequent, even blind answers agree often.

    Examples
    --------
    >>> labels = [[0, 1, 1, 0, 2], [0, 1, 1, 0, 2], [0, 1, 0, 0, -1]]
    >>> found = agreement(Predictions.from_labels(labels))
    >>> round(found.alpha.value, 3), round(found.fleiss_kappa.value, 3)
    (0.78, 0.789)
    >>> found.kappa[0].round(2).tolist()
    [1.0, 1.0, 0.5]
    """
    data = look_at(predictions).predictions
    answers = labels_of(data.harden())
    return agreement_of(answers, data, PairCounts.of(answers, data))


def labels_of(data: Predictions) -> HardAnswers:
    """The labels of predictions without probabilities, which were hardened or are votes."""
    assert data.hard is not None  # noqa: S101 - there are members, and they have labels
    return data.hard


def agreement_of(answers: HardAnswers, data: Predictions, pairs: PairCounts) -> PanelAgreement:
    """The agreement of these labels, whose pairs have been counted."""
    answers = main_answers(answers)
    items = _Items.of(answers, data)
    fleiss_kappa, ac1 = _kappas(items)
    return PanelAgreement(
        alpha=_alpha(items),
        fleiss_kappa=fleiss_kappa,
        ac1=ac1,
        observed=float(items.same.mean()) if len(items.same) else np.nan,
        by_member=_by_member(answers, items, data.n_members),
        kappa=pairs.kappa(),
        kappa_error=pairs.kappa_error(),
        compared=[data.members[m] for m in pairs.compared],
        n_items=len(items.same),
        ordinal_alpha=_alpha(items, _ranks(items)) if data.ordered else None,
    )


def alpha_of(answers: HardAnswers, data: Predictions) -> float:
    """Krippendorff's alpha alone, which takes less time."""
    return _alpha(_Items.of(main_answers(answers), data)).value


def by_class(items: IntArray, labels: IntArray, shape: tuple[int, int]) -> Any:
    """How many answers to each item name each class (items, classes), sparse."""
    return sparse.csr_array((np.ones(len(items)), (items, labels)), shape=shape)


class _Items(NamedTuple):
    """The answers to each item."""

    counts: Any  # (items, classes), sparse: how many answers name a class
    n_answers: FloatArray  # (items,)
    is_paired: npt.NDArray[np.bool_]  # (items,): whether there are two answers at least
    same: FloatArray  # (paired items,): the share of the pairs of answers that are the same

    @classmethod
    def of(cls, answers: HardAnswers, data: Predictions) -> _Items:
        counts = by_class(answers.items, answers.labels, (data.n_items, data.n_classes))
        n_answers: FloatArray = counts.sum(axis=1)
        is_paired = n_answers > 1
        n_paired = n_answers[is_paired]
        equal = (counts**2).sum(axis=1)[is_paired] - n_paired  # ordered pairs of equal answers
        return cls(counts, n_answers, is_paired, equal / (n_paired * (n_paired - 1)))


def _alpha(items: _Items, places: Any = None) -> Estimate:
    """Krippendorff's alpha: one minus observed over expected disagreement, where each answer weighs the same.

    Two answers are as far apart as the squared distance of their classes' places (classes, dimensions); by default, all
    classes are as far from each other.
    """
    places = sparse.eye_array(items.counts.shape[1], format="csr") if places is None else places
    counts, n_answers = items.counts[items.is_paired], items.n_answers[items.is_paired]
    of_class, total = counts.sum(axis=0), n_answers.sum()
    sums, squares = counts @ places, counts @ (places**2).sum(axis=1)  # of each item
    wrong = (n_answers * squares - (sums**2).sum(axis=1)) / (n_answers - 1)
    middle = of_class @ places / max(total, 1)
    spread = of_class @ (places**2).sum(axis=1) / max(total, 1) - middle @ middle
    if not len(wrong) or spread <= 1e-12:  # no item has two answers, or all are of one class
        return UNKNOWN
    observed = wrong.sum() / total
    # Answers are drawn without replacement: an answer does not meet itself.
    expected = spread * total / (total - 1)
    of_expected = squares - 2 * sums @ middle + (middle @ middle - spread) * n_answers
    return _one_minus_ratio(observed, expected, (wrong - observed * n_answers) / total, of_expected / (total * spread))


def _ranks(items: _Items) -> FloatArray:
    """The place of each class (classes, 1): the mean rank of its answers among all answers that meet another."""
    of_class = items.counts[items.is_paired].sum(axis=0)
    ranks = np.cumsum(of_class) - of_class / 2
    return np.asarray(ranks - of_class @ ranks / max(of_class.sum(), 1))[:, None]


def _kappas(items: _Items) -> tuple[Estimate, Estimate]:
    """Fleiss' kappa and Gwet's AC1, where each item weighs the same.

    For AC1 blind are only some of the answers, the more the more even the classes are.
    """
    is_answered = items.n_answers > 0
    each = is_answered / max(int(is_answered.sum()), 1)
    weights = each / np.maximum(items.n_answers, 1)
    shares = items.counts.T @ weights
    even = float(shares @ shares)
    of_even = 2 * (weights * (items.counts @ shares) - each * even)  # by how much each item moves it
    n_others = max(len(shares) - 1, 1)
    return _kappa(items, even, of_even), _kappa(items, (1 - even) / n_others, -of_even / n_others)


def _kappa(items: _Items, chance: float, of_chance: FloatArray) -> Estimate:
    if not len(items.same) or chance > 1 - 1e-12:
        return UNKNOWN
    observed = float(items.same.mean())
    of_observed = np.zeros(len(items.n_answers))
    of_observed[items.is_paired] = (observed - items.same) / len(items.same)
    return _one_minus_ratio(1 - observed, 1 - chance, of_observed, -of_chance / (1 - chance))


def _one_minus_ratio(observed: float, expected: float, of_observed: FloatArray, of_expected: FloatArray) -> Estimate:
    """1 - observed / expected disagreement, with an interval from how much each item moves the ratio's logarithm.

    `of_observed` is each item's influence on the observed disagreement, `of_expected` that on the logarithm of the
    expected one. The logarithm keeps the interval below 1.
    """
    n_items = len(of_observed)
    ratio = float(observed / expected)
    if n_items < 2:
        return Estimate(1 - ratio, np.nan, np.nan)
    if observed <= 0:  # no error is seen in what never happened
        return Estimate(1.0, max(-1.0, float(1 - min(NEVER_SEEN / n_items, 1) / expected)), 1.0)
    influence = of_observed / observed - of_expected
    error = np.sqrt(n_items / (n_items - 1) * (influence**2).sum())
    reach = np.exp(min(stdtrit(n_items - 1, (1 + AGREEMENT_LEVEL) / 2) * error, 50.0))
    return Estimate(1 - ratio, max(-1.0, float(1 - ratio * reach)), float(1 - ratio / reach))


def _by_member(answers: HardAnswers, counted: _Items, n_members: int) -> FloatArray:
    """How much each member (members,) agrees with the other answers to its items, beyond chance."""
    counts, (n_items, n_classes) = counted.counts, counted.counts.shape
    is_paired = counted.is_paired[answers.items]
    items, members, labels = answers.items[is_paired], answers.members[is_paired], answers.labels[is_paired]
    if not len(items):
        return np.full(n_members, np.nan)
    weights = 1 / (counted.n_answers[items] - 1)  # each item's other answers together weigh 1

    def by_label(values: FloatArray | None) -> FloatArray:
        found = np.bincount(members * n_classes + labels, weights=values, minlength=n_members * n_classes)
        return found.reshape(n_members, n_classes).astype(np.float64)

    own, incidence = by_label(None), sparse.csr_array((weights, (members, items)), shape=(n_members, n_items))
    others = (incidence @ counts).toarray() - by_label(weights)  # without the member's own answers
    same = np.bincount(members, weights=weights * (counts[items, labels] - 1), minlength=n_members)
    n_paired = np.maximum(own.sum(axis=1), 1)
    by_chance = (own * others).sum(axis=1) / n_paired
    is_known = n_paired - by_chance > 1e-9 * n_paired
    found = np.where(is_known, (same - by_chance) / np.where(is_known, n_paired - by_chance, 1), np.nan)
    return np.where(own.any(axis=1), found, np.nan)


# ---- pairs of members -----------------------------------------------------------------------------------

MOST_COMPARED = 500  # pairs are compared among the members with the most answers, at most this many of them
ENOUGH_COMMON = 20  # the fewest common items of two members for their dependence to be known


def ratio(sums: Any, counts: Any) -> FloatArray:
    """Sums over counts; NaN where nothing was counted."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def main_answers(answers: HardAnswers) -> HardAnswers:
    """The same with one answer of a member to an item: what it says most often, of equally frequent ones the last."""
    items, members, labels = answers.items, answers.members, answers.labels
    is_last = np.ones(len(items), dtype=bool)
    is_last[:-1] = (items[1:] != items[:-1]) | (members[1:] != members[:-1])  # they are sorted by item, then by member
    if is_last.all():
        return answers
    group = np.cumsum(is_last) - is_last
    _, kind, counts = np.unique(group * (labels.max() + 1) + labels, return_inverse=True, return_counts=True)
    chosen = np.lexsort((counts[kind], group))[is_last]  # it is stable, and groups keep their places
    return HardAnswers(items[chosen], members[chosen], labels[chosen])


class PairCounts(NamedTuple):
    """Counts over the items that both members of a pair answered; rows and columns are the members compared."""

    compared: IntArray  # those with the most answers, at most `MOST_COMPARED`, in their order
    answered: Any  # (items, members), sparse: 1 where a member answered
    common: FloatArray  # (members, members): on how many items both answered
    same: FloatArray  # (members, members): on how many of them with the same label
    by_chance: FloatArray  # (members, members): the same, if both answered blindly with their shares on these items

    @classmethod
    def of(cls, answers: HardAnswers, data: Predictions) -> PairCounts:
        """Count the main answer of each member compared to each item."""
        n_items, n_classes = data.n_items, data.n_classes
        n_answers = np.bincount(answers.members, minlength=data.n_members)
        compared = np.sort(np.argsort(-n_answers, kind="stable")[:MOST_COMPARED])
        place = np.full(data.n_members, -1)
        place[compared] = np.arange(len(compared))
        main = main_answers(answers)
        is_in = place[main.members] >= 0
        items, members, labels = main.items[is_in], place[main.members[is_in]], main.labels[is_in]
        ones, n_members = np.ones(len(items)), len(compared)
        answered = sparse.csr_array((ones, (items, members)), shape=(n_items, n_members))
        said = sparse.csr_array((ones, (members, items * n_classes + labels)), shape=(n_members, n_items * n_classes))
        common, same = (answered.T @ answered).toarray(), (said @ said.T).toarray()
        if answered.nnz == n_items * n_members:
            totals = np.bincount(members * n_classes + labels, minlength=n_members * n_classes)
            shares = totals.reshape(n_members, n_classes) / n_items
            return cls(compared, answered, common, same, n_items * shares @ shares.T)
        by_chance, order = np.zeros_like(common), np.argsort(labels, kind="stable")
        bounds = np.searchsorted(labels[order], np.arange(n_classes + 1))
        for first, last in pairwise(bounds):  # one class at a time: of all at once there may be too many numbers
            places = members[order[first:last]], items[order[first:last]]
            said = sparse.csr_array((ones[first:last], places), shape=(n_members, n_items))
            said_where_met = (said @ answered).toarray()
            by_chance += said_where_met * said_where_met.T
        return cls(compared, answered, common, same, by_chance / np.maximum(common, 1))

    def agreement(self) -> FloatArray:
        """The share of common items with the same label; NaN where there is none."""
        return ratio(self.same, self.common)

    def kappa(self) -> FloatArray:
        """Cohen's kappa of each pair: 0 for blind answers, 1 where both always say the same."""
        return self._of_possible(self.same - self.by_chance)

    def kappa_error(self) -> FloatArray:
        """The standard error of each kappa, as Cohen (1960) gives it: the shares of labels count as known."""
        return self._of_possible(np.sqrt(self.same * (self.common - self.same) / np.maximum(self.common, 1)))

    def _of_possible(self, values: FloatArray) -> FloatArray:
        """Values over what there could be beyond chance.

        NaN where two members have no common item, or chance alone explains that they always agree.
        """
        possible = self.common - self.by_chance
        is_known = possible > 1e-9 * self.common
        return np.where(is_known, values / np.where(is_known, possible, 1), np.nan)

    def dependence(self, counts: FloatArray, posterior: FloatArray) -> FloatArray:
        """The correlation of one-hot answers beyond what the true class explains; 0 if few items are common.

        It is 1 for members who never differ, because nothing shows that they are independent. `counts` are those of
        all members (members, true, predicted), expected under the posterior (items, classes).
        """
        rates = counts[self.compared] / np.maximum(counts[self.compared].sum(axis=2, keepdims=True), 1e-12)
        if self.answered.nnz == len(posterior) * len(self.compared):
            weighted = rates * posterior.sum(axis=0, dtype=np.float64)[None, :, None]
            expected = np.tensordot(weighted, rates, axes=([1, 2], [1, 2]))
        else:  # the same label, if answers were independent given the true class
            expected = np.zeros_like(self.common)
            for k in np.flatnonzero(posterior.sum(axis=0) > 1e-9):
                met = ((sparse.diags_array(posterior[:, k]) @ self.answered).T @ self.answered).toarray()
                expected += met * (rates[:, k] @ rates[:, k].T)
        excess, is_enough = (self.same - expected) / np.maximum(self.common, 1), self.common >= ENOUGH_COMMON
        scale = np.sqrt(np.maximum(np.diagonal(excess)[:, None] * np.diagonal(excess), 0))
        correlation = np.clip(np.where(scale > 1e-9, excess / np.maximum(scale, 1e-9), 0.0), -1, 1)
        return np.where(is_enough, np.where(self.same == self.common, 1.0, correlation), 0.0)


def coverage_of(answers: HardAnswers, n_members: int, n_items: int) -> dict[str, FloatArray]:
    """Shares of all items (members,), as Snorkel's `LFAnalysis` has them, by the main answer of each member to each.

    `coverage`: it answered, once or several times. `overlap`: so did another member. `conflict`: another member said
    something else.
    """
    last = main_answers(answers)
    counts = by_class(last.items, last.labels, (n_items, int(last.labels.max(initial=0)) + 1))
    n_answers, n_kinds = counts.sum(axis=1), np.diff(counts.indptr)
    counted = {"coverage": n_answers > 0, "overlap": n_answers > 1, "conflict": n_kinds > 1}
    return {
        name: np.bincount(last.members[own[last.items]], minlength=n_members) / n_items for name, own in counted.items()
    }


# ---- members with themselves ----------------------------------------------------------------------------


class Repeats(NamedTuple):
    """Pairs of answers of a member to an item that was asked several times; of three answers there are three pairs.

    `first` is told only where the second question is known to have swapped the options, which are the first two
    classes in their first order. It is about items that a member answered once by each of the two (ties, a third
    class, do not count): whose first answer is the first class has picked the first position both times, and else the
    second one. 1/2 shows no bias.
    """

    pairs: IntArray  # (members,)
    same: IntArray  # (members,): pairs of equal answers
    swapped: IntArray  # (members,): items answered twice, by class 0 and by class 1
    first: IntArray  # (members,): those whose first answer is class 0

    @classmethod
    def of(cls, answers: HardAnswers, n_members: int) -> Repeats:
        """Count them. Answers are sorted by item and member, and those of one pair stand as they were given."""
        items, members, labels = answers.items, answers.members, answers.labels
        is_first = np.append(True, (items[1:] != items[:-1]) | (members[1:] != members[:-1]))[: len(items)]
        starts, group = np.flatnonzero(is_first), np.cumsum(is_first) - 1
        n_answers, owners = np.bincount(group, minlength=len(starts)), members[starts]
        cells, n_same = np.unique(np.stack([group, labels]), axis=1, return_counts=True)
        same = np.bincount(cells[0], n_same * (n_same - 1) // 2, len(starts))
        twice = starts[n_answers == 2]
        differs = twice[(labels[twice] != labels[twice + 1]) & (labels[twice] + labels[twice + 1] == 1)]
        rises = labels[differs] == 0

        def by_member(owner: IntArray, weights: Any = None) -> IntArray:
            return np.bincount(owner, weights, n_members).astype(np.intp)

        pairs = by_member(owners, n_answers * (n_answers - 1) // 2)
        return cls(pairs, by_member(owners, same), by_member(members[differs]), by_member(members[differs], rises))

    def columns(self, *, both_orders: bool) -> dict[str, list[Any]]:
        """What a report on members says of it; nothing where nobody answered an item twice."""
        if not self.pairs.any():
            return {}
        found = {"consistency": ratio(self.same, self.pairs).tolist(), "pairs": self.pairs.tolist()}
        if both_orders:
            found["first"] = ratio(self.first, self.swapped).tolist()
            ends = [
                wilson(share, n_items) if n_items else (np.nan, np.nan)
                for share, n_items in zip(found["first"], self.swapped.tolist(), strict=True)
            ]
            found |= {"first from": [low for low, _ in ends], "first to": [high for _, high in ends]}
        return found
