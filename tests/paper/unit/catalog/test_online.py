"""Appendix F: learn on a fifth of the items, answer the rest."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("torch")

import consilience as cs
from paper.catalog import online
from paper.catalog.run import Where
from paper.shifts import Condition

from simulate import softmax_members


def test_the_rest_is_answered_by_what_a_fifth_taught(rng):
    array, labels = softmax_members(rng, [2, 1, 1], n_items=100, n_classes=3)
    run = SimpleNamespace(
        predictions=lambda *_: array, store=SimpleNamespace(labels=lambda _: labels), tasks=("mnist",)
    )
    found = online._scores(run, Where(Condition("mnist", "rotation", 30), [0, 1, 2], ensemble=4))
    order = np.random.default_rng(4).permutation(100)
    learned, rest = np.sort(order[:20]), np.sort(order[20:])
    expected = {"EA": array[:, rest].mean(axis=0)}
    for start in ("paper", "ours"):
        model = cs.SoftDawidSkene.paper("mnist", start=start)
        expected[f"SDS ({start})"] = model.fit(array[:, rest]).posterior_
        model.fit(array[:, learned])
        expected[f"SDS ({start}) online"] = model.predict_proba(array[:, rest])
        expected[f"SDS ({start}) online pure"] = model.pure().predict_proba(array[:, rest])
    assert set(found) == set(expected)
    for method, rows in expected.items():
        assert found[method]["nll"] == pytest.approx(cs.metrics.nll(rows, labels[rest]), rel=1e-9)
    assert len({round(metrics["nll"], 9) for metrics in found.values()}) == len(found)
    assert all(found[f"SDS ({start}) online"][part] > 0 for start in ("paper", "ours") for part in ("learn", "infer"))
