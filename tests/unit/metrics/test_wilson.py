"""Wilson's interval against the equation it solves, and at its ends."""

import numpy as np
import pytest
from scipy.stats import norm

from consilience.metrics.scores import wilson


@pytest.mark.parametrize(("share", "n_items", "level"), [(0.5, 10, 0.95), (0.9, 37, 0.9), (0.02, 400, 0.99)])
def test_at_the_ends_the_share_is_just_as_far_as_the_level_allows(share, n_items, level):
    z = norm.ppf((1 + level) / 2)
    for end in wilson(share, n_items, level):
        assert abs(share - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n_items))


def test_none_and_all():
    low, high = wilson(1.0, 30, 0.9)
    assert 0.9 < low < 1 and high == 1
    assert wilson(0.0, 30, 0.9) == pytest.approx((0, 1 - low))
    assert wilson(1.0, 30_000)[0] > 0.999
