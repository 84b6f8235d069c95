"""Training: seeded, fair to families, and it learns something in a few steps."""

from functools import cache

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from consilience.answering.learned.features import NAMES, PANEL
from training.fit import FEW_DRAWS, Recipe, batch_of, fit, panel_ranges, weights
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
    families = ["generated crowd", "generated rare", *["mnist"] * FEW_DRAWS, *["judges"] * (2 * FEW_DRAWS)]
    found = weights([values_of(family) for family in families], real=0.4)
    np.testing.assert_allclose(found.sum(), 1)
    np.testing.assert_allclose(found[:2], 0.3)
    np.testing.assert_allclose(found[2 : 2 + FEW_DRAWS].sum(), 0.2)


def test_a_family_of_few_panels_weighs_less():
    families = ["generated crowd", "mnist", *["judges"] * FEW_DRAWS]
    found = weights([values_of(family) for family in families], real=0.4)
    np.testing.assert_allclose(found[1] / found[2:].sum(), 1 / FEW_DRAWS)


def test_weights_sum_to_one_where_all_panels_are_of_one_sort():
    for families in (["generated crowd", "generated rare"], ["mnist", "mnist", "judges"]):
        np.testing.assert_allclose(weights([values_of(family) for family in families], real=0.4).sum(), 1)


def test_a_batch_has_a_row_for_each_item_and_candidate():
    lessons = [values_of("mnist", 4, 2), values_of("judges", 10, 5)]
    batch = batch_of(lessons, 6, np.random.default_rng(0))
    assert batch.values.shape == (4 * 2 + 6 * 5, len(NAMES))
    assert torch.bincount(batch.item).tolist() == [2] * 4 + [5] * 6
    assert batch.panel.tolist() == [0] * 4 + [1] * 6
    assert (batch.item[batch.true] == torch.arange(10)).all()


def test_ranges_leave_the_oddest_panels_out():
    lessons = [values_of("mnist")._replace(values=np.full((1, 1, len(NAMES)), n, np.float16)) for n in range(11)]
    lowest, highest = panel_ranges(lessons, share=0.1)
    np.testing.assert_allclose([lowest, highest], np.repeat([[1.0], [9.0]], len(PANEL), axis=1))
