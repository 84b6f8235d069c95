import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.ood import aupr, auroc, fpr_at_tpr, uncertainty

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


def test_wrong_input():
    with pytest.raises(cs.InvalidPredictions, match=r"own must be posteriors .* of shape \(0,\)"):
        auroc([], [1.0])
    with pytest.raises(cs.InvalidPredictions, match="foreign must be"):
        fpr_at_tpr([1.0], [np.nan])
    with pytest.raises(ValueError, match="score must be 'max_probability' or 'entropy'; got 'margin'"):
        uncertainty([[1.0, 0.0]], score="margin")
    with pytest.raises(ValueError, match="tpr must be above 0 and at most 1; got 0"):
        fpr_at_tpr([1.0], [1.0], tpr=0)
