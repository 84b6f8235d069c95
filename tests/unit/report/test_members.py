"""The members of a report: measured where labels are, estimated elsewhere, and diagnosed."""

import numpy as np
import pytest

import consilience as cs
from consilience.report.page import report_payload

from simulate import named

ROUNDING = 5e-5
"""Of the four digits that are kept."""


def test_accuracies_are_those_of_the_diagnosis_with_labels(digits, fitted, payload):
    diagnosis = cs.diagnose(digits[0], named(digits[1], digits[0]), aggregator=fitted)
    rows = payload["members"]["rows"]
    for column, key in (("estimated accuracy", "value"), ("from", "low"), ("to", "high")):
        assert [row[key] for row in rows] == pytest.approx(diagnosis.members[column], abs=ROUNDING)
    assert all(row["measured"] for row in rows)


def test_without_labels_nothing_is_measured(digits, fitted):
    rows = report_payload(digits[0], aggregator=fitted)["members"]["rows"]
    diagnosis = cs.diagnose(digits[0], aggregator=fitted)
    assert [row["value"] for row in rows] == pytest.approx(diagnosis.members["estimated accuracy"], abs=ROUNDING)
    assert not any(row["measured"] for row in rows)


def test_members_are_diagnosed(digits, fitted, payload):
    diagnosis = cs.diagnose(digits[0], named(digits[1], digits[0]), aggregator=fitted)
    np.testing.assert_allclose(payload["agreement"]["dependence"], diagnosis.dependence, atol=ROUNDING)
    found = diagnosis.beyond_chance
    np.testing.assert_allclose(payload["agreement"]["kappa"], found.kappa, atol=ROUNDING)
    assert [row["kappa"] for row in payload["members"]["rows"]] == pytest.approx(found.by_member, abs=ROUNDING)
    assert payload["members"]["agreement"] == found.sentence()


def test_the_quality_of_a_member_is_how_probable_its_votes_are_to_all(digits, fitted, payload):
    posterior = fitted.predict_proba(digits[0])
    for row, said in zip(payload["members"]["rows"], digits[0].to_array(), strict=True):
        answered = ~np.isnan(said[:, 0])
        believed = posterior[answered, said[answered].argmax(axis=1)]
        assert row["quality"] == pytest.approx(believed.mean(), abs=ROUNDING)
        assert row["answers"] == answered.sum()


def test_a_worker_with_one_answer_has_an_interval_and_comes_last():
    labels = np.full((4, 60), -1)
    labels[:3] = np.random.default_rng(0).integers(2, size=60)
    labels[3, 0] = 1 - labels[0, 0]
    payload = report_payload(cs.Predictions.from_labels(labels, 2))
    lonely = payload["members"]["rows"][3]
    assert lonely["answers"] == 1 and lonely["value"] is None
    assert lonely["high"] - lonely["low"] > 0.1
    assert payload["opening"]["ranking"][-1] == 3


def test_members_with_a_warning_are_marked():
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    labels = np.where(rng.random((4, 300)) < 0.85, truth, rng.integers(3, size=(4, 300)))
    labels[3] = rng.integers(3, size=300)
    rows = report_payload(cs.Predictions.from_labels(labels, 3), most_items=1)["members"]["rows"]
    assert [row["warned"] for row in rows] == [False, False, False, True]
