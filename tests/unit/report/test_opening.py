"""The first screen: the sentence, the ranking, the numbers, the warnings, and what labels gained."""

import numpy as np
import pytest

import consilience as cs
from consilience.report.page import report_payload

from simulate import named, softmax_members


def animals(skills, n_items=200, seed=0, **names):
    array, truth = softmax_members(np.random.default_rng(seed), skills, n_items, 3)
    return cs.Predictions(array, classes=["cat", "dog", "fox"], **names), truth


def test_numbers_are_those_of_the_answers(digits, fitted, payload):
    p, labels = digits
    fused, average = fitted.predict_proba(p).argmax(axis=1), cs.Average().fit(p).posterior_.argmax(axis=1)
    opening = payload["opening"]
    assert opening["changed"] == {
        "count": int((fused != average).sum()),
        "ties": 0,
        "helped": int(((fused == labels) & (average != fused)).sum()),
        "hurt": int(((average == labels) & (average != fused)).sum()),
        "neither": int(((labels >= 0) & (average != labels) & (fused != labels) & (average != fused)).sum()),
    }
    assert opening["unsure"] == int((fitted.predict_proba(p).max(axis=1) < 0.8).sum())
    assert opening["answered"] == 400


def test_the_ranking_is_by_accuracy(payload):
    values = {row["member"]: row["value"] for row in payload["members"]["rows"]}
    ranked = [values[member] for member in payload["opening"]["ranking"]]
    assert ranked == sorted(ranked, reverse=True) and len(ranked) == 5


def test_without_labels_nobody_is_ranked():
    p, _ = animals([3, 2, 1], members=["vit", "cnn", "mlp"])
    opening = report_payload(p, most_items=1)["opening"]
    standing, change, worry = opening["sentences"]
    assert standing.endswith("and the members cannot be told apart without labels.")
    assert change.startswith("Fusing answers every item")
    assert worry == "No warning is raised, but no warning can see errors that all members share."
    assert opening["fused"]["value"] is None and opening["average"]["value"] is None
    known = " ".join(opening["verdict"])
    assert "mlp agrees least with the others" in known and "Agreement beyond chance" in known
    assert "30 labels would tell" in known and "half of what moves the answers comes from" in known.lower()


def test_the_sentence_counts_what_fusing_changed():
    p, truth = animals([4, 0.2, 0.2, 0.2])
    opening = report_payload(p, named(truth, p), aggregator=cs.DawidSkene(), most_items=1)["opening"]
    n, helped, hurt = (opening["changed"][key] for key in ("count", "helped", "hurt"))
    assert helped < hurt
    expected = f"Fusing changed {n} of the 200 answers of the plain average, a loss: {helped} made right, {hurt} made"
    assert expected in opening["sentences"][1]


def test_with_labels_the_sentence_says_who_is_better_and_by_how_much():
    p, truth = animals([4, 0.2, 0.2, 0.2], members=["vit", "a", "b", "c"])
    sentences = report_payload(p, named(truth, p), aggregator=cs.Average(), most_items=1)["opening"]["sentences"]
    assert sentences[0].startswith("The fused answer is right less often than vit: the fused answer on ")
    assert "Fusing answers every item as the plain average does" in sentences[1]
    p, truth = animals([1.5, 1.5, 1.5, 1.5, 1.5])
    opening = report_payload(p, named(truth, p), aggregator=cs.Average(), most_items=1)["opening"]
    assert opening["verdict"][0].startswith("The fused answer is right more often than member ")


def test_where_all_labels_are_known_fusing_answers_nothing():
    p, truth = animals([4, 0.2, 0.2, 0.2])
    sentences = report_payload(p, known=named(truth, p), aggregator=cs.DawidSkene(), most_items=1)["opening"][
        "sentences"
    ]
    assert "Every item has a known label, so fusing answers none" in " ".join(sentences)


def test_who_answered_little_is_not_held_against_the_fused_answer():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=200)
    labels = np.where(rng.random((4, 200)) < 0.7, truth, 1 - truth)
    labels[3] = np.where(np.arange(200) < 60, truth, -1)
    p = cs.Predictions.from_labels(labels, 2, members=["a", "b", "c", "lucky"])
    opening = report_payload(p, labels=truth, most_items=1)["opening"]
    assert opening["ranking"][0] == 3 and "lucky" not in " ".join(opening["sentences"])


def test_the_sentence_ends_with_the_first_warning_and_counts_the_others():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    labels = np.where(rng.random((5, 300)) < 0.85, truth, rng.integers(3, size=(5, 300)))
    labels[3:] = rng.integers(3, size=(2, 300))
    p = cs.Predictions.from_labels(labels, 3, members=["a", "b", "c", "noise", "static"])
    opening = report_payload(p, most_items=1)["opening"]
    expected = "Member 'noise' agrees with the others hardly more than blind guessing would (and 1 more warning)."
    assert opening["sentences"][2] == expected
    (warning,) = opening["warnings"]  # they have the same advice
    assert [finding.split()[1] for finding, _ in warning["findings"]] == ["'noise'", "'static'"]
    assert warning["advice"] == "Look at some of its answers, and leave it out if they make no sense."
    assert cs.diagnose(p).warnings[0] == f"{warning['findings'][0][0]}. {warning['advice'][:-1]}"


