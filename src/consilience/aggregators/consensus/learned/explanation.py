"""What tips the answer of the learned rule: the Shapley values of the members who answered.

The network mixes what members say in ways that no sum shows. So a member's evidence is what it adds to the log-odds,
averaged over the orders in which the members may have answered. The experts' sums add up over members, so the answer of
any of them costs a product and a pass of the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, final

import numpy as np

from consilience.aggregators.consensus.learned.experts import ExpertSums, Reading
from consilience.aggregators.consensus.learned.features import N_LOGS, PAIR, pair_features
from consilience.aggregators.consensus.learned.network import NUMBERS_AT_ONCE
from consilience.aggregators.consensus.learned.rule import answer_in_parts
from consilience.answering.rule import AbstractExplained, Evidence
from consilience.maths.shapley import shapley_values
from consilience.passes.reader import Reader
from consilience.system.arrays import to_numpy

if TYPE_CHECKING:
    import numpy.typing as npt

    from consilience.aggregators.consensus.learned.network import Prepared
    from consilience.aggregators.consensus.learned.rule import LearnedRule
    from consilience.data.predictions import Predictions
    from consilience.system.arrays import FloatArray

TINY = 1e-300
"""What a posterior of zero counts as under the logarithm."""

LEAST = 1e-9
"""Some of the members find no class less probable: one who rules it out alone would otherwise drown all others."""


@final
class ExplainedLearned(AbstractExplained):
    """One item, answered by the learned rule.

    Members tip the answer that there would be if nobody had stated class shares; what these change comes on top.
    """

    def __init__(self, rule: LearnedRule, one: Predictions) -> None:
        self.rule = rule.untold
        self.log_posterior, self._before = (
            np.log(np.maximum(to_numpy(some.posterior(one))[0].astype(np.float64), TINY)) for some in (rule, self.rule)
        )
        said = one.to_array()[:, 0]
        self._members = np.flatnonzero(~np.isnan(said[:, 0]))
        self._first_choices = said[self._members].argmax(axis=1)
        self._shape = said.shape
        reader = Reader(one.apart(), chunk_size=len(self._members))  # whose items are the members
        self._sums = Reading(self.rule.weighed, reader).sums(reader.chunks[0])

    def evidence(self, first: int, second: int) -> Evidence:
        """The Shapley values of the members, each at the class that it finds most probable."""
        prepared = self.rule.prepared
        prior, before, log_odds = (
            float(logs[first] - logs[second]) for logs in (self.rule.log_shares, self._before, self.log_posterior)
        )

        def value(is_in: npt.NDArray[np.bool_]) -> FloatArray:
            return self._log_odds(prepared, is_in, [first, second])

        by_probability = np.zeros(self._shape)
        by_probability[self._members, self._first_choices] = shapley_values(value, len(self._members), prior, before)
        return Evidence(prior, by_probability, np.zeros(self._shape[0]), log_odds - before)

    def experts(self, first: int, second: int) -> dict[str, float]:
        """What each expert alone says for the first class against the second, as the network sees it."""
        opinions = self.rule.weighed.opinions(self._sums_of(np.ones((1, len(self._members)))))
        logs = pair_features(opinions, None)[0, :, :N_LOGS]
        gaps = (logs[first] - logs[second]).tolist()
        return {name.removeprefix("log "): gap for name, gap in zip(PAIR[:N_LOGS], gaps, strict=True)}

    def _log_odds(self, prepared: Prepared, is_in: npt.NDArray[np.bool_], pair: list[int]) -> FloatArray:
        """The log-odds of two classes where only some members answer (coalitions,), given who (coalitions, members)."""
        step = max(1, NUMBERS_AT_ONCE // max(self._shape))
        result = np.empty(len(is_in))
        for start in range(0, len(is_in), step):
            some = slice(start, start + step)
            opinions = self.rule.weighed.opinions(self._sums_of(is_in[some].astype(np.float64)))
            logs = np.log(np.maximum(answer_in_parts(prepared, opinions)[:, pair], LEAST))
            result[some] = logs[:, 0] - logs[:, 1]
        return result

    def _sums_of(self, is_in: FloatArray) -> ExpertSums:
        """What the experts add up where some members answer."""
        return ExpertSums(*(is_in @ part for part in self._sums))
