"""The network that torch trains is the one that the library answers with."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import consilience as cs
from consilience.answering.learned.features import NAMES, PANEL
from consilience.answering.learned.network import contents
from panels_of_quality import hard, soft
from training.features import AVERAGE, features_of
from training.network import Network, answer, exported

ROUNDING = 1e-5
"""Single precision, logarithms up to 12."""


def far_from_the_average(seed=0):
    torch.manual_seed(seed)
    network = Network(8)
    for weights in network.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    network.standardize(torch.randn(50, len(NAMES)))
    return network.eval()


@pytest.fixture
def values():
    return torch.from_numpy(features_of(soft(n_items=20)).values)


def answered(network, values):
    n_items, n_classes, n_features = values.shape
    item = torch.arange(n_items).repeat_interleave(n_classes)
    with torch.no_grad():
        return network(values.reshape(-1, n_features), item, n_items).reshape(n_items, n_classes).numpy()


def test_rows_sum_to_one(values):
    np.testing.assert_allclose(np.exp(answered(far_from_the_average(), values)).sum(axis=1), 1, atol=ROUNDING)


def test_answers_follow_permuted_classes(values):
    order, network = [2, 0, 3, 1], far_from_the_average()
    expected = answered(network, values)[:, order]
    np.testing.assert_allclose(answered(network, values[:, order]), expected, rtol=ROUNDING, atol=ROUNDING)


def test_an_untrained_network_averages(values):
    np.testing.assert_allclose(np.exp(answered(Network(8), values)), values[..., AVERAGE].numpy(), atol=ROUNDING)


def test_a_feature_that_is_left_out_has_no_effect(values):
    name, network = NAMES[-1], far_from_the_average()
    changed = values.clone()
    changed[..., -1] += 0.3
    network.standardize(values.reshape(-1, len(NAMES)))
    assert not np.allclose(answered(network, changed), answered(network, values), atol=ROUNDING)
    network.standardize(values.reshape(-1, len(NAMES)), left_out=(name,))
    np.testing.assert_array_equal(answered(network, changed), answered(network, values))


@pytest.mark.parametrize("panel", [soft(n_items=30), hard(n_items=30, n_classes=40)], ids=["soft", "hard, 40 classes"])
def test_the_library_answers_as_torch_does(panel, tmp_path):
    networks = [far_from_the_average(seed) for seed in range(2)]
    for network in networks[1:]:  # all saw the same lessons
        network.mean.copy_(networks[0].mean)
        network.deviation.copy_(networks[0].deviation)
    wide = (np.full(len(PANEL), -100.0), np.full(len(PANEL), 100.0))
    np.savez(tmp_path / "weights.npz", **contents(exported(networks, wide)))
    fitted = cs.Consensus(weights=tmp_path / "weights.npz").fit(panel.predictions)
    # Among many classes, the library lets those that tie with the last candidate share alike.
    np.testing.assert_allclose(fitted.posterior_, answer(networks, features_of(panel)), atol=1e-3)


def test_what_was_left_out_is_exported_as_zero():
    network = far_from_the_average()
    network.standardize(torch.randn(50, len(NAMES)), left_out=(NAMES[3],))
    weights = exported([network], (np.zeros(len(PANEL)), np.ones(len(PANEL))))
    assert not weights.first[:, 3].any() and weights.first[:, 4].any()
    assert np.isfinite(weights.deviation).all()
