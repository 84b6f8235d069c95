"""log Γ and ψ of small numbers, against thirty digits and against SciPy."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from consilience.maths.dirichlet import DEGREE, LEAST_NUMBERS, SMALL, digamma, log_gamma

ROUNDING = 2 * np.finfo(float).eps
FUNCTIONS = [(digamma, mp.digamma, special.digamma), (log_gamma, mp.loggamma, special.gammaln)]


@pytest.mark.parametrize(("ours", "exact", "_"), FUNCTIONS)
def test_small_numbers_are_right_to_rounding(ours, exact, _):
    values = np.concatenate([np.geomspace(1e-30, SMALL, LEAST_NUMBERS // 2), np.linspace(1e-4, SMALL, LEAST_NUMBERS)])
    result = ours(values)
    for place in range(0, len(values), 13):
        assert result[place] == pytest.approx(float(exact(mp.mpf(values[place]))), rel=ROUNDING)


@pytest.mark.parametrize(("ours", "_", "scipys"), FUNCTIONS)
@pytest.mark.parametrize("share_beyond", [0.0, 0.05, 0.5, 1.0])
def test_numbers_of_any_size_are_scipys(ours, _, scipys, share_beyond, rng):
    values = 10 ** rng.uniform(-10, np.log10(SMALL), size=(3, LEAST_NUMBERS))
    is_beyond = rng.random(values.shape) < share_beyond
    values[is_beyond] = SMALL + 10 ** rng.uniform(-10, 6, size=np.count_nonzero(is_beyond))
    given = values.copy()
    np.testing.assert_allclose(ours(values), scipys(values), rtol=1e-13)
    np.testing.assert_array_equal(values, given)


def test_a_large_table_of_small_numbers_is_left_to_the_polynomial(rng, monkeypatch):
    """Nobody asks SciPy for a whole table, which is what took the time."""
    asked, scipys = [], special.digamma
    monkeypatch.setattr(special, "digamma", lambda values: asked.append(np.size(values)) or scipys(values))
    values = rng.uniform(1e-4, SMALL, size=2 * LEAST_NUMBERS)
    values[:5] = 1.0
    digamma(values)
    assert sum(asked) == 5 + DEGREE + 1
