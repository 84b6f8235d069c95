"""What labels bought: against doing it by hand, and in cases where the answer is plain."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.label_free_fit import SAMPLE_ITEMS
from consilience.data.predictions import renamed
from consilience.insight.label_evaluation import LabelEvaluation
from consilience.metrics.scores import Estimate

N_ITEMS = 400


@pytest.fixture
def confused(rng):
    """Two of three members take class 2 for class 1: nothing but labels can tell."""
    truth = rng.integers(3, size=N_ITEMS)
    said = np.stack([truth, *[np.where(truth == 2, 1, truth)] * 2])
    return cs.Predictions.from_logits(1.5 * np.eye(3)[said] + rng.normal(size=(3, N_ITEMS, 3))), truth


def first(labels, n):
    return np.where(np.arange(len(labels)) < n, labels, -1)


def test_before_is_the_label_free_score(confused):
    p, truth = confused
    found = cs.value_of_labels(p, first(truth, 50), n_folds=2)
    posterior = cs.Consensus().fit(p).posterior_[:50]
    assert found.n_labels == 50
    assert found.before["accuracy"] == cs.metrics.accuracy(posterior, truth[:50])
    assert found.before["nll"] == pytest.approx(cs.metrics.nll(posterior, truth[:50]))
    assert found.before["brier"] == pytest.approx(cs.metrics.brier_score(posterior, truth[:50]))
    assert found.gain["nll"].value == pytest.approx(found.after["nll"] - found.before["nll"])
    assert found.last_gain["nll"].value == pytest.approx(found.after["nll"] - found.half["nll"])


def test_after_leaves_each_items_own_label_out(confused):
    """By hand: with as many folds as labels, each item is answered by a fit to all other labels."""
    p, truth = confused
    found = cs.value_of_labels(p, first(truth, 6), n_folds=100)
    rows = [
        cs.Consensus().fit(p, np.where(np.arange(N_ITEMS) == k, -1, first(truth, 6))).posterior_[k] for k in range(6)
    ]
    assert found.after["nll"] == pytest.approx(cs.metrics.nll(rows, truth[:6]))


def test_what_only_labels_can_tell_shows(confused):
    p, truth = confused
    found = cs.value_of_labels(p, first(truth, 200), n_folds=4)
    assert found.gain["accuracy"].low > 0 > found.gain["nll"].high
    assert found.gain["nll"].low < found.gain["nll"].value < found.gain["nll"].high
    assert "200 labels gained accuracy, +" in repr(found) and "half of them" in repr(found)


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_labels_of_chance_buy_nothing(confused, rng):
    """The negative control: by chance, one of five such sets of labels may seem to help."""
    p, _ = confused
    drawn = [first(rng.integers(3, size=N_ITEMS), 60) for _ in range(5)]
    found = [cs.value_of_labels(p, labels, n_folds=4) for labels in drawn]
    assert all(one.after["accuracy"] < 0.55 for one in found)
    assert sum("more are likely worth it" in one.sentence() for one in found) <= 1


def test_the_order_of_items_does_not_matter(confused, rng):
    """Of more items than `SAMPLE_ITEMS`, a sample says how many answers labels may turn; it depends on the order."""
    p, truth = confused[0].take(range(SAMPLE_ITEMS)), confused[1][:SAMPLE_ITEMS]
    labels = first(truth, 60)
    other = rng.permutation(SAMPLE_ITEMS)
    one = cs.value_of_labels(p, labels, n_folds=3)
    two = cs.value_of_labels(renamed(p.take(other), items=p.axes.items), labels[other], n_folds=3)
    for name in ("before", "half", "after"):
        assert getattr(one, name) == pytest.approx(getattr(two, name))
    assert one.gain["nll"] == pytest.approx(two.gain["nll"]) and one.sentence() == two.sentence()
    assert one.half != cs.value_of_labels(p, labels, n_folds=3, seed=1).half  # the seed still decides


def test_labels_that_cost_accuracy_are_not_praised():
    """Better probabilities are told as such, and are no reason to label more."""
    worse = {"accuracy": Estimate(-0.02, -0.05, 0.01), "nll": Estimate(-0.1, -0.2, -0.05)}
    scores = {"accuracy": 0.9, "nll": 0.3}
    found = LabelEvaluation(100, scores, scores, scores, gain=worse, last_gain=worse)
    assert "100 labels may have changed accuracy by chance alone, -2.0 points (-5.0 to +1.0)" in found.sentence()
    assert "made the probabilities better and not the answers" in found.sentence()
    assert "worth it" not in found.sentence()
    better = worse | {"accuracy": Estimate(0.02, 0.01, 0.05)}
    assert "worth it" in LabelEvaluation(100, scores, scores, scores, better, better).sentence()


def test_a_few_labels_say_nothing_of_more(confused):
    p, truth = confused
    assert "too few to tell whether more would help" in repr(cs.value_of_labels(p, first(truth, 4)))


def test_the_same_again_and_names_do_not_matter(confused):
    p, truth = confused
    named = cs.Predictions(p.to_array(), classes=[30, 10, 20])  # numbers that are no positions
    labels = [None if k >= 40 else [30, 10, 20][truth[k]] for k in range(N_ITEMS)]
    assert cs.value_of_labels(named, labels, n_folds=2) == cs.value_of_labels(p, first(truth, 40), n_folds=2)


def test_soft_labels_that_are_sure_are_labels(confused):
    p, truth = confused
    rows = np.full((N_ITEMS, 3), np.nan)
    rows[:40] = np.eye(3)[truth[:40]]
    assert cs.value_of_labels(p, rows, n_folds=2) == cs.value_of_labels(p, first(truth, 40), n_folds=2)
    rows[:40] = 0.8 * rows[:40] + 0.2 / 3
    soft = cs.value_of_labels(p, rows, n_folds=2)
    assert soft.before["accuracy"] < 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": first(np.zeros(N_ITEMS, int), 1)}, "labels must be known for at least 2 items; got 1"),
        ({"labels": None}, "labels must be known for at least 2 items; got 0"),
        ({"n_folds": 1}, "n_folds must be an integer of at least 2; got 1"),
        ({"aggregator": cs.DawidSkene()}, "aggregator must be a Consensus, which labels correct; got DawidSkene"),
    ],
)
def test_what_is_wrong_is_said(confused, arguments, message):
    p, truth = confused
    with pytest.raises(ValueError, match=message):
        cs.value_of_labels(p, **({"labels": first(truth, 20)} | arguments))
