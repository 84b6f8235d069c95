"""What must hold of every aggregator and metric, on panels of any size and kind that hypothesis comes up with.

A few cases of each by default; `CONSILIENCE_CASES=200 pytest tests/properties/test_generated.py` is the nightly run of
more than 20,000.
"""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone

import consilience as cs
from consilience.system.arrays import to_numpy

from generated_panels import generated, panels

# What is warned of is right: such panels are among those that are drawn.
pytestmark = pytest.mark.filterwarnings("ignore:labels teach nothing of other items where all are of one class")

# Few iterations: what is asked for holds after each, and rounding has no time to grow.
AGGREGATORS = {
    "average": cs.Average(),
    "geometric": cs.Average(kind="geometric"),
    "vote": cs.MajorityVote(),
    "dawid-skene": cs.DawidSkene(max_iter=4, tol=None),
    "bcc": cs.BayesianClassifierCombination(max_iter=4, tol=None),
    "consensus": cs.Consensus(),
    "sds": cs.SoftDawidSkene(max_iter=6),
    "sds, exact": cs.SoftDawidSkene(solver="exact", averaging={0: 0, 1: 1}, max_iter=2),
}
every_aggregator = pytest.mark.parametrize("name", AGGREGATORS)


def posterior_of(name, given_, **options):
    fitted = clone(AGGREGATORS[name]).set_params(**options).fit(given_)
    return np.asarray(to_numpy(fitted.posterior_), dtype=np.float64)


def assert_same(name, one, other, tolerance=1e-7):
    """To 1e-7; concentrations that fit flat rows exactly are in the thousands, and magnify rounding a hundredfold."""
    np.testing.assert_allclose(one, other, rtol=0, atol=100 * tolerance if name == "sds, exact" else tolerance)


# ---- aggregators ------------------------------------------------------------------------------------------


@every_aggregator
@generated
@given(panel=panels())
def test_posteriors_are_probabilities(name, panel):
    posterior = posterior_of(name, panel.array())
    assert posterior.shape == (panel.n_items, panel.n_classes)
    assert (posterior >= 0).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-9)


@every_aggregator
@generated
@given(panel=panels())
def test_order_of_members(name, panel):
    array = panel.array()
    order = panel.rng.permutation(panel.n_members)
    assert_same(name, posterior_of(name, array), posterior_of(name, array[order]))


@every_aggregator
@generated
@given(panel=panels())
def test_order_of_items(name, panel):
    array = panel.array()
    order = panel.rng.permutation(panel.n_items)
    assert_same(name, posterior_of(name, array)[order], posterior_of(name, array[:, order]))


@every_aggregator
@generated
@given(panel=panels())
def test_order_of_classes(name, panel):
    array = panel.array()
    order = panel.rng.permutation(panel.n_classes)
    assert_same(name, posterior_of(name, array)[:, order], posterior_of(name, array[:, :, order]))


@every_aggregator
@generated
@given(panel=panels())
def test_an_item_twice_has_the_same_answer_twice(name, panel):
    array = panel.array()
    again = posterior_of(name, np.concatenate([array, array[:, :1]], axis=1))
    assert_same(name, again[0], again[-1], 1e-12)


@every_aggregator
@generated
@given(panel=panels())
def test_a_silent_member_changes_nothing(name, panel):
    array = panel.array()
    silent = np.full_like(array[:1], np.nan)
    assert_same(name, posterior_of(name, array), posterior_of(name, np.concatenate([array, silent])))


@every_aggregator
@generated
@given(panel=panels(), chunk_size=st.integers(1, 50))
def test_chunks(name, panel, chunk_size):
    if "chunk_size" not in AGGREGATORS[name].get_params():
        return
    array = panel.array()
    assert_same(name, posterior_of(name, array), posterior_of(name, array, chunk_size=chunk_size))


@every_aggregator
@generated
@given(panel=panels(kinds=("modest", "flat", "labels")))
def test_single_precision(name, panel):
    """To 2e-4, or 2e-2 (see `assert_same`): roundings of 6e-8, carried on by logarithms and sums of forty items."""
    # Nothing bounds the concentrations of rows that are all alike, as those of labels are, but LARGEST = 1e6, where
    # a rounding of a logarithm tips the scales.
    assume(name != "sds, exact" or panel.kind != "labels")
    array = panel.array()
    assert_same(name, posterior_of(name, array), posterior_of(name, array.astype(np.float32)), 2e-4)


