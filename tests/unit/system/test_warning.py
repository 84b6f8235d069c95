"""Warnings name the user's own line, whichever way led to them."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from consilience.system.errors import PACKAGE, warn

RNG = np.random.default_rng(0)
ROWS = RNG.dirichlet(np.ones(3), size=(3, 40))
WAYS = {
    "fit": lambda method: method.fit(ROWS),
    "fit_predict": lambda method: method.fit_predict(ROWS),
    "fit_predict_proba": lambda method: method.fit_predict_proba(ROWS),
    "partial_fit": lambda method: method.partial_fit(ROWS),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("method", [cs.DawidSkene, cs.BayesianClassifierCombination, cs.SoftDawidSkene])
def test_a_fit_that_does_not_converge_points_here(method, way):
    with pytest.warns(ConvergenceWarning, match=r"after 1 iterations; raise max_iter or tol") as caught:
        WAYS[way](method(max_iter=1, tol=1e-12))
    line = WAYS[way].__code__.co_firstlineno
    assert {(Path(warning.filename).name, warning.lineno) for warning in caught} == {(Path(__file__).name, line)}


def test_the_line_is_the_callers():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("look here")
    assert caught[0].filename == __file__
    assert caught[0].category is UserWarning


def test_the_package_is_where_it_is():
    assert Path(PACKAGE) == Path(cs.__file__).resolve().parent
