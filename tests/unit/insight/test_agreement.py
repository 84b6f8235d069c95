"""Agreement beyond chance: published examples, slow loops, and intervals that cover."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.agreement import AGREEMENT_LEVEL

from simulate import softmax_members

KRIPPENDORFF = [  # his example of four observers, twelve units and five values; 0 is missing
    [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
    [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
]
FLEISS = """00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006"""


def of(labels, n_classes=None):
    return cs.agreement(cs.Predictions.from_labels(labels, n_classes))


def draw(rng, n_members=4, n_items=60, n_classes=3, gaps=0.4):
    """Answers that are right half of the time, lopsided, with gaps; every item has one at least."""
    shares = np.arange(n_classes, 0, -1) / np.arange(n_classes + 1).sum()
    truth = rng.choice(n_classes, size=n_items, p=shares)
    blind = rng.choice(n_classes, size=(n_members, n_items), p=shares)
    labels = np.where(rng.random(blind.shape) < 0.5, truth, blind)
    labels[1:][rng.random((n_members - 1, n_items)) < gaps] = -1
    return labels


# ---- slow loops -------------------------------------------------------------------------------------------


def answers_by_item(labels):
    return [[int(label) for label in item if label >= 0] for item in np.asarray(labels).T]


def slow_alpha(labels):
    """By the coincidence matrix."""
    coincidences = {}
    for answers in answers_by_item(labels):
        for a, first in enumerate(answers):
            for b, second in enumerate(answers):
                if a != b:
                    coincidences[first, second] = coincidences.get((first, second), 0) + 1 / (len(answers) - 1)
    classes = {first for first, _ in coincidences}
    totals = {c: sum(value for (first, _), value in coincidences.items() if first == c) for c in classes}
    n = sum(totals.values())
    observed = sum(value for (first, second), value in coincidences.items() if first != second)
    expected = sum(totals[c] * totals[d] for c in classes for d in classes if c != d) / (n - 1)
    return 1 - observed / expected


def slow_kappas(labels, n_classes):
    """Fleiss' kappa and Gwet's AC1 of panels with gaps (Gwet, 2014)."""
    items = [answers for answers in answers_by_item(labels) if answers]
    shares = [np.mean([answers.count(k) / len(answers) for answers in items]) for k in range(n_classes)]
    agreeing = []
    for answers in items:
        if len(answers) > 1:
            pairs = [a == b for i, a in enumerate(answers) for j, b in enumerate(answers) if i != j]
            agreeing.append(np.mean(pairs))
    observed = np.mean(agreeing)
    fleiss = sum(share**2 for share in shares)
    gwet = sum(share * (1 - share) for share in shares) / (n_classes - 1)
    return [(observed - chance) / (1 - chance) for chance in (fleiss, gwet)]


def slow_kappa(first, second):
    """Cohen's kappa of two rows of labels."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a >= 0 and b >= 0]
    observed = np.mean([a == b for a, b in pairs])
    said = [[one for one, _ in pairs], [other for _, other in pairs]]
    chance = sum(said[0].count(k) * said[1].count(k) for k in set(said[0])) / len(pairs) ** 2
    return (observed - chance) / (1 - chance)


def slow_member(labels, member, n_classes):
    """One member against the other answers to its items."""
    own, others, same = [], [], []
    for item in np.asarray(labels).T:
        rest = [label for m, label in enumerate(item) if m != member and label >= 0]
        if item[member] >= 0 and rest:
            own.append(item[member])
            others.append([rest.count(k) / len(rest) for k in range(n_classes)])
            same.append(rest.count(item[member]) / len(rest))
    shares = [own.count(k) / len(own) for k in range(n_classes)]
    chance = np.dot(shares, np.mean(others, axis=0))
    return (np.mean(same) - chance) / (1 - chance)


# ---- published examples -----------------------------------------------------------------------------------


def test_krippendorffs_examples():
    four = of(np.array(KRIPPENDORFF) - 1)
    assert round(four.alpha.value, 3) == 0.743
    # Gwet's coefficients of the same data, as irrCAC gives them
    assert (round(four.fleiss_kappa.value, 5), round(four.ac1.value, 5)) == (0.76117, 0.77544)
    assert (four.n_items, round(four.observed, 4)) == (11, 0.8182)
    two = ["aabbdcccedda", "babbbccceddd"]
    assert round(of([["abcde".index(c) for c in row] for row in two]).alpha.value, 3) == 0.692
    binary = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    assert round(of(binary).alpha.value, 3) == 0.095
    three = ["000003412113303", "102133430000000", "002134402113304"]
    labels = np.array([[int(value) for value in row] for row in three]) - 1
    labels = labels[:, (labels >= 0).any(axis=0)]
    assert round(of(labels).alpha.value, 3) == 0.691


def test_fleiss_1971():
    labels = np.array([np.repeat(np.arange(5), [int(n) for n in row]) for row in FLEISS.split()]).T
    assert labels.shape == (6, 30)
    assert round(of(labels).fleiss_kappa.value, 3) == 0.430


