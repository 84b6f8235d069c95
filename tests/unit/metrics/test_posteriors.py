import array_api_strict
import numpy as np
import pytest
import torch

import consilience as cs
from consilience.metrics.posteriors import checked_posterior, read_posterior_and_labels

POSTERIOR = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])


@pytest.mark.parametrize("make", [np.asarray, torch.asarray, array_api_strict.asarray, np.ndarray.tolist])
def test_arrays_of_any_library(make):
    values, truth = read_posterior_and_labels(make(POSTERIOR), make(np.array([0, 1, 1])))
    assert values.dtype == np.float64 and truth.dtype == np.intp
    np.testing.assert_array_equal(values, POSTERIOR)
    assert truth.tolist() == [0, 1, 1]


def test_doubles_are_not_copied_and_one_hot_rows_may_be_integers():
    assert checked_posterior(POSTERIOR) is POSTERIOR
    assert checked_posterior(np.eye(2, dtype=int)).tolist() == [[1, 0], [0, 1]]


def test_the_posterior_of_predictions_in_half_precision():
    """It comes in single precision, but its rows sum to 1 no better."""
    posterior = np.float32([[0.5, 0.502], [0.25, 0.745]])
    assert checked_posterior(posterior).shape == (2, 2)
    with pytest.raises(cs.InvalidPredictions, match=r"item 0 .* sums to 1.02"):
        checked_posterior(posterior + np.float32(0.009))


@pytest.mark.parametrize(
    ("posterior", "message"),
    [
        ([0.5, 0.5], r"^posterior must be numbers \(items, classes\); got float64 of shape \(2,\)$"),
        (np.empty((0, 2)), r"got float64 of shape \(0, 2\)$"),
        ([["a", "b"]], r"got <U1 of shape \(1, 2\)$"),
        (None, "^posterior must be an array; got a NoneType$"),
        ([[1.0, 0.0], [0.5, 0.6]], "; item 1 has a least value of 0.5 and sums to 1.1$"),
        ([[1.5, -0.5]], "item 0 has a least value of -0.5 and sums to 1$"),
        ([[np.nan, 1.0]], "item 0 has a least value of nan"),
        ([[1e308, 1e308]], "sums to inf$"),
    ],
    ids=["flat", "empty", "text", "nothing", "sum", "negative", "NaN", "huge"],
)
def test_wrong_posteriors(posterior, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        checked_posterior(posterior)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "^labels must have one entry for each of the 3 items; got 2$"),
        ([0.5, 1.0, 1.0], "item 0 has 0.5$"),
        (np.array([[0], [1], [1]]), r"shape \(3, 1\)$"),
        ([0, 2, 3], r"^labels must be among the classes \[0, 1\], or -1 where unknown; item 1 has 2$"),
        ([0, 1, -1], "^labels must be known for every item; that of item 2 is not$"),
    ],
    ids=["few", "fractions", "a column", "beyond", "unknown"],
)
def test_wrong_labels(labels, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        read_posterior_and_labels(POSTERIOR, labels)
