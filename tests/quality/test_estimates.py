"""How far off estimated accuracies are, and what could be reached."""

import numpy as np
import pytest

from benchmarks.quality import estimates
from panels_of_quality import soft


@pytest.fixture(scope="module")
def scored():
    return estimates.scored(soft(n_items=400, n_members=6, missing=0))


def test_what_could_be_reached_stands_beside_it(scored):
    numbers = scored.numbers
    assert set(estimates.COLUMNS) <= set(numbers)
    assert 0.5 < numbers["halves rank"] <= 1  # the members' skills differ much
    assert 0 < numbers["labels best"] < 1 and numbers["labels error"] < 15
    assert all(
        name in estimates.table([scored], lambda one: [one.kind])
        for name in ("rank of halves", "at best", "as it is", "all")
    )


def test_halves_of_members_who_are_all_alike_tell_nothing(rng):
    panel = soft(n_items=400, n_members=6, missing=0)
    truth = rng.integers(4, size=400)
    alike = np.array([np.where(rng.random(400) < 0.7, truth, rng.integers(4, size=400)) for _ in range(6)])
    panel = type(panel)("alike", "tables", "as it is", truth, 4, labels=alike)
    model = estimates.fused(panel)
    found = estimates.voters_of(panel.predictions, model, estimates.whole_answers(panel, model))
    ranks = estimates._by_halves(panel, found, estimates.accuracies(panel, found))
    assert abs(ranks["halves rank"]) < 0.7
