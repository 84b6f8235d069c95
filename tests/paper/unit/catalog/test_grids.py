"""The grid of conditions, ensembles and methods."""

import pytest

pytest.importorskip("torch")

from paper.catalog import grids
from paper.catalog.run import Run
from paper.methods import aggregators
from paper.scales import Scale, Scales
from paper.store import Store


def run_of(tmp_path, task, n_members):
    return Run(Store(tmp_path, tmp_path, Scales(Scale(n_members=n_members))), (task,), with_laplace=False)


def test_ensembles_of_a_size_share_no_member(tmp_path):
    cells = list(grids.ensemble_size(run_of(tmp_path, "cifar10", 9)))
    draws = {(len(cell.where.seeds), cell.where.ensemble): cell.where.seeds for cell in cells}
    assert sorted(draws) == [(3, 0), (3, 1), (3, 2), (5, 0), (7, 0), (9, 0)]
    assert sorted(seed for number in range(3) for seed in draws[3, number]) == list(range(9))
    assert len({cell.name for cell in cells}) == len(cells) == 6 * len(aggregators("cifar10"))


def test_every_angle_has_every_method_for_every_ensemble(tmp_path):
    cells = list(grids.mnist_rotation(run_of(tmp_path, "mnist", 9)))
    assert len(cells) == 13 * 3 * len(aggregators("mnist"))
    assert {cell.where.condition.severity for cell in cells} == set(range(0, 181, 15))
