"""Scales: for all tasks, for some, and in words."""

import pytest

torch = pytest.importorskip("torch")

from paper.errors import CannotReproduce
from paper.scales import Scale, read_scales
from paper.tasks import TASKS


def test_scales_differ_by_task():
    options = {"epochs": ["2", "cifar10=10"], "n_members": ["cifar10=6"], "n_items": ["50"], "subset": []}
    scales = read_scales(TASKS, options)
    assert scales.of("cifar10") == Scale(10, None, 6, 50) and scales.of("mnist") == Scale(2, None, 9, 50)
    assert scales.of("cifar10").folder("cifar10") == "cifar10-10-epochs"
    assert Scale().folder("mnist") == "mnist-all-epochs" and str(Scale(1)) == "1 epoch, 9 members, all test images"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nope=3", "must name one of the tasks mnist.*got 'nope'"),
        ("x", "positive whole number"),
        ("mnist=0", "got '0'"),
    ],
)
def test_scales_that_are_none(value, message):
    with pytest.raises(CannotReproduce, match=message):
        read_scales(TASKS, {"epochs": [value]})
