"""Confusions: estimated without labels, counted with enough of them, as lists where classes are many."""

import numpy as np

import consilience as cs
from consilience.report.page import report_payload
from consilience.report.panel import MOST_IN_MATRIX

from simulate import named, softmax_members

ROUNDING = 5e-5


def test_without_labels_they_are_those_of_the_diagnosis(digits, fitted):
    confusion = report_payload(digits[0], aggregator=fitted, most_items=1)["confusion"]
    rates = [member["rates"] for member in confusion["members"]]
    np.testing.assert_allclose(rates, cs.diagnose(digits[0], aggregator=fitted).confusion, atol=ROUNDING)
    assert not confusion["measured"]


def test_with_labels_they_are_counted(digits, payload):
    p, labels = digits
    assert payload["confusion"]["measured"]
    for entry, said in zip(payload["confusion"]["members"], p.to_array(), strict=True):
        is_in = (labels >= 0) & ~np.isnan(said[:, 0])
        counts = np.zeros((4, 4))
        np.add.at(counts, (labels[is_in], said[is_in].argmax(axis=1)), 1)
        np.testing.assert_allclose(entry["rates"], counts / counts.sum(axis=1, keepdims=True), atol=ROUNDING)
        wrong = counts * (1 - np.eye(4))
        assert [pair[3] for pair in entry["pairs"]] == sorted(wrong[wrong > 0], reverse=True)[:8]


def test_few_labels_do_not_suffice_to_count(digits, fitted):
    labels = named(np.where(np.arange(400) < 40, digits[1], -1), digits[0])
    assert not report_payload(digits[0], labels, aggregator=fitted, most_items=1)["confusion"]["measured"]


def test_many_classes_are_listed():
    for n_classes in (MOST_IN_MATRIX, MOST_IN_MATRIX + 1):
        array, _ = softmax_members(np.random.default_rng(0), [3, 3, 3], 400, n_classes)
        confusion = report_payload(array, aggregator=cs.Average(), most_items=1)["confusion"]
        assert confusion["matrices"] == (n_classes == MOST_IN_MATRIX)
        assert len(confusion["together"]["pairs"]) == 20
        counts = [pair[3] for pair in confusion["together"]["pairs"]]
        assert counts == sorted(counts, reverse=True)
