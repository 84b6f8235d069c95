"""AdamW (Loshchilov and Hutter 2019), step for step as `torch.optim.AdamW` does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from consilience.arrays import FloatArray

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8


@final
@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """What the optimizer remembers of past gradients."""

    first: FloatArray
    second: FloatArray
    n_steps: int

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> Moments:
        """The memory before the first step."""
        return cls(np.zeros(shape), np.zeros(shape), 0)


def adamw_step(
    values: FloatArray, gradient: FloatArray, moments: Moments, *, learning_rate: float, weight_decay: float
) -> tuple[FloatArray, Moments]:
    """The values one step down the gradient, decayed, and the moments after it."""
    n_steps = int(moments.n_steps) + 1
    first = FIRST_DECAY * moments.first + (1 - FIRST_DECAY) * gradient
    second = SECOND_DECAY * moments.second + (1 - SECOND_DECAY) * gradient**2
    scale = np.sqrt(second / (1 - SECOND_DECAY**n_steps)) + EPSILON
    decayed = (1 - learning_rate * weight_decay) * values
    return decayed - learning_rate / (1 - FIRST_DECAY**n_steps) * first / scale, Moments(first, second, n_steps)
