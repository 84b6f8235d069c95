"""Rows of results, and the numbers that the paper prints."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper import catalog
from paper.results import best_of, paper_summaries
from paper.tallies import cells_of_summaries, tally


def test_what_is_best():
    assert best_of("ece debiased", [-0.02, 0.003, 0.01]) == [True, False, False]  # with its sign: |value| has a floor
    assert best_of("ece 15", [0.02, 0.003, 0.01]) == [False, True, False]
    assert best_of("accuracy", [0.9, 0.8, float("nan")]) == [True, False, False]
    cells = {(0,): {"EA": 0.003, "SDS": -0.02}}
    assert tally(cells, "ece debiased", "SDS", ["EA"])[:3] == (1, 0, 0)


def test_the_papers_numbers_are_there():
    everything = paper_summaries("imagenet-c", "imagenet-c-sizes", "cifar100-c-sizes")
    assert len(paper_summaries("imagenet-c")) == 1200 and len(everything) == 1248 - 8  # frost of 3 members is in two
    assert {key.shift for key in paper_summaries("imagenet-c")} == set(catalog.grids.CORRUPTIONS)
    wins = tally(cells_of_summaries(paper_summaries("imagenet-c"))["ece 300"], "ece 300", "SDS", ["EA"])
    assert sum(wins[:3]) == 75
