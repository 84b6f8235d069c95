import numpy as np
import pytest

import consilience as cs
from consilience.data.tables import numbers as runs
from consilience.data.tables.columns import Notation
from consilience.data.tables.numbers import MOST, Numbers, runs_of_probabilities
from consilience.data.validation import are_probabilities


def found(values, *, has_point=False):
    numbers = Numbers(np.asarray(values, dtype=float), Notation(all_points=has_point))
    return [(run.start, run.start + run.size) for run in runs_of_probabilities(numbers)]


def every_run(values):
    """The share of rows that sum to 1, by run: each start with each stop."""
    shares = {}
    for start in range(values.shape[1]):
        for stop in range(start + 2, values.shape[1] + 1):
            part = values[:, start:stop]
            part = part[~np.isnan(part).all(axis=1)]
            if len(part) and (part % 1 > 0).any() and are_probabilities(part).mean() > MOST:
                shares[start, stop] = are_probabilities(part).mean()
    return shares


def some_table(rng):
    """Probabilities, zeros, shares and measurements side by side, with gaps."""
    makers = (
        lambda size: rng.normal(size=(30, size)),
        lambda size: rng.dirichlet(np.ones(size), 30),
        lambda size: np.zeros((30, size)),
        lambda size: rng.random((30, size)),
    )
    parts = [makers[rng.integers(4)](rng.integers(1, 5)) for _ in range(rng.integers(2, 5))]
    values = np.concatenate(parts, axis=1).round(6)
    values[rng.random(values.shape) < 0.02] = np.nan
    values[rng.random(30) < 0.3, : rng.integers(values.shape[1])] = np.nan
    return values


def test_the_best_run_of_all():
    rng = np.random.default_rng(0)
    for _ in range(100):
        values = some_table(rng)
        shares, got = every_run(values), found(values)
        assert bool(got) == bool(shares)
        if got:
            start, stop = got[0]
            assert (shares[start, stop], stop - start) == max((share, b - a) for (a, b), share in shares.items())
            is_apart = [b <= start or a >= stop for a, b in shares]
            assert any(b <= start or a >= stop for a, b in got[1:]) == any(is_apart)


def test_whole_numbers_are_no_probabilities():
    assert found([[0, 1, 0], [1, 0, 0]]) == []
    assert found([[0, 1, 0], [1, 0, 0]], has_point=True) == [(0, 3)]


def test_too_many_runs(monkeypatch):
    monkeypatch.setattr(runs, "MOST_SUMS", 100)
    values = np.zeros((60, 30))
    values[:, 3], values[:, 5], values[:, 29] = 0.5, 0.5, 7
    with pytest.raises(cs.InvalidPredictions, match="30 columns of numbers are too many .* classes=, or add :labels"):
        found(values)
