"""Values that others computed or published."""

import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs

HERE = Path(__file__).parent


def test_bcc_reference_case():
    """Variational BCC of 40 items, 4 members and 3 classes, computed by a program of its own."""
    case = json.loads((HERE / "bcc_reference.json").read_text())
    predictions = cs.Predictions.from_labels(np.array(case["labels"]).T, 3)
    bcc = cs.BayesianClassifierCombination(max_iter=1000, tol=None).fit(predictions)
    np.testing.assert_allclose(bcc.posterior_, case["posterior"], atol=1e-9)
    np.testing.assert_allclose(bcc.parameters_.confusion, case["alpha"], atol=1e-9)
    np.testing.assert_allclose(bcc.parameters_.classes, case["nu"], atol=1e-9)
    assert bcc.history_[-1] == pytest.approx(case["elbo"], abs=1e-9)


def test_dawid_and_skenes_own_table(anaesthetists):
    """1979, table 2: marginals .40 .42 .11 .07."""
    ds = cs.DawidSkene(smoothing=0, max_iter=1000, tol=1e-13).fit(anaesthetists)
    np.testing.assert_allclose(ds.class_prior_, [0.40, 0.42, 0.11, 0.07], atol=0.005)
    assert ds.history_[-1] == pytest.approx(-192.89, abs=0.005)


ERRORS = {"bluebird": (24.1, 10.2), "rte": (10.3, 7.3), "dog": (17.8, 15.7), "web": (26.9, 17.4)}


@pytest.mark.parametrize("name", ERRORS)
def test_error_rates_of_crowds(crowd, name):
    predictions, gold = crowd(name)
    is_known = gold >= 0
    by_vote, by_em = ERRORS[name]
    shares = cs.MajorityVote().fit(predictions).posterior_[is_known]
    is_winner = shares == shares.max(axis=1, keepdims=True)
    # Ties count by the chance that a random choice among the winners is right, as the published rates do.
    right = is_winner[np.arange(is_known.sum()), gold[is_known]] / is_winner.sum(axis=1)
    assert 100 * (1 - right.mean()) == pytest.approx(by_vote, abs=0.06)
    for smoothing in (0.0, 0.01):
        ds = cs.DawidSkene(smoothing=smoothing, max_iter=1000).fit(predictions)
        error = 100 * (ds.posterior_.argmax(axis=1) != gold)[is_known].mean()
        assert error == pytest.approx(by_em, abs=0.5)


@pytest.mark.parametrize(("angle", "average", "fused"), [(0, 0.976, 0.976), (15, 0.730, 0.840), (30, 0.437, 0.565)])
def test_our_own_classifiers_under_shift(angle, average, fused):
    """What the demo prints; the panel is part of the project, so that this runs everywhere."""
    predictions, labels = cs.datasets.shifted_digits(angle)
    scores = {row["method"]: row for row in cs.compare(predictions, labels).rows()}
    assert scores["Average"]["accuracy"] == pytest.approx(average, abs=0.001)
    assert scores["Consensus"]["accuracy"] == pytest.approx(fused, abs=0.005)
    assert scores["Consensus"]["nll"] < scores["Average"]["nll"]
    assert scores["SoftDawidSkene"]["brier"] <= scores["Average"]["brier"]


@pytest.mark.parametrize("make", [cs.datasets.tumour_rules, cs.datasets.rare_eights])
def test_consensus_stays_near_the_average_on_our_own_panels(make):
    """Rules that copy each other and a rare class: at most half a point of accuracy lost, and a better NLL."""
    predictions, labels = make()
    scores = {row["method"]: row for row in cs.compare(predictions, labels).rows()}
    assert scores["Consensus"]["accuracy"] >= scores["Average"]["accuracy"] - 0.005
    assert scores["Consensus"]["nll"] <= scores["Average"]["nll"]


def test_real_networks_under_shift(shared):
    data = shared("cifar10_resnets.npz")
    predictions = cs.Predictions.from_logits(data["jpeg_logits"], members=data["members"])
    labels = data["labels"].astype(int)
    scores = {row["method"]: row for row in cs.compare(predictions, labels).rows()}
    assert scores["Average"]["accuracy"] == pytest.approx(0.859, abs=0.002)
    assert scores["SoftDawidSkene"]["accuracy"] >= scores["Average"]["accuracy"]
    assert scores["SoftDawidSkene"]["brier"] <= scores["Average"]["brier"]
    assert scores["Consensus"]["accuracy"] >= scores["Average"]["accuracy"]


@pytest.mark.parametrize("name", ["clean_logits", "jpeg_logits", "prompts"])
def test_consensus_stays_near_the_average_on_real_networks(shared, name):
    """Networks that are alike and prompts that all know little: at most half a point and 6 % of the NLL lost."""
    data = shared("mmlu_prompts.npz" if name == "prompts" else "cifar10_resnets.npz")
    labels = data["labels"].astype(int)
    predictions = cs.Predictions(data["probabilities"]) if name == "prompts" else cs.Predictions.from_logits(data[name])
    consensus, average = (method.fit(predictions).posterior_ for method in (cs.Consensus(), cs.Average()))
    assert cs.metrics.accuracy(consensus, labels) >= cs.metrics.accuracy(average, labels) - 0.005
    assert cs.metrics.nll(consensus, labels) <= 1.06 * cs.metrics.nll(average, labels)


@pytest.mark.parametrize("name", ERRORS)
def test_consensus_beats_the_vote_on_crowds(crowd, name):
    predictions, gold = crowd(name)
    is_known = gold >= 0
    posterior = cs.Consensus().fit(predictions).posterior_
    error = 100 * (posterior.argmax(axis=1) != gold)[is_known].mean()
    assert error < ERRORS[name][0]
