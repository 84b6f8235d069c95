"""Training: seeded, fair to families, and it learns something in a few steps."""

from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from training.features import NAMES
from training.fit import Recipe, batch_of, fit, weights
from training.panels import Lesson, generated_jobs, read_lessons, store_all

QUICK = Recipe(steps=30, learning_rate=1e-2)


@cache
def values_of(family, n_items=10, n_candidates=3):
    rng = np.random.default_rng(0)
    values = rng.random((n_items, n_candidates, len(NAMES))).astype(np.float16)
    return Lesson(values, rng.integers(n_candidates, size=n_items), family)


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lessons")
    return read_lessons(store_all(generated_jobs(20), folder, 1, lambda _: None))


def test_training_improves_on_averaging(lessons):
    _, history = fit(lessons, QUICK, seed=0)
    assert len(history) == 30
    assert np.mean(history[-5:]) < min(np.mean(history[:5]), 0) - 0.05


def test_the_same_seed_gives_the_same_weights(lessons):
    first, again, other = (fit(lessons, Recipe(steps=5), seed)[0].state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["first.weight"], other["first.weight"])


def test_every_real_family_weighs_the_same():
    families = ["generated crowd", "generated rare", "mnist", "mnist", "mnist", "judges"]
    found = weights([values_of(family) for family in families], real=0.4)
    np.testing.assert_allclose(found, [0.3, 0.3, 0.2 / 3, 0.2 / 3, 0.2 / 3, 0.2])


def test_weights_sum_to_one_where_all_panels_are_of_one_sort():
    for families in (["generated crowd", "generated rare"], ["mnist", "mnist", "judges"]):
        np.testing.assert_allclose(weights([values_of(family) for family in families], real=0.4).sum(), 1)


def test_batches_are_padded():
    lessons = [values_of("mnist", 4, 2), values_of("judges", 10, 5)]
    batch = batch_of(lessons, 6, np.random.default_rng(0))
    assert batch.values.shape == (10, 5, len(NAMES))
    assert batch.is_there.sum(dim=1).tolist() == [2] * 4 + [5] * 6
    assert batch.panel.tolist() == [0] * 4 + [1] * 6
    assert not batch.values[:4, 2:].any()
    assert (batch.truth[:4] < 2).all()
