"""Features follow whatever is reordered or renamed, and are finite on the smallest and oddest panels."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import log_softmax

from benchmarks.quality.methods import average, geometric
from benchmarks.quality.panel import take
from panels_of_quality import hard, soft
from training.answers import Answers, first_choices
from training.experts import under_own_prior
from training.features import GROUPS, LOWEST_LOG, MOST_CANDIDATES, NAMES, features_of

ROUNDING = 2e-4
"""Features are stored in single precision, up to 12 in size; EM repeated twelve times amplifies its rounding."""

PANELS = {"probabilities": soft, "votes": hard}


@pytest.fixture(params=PANELS)
def panel(request):
    return PANELS[request.param](n_items=60)


def renamed(panel, order):
    """The panel whose class k is class `order[k]` of the given one."""
    if panel.labels is not None:
        return replace(panel, labels=np.append(np.argsort(order), -1)[panel.labels])
    return replace(panel, probabilities=panel.probabilities[:, :, order])


def test_every_feature_has_a_name_of_its_own(panel):
    assert len(set(NAMES)) == len(NAMES) == sum(map(len, GROUPS.values()))
    assert features_of(panel).values.shape == (60, 4, len(NAMES))


def test_the_order_of_members_does_not_matter(panel):
    order = np.random.default_rng(0).permutation(panel.n_members)
    other = take(panel, np.arange(panel.n_items), order)
    np.testing.assert_allclose(features_of(other).values, features_of(panel).values, atol=ROUNDING)


def test_items_may_be_reordered(panel):
    order = np.random.default_rng(0).permutation(panel.n_items)
    np.testing.assert_allclose(features_of(take(panel, order)).values, features_of(panel).values[order], atol=ROUNDING)


def test_features_follow_renamed_classes(panel):
    order = np.array([2, 0, 3, 1])
    np.testing.assert_allclose(
        features_of(renamed(panel, order)).values, features_of(panel).values[:, order], atol=ROUNDING
    )


def test_candidates_follow_renamed_classes():
    panel = soft(n_items=30, n_classes=60)
    order = np.random.default_rng(1).permutation(60)
    before, after = features_of(panel), features_of(renamed(panel, order))
    for item in range(30):
        assert set(order[after.candidates[item]]) == set(before.candidates[item])
        places = np.searchsorted(before.candidates[item], order[after.candidates[item]])
        np.testing.assert_allclose(after.values[item], before.values[item, places], atol=ROUNDING)


def test_a_member_who_never_answers_changes_nothing(panel):
    if panel.labels is not None:
        more = replace(panel, labels=np.concatenate([panel.labels, np.full((1, 60), -1)]))
    else:
        more = replace(panel, probabilities=np.concatenate([panel.probabilities, np.full((1, 60, 4), np.nan)]))
    np.testing.assert_array_equal(features_of(more).values, features_of(panel).values)


def test_a_panel_that_nobody_answers_is_refused():
    with pytest.raises(ValueError, match="some member must answer some item; nobody does in panel 'made-up'"):
        features_of(replace(soft(), probabilities=np.full((2, 400, 4), np.nan)))


def unanswered(panel):
    return replace(panel, labels=np.where(np.arange(panel.n_items) < 3, -1, panel.labels))


def one_hot(panel):
    return replace(panel, probabilities=np.round(panel.probabilities == np.nanmax(panel.probabilities, 2)[..., None]))


@pytest.mark.parametrize(
    "odd",
    [
        soft(n_members=1, missing=0),
        soft(n_items=1, missing=0),
        hard(n_items=1, n_members=1, missing=0),
        soft(n_classes=2),
        hard(n_classes=60, n_items=30),
        one_hot(soft(missing=0)),
        unanswered(hard()),
        soft(missing=0.9),
        replace(hard(), labels=np.zeros((6, 400), dtype=int)),
    ],
    ids=["member", "item", "answer", "two", "sixty", "one-hot", "unanswered", "sparse", "all-say-one"],
)
def test_features_are_finite(odd):
    found = features_of(odd)
    assert np.isfinite(found.values).all()
    assert np.abs(found.values).max() <= -LOWEST_LOG
    assert found.candidates.shape == (odd.n_items, min(odd.n_classes, MOST_CANDIDATES))
    np.testing.assert_allclose(found.average.sum(axis=1), 1)


def test_the_average_and_the_geometric_mean_are_those_of_the_bench(panel):
    values = features_of(panel).values
    np.testing.assert_allclose(values[:, :, NAMES.index("experts: average")], average(panel), atol=1e-5)
    if panel.labels is None:
        expected = log_softmax(np.log(geometric(panel)), axis=1)
        np.testing.assert_allclose(values[:, :, NAMES.index("experts: log geometric mean")], expected, atol=1e-3)


def test_ties_are_shared():
    np.testing.assert_allclose(first_choices(np.array([[0.4, 0.4, 0.2], [0.1, 0.1, 0.8]])), [[0.5, 0.5, 0], [0, 0, 1]])


def test_votes_among_probabilities_are_found():
    panel = soft(n_members=3, missing=0)
    rows = panel.probabilities.copy()
    rows[1] = np.eye(4)[rows[1].argmax(axis=1)]
    assert Answers.of(replace(panel, probabilities=rows)).is_hard.tolist() == [False, True, False]


def test_the_prior_of_an_average_is_estimated_again():
    rows = np.array([[0.6, 0.4]] * 9 + [[0.4, 0.6]])
    logs, shares = under_own_prior(rows)
    assert shares[0] > rows.mean(axis=0)[0]
    assert (np.exp(logs[:, 0]) > rows[:, 0]).all()