def test_cohen_1960():
    counts = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    found = of(np.array([(a, b) for (a, b), n in np.ndenumerate(counts) for _ in range(n)]).T)
    assert round(found.kappa[0, 1], 3) == 0.492
    assert round(found.kappa_error[0, 1], 3) == 0.055


# ---- slow loops agree -------------------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [0, 0.4])
def test_all_coefficients_are_those_of_slow_loops(rng, gaps):
    labels = draw(rng, gaps=gaps)
    found = of(labels, 3)
    assert found.alpha.value == pytest.approx(slow_alpha(labels))
    assert [found.fleiss_kappa.value, found.ac1.value] == pytest.approx(slow_kappas(labels, 3))
    assert found.by_member == pytest.approx([slow_member(labels, m, 3) for m in range(4)])
    assert found.kappa == pytest.approx(np.array([[slow_kappa(a, b) for b in labels] for a in labels]))


def test_intervals_are_those_of_a_jackknife(rng):
    """The delete-one jackknife of the logarithm of the ratio of disagreements."""
    labels = draw(rng, n_items=150)
    found = of(labels, 3)
    without = [of(np.delete(labels, item, axis=1), 3) for item in range(150)]
    for name in ("alpha", "fleiss_kappa", "ac1"):
        logs = np.log([1 - getattr(part, name).value for part in without])
        error = np.sqrt(149 / 150 * ((logs - logs.mean()) ** 2).sum())
        value, low, high = getattr(found, name)
        assert np.log((1 - low) / (1 - value)) == pytest.approx(1.976 * error, rel=0.05)
        assert (1 - low) * (1 - high) == pytest.approx((1 - value) ** 2)


def test_intervals_cover(rng):
    n_panels, n_items = 150, 100
    whole = of(draw(rng, n_items=50_000), 3)
    parts = [of(draw(rng, n_items=n_items), 3) for _ in range(n_panels)]
    least = AGREEMENT_LEVEL - 4 * np.sqrt(AGREEMENT_LEVEL * (1 - AGREEMENT_LEVEL) / n_panels)
    for name in ("alpha", "fleiss_kappa", "ac1"):
        true = getattr(whole, name).value
        assert np.mean([getattr(part, name).low <= true <= getattr(part, name).high for part in parts]) > least
    reach = [abs(part.kappa[0, 1] - whole.kappa[0, 1]) / part.kappa_error[0, 1] for part in parts]
    assert np.mean(np.array(reach) < 1.96) > least


# ---- what must hold ---------------------------------------------------------------------------------------


def test_who_always_says_the_frequent_class_is_not_able(rng):
    """Nine of ten items are of one class: a constant member agrees with able ones on 87 %, and beyond chance on 0."""
    truth = (rng.random(2000) < 0.1).astype(int)
    able = np.where(rng.random((4, 2000)) < 0.95, truth, 1 - truth)
    labels = np.concatenate([able, np.zeros((1, 2000), dtype=int)])
    found = of(labels)
    assert np.mean(labels[0] == labels[4]) > 0.85
    assert found.by_member[4] == pytest.approx(0, abs=1e-12) and found.by_member[:4].min() > 0.4
    assert found.kappa[4, :4] == pytest.approx(np.zeros(4), abs=1e-12)


def test_blind_answers_agree_by_chance(rng):
    found = of((rng.random((5, 20_000)) < 0.1).astype(int))
    for estimate in (found.alpha, found.fleiss_kappa):
        assert estimate.low < 0.005 and estimate.high > -0.005


def test_orders_and_storages_do_not_matter(rng):
    labels = draw(rng)
    whole, items, members = of(labels, 3), rng.permutation(60), np.array([2, 0, 3, 1])
    turned = of(labels[members][:, items], 3)
    renamed = of(np.where(labels >= 0, (labels + 1) % 3, -1), 3)
    soft = cs.agreement(cs.Predictions(np.where(labels[:, :, None] >= 0, 0.2 + 0.4 * np.eye(3)[labels], np.nan)))
    assert turned.kappa == pytest.approx(whole.kappa[np.ix_(members, members)])
    assert turned.by_member == pytest.approx(whole.by_member[members])
    for other in (turned, renamed, soft):
        for name in ("alpha", "fleiss_kappa", "ac1"):
            assert getattr(other, name) == pytest.approx(getattr(whole, name))


def test_the_last_of_several_answers_counts():
    twice = cs.Predictions.from_answers([0, 0, 0, 1, 1, 2, 2], [0, 0, 1, 0, 1, 0, 1], [1, 0, 0, 1, 1, 0, 1])
    once = of([[0, 1, 0], [0, 1, 1]])
    assert cs.agreement(twice).alpha == once.alpha
    assert cs.agreement(twice).kappa == pytest.approx(once.kappa)


def test_what_cannot_be_said_is_said_so(rng):
    alone = of([[0, 1, -1], [-1, -1, 1]])
    assert alone.n_items == 0 and np.isnan(alone.alpha.value) and np.isnan(alone.kappa[0, 1])
    assert "No item has two answers" in alone.sentence() and "0 items" in repr(alone)
    same = of(np.zeros((3, 5), dtype=int), 2)
    assert np.isnan(same.alpha.value) and np.isnan(same.by_member).all()
    assert "All answers name the same class" in same.sentence()
    one = of([[0], [1]])
    assert one.alpha.value <= 0 and np.isnan(one.alpha.low) and " to " not in one.sentence()


