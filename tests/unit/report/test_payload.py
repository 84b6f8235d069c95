"""What a report says, as numbers: the payload against the functions it stands for."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.report.page import embedded
from consilience.report.payload import report_payload

from simulate import diagonal_confusion, labels_from_confusion, named, softmax_members

ROUNDING = 5e-5
"""Of the four digits that are kept."""


def crowd(n_members=300, n_items=600, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    confusion = diagonal_confusion(rng.uniform(0.4, 0.95, n_members), n_classes)
    labels, truth = labels_from_confusion(rng, confusion, np.full(n_classes, 1 / n_classes), n_items)
    labels[rng.random(labels.shape) > np.linspace(0.02, 0.3, n_members)[:, None]] = -1
    labels[0] = np.maximum(labels[0], 0)
    return labels, truth


def test_it_is_json_without_nan(payload):
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


def test_scores_are_those_of_the_metrics(digits, fitted, payload):
    p, labels = digits
    is_known = labels >= 0
    for name, posterior in (("consensus", fitted.predict_proba(p)), ("average", cs.Average().fit(p).posterior_)):
        truth, rows = labels[is_known], posterior[is_known]
        assert payload["summary"]["scores"][name] == pytest.approx(
            {
                "accuracy": cs.metrics.accuracy(rows, truth),
                "nll": cs.metrics.nll(rows, truth),
                "brier": cs.metrics.brier_score(rows, truth),
                "ece": cs.metrics.calibration_error(rows, truth),
            },
            abs=ROUNDING,
        )
        panel = next(panel for panel in payload["calibration"]["panels"] if panel["kind"] == name)
        curve = cs.reliability_curve(rows, truth)
        assert panel["curve"]["items"] == curve.n_items.tolist()
        shown = [np.nan if value is None else value for value in panel["curve"]["accuracy"]]
        np.testing.assert_allclose(shown, curve.accuracy, atol=ROUNDING)
        assert sum(panel["histogram"]) == p.n_items


def test_changed_items_come_first_and_labels_tell_what_changes_did(digits, fitted, payload):
    p, labels = digits
    consensus, average = fitted.predict_proba(p).argmax(axis=1), cs.Average().fit(p).posterior_.argmax(axis=1)
    changed = np.flatnonzero(consensus != average)
    rows = payload["items"]["rows"]
    assert payload["summary"]["changed"] == payload["items"]["changed"] == len(changed) > 5
    assert {int(row["name"]) for row in rows[: len(changed)]} == set(changed.tolist())
    for row in rows:
        item = int(row["name"])
        assert (row["chosen"], row["average"], row["truth"]) == (consensus[item], average[item], labels[item])
    assert payload["summary"]["changes"] == {
        "helped": int(((consensus == labels) & (average != consensus)).sum()),
        "hurt": int(((average == labels) & (average != consensus)).sum()),
        "neither": int(((labels >= 0) & (average != labels) & (consensus != labels) & (average != consensus)).sum()),
    }


def test_items_to_label_are_those_of_suggest(digits, fitted, payload):
    p, labels = digits
    rows, suggested = payload["suggestions"], cs.suggest(p, 10, named(labels, p), aggregator=fitted)
    assert [row["name"] for row in rows] == [str(item) for item in suggested.items]
    assert [p.classes[row["answer"]] for row in rows] == [row.answer for row in suggested]
    assert [row["why"] for row in rows] == [row.why for row in suggested]
    assert all(labels[int(row["name"])] == -1 for row in rows)


def test_labels_only_score(digits):
    p, labels = digits
    without, wrong = report_payload(p), report_payload(p, labels=named(np.where(labels < 0, -1, (labels + 1) % 4), p))
    assert without["summary"]["scores"] is None
    assert wrong["summary"]["scores"]["consensus"]["accuracy"] < 0.2
    for key in ("confusion", "agreement", "warnings"):
        assert without[key] == wrong[key]
    chosen = [[(row["name"], row["chosen"]) for row in payload["items"]["rows"]] for payload in (without, wrong)]
    assert chosen[0] == chosen[1]


def test_labels_follow_the_classes_of_the_caller(digits, fitted):
    p, labels = digits
    order = [3, 1, 0, 2]
    shuffled = cs.Predictions(p.to_array()[:, :, order], members=p.members, classes=[p.classes[k] for k in order])
    names = named(labels, p)
    bare = cs.Predictions(p.to_array())
    given = [(p, names), (shuffled, names), (bare, names)]
    scores = [report_payload(some, fitted, known, most_items=1)["summary"]["scores"] for some, known in given]
    assert all(other == scores[0] for other in scores)


def test_an_unfitted_aggregator_stays_so(digits):
    method = cs.DawidSkene()
    assert report_payload(digits[0], method, most_items=1)["method"]["fitted_here"]
    assert not hasattr(method, "members_")


def test_a_crowd_shows_some_and_says_how_many_there_are():
    labels, truth = crowd()
    payload = report_payload(cs.Predictions.from_labels(labels, 3), cs.DawidSkene(), truth, most_items=50)
    card = payload["card"]
    assert (len(card["rows"]), card["total"]) == (60, 300)
    assert len(payload["confusion"]["members"]) == 12
    assert len(payload["agreement"]["members"]) == 30
    assert payload["calibration"]["without_confidence"] == 12
    assert payload["sizes"]["soft_members"] == 0
    shown = {part["member"] for row in payload["items"]["rows"] for part in row["why"]["members"]}
    assert shown <= {int(place) for place in payload["member_names"]}
    assert any(row["why"]["others"] > 0 for row in payload["items"]["rows"])


def test_a_thousand_classes_stay_small():
    array, truth = softmax_members(np.random.default_rng(0), [9, 8, 7], 60, 1000)
    payload = report_payload(array, cs.Average(), truth)
    assert len(embedded(payload)) < 300_000
    member = payload["confusion"]["members"][0]
    assert np.shape(member["rates"]) == (20, 21)  # the last column is all other classes
    assert np.sum(member["rates"], axis=1).max() <= 1 + 21 * ROUNDING
    why = payload["items"]["rows"][0]["why"]
    assert len(why["classes"]) == 10 and {why["winner"], why["rival"]} <= set(why["classes"])


def test_one_member_and_one_item():
    payload = report_payload([[[0.7, 0.3]]], most_items=5)
    assert [row["chosen"] for row in payload["items"]["rows"]] == [0]
    assert payload["agreement"]["members"] == [0]


def test_torch_comes_in_too(digits, fitted):
    torch = pytest.importorskip("torch")
    p, labels = digits
    tensor = cs.Predictions(torch.as_tensor(p.to_array()), members=p.members, classes=p.classes)
    given = report_payload(tensor, fitted, named(labels, p), most_items=20)
    assert given["summary"] == report_payload(p, fitted, named(labels, p), most_items=20)["summary"]


def test_labels_learned_from_are_told(digits):
    predictions, labels = digits
    taught = cs.Consensus().fit(predictions, named(np.where(np.arange(400) < 60, labels, -1), predictions))
    assert report_payload(predictions, taught)["method"]["labels"] == int((labels[:60] >= 0).sum())
    assert report_payload(predictions, cs.Consensus().fit(predictions))["method"]["labels"] == 0
