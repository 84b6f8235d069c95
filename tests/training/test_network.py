"""The network answers with probabilities, whatever the order of classes and however much padding there is."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from panels_of_quality import hard, soft
from training.features import GROUPS, NAMES, features_of
from training.network import AVERAGE, LEAST, Network, answer

ROUNDING = 1e-5
"""Single precision, logarithms up to 12."""


@pytest.fixture
def network():
    """One with random weights, which is far from the average."""
    torch.manual_seed(0)
    network = Network(8)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return network.eval()


@pytest.fixture
def values():
    return torch.from_numpy(features_of(soft(n_items=20)).values)


def all_there(values):
    return torch.ones(values.shape[:2], dtype=torch.bool)


def answered(network, values, is_there=None):
    with torch.no_grad():
        return network(values, all_there(values) if is_there is None else is_there).numpy()


def test_rows_sum_to_one(network, values):
    np.testing.assert_allclose(np.exp(answered(network, values)).sum(axis=1), 1, atol=ROUNDING)


def test_answers_follow_permuted_classes(network, values):
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(
        answered(network, values[:, order]), answered(network, values)[:, order], rtol=ROUNDING, atol=ROUNDING
    )


def test_padding_changes_nothing(network, values):
    padded = torch.cat([values, torch.full((20, 3, len(NAMES)), 7.0)], dim=1)
    is_there = torch.arange(7).expand(20, 7) < 4
    found = answered(network, padded, is_there)
    np.testing.assert_allclose(found[:, :4], answered(network, values), rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_allclose(found[:, 4:], np.log(LEAST), rtol=ROUNDING)


def test_an_untrained_network_averages(values):
    np.testing.assert_allclose(np.exp(answered(Network(8), values)), values[..., AVERAGE].numpy(), atol=ROUNDING)


def test_a_feature_that_is_left_out_has_no_effect(network, values):
    name = f"item: {GROUPS['item'][0]}"
    changed = values.clone()
    changed[..., NAMES.index(name)] += 0.3
    network.standardize(values.reshape(-1, len(NAMES)))
    assert not np.allclose(answered(network, changed), answered(network, values), atol=ROUNDING)
    network.standardize(values.reshape(-1, len(NAMES)), left_out=(name,))
    np.testing.assert_array_equal(answered(network, changed), answered(network, values))


def test_classes_that_are_no_candidates_keep_their_average(network):
    found = features_of(hard(n_items=10, n_classes=60))
    posterior = answer([network, Network(8)], found)
    is_candidate = np.zeros(posterior.shape, dtype=bool)
    np.put_along_axis(is_candidate, found.candidates, values=True, axis=1)
    np.testing.assert_allclose(posterior.sum(axis=1), 1)
    np.testing.assert_allclose(posterior[~is_candidate], found.average[~is_candidate], rtol=1e-4)
    assert not np.allclose(posterior[is_candidate], found.average[is_candidate], atol=1e-3)
