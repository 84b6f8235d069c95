"""The network that torch trains is the one that the library answers with."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import consilience as cs
from consilience.aggregators.consensus.class_shares import MANY, ClassShares
from consilience.aggregators.consensus.label_free_fit import fit_panel
from consilience.aggregators.consensus.learned.experts import FEATURE_NAMES, MEMBER_TRAITS, PANEL_TRAITS
from consilience.aggregators.consensus.learned.network import LearnedRule, contents, read
from consilience.aggregators.consensus.panel import traits_of
from panels_of_quality import hard, soft
from training.crossfit import answer
from training.features import features_of
from training.fit import Batch, rows_of, with_stated
from training.network import AVERAGE, Network, exported

ROUNDING = 1e-5
"""Single precision, logarithms up to 12."""

WIDE = (np.full(len(PANEL_TRAITS), -100.0), np.full(len(PANEL_TRAITS), 100.0))
"""Ranges of the panels' traits that no panel leaves."""


def any_values(n_rows=50):
    """What the scale of features is learned from."""
    none = Batch(*[torch.zeros(0)] * len(Batch._fields))
    return none._replace(
        values=torch.randn(n_rows, len(FEATURE_NAMES)), members=torch.randn(n_rows, len(MEMBER_TRAITS))
    )


def far_from_the_average(seed=0):
    torch.manual_seed(seed)
    network = Network(8)
    for name, weights in network.named_parameters():
        torch.nn.init.normal_(weights, std=0.1 if name.startswith("member") else 0.3)
    torch.manual_seed(0)  # all saw the same lessons
    network.standardize(any_values())
    return network.eval()


def batch_of(features):
    """All items of a panel."""
    numpys = rows_of(features, np.arange(len(features.pair)))
    tensors = Batch(*(torch.from_numpy(np.ascontiguousarray(part)) for part in numpys))
    return Batch(*(part.float() if part.is_floating_point() else part for part in tensors))


@pytest.fixture
def features():
    return features_of(soft(n_items=20))


def answered(network, features):
    with torch.no_grad():
        return network(batch_of(features)).reshape(features.candidates.shape).numpy()


def test_rows_sum_to_one(features):
    np.testing.assert_allclose(np.exp(answered(far_from_the_average(), features)).sum(axis=1), 1, atol=ROUNDING)


def test_answers_follow_permuted_classes(features):
    order, network = [2, 0, 3, 1], far_from_the_average()
    turned = features._replace(
        pair=features.pair[:, order], classes=features.classes[order], own=features.own[:, order]
    )._replace(said=features.said[:, order])
    expected = answered(network, features)[:, order]
    np.testing.assert_allclose(answered(network, turned), expected, rtol=ROUNDING, atol=ROUNDING)


def test_answers_do_not_depend_on_the_order_of_members(features):
    order, network = np.array([3, 0, 5, 1, 4, 2]), far_from_the_average()
    turned = features._replace(members=features.members[order], answer_member=np.argsort(order)[features.answer_member])
    np.testing.assert_allclose(answered(network, turned), answered(network, features), atol=1e-4)


def test_an_untrained_network_averages(features):
    expected = batch_of(features).values[:, AVERAGE].reshape(20, 4)
    np.testing.assert_allclose(np.exp(answered(Network(8), features)), expected, atol=ROUNDING)


def test_evidence_is_each_answers_times_the_power_of_its_member(features):
    """By a loop over entries."""
    network, batch = far_from_the_average(), batch_of(features)
    expected, scale = np.zeros(len(batch.values)), slice(-len(PANEL_TRAITS), None)
    panel = (features.panel - network.mean[scale].numpy()) / network.deviation[scale].numpy()
    with torch.no_grad():
        for number, member in enumerate(features.members):
            own = (member - network.member_mean.numpy()) / network.member_deviation.numpy()
            traits = torch.from_numpy(np.clip(np.concatenate([own, panel]), -5, 5).astype(np.float32))
            powers = network.member_last(torch.relu(network.member_first(traits))).numpy()
            powers = powers / np.sqrt(len(features.answer_item) / 20)  # 20 items
            for answer_ in np.flatnonzero(features.answer_member == number):
                rows = 4 * features.answer_item[answer_] + np.arange(4)
                expected[rows] += powers[0] * features.own[answer_] + powers[1] * features.said[answer_]
        np.testing.assert_allclose(network._evidence(batch), expected, rtol=1e-4, atol=1e-4)


