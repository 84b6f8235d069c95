"""The benchmark of effective members counts right where the truth is known."""

import numpy as np
import pytest

from benchmarks.quality import effective


def case(labels, truth):
    return effective.Case(labels, labels, truth, effective.N_CLASSES)


def test_with_the_truth_independent_members_count_in_full_and_copies_once(rng):
    truth = rng.integers(effective.N_CLASSES, size=3000)
    alone = effective.independent(8, rng, truth)
    assert effective.by_truth(case(alone, truth)) == pytest.approx(8, rel=0.1)
    copied = np.repeat(alone, 3, axis=0)
    assert effective.by_truth(case(copied, truth)) == pytest.approx(8, rel=0.1)
    assert effective.by_truth(case(np.repeat(alone[:1], 5, axis=0), truth)) == pytest.approx(1)


def test_without_it_shared_noise_is_not_seen(rng):
    truth = rng.integers(effective.N_CLASSES, size=2000)
    alone, noisy = effective.independent(8, rng, truth), effective.noisy(1, 8, 0.8, rng, truth)
    for way in (effective.by_consensus, effective.by_others):
        assert way(case(alone, truth)) == pytest.approx(8, rel=0.1)
        assert way(case(noisy, truth)) > 1.5 * effective.by_truth(case(noisy, truth))


def test_a_line_tells_how_often_each_way_is_close(rng):
    truth = rng.integers(effective.N_CLASSES, size=1000)
    words = effective.line("some", iter([case(effective.independent(8, rng, truth), truth)])).split()
    assert words[0] == "some" and words[-2:] == ["1.00", "1.00"]
