"""Readings of the paper's text: what is scored where."""

import pytest

pytest.importorskip("torch")

from paper.catalog import readings


@pytest.mark.parametrize("task", ["mnist", "fashion-mnist"])
def test_small_images_are_turned(task):
    conditions = readings._conditions(task)
    assert {condition.shift for condition in conditions} == {"rotation"} and len(conditions) == 13


@pytest.mark.parametrize("task", ["cifar10-published", "cifar10-resnet20"])
def test_others_are_corrupted(task):
    conditions = readings._conditions(task)
    assert len({condition.shift for condition in conditions}) == 15
    assert {condition.severity for condition in conditions} == {3}


def test_every_start_is_read_with_both_memories_of_the_optimizer():
    for name, options in readings.STARTS.items():
        assert readings.OPTIONS[name] == options
        assert readings.OPTIONS[f"{name}, moments anew"] == options | {"optimizer_moments": "anew"}
