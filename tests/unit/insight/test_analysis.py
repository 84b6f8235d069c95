"""An analysis says what the functions say that it stands for, and computes each part once."""

from collections import Counter

import numpy as np
import pytest

import consilience as cs
from consilience.insight import analysis as module
from consilience.insight.analysis import MOST_KEPT, Analysis

from simulate import named, softmax_members


@pytest.fixture
def predictions():
    array, _ = softmax_members(np.random.default_rng(0), [3, 1, 0.5], 60, 3, missing=0.1)
    return cs.Predictions(array, members=["a", "b", "c"], classes=["cat", "dog", "fox"])


def test_its_parts_are_those_of_the_functions(predictions):
    method = cs.DawidSkene(tol=None).fit(predictions)
    analysis = Analysis(predictions, method)
    np.testing.assert_array_equal(analysis.posterior, method.predict_proba(predictions))
    np.testing.assert_array_equal(analysis.average, cs.Average().fit(predictions).posterior_)
    assert repr(analysis.diagnosis) == repr(cs.diagnose(predictions, aggregator=method))
    for part in ("posterior", "average", "diagnosis"):
        assert getattr(analysis, part) is getattr(analysis, part)


def test_the_average_is_that_of_torch_too(predictions):
    torch = pytest.importorskip("torch")
    given = cs.Predictions(torch.as_tensor(predictions.to_array()))
    average = Analysis(given, cs.Average()).average
    np.testing.assert_allclose(average, Analysis(predictions, cs.Average()).average, rtol=1e-14)


def test_an_unfitted_method_stays_so_and_its_copy_learns_from_the_labels(predictions):
    method, labels = cs.DawidSkene(tol=None), np.arange(60) % 3
    analysis = Analysis(predictions, method, named(labels, predictions))
    assert analysis.is_fitted_here and not hasattr(method, "members_")
    np.testing.assert_array_equal(analysis.method.posterior_.argmax(axis=1), labels)
    fitted = cs.Average().fit(predictions)
    assert Analysis(predictions, fitted).method is fitted and not Analysis(predictions, fitted).is_fitted_here


def test_truths_are_positions_of_the_fitted_classes(predictions):
    method = cs.Average().fit(predictions)
    shuffled = cs.Predictions(
        predictions.to_array()[:, :2, [2, 0, 1]], members=["a", "b", "c"], classes=["fox", "cat", "dog"]
    )
    analysis = Analysis(shuffled, method)
    assert analysis.predictions.classes == ["cat", "dog", "fox"]
    assert analysis.truth(["dog", None]).tolist() == [1, -1]
    assert analysis.truth(["fox", "cat"]).tolist() == [2, 0]
    assert analysis.truth(None).tolist() == [-1, -1]


def test_the_first_explanations_are_made_once(predictions, monkeypatch):
    counts = Counter()

    def counting(some, item, *, aggregator, against):
        counts[item] += 1
        return cs.explain(some, item, against=against, aggregator=aggregator)

    monkeypatch.setattr(module, "explain", counting)
    method = cs.DawidSkene(tol=None).fit(predictions)
    analysis, items = Analysis(predictions, method), np.arange(MOST_KEPT + 1)[::-1]
    first = list(analysis.explanations(items, [None] * len(items)))
    again = list(analysis.explanations(items, [None] * len(items)))
    assert [why.item for why in first] == items.tolist()
    assert all(why is same for why, same in zip(first[:MOST_KEPT], again[:MOST_KEPT], strict=True))
    assert [item for item, count in counts.items() if count > 1] == [items[MOST_KEPT]]
    assert repr(first[3]) == repr(cs.explain(predictions, int(items[3]), aggregator=method))
    (other,) = analysis.explanations(items[:1], ["fox"])
    assert repr(other) == repr(cs.explain(predictions, int(items[0]), against="fox", aggregator=method))
    assert list(analysis.explanations(items[:0], [])) == []
