"""Where a report comes from: its data by a checksum, its labels in true words."""

from datetime import datetime

import numpy as np
import pytest

import consilience as cs
from consilience.insight.analysis import Analysis
from consilience.report.page import fingerprint, provenance

from simulate import softmax_members


@pytest.fixture
def panel():
    array, truth = softmax_members(np.random.default_rng(0), [2, 1, 1], 120, 3)
    return cs.Predictions(array), truth


def test_the_same_data_have_the_same_fingerprint(panel):
    p, _ = panel
    array = p.to_array()
    assert fingerprint(p) == fingerprint(cs.Predictions(array.copy()))
    assert fingerprint(cs.Predictions(list(array))) == fingerprint(p)
    assert len(fingerprint(p)) == 12


def test_other_data_have_another(panel):
    p, _ = panel
    array = p.to_array()
    swapped = array[:, ::-1]
    others = [
        cs.Predictions(swapped),
        cs.Predictions(array, members=["a", "b", "c"]),
        cs.Predictions.from_labels(array.argmax(axis=2), 3),
        cs.Predictions.from_labels(swapped.argmax(axis=2), 3),
    ]
    assert len({fingerprint(some) for some in [p, *others]}) == 5


def labels_said(p, known=None, labels=None, method=None):
    return provenance(Analysis(p, method or cs.Consensus(), known, labels), None)["labels"]


def test_what_labels_did_is_said_as_it_was(panel):
    p, truth = panel
    some = np.where(np.arange(120) < 40, truth, -1)
    assert labels_said(p) == "No label was used."
    assert labels_said(p, labels=truth) == (
        "Labels of all items measured the answers. They took no part in making them."
    )
    assert labels_said(p, labels=some).startswith("Labels of 40 of 120 items measured")
    assert labels_said(p, known=some) == "The method learned from 40 labels."
    assert labels_said(p, known=some, labels=truth) == (
        "The method learned from 40 labels. Labels of 80 other items measured the answers."
    )
    taught = cs.Consensus().fit(p, some)
    assert "If some of them are the same" in labels_said(p, labels=truth, method=taught)
    assert labels_said(p, known=some, method=taught) == "The method learned from 40 labels."


def test_day_version_method_and_command(panel):
    made = provenance(Analysis(panel[0], cs.Average()), "consilience report a.npy")
    assert made["date"] == datetime.now().astimezone().date().isoformat()
    assert (made["version"], made["method"]) == (cs.__version__, "Average")
    assert made["command"] == "consilience report a.npy"
