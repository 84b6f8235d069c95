"""AdamW (Loshchilov and Hutter 2019), step for step as `torch.optim.AdamW` does it, in place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray

FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.999, 1e-8


@final
@dataclass(slots=True, eq=False)
class Moments:
    """What the optimizer remembers of past gradients; steps write to it."""

    first: FloatArray
    second: FloatArray
    n_steps: int

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> Moments:
        """The memory before the first step."""
        return cls(np.zeros(shape), np.zeros(shape), 0)

    def forget(self) -> None:
        """Be as before the first step."""
        self.first[:], self.second[:], self.n_steps = 0, 0, 0

    def of_rows(self, rows: slice) -> Moments:
        """The memory of some rows of the values, as a view."""
        width = self.first.shape[-1]
        return Moments(self.first.reshape(-1, width)[rows], self.second.reshape(-1, width)[rows], self.n_steps)


def adamw_step(
    values: FloatArray, gradient: FloatArray, moments: Moments, *, learning_rate: float, weight_decay: float
) -> None:
    """Decay the values, move them one step down the gradient, and update the moments, all in place."""
    moments.n_steps = int(moments.n_steps) + 1
    moments.first *= FIRST_DECAY
    moments.first += (1 - FIRST_DECAY) * gradient
    np.multiply(gradient, gradient, out=gradient)
    gradient *= 1 - SECOND_DECAY
    moments.second *= SECOND_DECAY
    moments.second += gradient
    scale = np.sqrt(moments.second, out=gradient)  # written over the gradient, which is no longer needed
    # The moments began at zero, so they are divided by 1 - decayⁿ. One factor of the whole step does it for both.
    second_share = np.sqrt(1 - SECOND_DECAY**moments.n_steps)
    scale += EPSILON * second_share
    step = np.divide(moments.first, scale, out=scale)
    step *= learning_rate * second_share / (1 - FIRST_DECAY**moments.n_steps)
    values *= 1 - learning_rate * weight_decay
    values -= step
