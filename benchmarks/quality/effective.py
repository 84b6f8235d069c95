"""Whether the number of effective members can be told without labels: it cannot, so nothing prints it.

    python -m benchmarks.quality.effective

M members whose errors correlate by r in the mean know as much as M / (1 + (M - 1) r) independent ones. With the truth,
r is the correlation of what answers add to the true class; without it, that must be replaced. Two ways are shown:

- consensus: the posterior of Dawid-Skene in place of the truth, which is what `diagnose` printed once;
- left out: the posterior of the other members' answers alone, for each pair of answers to an item. The pair does not
  explain itself then, and few answers an item do no harm, if only the confusion matrices are right.

Each line is the median over panels of what the truth gives, of what both ways give, and the share of the panels in
which each way is within a fifth of the truth. The last two lines are of generated panels of all sorts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import softmax

import consilience as cs
from benchmarks.quality.generated import generate

N_PANELS, N_ITEMS, N_CLASSES, FIRST_SEED = 10, 400, 4, 4_000_000
MOST_PAIRS = 40_000
"""Pairs of answers that are looked at in a panel: the mean correlation needs no more."""

CLOSE = 0.2

Rng = np.random.Generator


class Case(NamedTuple):
    """What all members would say of all items, what they were asked of it, and the truth."""

    everything: np.ndarray  # (members, items)
    asked: np.ndarray  # (members, items), -1 where not asked
    truth: np.ndarray  # (items,)
    n_classes: int


# ---- panels -----------------------------------------------------------------------------------------------


def independent(n_members: int, rng: Rng, truth: np.ndarray) -> np.ndarray:
    """Members who are right in 50 to 95 %, each on its own."""
    is_right = rng.random((n_members, len(truth))) < rng.uniform(0.5, 0.95, (n_members, 1))
    return np.where(is_right, truth, (truth + rng.integers(1, N_CLASSES, is_right.shape)) % N_CLASSES)


def copied(n_sources: int, n_copies: int, rng: Rng, truth: np.ndarray) -> np.ndarray:
    """Each of some independent members, several times."""
    return np.repeat(independent(n_sources, rng, truth), n_copies, axis=0)


def noisy(n_families: int, n_each: int, shared: float, rng: Rng, truth: np.ndarray) -> np.ndarray:
    """Families that see the items through the same noise, as far as it is shared."""
    of_family = np.repeat(rng.normal(size=(n_families, len(truth), N_CLASSES)), n_each, axis=0)
    noise = np.sqrt(shared) * of_family + np.sqrt(1 - shared) * rng.normal(size=of_family.shape)
    return np.asarray((1.5 * np.eye(N_CLASSES)[truth] + noise).argmax(axis=2))


def with_hard_items(n_members: int, rng: Rng, truth: np.ndarray) -> np.ndarray:
    """A fifth of the items tells nobody anything."""
    labels, is_hard = independent(n_members, rng, truth), rng.random(len(truth)) < 0.2
    labels[:, is_hard] = rng.integers(N_CLASSES, size=(n_members, is_hard.sum()))
    return labels


SORTS: dict[str, tuple[Callable[[Rng, np.ndarray], np.ndarray], int | None]] = {
    **{f"100 independent, {n} answers an item": (lambda r, t: independent(100, r, t), n) for n in (3, 5, 10)},
    "20 five times, 5 answers an item": (lambda r, t: copied(20, 5, r, t), 5),
    "10 families of 10, 5 answers an item": (lambda r, t: noisy(10, 10, 0.6, r, t), 5),
    "100, a fifth hard, 5 answers an item": (lambda r, t: with_hard_items(100, r, t), 5),
    "10 independent": (lambda r, t: independent(10, r, t), None),
    "5 twice": (lambda r, t: copied(5, 2, r, t), None),
    "3 families of 4": (lambda r, t: noisy(3, 4, 0.6, r, t), None),
    "10, half of the noise common": (lambda r, t: noisy(1, 10, 0.5, r, t), None),
    "10, most of the noise common": (lambda r, t: noisy(1, 10, 0.8, r, t), None),
}


def simulated(name: str) -> Iterator[Case]:
    """Panels of a sort."""
    draw, n_asked = SORTS[name]
    for seed in range(N_PANELS):
        rng = np.random.default_rng(seed)
        truth = rng.integers(N_CLASSES, size=N_ITEMS)
        labels = draw(rng, truth)
        rank = rng.random(labels.shape).argsort(axis=0).argsort(axis=0)
        yield Case(labels, labels if n_asked is None else np.where(rank < n_asked, labels, -1), truth, N_CLASSES)


def generated(kind: str, n_panels: int = 3 * N_PANELS) -> Iterator[Case]:
    """Generated panels in which everybody answers everything: else their truth cannot be computed either."""
    seed, n_found = FIRST_SEED, 0
    while n_found < n_panels:
        panel, seed = generate(seed, kind), seed + 1
        if (panel.votes >= 0).all() and panel.n_members >= 4 and panel.n_items >= 100 and panel.n_classes <= 20:
            n_found += 1
            votes, truth = panel.votes[:, :1000], panel.truth[:1000]
            yield Case(votes, votes, truth, panel.n_classes)


# ---- three ways to count ----------------------------------------------------------------------------------


def effective(n_members: int, correlation: float) -> float:
    """How many independent members would know as much."""
    return n_members / (1 + (n_members - 1) * float(np.clip(correlation, 0, 1)))


def by_truth(case: Case) -> float:
    """From the correlation of what all answers add to the true class."""
    return _explained(case.everything, np.eye(case.n_classes)[case.truth])


def by_consensus(case: Case) -> float:
    """The same with the posterior of Dawid-Skene in place of the truth, and the answers that there are."""
    return _explained(case.asked, _fitted(case).posterior_)


def _explained(labels: np.ndarray, posterior: np.ndarray) -> float:
    """From how much more often two members say the same than the posterior makes them."""
    is_answer = (labels >= 0).astype(float)
    said = np.eye(posterior.shape[1])[labels] * is_answer[:, :, None]
    counts = np.einsum("ik,mij->mkj", posterior, said)
    rates = counts / np.maximum(counts.sum(axis=2, keepdims=True), 1e-12)
    met = np.einsum("mi,ik,ni->mnk", is_answer, posterior, is_answer, optimize=True)
    excess = np.einsum("mij,nij->mn", said, said, optimize=True) - (met * _alike(rates)).sum(axis=2)
    common, off = met.sum(axis=2), ~np.eye(len(labels), dtype=bool)
    own = np.maximum(np.diag(excess) / np.maximum(np.diag(common), 1), 0)
    possible = common * np.sqrt(np.outer(own, own))
    return effective(len(labels), excess[off].sum() / max(possible[off].sum(), 1e-9))


def _alike(rates: np.ndarray) -> np.ndarray:
    """(members, members, true): how often two members say the same of each class, if they answer independently."""
    return np.asarray(np.einsum("mkj,nkj->mnk", rates, rates))


def _fitted(case: Case) -> cs.DawidSkene:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cs.DawidSkene().fit(cs.Predictions.from_labels(case.asked, case.n_classes))


def by_others(case: Case) -> float:
    """From how much more often two answers are the same than the posterior of all the other answers makes them."""
    model = _fitted(case)
    log_rates, alike = np.log(np.maximum(model.confusion_, 1e-9)), _alike(model.confusion_)
    excess = possible = n_seen = 0.0
    for item in np.random.default_rng(0).permutation(len(case.truth)):
        members = np.flatnonzero(case.asked[:, item] >= 0)
        labels = case.asked[members, item]
        evidence = log_rates[members, :, labels]
        a, b = np.triu_indices(len(members), 1)
        others = softmax(np.log(model.class_prior_) + evidence.sum(axis=0) - evidence[a] - evidence[b], axis=1)
        first, second = members[a], members[b]
        pairs = ((first, second), (first, first), (second, second))
        expected, *own = ((others * alike[pair]).sum(axis=1) for pair in pairs)
        excess += float(((labels[a] == labels[b]) - expected).sum())
        possible += float(np.sqrt((1 - own[0]) * (1 - own[1])).sum())
        n_seen += len(a)
        if n_seen > MOST_PAIRS:
            break
    return effective(len(alike), excess / max(possible, 1e-9))


def line(name: str, cases: Iterator[Case]) -> str:
    """What came of the panels of a sort."""
    found = np.array([(by_truth(case), by_consensus(case), by_others(case)) for case in cases])
    middle = "".join(f"{value:12.1f}" for value in np.median(found, axis=0))
    close = (np.abs(found[:, 1:] / found[:, :1] - 1) <= CLOSE).mean(axis=0)
    return f"{name:38}{middle}{close[0]:12.2f}{close[1]:12.2f}"


def main() -> None:
    """All sorts."""
    print(f"{'':38}{'truth':>12}{'consensus':>12}{'left out':>12}{'close':>12}{'close':>12}")
    for name in SORTS:
        print(line(name, simulated(name)), flush=True)
    for kind in ("latent", "trained"):
        print(line(f"generated: {kind}", generated(kind)), flush=True)


if __name__ == "__main__":
    main()
