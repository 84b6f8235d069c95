"""Algorithm 1 written plainly is `SoftDawidSkene.paper()`, and each other reading of it is another."""

import numpy as np
import pytest

pytest.importorskip("torch")

import consilience as cs
from paper.algorithm_1 import Algorithm1


def some_panel(n_named=5):
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(3, 80, 5))
    logits[:, np.arange(80), rng.integers(n_named, size=80)] += 2
    logits[:, :, n_named:] -= 20
    return cs.Predictions(np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True))


@pytest.mark.parametrize("preset", ["mnist", "cifar100", "imagenet"])
@pytest.mark.parametrize("moments", ["kept", "anew"])
@pytest.mark.parametrize("n_named", [4, 5])
def test_it_is_the_packages(preset, moments, n_named):
    panel = some_panel(n_named)
    expected = cs.SoftDawidSkene.paper(preset).set_params(optimizer_moments=moments).fit(panel).posterior_
    np.testing.assert_allclose(Algorithm1(preset=preset, moments=moments).fit(panel).posterior_, expected, atol=1e-8)


OTHERS = [
    {"first_step": "M"},
    {"learns_from": "new"},
    {"averages": "logarithms"},
    {"decay": "gradient"},
    {"matrices": "said"},
    {"optimized": "logarithms"},
]


@pytest.mark.parametrize("options", OTHERS, ids=str)
def test_other_readings_give_other_probabilities(options):
    panel = some_panel()
    usual, other = (Algorithm1(preset="mnist", **given).fit(panel).posterior_ for given in ({}, options))
    np.testing.assert_allclose(other.sum(axis=1), 1, atol=1e-9)
    assert np.abs(other - usual).max() > 1e-7


def test_a_sum_is_a_mean_to_the_optimizer():
    """Adam's steps do not depend on the size of the gradient, but for its epsilon."""
    panel = some_panel()
    mean, total = (Algorithm1(preset="mnist", loss=loss).fit(panel).posterior_ for loss in ("mean", "sum"))
    assert 0 < np.abs(mean - total).max() < 1e-4
