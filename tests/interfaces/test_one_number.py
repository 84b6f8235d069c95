"""A member has one accuracy, and one method gives the fused answer, wherever they are shown."""

import json

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import consilience as cs
from consilience.report.page import report_payload

NAMES = ("estimated accuracy", "from", "to")


@pytest.fixture
def everywhere(run, arrays):
    """The accuracies of the members and of the fused answer, by door; by labels where they are given."""

    def find(*options):
        predictions = cs.Predictions({name[:-4]: np.load(name) for name in arrays})
        truth = np.load("truth.npy") if options else None
        diagnosis = cs.diagnose(predictions, labels=truth)
        _, out, _ = run("aggregate", *arrays, *options, "--json")
        summary = json.loads(out)
        payload = report_payload(predictions, labels=truth)
        rows = sorted(payload["members"]["rows"], key=lambda row: row["member"])
        compared = {row["method"]: row for row in cs.compare(predictions, truth).rows()}
        return {
            "diagnose": ([diagnosis.members[name] for name in NAMES], diagnosis.answers["fused answer"][:3]),
            "aggregate": (
                [[row[name] for row in summary["members"]] for name in NAMES],
                [summary["answers"]["fused answer"][name] for name in NAMES],
            ),
            "report": (
                [[row[name] for row in rows] for name in ("value", "low", "high")],
                [payload["opening"]["fused"][name] for name in ("value", "low", "high")],
            ),
            "compare": (None, [compared["Consensus"].get(name) for name in ("accuracy", "from", "to")]),
        }

    return find


@pytest.mark.parametrize("options", [[], ["--labels", "truth.npy"]])
def test_every_door_shows_the_same_numbers(everywhere, options):
    found = everywhere(*options)
    members, fused = found["diagnose"]
    for door, (of_members, of_fused) in found.items():
        shown, expected = zip(*((a, b) for a, b in zip(of_fused, fused, strict=True) if a is not None), strict=True)
        assert len(shown) == 3 or not options, door  # without labels some doors show the interval alone
        np.testing.assert_allclose(shown, expected, atol=1e-4, err_msg=door)  # the page is rounded
        if of_members is not None:
            np.testing.assert_allclose(of_members, members, atol=1e-4, err_msg=door)


def test_the_default_of_every_door_is_consensus(run, arrays):
    predictions = cs.Predictions([np.load(name) for name in arrays])
    _, out, _ = run("aggregate", *arrays, "--json")
    assert json.loads(out)["method"] == "Consensus"
    assert report_payload(predictions)["made"]["method"] == "Consensus"
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    x = rng.normal(size=(80, 3)) + y[:, None]
    members = [("lr", LogisticRegression()), ("nb", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2))]
    assert isinstance(cs.EnsembleClassifier(members, cv=2).fit(x, y).aggregator_, cs.Consensus)


def test_a_member_with_ties_has_the_accuracy_of_the_metrics():
    """A member that cannot decide is wrong about as often as a guess; its other answers alone would look better."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=400)
    torn = np.eye(2)[truth] * 0.8 + 0.1
    torn[:240] = 0.5
    others = [np.eye(2)[np.where(rng.random(400) < 0.8, truth, 1 - truth)] for _ in range(2)]
    p = cs.Predictions({"torn": torn, "ann": others[0], "bob": others[1]})
    expected = cs.metrics.accuracy(torn, truth)
    assert expected < 0.8
    rows = {row["member"]: row for row in cs.diagnose(p, labels=truth).members.rows()}
    assert rows["torn"]["estimated accuracy"] == pytest.approx(expected)
    compared = {row["member"]: row["accuracy"] for row in cs.compare(p, truth).rows() if row["member"]}
    assert compared.get("torn", expected) == pytest.approx(expected)
