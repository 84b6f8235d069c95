"""What a report says, as numbers: the payload against the functions it stands for."""

import json
import re

import numpy as np
import pytest

import consilience as cs
from consilience.report import write_report
from consilience.report.page import embedded, page
from consilience.report.payload import report_payload
from consilience.report.selection import classes_to_show, largest_cells, members_to_show

from simulate import diagonal_confusion, labels_from_confusion, softmax_members

ROUNDING = 5e-5
"""Of the four digits that are kept."""


@pytest.fixture(scope="module")
def digits():
    """Five members, some answers missing, and the truth of two thirds of the items."""
    array, truth = softmax_members(np.random.default_rng(3), [3, 2, 1.5, 1, 0.2], 400, 4, missing=0.1)
    labels = np.where(np.arange(400) % 3 == 0, -1, truth)
    return cs.Predictions(array, members=list("abcde"), classes=["cat", "dog", "fox", "owl"]), labels


@pytest.fixture(scope="module")
def fitted(digits):
    return cs.DawidSkene().fit(digits[0])


@pytest.fixture(scope="module")
def payload(digits, fitted):
    return report_payload(digits[0], fitted, digits[1])


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


def test_members_are_scored_where_they_answered(digits, payload):
    p, labels = digits
    for row, rows in zip(payload["card"]["rows"], p.to_array(), strict=True):
        is_in = (labels >= 0) & ~np.isnan(rows[:, 0])
        assert row["accuracy"] == pytest.approx(cs.metrics.accuracy(rows[is_in], labels[is_in]), abs=ROUNDING)
        assert row["ece"] == pytest.approx(cs.metrics.calibration_error(rows[is_in], labels[is_in]), abs=ROUNDING)
        assert row["answers"] == (~np.isnan(rows[:, 0])).sum()


def test_members_are_diagnosed(digits, fitted, payload):
    diagnosis = cs.diagnose(digits[0], fitted)
    assert [row["estimated"] for row in payload["card"]["rows"]] == pytest.approx(
        diagnosis.members["estimated accuracy"], abs=ROUNDING
    )
    assert payload["warnings"] == diagnosis.warnings
    np.testing.assert_allclose(payload["agreement"]["dependence"], diagnosis.dependence, atol=ROUNDING)
    assert payload["summary"]["effective_members"] == pytest.approx(diagnosis.effective_members, abs=0.005)
    rates = [member["rates"] for member in payload["confusion"]["members"]]
    np.testing.assert_allclose(rates, diagnosis.confusion, atol=ROUNDING)


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


def test_every_item_is_there_once_and_says_why(payload):
    rows = payload["items"]["rows"]
    assert len({row["name"] for row in rows}) == len(rows) == 300
    assert sum(payload["items"]["reasons"].values()) == 300
    disputed = [row["against"] / row["answers"] for row in rows if row["reason"] == "disputed"]
    assert max(disputed) == max(row["against"] / row["answers"] for row in rows if row["reason"] != "changed")


def test_items_to_label_are_those_of_suggest(digits, fitted, payload):
    p, labels = digits
    rows, suggested = payload["suggestions"], cs.suggest(p, 10, labels, aggregator=fitted)
    assert [row["name"] for row in rows] == [str(item) for item in suggested.items]
    assert [p.classes[row["answer"]] for row in rows] == [row.answer for row in suggested]
    assert [row["why"] for row in rows] == [row.why for row in suggested]
    assert all(labels[int(row["name"])] == -1 for row in rows)


EXPLAINED = [cs.Consensus(), cs.SoftDawidSkene(), cs.DawidSkene(), cs.MajorityVote(), cs.Average()]


@pytest.mark.parametrize("method", EXPLAINED, ids=repr)
def test_evidence_adds_up_to_the_log_odds(digits, method):
    rows = report_payload(digits[0], method, most_items=40)["items"]["rows"]
    for row in rows:
        why = row["why"]
        total = why["prior"] + why["others_nats"] + sum(part["nats"] for part in why["members"])
        assert why["log_odds"] == pytest.approx(total, abs=0.005)
        assert why["winner"] == row["chosen"]
        if row["reason"] == "changed":
            assert why["rival"] == row["average"]


