"""The best and the median member of a comparison."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.comparison import Candidate, _Asked
from consilience.metrics.scores import wilson

TRUTH = np.arange(40) % 2
VOTES = np.stack([np.where(np.arange(40) < n_wrong, 1 - TRUTH, TRUTH) for n_wrong in (16, 4, 10)])


def asked(predictions, truth=TRUTH):
    return _Asked.of(predictions, None, truth)


def best_and_median(votes, truth=TRUTH):
    return asked(cs.Predictions.from_labels(votes, 2), truth).best_and_median()


def test_best_and_median_by_labels():
    assert best_and_median(VOTES) == {"best member": 1, "median member": 2}
    assert best_and_median(VOTES[:1]) == {"best member": 0}


def test_members_with_few_votes_are_not_ranked():
    votes = np.where(np.arange(40) < 3, TRUTH, -1)[None]
    assert best_and_median(np.concatenate([VOTES, votes]))["best member"] == 1
    assert best_and_median(VOTES[:, :4], TRUTH[:4])["best member"] in (0, 1, 2)


def test_a_member_who_gives_labels_has_no_probabilities_to_score():
    found = asked(cs.Predictions.from_labels(VOTES))
    row = found._replace(average=VOTES[0]).row(found.member(1), 15)
    assert row["accuracy"] == 0.9 and np.isnan([row["nll"], row["confidence"], row["entropy"]]).all()
    assert row["changed"] == pytest.approx(12 / 40)
    assert row["agreement"] == pytest.approx(((VOTES[0] == VOTES[1]).mean() + (VOTES[2] == VOTES[1]).mean()) / 2)


def test_gaps_do_not_count():
    rows = np.full((2, 40, 2), 0.5)
    rows[0] = np.eye(2)[VOTES[0]] * 0.8 + 0.1
    rows[1, :20] = np.eye(2)[VOTES[1, :20]] * 0.6 + 0.2
    rows[1, 20:] = np.nan
    found = asked(cs.Predictions(rows))
    row = found.row(found.member(1), 15)
    assert row["nll"] == pytest.approx(cs.metrics.nll(rows[1, :20], TRUTH[:20]))
    assert row["confidence"] == pytest.approx(0.8)


def test_sureness():
    rows = np.array([[0.5, 0.5], [1.0, 0.0]])
    row = asked(cs.Predictions(rows[None]), np.array([0, 0])).row(Candidate(np.arange(2), np.zeros(2, int), rows), 15)
    assert (row["confidence"], row["entropy"]) == pytest.approx((0.75, np.log(2) / 2))


def test_a_comparison_shows_them_beside_the_methods():
    rows = {row["method"]: row for row in cs.compare(cs.Predictions.from_labels(VOTES), TRUTH).rows()}
    best = rows["best member"]
    assert (best["member"], best["accuracy"]) == ("1", 0.9)
    assert (best["from"], best["to"]) == wilson(0.9, 40, 0.9)
    assert rows["Consensus"]["member"] == "" and rows["median member"]["accuracy"] == 0.75
