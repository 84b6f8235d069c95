"""The grid of conditions, ensembles and methods."""

import numpy as np
import pytest

pytest.importorskip("torch")

from sklearn.metrics import log_loss

from consilience.experiments.catalog import grids
from consilience.experiments.catalog.run import Run
from consilience.experiments.methods import aggregators
from consilience.experiments.scales import Scale, Scales
from consilience.experiments.store import Store

import reference


def run_of(tmp_path, task, n_members):
    return Run(Store(tmp_path, tmp_path, Scales(Scale(n_members=n_members))), (task,), with_laplace=False)


def test_sizes_are_drawn_three_times_and_all_members_once(tmp_path):
    cells = list(grids.ensemble_size(run_of(tmp_path, "cifar10", 7)))
    draws = {(len(cell.where.seeds), cell.where.ensemble): cell.where.seeds for cell in cells}
    assert sorted(draws) == [(3, 0), (3, 1), (3, 2), (5, 0), (5, 1), (5, 2), (7, 0)]
    assert draws[7, 0] == list(range(7))
    assert all(seeds == sorted(set(seeds)) for seeds in draws.values())
    assert len({cell.name for cell in cells}) == len(cells) == 7 * len(aggregators("cifar10"))


def test_every_angle_has_every_method_for_every_ensemble(tmp_path):
    cells = list(grids.mnist_rotation(run_of(tmp_path, "mnist", 9)))
    assert len(cells) == 13 * 3 * len(aggregators("mnist"))
    assert {cell.where.condition.severity for cell in cells} == set(range(0, 181, 15))


def test_scores_have_both_calibration_errors(rng):
    rows, labels = rng.dirichlet(np.ones(4), size=200), rng.integers(4, size=200)
    found = grids.scores(rows, labels)
    assert set(found) == {"accuracy", "nll", "brier", "ece 15", "ece 300", "ece debiased"}
    for n_bins in (15, 300):
        assert found[f"ece {n_bins}"] == pytest.approx(reference.calibration_error(rows, labels, n_bins), rel=1e-9)
    assert found["nll"] == pytest.approx(log_loss(labels, rows, labels=range(4)), rel=1e-9)
