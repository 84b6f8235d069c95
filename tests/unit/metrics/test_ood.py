import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.metrics.ood import aupr, auroc, fpr_at_tpr, uncertainty

scores = st.lists(st.integers(0, 8), min_size=1, max_size=12)


@given(scores, scores)
def test_auroc_counts_pairs(own, foreign):
    pairs = [(f > o) + 0.5 * (f == o) for f in foreign for o in own]
    assert auroc(own, foreign) == pytest.approx(np.mean(pairs))


@given(scores, scores, st.sampled_from([0.5, 0.8, 0.95, 1.0]))
def test_fpr_at_tpr_tries_every_threshold(own, foreign, tpr):
    own, foreign = np.array(own), np.array(foreign)
    allowed = [t for t in range(9) if (foreign >= t).mean() >= tpr]
    assert fpr_at_tpr(own, foreign, tpr=tpr) == min((own >= t).mean() for t in allowed)


def test_perfect_and_useless_scores():
    assert auroc([0, 0], [1, 1]) == aupr([0, 0], [1, 1]) == 1
    assert fpr_at_tpr([0.0, 0.0], [1.0, 1.0]) == 0
    assert auroc([1, 1], [1, 1]) == 0.5


def test_aupr_is_the_mean_precision_at_each_foreign_item():
    own, foreign = np.array([0.1, 0.5, 0.7]), np.array([0.6, 0.9])
    assert aupr(own, foreign) == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_posteriors_go_in_too():
    own, foreign = np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([[0.5, 0.5]])
    for score in ("max_probability", "entropy"):
        assert auroc(own, foreign, score=score) == 1
    assert uncertainty([[1.0, 0.0], [0.5, 0.5]], score="entropy").tolist() == pytest.approx([0, np.log(2)])


def test_uncertainty_by_hand():
    posterior = [[0.7, 0.2, 0.1], [1.0, 0.0, 0.0]]
    assert uncertainty(posterior).tolist() == pytest.approx([0.3, 0.0])
    entropy = -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1))
    assert uncertainty(posterior, score="entropy").tolist() == pytest.approx([entropy, 0.0])


def test_the_score_decides():
    """An own item that is less sure of its best class, and less spread over the others, than the foreign one."""
    own, foreign = np.array([[0.5, 0.5, 0, 0]]), np.array([[0.6, 0.14, 0.13, 0.13]])
    assert (auroc(own, foreign), auroc(own, foreign, score="entropy")) == (0, 1)
    assert (aupr(own, foreign), aupr(own, foreign, score="entropy")) == (0.5, 1)
    assert (fpr_at_tpr(own, foreign), fpr_at_tpr(own, foreign, score="entropy")) == (1, 0)


def test_nineteen_of_twenty_foreign_items_by_default():
    own, foreign = np.arange(20) + 0.5, np.arange(20)
    assert fpr_at_tpr(own, foreign) == fpr_at_tpr(own, foreign, tpr=0.95) == 0.95
    assert fpr_at_tpr(own, foreign, tpr=1) == 1


def test_integers_and_single_precision_are_scores():
    for dtype in (np.int8, np.uint8, np.float32):
        assert auroc(np.array([0, 1], dtype=dtype), np.array([1, 2], dtype=dtype)) == 0.875


def test_wrong_input():
    with pytest.raises(cs.InvalidPredictions, match=r"^own must be posteriors"):
        fpr_at_tpr([np.inf], [1.0])
    with pytest.raises(cs.InvalidPredictions, match=r"^foreign must be .* got bool of shape"):
        aupr([1.0], [True])
    with pytest.raises(ValueError, match=r"^tpr must be a number from 0 to 1; got 1.5$"):
        fpr_at_tpr([1.0], [1.0], tpr=1.5)
    with pytest.raises(cs.InvalidPredictions, match=r"own must be posteriors .* of shape \(0,\)"):
        auroc([], [1.0])
    with pytest.raises(cs.InvalidPredictions, match="foreign must be"):
        fpr_at_tpr([1.0], [np.nan])
    with pytest.raises(ValueError, match="score must be 'max_probability' or 'entropy'; got 'margin'"):
        uncertainty([[1.0, 0.0]], score="margin")
    with pytest.raises(ValueError, match="tpr must be above 0 and at most 1; got 0"):
        fpr_at_tpr([1.0], [1.0], tpr=0)
