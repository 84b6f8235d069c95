"""The interval of a share, by Wilson's score: it has a width also where none or all of the items are right."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri


def wilson(share: float, n_items: int, level: float = 0.95) -> tuple[float, float]:
    """The ends of the confidence interval of a share of `n_items` items.

    >>> [round(end, 3) for end in wilson(1.0, 20)]
    [0.839, 1.0]
    >>> [round(end, 3) for end in wilson(0.5, 100)]
    [0.404, 0.596]
    """
    z = float(ndtri((1 + level) / 2))
    shrink = 1 + z**2 / n_items
    middle = (share + z**2 / (2 * n_items)) / shrink
    reach = z / shrink * np.sqrt(share * (1 - share) / n_items + z**2 / (4 * n_items**2))
    return 0.0 if share == 0 else float(middle - reach), 1.0 if share == 1 else float(middle + reach)
