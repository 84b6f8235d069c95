"""The members of a report: scored where they answered, and diagnosed."""

import numpy as np
import pytest

import consilience as cs
from consilience.report.members import _accuracies, _submatrix

ROUNDING = 5e-5
"""Of the four digits that are kept."""


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
    found = diagnosis.beyond_chance
    np.testing.assert_allclose(payload["agreement"]["kappa"], found.kappa, atol=ROUNDING)
    assert [row["kappa"] for row in payload["card"]["rows"]] == pytest.approx(found.by_member, abs=ROUNDING)
    assert payload["summary"]["agreement"]["alpha"] == pytest.approx(found.alpha, abs=ROUNDING)
    assert payload["summary"]["agreement"]["sentence"] == found.sentence()
    rates = [member["rates"] for member in payload["confusion"]["members"]]
    np.testing.assert_allclose(rates, diagnosis.confusion, atol=ROUNDING)


def test_accuracy_is_of_answers_to_items_with_a_known_truth():
    answers = cs.Predictions.from_labels([[0, 1, 1], [1, -1, 0], [-1, -1, 0]], 2).hard
    np.testing.assert_array_equal(_accuracies(answers, np.array([0, 0, -1]), 3), [0.5, 0, np.nan])


def test_a_part_of_a_table_has_the_rest_in_its_last_column():
    table = np.array([[0.5, 0.3, 0.2], [0.1, 0.8, 0.1], [0.0, 0.4, 0.6]])
    np.testing.assert_allclose(_submatrix(table, np.array([0, 2])), [[0.5, 0.2, 0.3], [0.0, 0.6, 0.4]])
    np.testing.assert_array_equal(_submatrix(table, np.arange(3)), table)
