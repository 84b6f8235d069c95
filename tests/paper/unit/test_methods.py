"""The methods of the paper's tables, with the paper's settings."""

import warnings

import numpy as np
import pytest

pytest.importorskip("torch")

import consilience as cs
from paper.methods import PAPER, aggregators, posterior


def test_every_method_of_the_paper_is_there_with_its_settings():
    made = {name: make() for name, make in aggregators("cifar100").items()}
    assert set(PAPER) - set(made) == {"PE"}  # which needs the networks
    assert made["SDS (paper)"].get_params() == cs.SoftDawidSkene.paper("cifar100").get_params()
    assert made["SDS (ours)"].get_params() == cs.SoftDawidSkene.paper("cifar100", start="ours").get_params()
    for name, option in (
        ("SDS (paper), moments anew", {"optimizer_moments": "anew"}),
        ("SDS (counts)", {"init_rows": "counts"}),
    ):
        assert made[name].get_params() == made["SDS (paper)"].get_params() | option
    assert (made["DS"].n_iter, made["DS"].tol) == (100, 1e-5)  # crowd-kit's own
    assert made["SDS default"].get_params() == cs.SoftDawidSkene().get_params()


def test_a_default_that_is_the_papers_is_not_listed_twice():
    assert "SDS default" not in aggregators("mnist")


def test_posteriors_are_double_and_silent_about_convergence(rng):
    array = rng.dirichlet(np.ones(3), size=(3, 50)).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rows = posterior(cs.DawidSkene(max_iter=1, tol=1e-12), cs.Predictions(array))
    assert rows.dtype == np.float64 and rows.shape == (50, 3)
    np.testing.assert_allclose(rows.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize("name", ["BCC", "MV"])
def test_the_papers_votes_give_ties_to_the_first_class(name):
    array = np.array([[[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]]] * 3)
    first = np.array([[0, 0, 1]] * 3)
    make = aggregators("mnist")[name]
    expected = posterior(make(), cs.Predictions.from_labels(first, 2))
    np.testing.assert_array_equal(posterior(make(), cs.Predictions(array)), expected)
    assert expected[0, 0] > 0.6
