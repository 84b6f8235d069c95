"""Confidence and reliability of a report, against the functions they stand for."""

import numpy as np
import pytest

import consilience as cs

ROUNDING = 5e-5
"""Of the four digits that are kept."""


def test_scores_are_those_of_the_metrics(digits, fitted, payload):
    p, labels = digits
    is_known = labels >= 0
    for name, posterior in (("fused", fitted.predict_proba(p)), ("average", cs.Average().fit(p).posterior_)):
        truth, rows = labels[is_known], posterior[is_known]
        panel = next(panel for panel in payload["calibration"]["panels"] if panel["kind"] == name)
        assert panel["scores"] == pytest.approx(
            {
                "accuracy": cs.metrics.accuracy(rows, truth),
                "nll": cs.metrics.nll(rows, truth),
                "brier": cs.metrics.brier_score(rows, truth),
                "ece": cs.metrics.calibration_error(rows, truth),
            },
            abs=ROUNDING,
        )
        curve = cs.metrics.reliability_curve(rows, truth)
        assert panel["curve"]["items"] == curve.n_items.tolist()
        shown = [np.nan if value is None else value for value in panel["curve"]["accuracy"]]
        np.testing.assert_allclose(shown, curve.accuracy, atol=ROUNDING)
        assert sum(panel["histogram"]) == p.n_items


def test_members_are_scored_where_they_answered(digits, payload):
    p, labels = digits
    rows_of = {row["member"]: row for row in payload["members"]["rows"]}
    for panel in payload["calibration"]["panels"][2:]:
        rows = p.to_array()[panel["member"]]
        is_in = (labels >= 0) & ~np.isnan(rows[:, 0])
        error = cs.metrics.calibration_error(rows[is_in], labels[is_in])
        assert panel["scores"]["ece"] == rows_of[panel["member"]]["ece"] == pytest.approx(error, abs=ROUNDING)


def test_members_without_probabilities_have_no_confidence():
    from consilience.report.page import report_payload

    payload = report_payload(cs.Predictions.from_labels([[0, 1, 0], [0, 1, 1], [1, 1, 0]], 2))
    assert payload["calibration"]["without_confidence"] == 3 and len(payload["calibration"]["panels"]) == 2
