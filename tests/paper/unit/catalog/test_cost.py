"""Appendix I: seconds, kept by machine."""

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper.catalog import cost
from paper.catalog.run import Where
from paper.shifts import Condition

WHERE = Where(Condition("mnist"), [0, 1, 2])


def test_seconds_of_another_number_of_threads_are_other_cells(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    names = []
    for n_threads in (1, 2):
        monkeypatch.setattr(torch, "get_num_threads", lambda n=n_threads: n)
        names.append(cost._name(WHERE))
    assert names == ["cost/cpu-1/mnist/0-1-2", "cost/cpu-2/mnist/0-1-2"]


def test_predicting_is_measured_once_for_all_methods(monkeypatch):
    measured, kept = [], {}

    def cell(_, name, __, compute):
        return kept.setdefault(name, None) or kept.update({name: compute()}) or kept[name]

    array = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 20))
    run = SimpleNamespace(store=SimpleNamespace(cell=cell, source=lambda *_: "x"), predictions=lambda *_: array)
    monkeypatch.setattr(cost, "_seconds_of_predicting", lambda *_: measured.append(1) or 2.0)
    for method in ("EA", "SDS (paper)"):
        found = cost._of_aggregator(run, WHERE, method)[method]
        assert found["pred"] == 2.0 and found["aggr"] > 0
        assert found["total"] == found["pred"] + found["aggr"]
    assert measured == [1]
