"""What a report says, as numbers: the payload against the functions it stands for."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.report.page import embedded, report_payload

from simulate import diagonal_confusion, labels_from_confusion, named, softmax_members


def crowd(n_members=300, n_items=600, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    confusion = diagonal_confusion(rng.uniform(0.4, 0.95, n_members), n_classes)
    labels, truth = labels_from_confusion(rng, confusion, np.full(n_classes, 1 / n_classes), n_items)
    labels[rng.random(labels.shape) > np.linspace(0.02, 0.3, n_members)[:, None]] = -1
    labels[0] = np.maximum(labels[0], 0)
    return labels, truth


def test_it_is_json_without_nan(payload):
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload


def test_changed_items_come_first(digits, fitted, payload):
    p, labels = digits
    consensus, average = fitted.predict_proba(p).argmax(axis=1), cs.Average().fit(p).posterior_.argmax(axis=1)
    changed = np.flatnonzero(consensus != average)
    rows = payload["items"]["rows"]
    assert payload["items"]["changed"] == len(changed) > 5
    assert {int(row["name"]) for row in rows[: len(changed)]} == set(changed.tolist())
    for row in rows:
        item = int(row["name"])
        assert (row["chosen"], row["average"], row["truth"]) == (consensus[item], average[item], labels[item])


def test_items_to_label_are_those_of_suggest(digits, fitted, payload):
    p, labels = digits
    rows, suggested = payload["suggestions"], cs.suggest(p, named(labels, p), n=10, aggregator=fitted)
    assert [row["name"] for row in rows] == [str(item) for item in suggested.items]
    assert [p.classes[row["answer"]] for row in rows] == [row.answer for row in suggested]
    assert [row["why"] for row in rows] == [row.why for row in suggested]
    assert all(labels[int(row["name"])] == -1 for row in rows)


def test_labels_only_measure(digits):
    p, labels = digits
    without, wrong = report_payload(p), report_payload(p, labels=named(np.where(labels < 0, -1, (labels + 1) % 4), p))
    assert not without["opening"]["fused"]["measured"]
    assert wrong["opening"]["fused"]["measured"] and wrong["opening"]["fused"]["value"] < 0.2
    assert without["agreement"] == wrong["agreement"]
    chosen = [[(row["name"], row["chosen"]) for row in payload["items"]["rows"]] for payload in (without, wrong)]
    assert chosen[0] == chosen[1]


def test_labels_follow_the_classes_of_the_caller(digits, fitted):
    p, labels = digits
    order = [3, 1, 0, 2]
    shuffled = cs.Predictions(p.to_array()[:, :, order], members=p.members, classes=[p.classes[k] for k in order])
    names = named(labels, p)
    bare = cs.Predictions(p.to_array())
    given = [(p, names), (shuffled, names), (bare, names)]
    found = [report_payload(some, known, aggregator=fitted, most_items=1)["opening"]["fused"] for some, known in given]
    assert all(other == found[0] for other in found)


def test_an_unfitted_aggregator_stays_so(digits):
    method = cs.DawidSkene()
    report_payload(digits[0], aggregator=method, most_items=1)
    assert not hasattr(method, "members_")


def test_a_crowd_shows_some_and_says_how_many_there_are():
    labels, truth = crowd()
    payload = report_payload(cs.Predictions.from_labels(labels, 3), truth, aggregator=cs.DawidSkene(), most_items=50)
    card = payload["members"]
    assert len(card["rows"]) == payload["sizes"]["members"] == 300  # the card lists all members of up to 500
    assert sorted(payload["opening"]["ranking"]) == [row["member"] for row in card["rows"]]
    assert len(payload["agreement"]["members"]) == 30
    assert payload["calibration"]["without_confidence"] == 12
    assert payload["sizes"]["soft_members"] == 0
    shown = {part["member"] for row in payload["items"]["rows"] for part in row["why"]["members"]}
    assert shown <= {int(place) for place in payload["member_names"]}
    assert any(row["why"]["others"] > 0 for row in payload["items"]["rows"])


def test_a_thousand_classes_stay_small():
    array, truth = softmax_members(np.random.default_rng(0), [9, 8, 7], 60, 1000)
    payload = report_payload(array, truth, aggregator=cs.Average())
    assert len(embedded(payload)) < 300_000
    assert not payload["confusion"]["matrices"] and payload["confusion"]["members"][0]["rates"] is None
    assert len(payload["confusion"]["together"]["pairs"]) == 20
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
    given = report_payload(tensor, named(labels, p), aggregator=fitted, most_items=20)
    assert given["opening"] == report_payload(p, named(labels, p), aggregator=fitted, most_items=20)["opening"]
