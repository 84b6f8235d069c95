"""What the methods that iterate share: their arguments, and the bar."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.base import read_class_prior


def test_class_priors_that_are_fixed():
    assert read_class_prior(None, 3) is None
    np.testing.assert_allclose(read_class_prior("uniform", 4), [0.25] * 4)
    np.testing.assert_array_equal(read_class_prior([0.2, 0.8], 2), [0.2, 0.8])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("flat", "class_prior must be None, 'uniform', or probabilities of the 3 classes .*; got 'flat'"),
        ({"a": 1}, "got {'a': 1}"),
        ([0.5, 0.5], r"of the 3 classes that are positive and sum to 1; got \[0.5, 0.5\]"),
        ([0.5, 0.5, 0.5], r"sum to 1; got \[0.5, 0.5, 0.5\], which sums to 1.5"),
        ([0.5, 0.5, 0.0], "positive and sum to 1"),
        ([0.5, 0.5, np.nan], "positive and sum to 1"),
    ],
)
def test_class_priors_that_are_none(prior, message):
    with pytest.raises(ValueError, match=message):
        read_class_prior(prior, 3)


OF_THE_LOOP = [
    ({"max_iter": 0}, "max_iter must be an integer of at least 1; got 0"),
    ({"max_iter": 2.5}, "max_iter must be an integer of at least 1; got 2.5"),
    ({"tol": -1}, "tol must be a number of at least 0; got -1"),
    ({"forgetting": 1.5}, "forgetting must be a number from 0 to 1; got 1.5"),
    ({"chunk_size": 0}, "chunk_size must be an integer of at least 1; got 0"),
]
KINDS = (cs.DawidSkene, cs.BayesianClassifierCombination, cs.SoftDawidSkene, cs.Consensus)


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        (kind, options, message)
        for kind in KINDS
        for options, message in OF_THE_LOOP
        if options.keys() <= kind().get_params().keys()  # Consensus makes a fixed number of passes
    ],
)
def test_arguments_of_the_loop(kind, options, message):
    with pytest.raises(ValueError, match=message):
        kind(**options).fit(np.full((2, 3, 2), 0.5))


@pytest.mark.parametrize("method", [cs.DawidSkene(max_iter=3, tol=None), cs.SoftDawidSkene(max_iter=3)], ids=repr)
def test_a_bar_is_shown_to_whoever_asks(method, capsys, rng):
    rows = rng.dirichlet(np.ones(3), size=(2, 20))
    method.fit(rows)
    assert capsys.readouterr().err == ""
    method.set_params(verbose=True).fit(rows)
    shown = capsys.readouterr().err
    assert type(method).__name__ in shown