def test_no_disagreement_on_few_items_leaves_room_for_some(rng):
    labels = np.tile(rng.permutation(np.arange(20) % 2), (3, 1))
    found = of(labels)
    assert found.alpha.value == found.alpha.high == 1 and 0.5 < found.alpha.low < 0.8
    assert of(np.tile(labels, 100)).alpha.low > 0.99


def test_it_prints_as_a_table(rng):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=100, n_classes=3)
    found = cs.agreement(cs.Predictions(array, members=list("abc")))
    assert found.compared == ["a", "b", "c"]
    assert "Krippendorff's alpha" in repr(found) and "100 items with at least two answers" in repr(found)
    assert f"Krippendorff's alpha {found.alpha.value:.2f} ({found.alpha.low:.2f} to" in found.sentence()


# ---- ratings ----------------------------------------------------------------------------------------------


def ordinal(labels, n_classes):
    return cs.agreement(cs.Predictions.from_labels(labels, n_classes, ordered=True)).ordinal_alpha


def slow_ordinal_alpha(labels):
    """By pairs, with Krippendorff's distance: (all answers from one class to the other, half of those at the ends)²."""
    items = [answers for answers in answers_by_item(labels) if len(answers) > 1]
    flat = [answer for answers in items for answer in answers]

    def distance(first, second):
        low, high = sorted((first, second))
        between = sum(low <= answer <= high for answer in flat)
        return (between - (flat.count(low) + flat.count(high)) / 2) ** 2 if low != high else 0

    observed = sum(
        distance(a, b) / (len(answers) - 1)
        for answers in items
        for i, a in enumerate(answers)
        for j, b in enumerate(answers)
        if i != j
    ) / len(flat)
    expected = sum(distance(a, b) for a in flat for b in flat) / (len(flat) * (len(flat) - 1))
    return 1 - observed / expected


def test_krippendorffs_example_as_ratings():
    """Published: 0.815 ordinal, 0.743 nominal."""
    labels = np.array(KRIPPENDORFF) - 1
    assert ordinal(labels, 5).value == pytest.approx(0.815, abs=5e-4)
    assert of(labels, 5).ordinal_alpha is None


def test_ordinal_alpha_against_a_slow_loop(rng):
    for _ in range(5):
        labels = draw(rng, n_classes=4)
        assert ordinal(labels, 4).value == pytest.approx(slow_ordinal_alpha(labels))


def test_ordinal_alpha_of_two_classes_is_the_nominal_one(rng):
    labels = draw(rng, n_classes=2)
    assert ordinal(labels, 2).value == pytest.approx(of(labels, 2).alpha.value)


def test_near_ratings_agree_more_than_far_ones(rng):
    truth = rng.integers(5, size=300)
    near = np.clip(truth + rng.integers(-1, 2, size=(3, 300)), 0, 4)
    far = np.where(near == truth, truth, (truth + rng.integers(2, 4, size=(3, 300))) % 5)
    assert ordinal(near, 5).value > of(near, 5).alpha.value + 0.2
    assert ordinal(far, 5).value < ordinal(near, 5).value - 0.2


def test_the_interval_of_ordinal_alpha_is_as_wide_as_resampling_makes_it(rng):
    truth = rng.integers(5, size=200)
    labels = np.clip(truth + rng.integers(-1, 2, size=(3, 200)), 0, 4)
    found = ordinal(labels, 5)
    draws = [ordinal(labels[:, rng.integers(200, size=200)], 5).value for _ in range(200)]
    low, high = np.quantile(draws, [0.025, 0.975])
    assert 0.7 < (found.high - found.low) / (high - low) < 1.4


def test_all_the_same_rating_tells_nothing():
    found = ordinal([[1, 1], [1, 1]], 3)
    assert np.isnan(found.value)
    assert "as ratings" in cs.agreement(cs.Predictions.from_labels([[0, 2], [1, 2]], 3, ordered=True)).sentence()


def test_of_several_answers_to_an_item_the_most_frequent_one_counts():
    said = [(0, 0, "a"), (0, 0, "b"), (0, 0, "a"), (0, 1, "a"), (1, 0, "a"), (1, 0, "b"), (1, 1, "b")]
    for order in (said, said[1:3] + said[:1] + said[3:]):
        items, members, labels = zip(*order, strict=True)
        found = cs.agreement(cs.Predictions.from_answers(items, members, labels, classes=["a", "b"]))
        assert found.observed == 1  # of b and a, equally frequent, the last


def test_the_order_of_repeats_changes_nothing_but_ties():
    table = cs.answers(cs.Predictions.from_answers([0] * 6, [0, 0, 0, 1, 1, 1], list("aabaab"), classes=["a", "b"]))
    again = cs.answers(cs.Predictions.from_answers([0] * 6, [0, 0, 0, 1, 1, 1], list("baabaa"), classes=["a", "b"]))
    assert table["agreement"] == again["agreement"] == [1.0] and table["review"] == again["review"]