def test_without_members_there_is_no_evidence(features):
    network = Network(8, has_members=False)
    assert not network._evidence(batch_of(features)).any()


def test_a_feature_that_is_left_out_has_no_effect(features):
    name, network = "panel: log items", far_from_the_average()
    panel = features.panel.copy()
    panel[PANEL_TRAITS.index("log items")] += 0.3
    changed = features._replace(panel=panel)
    assert not np.allclose(answered(network, changed), answered(network, features), atol=ROUNDING)
    network.standardize(any_values(), left_out=(name,))
    np.testing.assert_array_equal(answered(network, changed), answered(network, features))


# ---- as the library has it --------------------------------------------------------------------------------


def undecided():
    """Some answers name no class, and one member is silent."""
    panel = soft(n_items=30, missing=0.3)
    panel.probabilities[2, ::3] = [0.35, 0.35, 0.2, 0.1]
    panel.probabilities[5] = np.nan
    return panel


PANELS = {
    "probabilities": soft(n_items=30, missing=0),
    "missing": soft(n_items=30, missing=0.3),
    "undecided": undecided(),
    "votes": hard(n_items=30, missing=0.3),
    "probabilities, 40 classes": soft(n_items=30, n_classes=40, missing=0.2),
    "votes, 40 classes": hard(n_items=30, n_classes=40),
}


@pytest.mark.parametrize("n_counted", [None, 50, MANY], ids=["nothing stated", "counted", "exact"])
@pytest.mark.parametrize("name", PANELS)
def test_the_library_answers_as_torch_does(name, n_counted, tmp_path):
    panel, networks = PANELS[name], [far_from_the_average(seed) for seed in range(2)]
    np.savez(tmp_path / "weights.npz", **contents(exported(networks, WIDE)))
    shares = np.random.default_rng(0).dirichlet(np.ones(panel.n_classes))
    stated = None if n_counted is None else ClassShares(shares, n_counted)
    finding, features = fit_panel(panel.predictions, None), features_of(panel)
    if stated is None:
        found = cs.Consensus(weights=tmp_path / "weights.npz").fit(panel.predictions).posterior_
    else:
        features = with_stated(features, stated, panel.n_items)
        traits = traits_of(finding, stated)
        found = LearnedRule(finding.experts, traits, read(tmp_path / "weights.npz")).posterior(panel.predictions)
    expected = answer(networks, features)
    assert np.abs(expected - features.average).max() > 0.05
    # Among many classes, the library lets those that tie with the last candidate share alike.
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-3 if name == "votes, 40 classes" else 2e-4)


@pytest.mark.parametrize("make", [soft, hard], ids=["probabilities", "votes"])
def test_half_precision_changes_little(make):
    """Lessons are stored in it, and so are exams."""
    features, networks = features_of(make(n_items=60)), [far_from_the_average()]
    short = {name: getattr(features, name).astype(np.float16) for name in ("pair", "item", "own", "said")}
    np.testing.assert_allclose(answer(networks, features._replace(**short)), answer(networks, features), atol=1e-2)


def test_what_was_left_out_is_exported_as_zero():
    network = far_from_the_average()
    network.standardize(any_values(), left_out=(FEATURE_NAMES[3], FEATURE_NAMES[-2]))
    weights = exported([network], (np.zeros(len(PANEL_TRAITS)), np.ones(len(PANEL_TRAITS))))
    assert not weights.first[:, 3].any() and weights.first[:, 4].any()
    assert not any(table[:, -2].any() for table in (weights.first, weights.panel_first, weights.member_first))
    assert all(table[:, -1].any() for table in (weights.first, weights.panel_first, weights.member_first))
    assert np.isfinite(weights.deviation).all()