def test_known_labels_measure_members_and_say_what_they_gained():
    p, truth = animals([2, 1, 1, 0.5], n_items=300)
    names = named(truth, p)
    known = [name if place < 60 else None for place, name in enumerate(names)]
    payload = report_payload(p, labels=names, known=known, most_items=300)
    assert payload["items"]["changed"] == payload["opening"]["changed"]["count"]
    opening = payload["opening"]
    assert payload["sizes"]["labelled"] == opening["answered"] == 240
    fused = cs.Consensus().fit(p, known).predict_proba(p).argmax(axis=1)
    assert opening["fused"]["measured"] and opening["gain"]["labels"] == 60
    untaught = cs.Consensus().fit(p).predict_proba(p).argmax(axis=1)
    assert opening["gain"]["changed"] == int((fused != untaught)[60:].sum())
    found = cs.value_of_labels(p, known, n_folds=5)
    assert opening["gain"]["after"] == pytest.approx(found.after["accuracy"], abs=5e-5)
    assert {row["truth"] for row in payload["items"]["rows"] if row["given"]} == {-1}
    assert report_payload(p, labels=names, most_items=1)["opening"]["gain"] is None
    taught = report_payload(p, known=known, most_items=1)
    assert taught["sizes"]["labelled"] == 0 and all(row["measured"] for row in taught["members"]["rows"])
    assert taught["opening"]["fused"]["value"] == pytest.approx(found.after["accuracy"], abs=5e-5)


def test_with_all_labels_there_is_still_an_interval():
    p, truth = animals([2, 1, 1])
    fused = report_payload(p, labels=named(truth, p), most_items=1)["opening"]["fused"]
    assert fused["measured"] and fused["low"] < fused["value"] < fused["high"]


@pytest.fixture
def judges():
    """Six judges of answers that mostly pass, and one who says pass always."""
    rng = np.random.default_rng(1)
    truth = (rng.random(500) < 0.86).astype(int)
    labels = np.where(rng.random((6, 500)) < 0.85, truth, 1 - truth)
    labels = np.concatenate([labels, np.ones((1, 500), dtype=int)])
    members = [*"abcdef", "always-pass"]
    return cs.Predictions.from_labels(labels, 2, members=members, classes=["fail", "pass"]), truth


def test_who_always_says_the_frequent_class_is_not_called_the_best(judges):
    p, _ = judges
    payload = report_payload(p, most_items=1)
    opening, rows = payload["opening"], {row["member"]: row for row in payload["members"]["rows"]}
    assert opening["ranking"][0] == 6 and rows[6]["warned"]  # it stands by its number, marked
    standing, _, worry = opening["sentences"]
    assert "always-pass" not in standing
    assert worry.startswith("Member 'always-pass' agrees with the others hardly more than blind guessing would")


def test_a_loss_by_fusing_is_a_warning_and_the_average_is_named():
    p, truth = animals([4, 0.2, 0.2, 0.2])
    labels = named(truth, p)
    opening = report_payload(p, labels, aggregator=cs.DawidSkene(), most_items=1)["opening"]
    helped, hurt = opening["changed"]["helped"], opening["changed"]["hurt"]
    assert helped < hurt
    (found,) = (one for one in opening["warnings"] if one["findings"][0][0].startswith("fusing made"))
    assert f"{helped} became right and {hurt} became wrong" in found["findings"][0][1]
    assert found["advice"].startswith("Use the plain average instead, or give labels of some items to the fit")


def test_the_plain_average_is_named_where_labels_show_it_to_be_best():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=300)
    p = cs.Predictions(np.eye(2)[np.where(rng.random((5, 300)) < 0.8, truth, 1 - truth)], members=list("abcde"))
    wrong = cs.Consensus(class_shares=[0.7, 0.3])  # of classes that are equally frequent
    sentences = report_payload(p, truth, aggregator=wrong, most_items=1)["opening"]["sentences"]
    assert sentences[0].startswith("The fused answer is right less often than the plain average: the fused answer on ")
    assert sentences[2].startswith("Use the plain average instead, or give labels of some items to the fit")


def test_a_tie_is_called_one():
    truth = np.arange(60) % 3
    rows = 0.8 * np.eye(3)[np.tile(truth, (3, 1))] + 0.2 / 3
    opening = report_payload(cs.Predictions(rows), truth, aggregator=cs.Average(), most_items=1)["opening"]
    assert opening["sentences"][0].startswith(
        "These labels do not tell whether the fused answer or the plain average is right more"
    )