def test_labels_only_score(digits):
    p, labels = digits
    without, wrong = report_payload(p), report_payload(p, labels=np.where(labels < 0, -1, (labels + 1) % 4))
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
    names = [None if label < 0 else p.classes[label] for label in labels]
    positions = [-1 if label < 0 else order.index(label) for label in labels]
    bare = cs.Predictions(p.to_array())
    given = [(p, labels), (shuffled, names), (shuffled, positions), (bare, names), (bare, labels)]
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


def test_members_shown_are_the_busiest_the_best_and_the_worst():
    n_answers = np.array([100, 5, 30, 40, 50, 60, 25, 22, 90])
    accuracy = np.array([0.5, 1.0, 0.9, 0.1, 0.6, 0.6, 0.8, np.nan, 0.5])
    assert members_to_show(n_answers, accuracy, 3).tolist() == [0, 2, 3]
    assert 1 not in members_to_show(n_answers, accuracy, 6)  # five right answers are luck
    assert members_to_show(n_answers, accuracy, 9).tolist() == list(range(9))


def test_many_classes_show_those_confused_most():
    mistakes = np.zeros((50, 50))
    mistakes[7, 31], mistakes[31, 7], mistakes[12, 40] = 9, 5, 7
    np.fill_diagonal(mistakes, 100)
    assert largest_cells(mistakes, 5) == [(7, 31), (12, 40), (31, 7)]
    shown = classes_to_show(mistakes)
    assert len(shown) == 20 and {7, 12, 31, 40} <= set(shown.tolist())
    assert classes_to_show(mistakes[:30, :30]).tolist() == list(range(30))


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


HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "\"'&\u2028\ud800", "x" * 5000]


def test_no_name_leaves_its_place(tmp_path):
    array, truth = softmax_members(np.random.default_rng(0), [2, 1, 1, 1], 8, 4)
    p = cs.Predictions(array, members=HOSTILE, classes=HOSTILE, items=[f"{name}{n}" for name in HOSTILE for n in "ab"])
    path = write_report(tmp_path / "report.html", p, labels=truth, title=HOSTILE[1])
    text = path.read_text(encoding="utf-8")
    assert "alert(1)</script" not in text and "<img" not in text
    data = text.split('id="payload">')[1].split("</script>")[0]
    assert not set("<>&") & set(data)
    payload = json.loads(data)
    assert payload["classes"][:3] == HOSTILE[:3]
    assert len(payload["classes"][3]) == 200
    assert payload["title"] == HOSTILE[1]


def test_the_page_names_no_other_place(payload):
    text = page(payload).replace("http://www.w3.org/2000/svg", "")
    assert "http" not in text.replace('http-equiv="Content-Security-Policy"', "")
    assert "innerHTML" not in text and " onclick" not in text and "style=" not in text
    policy = text.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aggregator": "soft"}, "aggregator must be one of consilience's, such as Consensus(); got str"),
        ({"most_items": 0}, "most_items must be a whole number of at least 1; got 0"),
        ({"most_items": True}, "most_items must be a whole number of at least 1; got True"),
        ({"title": 3}, "title must be text; got 3"),
        ({"labels": [0]}, "labels must have one entry for each of the 2 items; got 1"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        write_report(tmp_path / "report.html", [[[0.5, 0.5], [0.1, 0.9]]], **options)
    assert not (tmp_path / "report.html").exists()


def test_torch_comes_in_too(digits, fitted):
    torch = pytest.importorskip("torch")
    p, labels = digits
    tensor = cs.Predictions(torch.as_tensor(p.to_array()), members=p.members, classes=p.classes)
    given = report_payload(tensor, fitted, labels, most_items=20)
    assert given["summary"] == report_payload(p, fitted, labels, most_items=20)["summary"]


def test_labels_learned_from_are_told(digits):
    predictions, labels = digits
    taught = cs.Consensus().fit(predictions, np.where(np.arange(400) < 60, labels, -1))
    assert report_payload(predictions, taught)["method"]["labels"] == int((labels[:60] >= 0).sum())
    assert report_payload(predictions, cs.Consensus().fit(predictions))["method"]["labels"] == 0
