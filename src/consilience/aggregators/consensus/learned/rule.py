"""The learned rule: the experts' opinions, weighed by the network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, final

import numpy as np

from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    MOST_CANDIDATES,
    N_LOGS,
    PAIR_FEATURES,
    PANEL_TRAITS,
    VOTE,
    ExpertSums,
    Opinions,
    Reading,
    pair_features,
    soft_logs,
)
from consilience.aggregators.consensus.learned.network import HIDDEN_AT_ONCE, Network, Prepared, answer
from consilience.answering.linear import by_answer
from consilience.answering.rule import AbstractExplained, AbstractRule, Evidence, RuleForm, side_by_side
from consilience.data.answers import is_largest
from consilience.data.predictions import apart, example_of
from consilience.maths.shapley import shapley_values
from consilience.passes.reader import Reader
from consilience.system.arrays import Array, FloatArray, like_array, to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from consilience.aggregators.consensus.learned.experts import Experts, Traits
    from consilience.answering.rule import GivenRows
    from consilience.data.predictions import Predictions
    from consilience.maths.em import Scores
    from consilience.passes.reader import ReadChunk
    from consilience.system.arrays import FloatArray


@final
@dataclass(frozen=True, eq=False)
class LearnedRule(AbstractRule):
    """The answer to an item is gate · softmax(scores) + (1 - gate) · average, both by the network.

    With `trust` below 1 the gate opens less; at 0 the answer is the average. Last, `log_weights` (classes,) are added
    to the logarithms of the answer, which is normalized again.
    """

    experts: Experts
    traits: Traits
    network: Network
    trust: float = 1.0
    log_weights: FloatArray | float = 0.0
    chunk_size: int | None = None

    @property
    def is_label(self) -> npt.NDArray[np.bool_]:  # type: ignore[override]  # of the average all probabilities count
        """Nobody's most probable class alone counts."""
        return np.zeros(len(self.experts.member_weights), dtype=bool)

    @cached_property
    def prepared(self) -> Prepared:
        """The network with what is known of the panel."""
        return self.network.prepared(self.traits, self.trust, self.log_weights)

    @cached_property
    def untold(self) -> LearnedRule:
        """The same rule if the user had stated no class shares."""
        if not (self.traits.panel[PANEL_TRAITS.index("belief in stated shares")] or np.any(self.log_weights)):
            return self
        classes, panel = self.traits.classes.copy(), self.traits.panel.copy()
        classes[:, [CLASS_TRAITS.index("stated share"), CLASS_TRAITS.index("stated against average")]] = 0
        panel[PANEL_TRAITS.index("belief in stated shares")] = 0
        return replace(self, traits=self.traits._replace(classes=classes, panel=panel), log_weights=0.0)

    @cached_property
    def weighed(self) -> Experts:
        """The experts, with the members' evidence as the network weighs it."""
        return replace(self.experts, powers=self.network.powers(self.traits))

    def answer(self, reader: Reader) -> Callable[[ReadChunk], Array]:
        """A function from each chunk to its posterior (items, classes)."""
        reading = Reading(self.weighed, reader)
        example = example_of(reader.predictions)
        prepared = self.prepared

        def weighed(chunk: ReadChunk) -> Array:
            opinions = reading.opinions(chunk)
            if self.trust == 0:
                average = opinions.average * prepared.class_weights.astype(opinions.average.dtype)
                return like_array(average / average.sum(axis=1, keepdims=True), example)
            return like_array(answer_in_parts(prepared, opinions), example)

        return weighed

    def explained(self, one: Predictions) -> ExplainedLearned:
        """The only item of some predictions, with what tips its answer."""
        return ExplainedLearned(self, one)

    @property
    def needs_double(self) -> bool:
        """The experts' logarithms are floored, so that rounding does not show."""
        return False

    @property
    def log_shares(self) -> FloatArray:
        """How frequent each class is, as translation has it (classes,): what is known before anybody answers."""
        return np.asarray(self.traits.classes[:, CLASS_TRAITS.index("share in translation")])

    @property
    def n_numbers(self) -> int:
        """How many numbers the experts hold in an export: those of two of them, and the evidence of each network."""
        return (2 + len(self.network.first)) * self.experts.translation.weights.size

    def form(self) -> RuleForm:
        """The rule for torch and ONNX."""
        experts = self.weighed
        table, bias, prior = _tables(experts.translation)
        votes, combination_prior = experts.of_votes, experts.combination.log_prior
        numbers = {f"network_{name}": value for name, value in self.prepared._asdict().items()}
        numbers |= {
            "member_weights": experts.member_weights[:, None, None],
            "is_hard": experts.is_hard.astype(np.float64)[:, None, None],
            "translation_table": table,
            "translation_bias": bias,
            "translation_prior": prior,
            "combination_table": votes - votes.max(axis=1, keepdims=True),
            "combination_prior": combination_prior - combination_prior.max(),
            "powers": experts.powers.reshape(len(experts.powers), -1, 1, 1, 2),
        }
        return RuleForm(numbers, _answer)