@every_aggregator
@generated
@given(panel=panels(kinds=("modest", "sure", "flat")))
def test_shifted_logits(name, panel):
    """What is added to all logits of an item says nothing."""
    logits = np.log(panel.array())
    shifts = panel.rng.normal(scale=50, size=(panel.n_members, panel.n_items, 1))
    one, other = (cs.Predictions.from_logits(values) for values in (logits, logits + shifts))
    assert_same(name, posterior_of(name, one), posterior_of(name, other), 1e-6)


@every_aggregator
@generated
@given(panel=panels())
def test_saved_and_loaded(name, panel, tmp_path_factory):
    array = panel.array()
    fitted = clone(AGGREGATORS[name]).fit(array)
    path = tmp_path_factory.mktemp("saved") / "model.npz"
    fitted.save(path)
    loaded = cs.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(array), fitted.predict_proba(array))
    np.testing.assert_array_equal(loaded.posterior_, fitted.posterior_)


@every_aggregator
@generated
@given(panel=panels())
def test_again_is_the_same(name, panel):
    array = panel.array()
    before = array.copy()
    fitted = clone(AGGREGATORS[name]).fit(array)
    np.testing.assert_array_equal(fitted.predict_proba(array), fitted.predict_proba(array))
    np.testing.assert_array_equal(posterior_of(name, array), fitted.posterior_)
    np.testing.assert_array_equal(array, before)


@every_aggregator
@generated
@given(panel=panels(least_items=4))
@pytest.mark.filterwarnings("ignore:.*labels contradict")  # those of members who know nothing
def test_known_labels_are_kept(name, panel):
    labels = np.where(np.arange(panel.n_items) < panel.n_items // 2, panel.truth, -1)
    posterior = to_numpy(clone(AGGREGATORS[name]).fit(panel.array(), labels).posterior_)
    known = labels >= 0
    np.testing.assert_array_equal(posterior[known], np.eye(panel.n_classes)[labels[known]])
    np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-9)


# ---- metrics ----------------------------------------------------------------------------------------------

METRICS = {
    "accuracy": cs.metrics.accuracy,
    "nll": cs.metrics.nll,
    "brier": cs.metrics.brier_score,
    "ece": lambda p, y: cs.metrics.calibration_error(p, y, n_bins=15),
    "ece debiased": lambda p, y: cs.metrics.calibration_error(p, y, n_bins=15, debiased=True),
}
every_metric = pytest.mark.parametrize("name", METRICS)


def scored(panel):
    return np.nan_to_num(panel.array()[0], nan=1 / panel.n_classes), panel.truth


@every_metric
@generated
@given(panel=panels(least_items=2))
def test_metrics_do_not_depend_on_order(name, panel):
    posterior, labels = scored(panel)
    value = METRICS[name](posterior, labels)
    order = panel.rng.permutation(panel.n_items)
    assert METRICS[name](posterior[order], labels[order]) == pytest.approx(value, abs=1e-9)
    if panel.has_ties or panel.missing:
        return  # the first class wins a tie
    classes = panel.rng.permutation(panel.n_classes)
    assert METRICS[name](posterior[:, classes], np.argsort(classes)[labels]) == pytest.approx(value, abs=1e-9)


@every_metric
@generated
@given(panel=panels(least_items=2))
def test_metrics_of_all_items_twice(name, panel):
    if name == "ece debiased":
        return  # it knows by how much few items flatter
    posterior, labels = scored(panel)
    twice = METRICS[name](np.concatenate([posterior] * 2), np.concatenate([labels] * 2))
    assert twice == pytest.approx(METRICS[name](posterior, labels), abs=1e-9)


@every_metric
@generated
@given(panel=panels(least_items=2))
def test_metrics_have_bounds_and_a_best(name, panel):
    posterior, labels = scored(panel)
    value, best = METRICS[name](posterior, labels), METRICS[name](np.eye(panel.n_classes)[labels], labels)
    most = {"nll": np.inf, "brier": 2}.get(name, 1)
    least = -1 if name == "ece debiased" else 0
    assert least - 1e-12 <= value <= most + 1e-12
    assert best == pytest.approx(1 if name == "accuracy" else 0, abs=1e-9)


@every_metric
@generated
@given(panel=panels(kinds=("modest", "flat"), least_items=2))
def test_metrics_in_single_precision(name, panel):
    posterior, labels = scored(panel)
    single = METRICS[name](posterior.astype(np.float32), labels)
    if not name.startswith("ece"):  # an item at the edge of a bin may change it
        assert single == pytest.approx(METRICS[name](posterior, labels), abs=1e-5)
