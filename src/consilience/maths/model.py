"""What a model is: scores for the E step, and parameters from statistics. It holds no items and no state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from consilience.maths.statistics import Statistics
    from consilience.system.arrays import FloatArray


class Scores(NamedTuple):
    """A linear layer: class k of item i scores `log_prior[k] + Σ_m weights[m, k] · x_im + bias[m, k]`.

    The posterior is the softmax of the scores. So a fitted model is one linear layer on what the members say.
    """

    log_prior: FloatArray  # (true,)
    weights: FloatArray  # (members, true, predicted)
    bias: FloatArray  # (members, true)


class Model(Protocol):
    """The mathematics of a latent-class method."""

    def maximize(self, statistics: Statistics, start: Any, /) -> Any:
        """The best parameters given the statistics, or better ones than `start` where the best has no formula."""

    def scores(self, parameters: Any, /) -> Scores:
        """The linear layer of the E step."""


class State(NamedTuple):
    """Where EM stands: parameters, and the statistics that belong to them."""

    parameters: Any
    statistics: Statistics