def _tables(scores: Scores) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, bias and prior without what all classes have in common: softmax ignores it, and it costs precision."""
    weights = scores.weights - scores.weights.max(axis=1, keepdims=True)
    bias = scores.bias - scores.bias.max(axis=1, keepdims=True)
    table = weights.transpose(0, 2, 1).reshape(-1, len(scores.log_prior))
    return table, bias, scores.log_prior - scores.log_prior.max()


def _answer(numbers: Mapping[str, Array], rows: GivenRows) -> Array:
    """The experts in torch and ONNX, and then the same network."""
    prepared = Prepared(*(numbers[f"network_{name}"] for name in Prepared._fields))
    return answer(prepared, _opinions(numbers, rows))


def _opinions(numbers: Mapping[str, Array], rows: GivenRows) -> Opinions:
    """What the experts say (batch, classes); votes have no gradient."""
    xp, is_answer, n_classes = rows.xp, rows.is_answer, rows.probabilities.shape[2]
    said = rows.probabilities * is_answer
    is_top = xp.astype(is_largest(said), said.dtype)
    has_voted = is_answer * xp.astype(xp.sum(is_top, axis=2, keepdims=True) <= 1.5, said.dtype)
    votes = is_top * has_voted
    soft = said - (1 - VOTE) * numbers["is_hard"] * (said - is_answer / n_classes)
    weights = numbers["member_weights"] * is_answer
    n_answers, n_votes = xp.sum(is_answer, axis=0), xp.sum(has_voted, axis=0)
    own = soft_logs(said, n_classes) * is_answer
    table, powers = numbers["combination_table"], numbers["powers"]
    evidence = [
        xp.sum(powers[network][..., 0] * own, axis=0) + side_by_side(xp, votes, powers[network][..., 1]) @ table
        for network in range(powers.shape[0])
    ]
    translation = side_by_side(xp, said, is_answer) @ numbers["translation_table"] + numbers["translation_prior"]
    translation = translation + by_answer(xp, is_answer, numbers["translation_bias"])
    nobody = xp.astype(n_votes <= 0, said.dtype)
    return Opinions(
        average=xp.sum(soft, axis=0) / n_answers,
        weighted=xp.sum(weights * soft, axis=0) / xp.sum(weights, axis=0),
        translation=xp.log_softmax(translation, dim=1),
        combination=xp.log_softmax(side_by_side(xp, votes, is_answer) @ table + numbers["combination_prior"], dim=1),
        votes=(xp.sum(votes, axis=0) + nobody / n_classes) / (n_votes + nobody),
        evidence=xp.concat(evidence, axis=1),
        n_answers=n_answers,
        n_votes=n_votes,
    )


def answer_in_parts(prepared: Prepared, opinions: Opinions) -> npt.NDArray[np.floating]:
    """The answers to all items, some at a time, so that the hidden numbers stay few."""
    n_items, n_classes = opinions.average.shape
    dtype = opinions.average.dtype
    cast = Prepared(*(part.astype(dtype, copy=False) for part in prepared))
    width = min(n_classes, MOST_CANDIDATES) * cast.by_pair.shape[2]
    step = max(1, HIDDEN_AT_ONCE // width)
    if step >= n_items:
        return np.asarray(answer(cast, opinions))
    result = np.empty((n_items, n_classes), dtype=dtype)
    for start in range(0, n_items, step):
        some = slice(start, start + step)
        result[some] = answer(cast, type(opinions)(*(part[some] for part in opinions)))
    return result


LEAST_POSTERIOR = 1e-300
"""What a posterior of zero counts as under the logarithm."""

LEAST_OF_SOME = 1e-9
"""Some of the members find no class less probable: one who rules it out alone would otherwise drown all others."""


@final
class ExplainedLearned(AbstractExplained):
    """One item, answered by the learned rule.

    Members tip the answer that there would be if nobody had stated class shares; what these change comes on top.
    """

    def __init__(self, rule: LearnedRule, one: Predictions) -> None:
        self.rule = rule.untold
        self.log_posterior, self._before = (
            np.log(np.maximum(to_numpy(some.posterior(one))[0].astype(np.float64), LEAST_POSTERIOR))
            for some in (rule, self.rule)
        )
        said = one.to_array()[:, 0]
        self._members = np.flatnonzero(~np.isnan(said[:, 0]))
        self._first_choices = said[self._members].argmax(axis=1)
        self._shape = said.shape
        reader = Reader(apart(one), chunk_size=len(self._members))  # whose items are the members
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
        return {name.removeprefix("log "): gap for name, gap in zip(PAIR_FEATURES[:N_LOGS], gaps, strict=True)}

    def _log_odds(self, prepared: Prepared, is_in: npt.NDArray[np.bool_], pair: list[int]) -> FloatArray:
        """The log-odds of two classes where only some members answer (coalitions,), given who (coalitions, members)."""
        step = max(1, HIDDEN_AT_ONCE // max(self._shape))
        result = np.empty(len(is_in))
        for start in range(0, len(is_in), step):
            some = slice(start, start + step)
            opinions = self.rule.weighed.opinions(self._sums_of(is_in[some].astype(np.float64)))
            logs = np.log(np.maximum(answer_in_parts(prepared, opinions)[:, pair], LEAST_OF_SOME))
            result[some] = logs[:, 0] - logs[:, 1]
        return result

    def _sums_of(self, is_in: FloatArray) -> ExpertSums:
        """What the experts add up where some members answer."""
        return ExpertSums(*(is_in @ part for part in self._sums))
