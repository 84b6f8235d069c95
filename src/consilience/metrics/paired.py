"""The difference of two accuracies on the same items."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from consilience.metrics.scores import Estimate

if TYPE_CHECKING:
    import numpy.typing as npt


def paired_difference(first: npt.NDArray[np.bool_], second: npt.NDArray[np.bool_], level: float = 0.9) -> Estimate:
    """By how much the first is right more often than the second, given which items (items,) each is right on.

    Two who err on the same items differ less by chance than two separate intervals suggest: only the items count on
    which one of them alone is right. The interval is the adjusted Wald interval of Bonett and Price (2012).

    >>> right, other = np.arange(100) < 90, np.arange(100) < 80
    >>> [round(number, 3) for number in paired_difference(right, other)]
    [0.1, 0.045, 0.152]
    """
    n_items, gained, lost = len(first), int((first & ~second).sum()), int((second & ~first).sum())
    up, down = (gained + 1) / (n_items + 2), (lost + 1) / (n_items + 2)
    reach = float(ndtri((1 + level) / 2)) * np.sqrt((up + down - (up - down) ** 2) / (n_items + 2))
    value = (gained - lost) / n_items if n_items else float("nan")
    return Estimate(value, max(-1.0, float(up - down - reach)), min(1.0, float(up - down + reach)))
