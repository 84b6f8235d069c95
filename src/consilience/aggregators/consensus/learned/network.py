"""The learned rule: a network weighs the experts' opinions, the same for every class.

A class's score is the sum of
- a linear mixture of the experts' logarithms and of the classes' shares, whose coefficients follow from the panel's
  traits,
- the members' evidence: their logarithms and the log-likelihoods of their votes, each times a power that follows from
  the member's traits and the panel's,
- what a small network adds, which sees the class itself and the mean over the classes of the item.

A gate for each item then mixes the softmax of the scores with the average. `training/` in the project's repository
trains it; the weights come with the package.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property, partial
from importlib.resources import as_file, files
from typing import Annotated, Any, NamedTuple, final, get_type_hints
from zlib import crc32

import numpy as np
import numpy.typing as npt

from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    EQUAL_RANKS,
    FEATURE_NAMES,
    ITEM_FEATURES,
    MEMBER_TRAITS,
    MOST_CANDIDATES,
    N_LOGS,
    N_SHARES,
    PAIR_FEATURES,
    PANEL_TRAITS,
    VOTE,
    Experts,
    ExpertSums,
    Opinions,
    Reading,
    Traits,
    candidates,
    chosen,
    item_features,
    pair_features,
    ranking,
    soft_logs,
)
from consilience.answering.linear import by_answer
from consilience.answering.rule import AbstractRule, Evidence, Explained, GivenRows, RuleForm, side_by_side
from consilience.data.answers import is_largest
from consilience.data.predictions import Predictions, apart, example_of
from consilience.maths.shapley import shapley_values
from consilience.passes.reader import ReadChunk, Reader
from consilience.system.arrays import Array, FloatArray, like_array, namespace, to_numpy
from consilience.system.untrusted import read_weights, sealed

NETWORK_VERSION = 2  # of the features and of the form of the network: other weights are refused
# What a file of weights must have been trained with.
TRAINED_NAMES = (*FEATURE_NAMES, *(f"member: {name}" for name in MEMBER_TRAITS))

NETWORK_FILE = "weights.npz"

# Traits are clamped to so many standard deviations of those in training: beyond, nothing was learned. The features of
# items are bounded as they are.
MOST_DEVIATIONS = 5.0
MOST_LEARNED = 0.98  # the largest share of the learned answer; the average has the rest
N_SMALL = 24  # hidden units of the two small networks, which see traits alone
# About how many hidden numbers are computed at a time: they stay in the processor's cache.
HIDDEN_AT_ONCE = 2**19
LEAST_POSTERIOR = 1e-300  # what a posterior of zero counts as under the logarithm
# Some of the members find no class less probable: one who rules it out alone would otherwise drown all others.
LEAST_OF_SOME = 1e-9


@final
@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """The weights of a few networks, whose answers are averaged, each an array of the axes named beside it."""

    mean: Annotated[FloatArray, "features"]  # of training
    deviation: Annotated[FloatArray, "features"]
    lowest: Annotated[FloatArray, "panel"]  # the range that training has seen of the panel's features
    highest: Annotated[FloatArray, "panel"]
    first: Annotated[FloatArray, "networks features hidden"]
    first_bias: Annotated[FloatArray, "networks hidden"]
    second: Annotated[FloatArray, "networks twice-hidden hidden"]  # of a class, and of the mean over classes
    second_bias: Annotated[FloatArray, "networks hidden"]
    last: Annotated[FloatArray, "networks hidden two"]  # the score, and the gate
    last_bias: Annotated[FloatArray, "networks two"]
    mixture: Annotated[FloatArray, "networks mixed"]  # of the experts' logarithms, then of the classes' shares
    panel_first: Annotated[FloatArray, "networks panel small"]  # what the panel adds to the mixture and to the gate
    panel_bias: Annotated[FloatArray, "networks small"]
    panel_last: Annotated[FloatArray, "networks small mixed-and-gate"]
    member_mean: Annotated[FloatArray, "member"]  # of training
    member_deviation: Annotated[FloatArray, "member"]
    member_first: Annotated[FloatArray, "networks member-and-panel small"]
    member_bias: Annotated[FloatArray, "networks small"]
    member_last: Annotated[FloatArray, "networks small two"]  # the powers of a member's logarithms and of its vote
    member_last_bias: Annotated[FloatArray, "networks two"]

    def checksum(self) -> int:
        """What tells these weights from others."""
        found = 0
        for field in fields(self):
            found = crc32(np.ascontiguousarray(getattr(self, field.name), dtype="<f4").tobytes(), found)
        return found

    def _panel(self, traits: Traits) -> FloatArray:
        """The panel's traits within the range of training, standardized (panel features,)."""
        scale = slice(-len(PANEL_TRAITS), None)
        panel = (np.clip(traits.panel, self.lowest, self.highest) - self.mean[scale]) / self.deviation[scale]
        return np.asarray(np.clip(panel, -MOST_DEVIATIONS, MOST_DEVIATIONS))

    def powers(self, traits: Traits) -> FloatArray:
        """What each network multiplies the evidence of each member by (networks, members, 2).

        They are in units of 1 / √(answers an item): what several members say is not independent.
        """
        members = (traits.members - self.member_mean) / self.member_deviation
        members = np.clip(members, -MOST_DEVIATIONS, MOST_DEVIATIONS)
        panel = np.broadcast_to(self._panel(traits), (len(members), len(PANEL_TRAITS)))
        values = np.concatenate([members, panel], axis=1)
        hidden = np.maximum(values @ self.member_first + self.member_bias[:, None], 0)
        found = hidden @ self.member_last + self.member_last_bias[:, None]
        return np.asarray(found * np.exp(-traits.panel[PANEL_TRAITS.index("log answers an item")]))

    def prepared(self, traits: Traits, trust: float, log_weights: FloatArray | float = 0.0) -> Prepared:
        """The weights for one panel: what is the same for all items is computed once.

        `log_weights` (classes,) are added to the logarithms of the answers.
        """
        pair, classes, items, panel = np.split(
            np.arange(len(FEATURE_NAMES)), np.cumsum([len(PAIR_FEATURES), len(CLASS_TRAITS), len(ITEM_FEATURES)])
        )
        n_hidden = self.first.shape[2]
        by_feature = self.first / self.deviation[None, :, None]  # of features as they are

        most = MOST_DEVIATIONS * self.deviation[classes]
        of_classes = np.clip(traits.classes - self.mean[classes], -most, most) @ by_feature[:, classes]
        of_panel = self._panel(traits) @ self.first[:, panel]
        hidden = np.maximum(self._panel(traits) @ self.panel_first + self.panel_bias, 0)
        added = (hidden[:, None] @ self.panel_last)[:, 0]  # (networks, mixed + 1)
        mixture = self.mixture + added[:, :-1]
        of_means = self.mean[pair] @ by_feature[:, pair] + self.mean[items] @ by_feature[:, items]
        constant = (self.first_bias + of_panel - of_means)[:, None, :]
        return Prepared(
            trust=np.asarray(MOST_LEARNED * trust),
            by_pair=by_feature[:, pair],
            by_item=by_feature[:, items],
            of_class=constant + of_classes,
            of_itself=self.second[:, :n_hidden],
            of_mean=self.second[:, n_hidden:],
            second_bias=self.second_bias,
            last=self.last,
            gate_bias=self.last_bias[:, 1] + added[:, -1] + 1.0,
            mixture=mixture[:, :N_LOGS],
            class_mixture=mixture[:, N_LOGS:] @ traits.classes[:, :N_SHARES].T,
            class_weights=np.exp(np.broadcast_to(log_weights, len(traits.classes))),
        )


class Prepared(NamedTuple):
    """The network of one panel, as arrays of any library."""

    trust: Array  # (): the largest share of the learned answer
    by_pair: Array  # (networks, pair features, hidden)
    by_item: Array  # (networks, item features, hidden)
    of_class: Array  # (networks, classes, hidden): the class's and the panel's part of the first layer
    of_itself: Array  # (networks, hidden, hidden)
    of_mean: Array  # (networks, hidden, hidden)
    second_bias: Array  # (networks, hidden)
    last: Array  # (networks, hidden, 2): the score, and the gate
    gate_bias: Array  # (networks,)
    mixture: Array  # (networks, logarithms)
    class_mixture: Array  # (networks, classes)
    class_weights: Array  # (classes,): what answers are multiplied by


def answer(prepared: Prepared, opinions: Opinions) -> Array:
    """The learned answer (items, classes), in the library of the opinions.

    In NumPy to some items at a time, so that the hidden numbers stay few.
    """
    if isinstance(opinions.average, np.ndarray):
        (n_items, n_classes), dtype = opinions.average.shape, opinions.average.dtype
        prepared = Prepared(*(part.astype(dtype, copy=False) for part in prepared))
        step = max(1, HIDDEN_AT_ONCE // (min(n_classes, MOST_CANDIDATES) * prepared.by_pair.shape[2]))
        if step < n_items:
            parts = (Opinions(*(part[i : i + step] for part in opinions)) for i in range(0, n_items, step))
            return np.concatenate([answer(prepared, part) for part in parts])
    xp = namespace(opinions.average)
    places = candidates(opinions)
    pair, average = pair_features(opinions, places), chosen(opinions.average, places)
    rows = _learned(prepared, pair, opinions, average, places)
    if places is not None:
        rows = _evened(xp, _put(xp, opinions.average, places, rows), ranking(opinions), places)
    rows *= prepared.class_weights
    rows /= xp.sum(rows, axis=1, keepdims=True)
    return rows


def _learned(prepared: Prepared, pair: Array, opinions: Opinions, average: Array, places: Array | None) -> Array:
    """What becomes of the average of the candidates (items, candidates).

    Inside, candidates are the first axis: sums over them are fast then.
    """
    xp = namespace(pair)
    pair, average = xp.permute_dims(pair, (1, 0, 2)), xp.matrix_transpose(average)
    n_candidates, n_items, n_pair = pair.shape
    n_networks, n_hidden = prepared.second_bias.shape
    item, n_classes = item_features(opinions), opinions.average.shape[1]
    size = (n_candidates, n_items, n_hidden)
    flat, mass, total = xp.reshape(pair, (-1, n_pair)), xp.sum(average, axis=0), xp.zeros_like(average)
    for network in range(n_networks):
        of_class, of_mixture = prepared.of_class[network][:, None], prepared.class_mixture[network][:, None]
        if places is not None:
            which = xp.matrix_transpose(places)
            of_class, of_mixture = prepared.of_class[network][which], prepared.class_mixture[network][which]
        hidden = xp.reshape(flat @ prepared.by_pair[network], size)
        hidden += of_class
        hidden += item @ prepared.by_item[network]
        hidden = _positive(xp, hidden)
        among = xp.mean(hidden, axis=0) @ prepared.of_mean[network] + prepared.second_bias[network]
        deep = xp.reshape(xp.reshape(hidden, (-1, n_hidden)) @ prepared.of_itself[network], size)
        deep += among
        deep = xp.reshape(_positive(xp, deep), (-1, n_hidden))
        found = xp.reshape(deep @ prepared.last[network], (n_candidates, n_items, 2))
        scores = xp.reshape(flat[:, :N_LOGS] @ prepared.mixture[network], (n_candidates, n_items))
        evidence = opinions.evidence[:, network * n_classes : (network + 1) * n_classes]
        scores += found[:, :, 0] + of_mixture + xp.matrix_transpose(chosen(evidence, places))
        opening = xp.mean(found[:, :, 1], axis=0) + prepared.gate_bias[network]
        gate = prepared.trust / (1 + xp.exp(-opening))
        likely = xp.exp(scores - xp.max(scores, axis=0))
        total += (gate * mass) * (likely / xp.sum(likely, axis=0)) + (1 - gate) * average
    return xp.matrix_transpose(total / n_networks)


def _positive(xp: Any, values: Array) -> Array:
    """The values, or 0 where they are negative; NumPy's are overwritten."""
    return np.maximum(values, 0, out=values) if isinstance(values, np.ndarray) else xp.relu(values)


def _put(xp: Any, rows: Array, places: Array, values: Array) -> Array:
    """The rows with new values at the candidates."""
    if hasattr(xp, "scatter"):  # torch
        return xp.scatter(rows, 1, places, values)
    result = rows.copy()
    xp.put_along_axis(result, places, values, axis=1)
    return result


def _evened(xp: Any, rows: Array, ranked: Array, places: Array) -> Array:
    """The rows, where classes that tie with the last candidate share alike: the order of classes tells nothing."""
    last = xp.min(chosen(ranked, places), axis=1, keepdims=True)
    is_tied = xp.astype(xp.abs(ranked - last) <= EQUAL_RANKS, rows.dtype)
    share = xp.sum(rows * is_tied, axis=1, keepdims=True) / xp.sum(is_tied, axis=1, keepdims=True)
    return rows * (1 - is_tied) + share * is_tied


# ---- the weights ------------------------------------------------------------------------------------------


@cache
def shipped() -> Network:
    """The weights that come with the package."""
    with as_file(files("consilience.aggregators.consensus.learned") / NETWORK_FILE) as path:
        return read(path)


def contents(network: Network) -> dict[str, Any]:
    """What a file of weights holds."""
    arrays = {field.name: np.asarray(getattr(network, field.name), dtype=np.float32) for field in fields(Network)}
    return sealed(arrays, NETWORK_VERSION, TRAINED_NAMES)


def read(path: str | os.PathLike[str]) -> Network:
    """The weights of a file; raises where they are missing, damaged or of another version."""
    return Network(**read_weights(path, NETWORK_VERSION, TRAINED_NAMES, _sizes))


def _sizes(first: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    n_networks, _, n_hidden = (*first, 0, 0, 0)[:3]
    n_mixed, n_member, n_panel = N_LOGS + N_SHARES, len(MEMBER_TRAITS), len(PANEL_TRAITS)
    lengths = {"networks": n_networks, "hidden": n_hidden, "twice-hidden": 2 * n_hidden, "small": N_SMALL, "two": 2}
    lengths |= {"features": len(FEATURE_NAMES), "panel": n_panel, "member": n_member}
    lengths |= {"member-and-panel": n_member + n_panel, "mixed": n_mixed, "mixed-and-gate": n_mixed + 1}
    axes = {name: hint.__metadata__[0] for name, hint in get_type_hints(Network, include_extras=True).items()}
    sizes = {name: tuple(lengths[axis] for axis in named.split()) for name, named in axes.items()}
    return {"first": sizes["first"], **sizes}


# ---- the rule -------------------------------------------------------------------------------------------


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
    def powers(self) -> FloatArray:
        """What each network multiplies the evidence of each member by (networks, members, 2)."""
        return self.network.powers(self.traits)

    def answer(self, reader: Reader) -> Callable[[ReadChunk], Array]:
        """A function from each chunk to its posterior (items, classes)."""
        reading = Reading(self.experts, reader, self.powers)
        example = example_of(reader.predictions)
        prepared = self.prepared

        def weighed(chunk: ReadChunk) -> Array:
            opinions = reading.opinions(chunk)
            if self.trust == 0:
                average = opinions.average * prepared.class_weights.astype(opinions.average.dtype)
                return like_array(average / average.sum(axis=1, keepdims=True), example)
            return like_array(answer(prepared, opinions), example)

        return weighed

    def explained(self, one: Predictions) -> Explained:
        """The only item of some predictions, with the Shapley values of the members, each at its most probable class.

        They tip the answer that there would be if nobody had stated class shares; what these change comes on top.
        """
        log_posterior, log_untold = (
            np.log(np.maximum(to_numpy(rule.posterior(one))[0].astype(np.float64), LEAST_POSTERIOR))
            for rule in (self, self.untold)
        )
        said = one.to_array()[:, 0]
        members = np.flatnonzero(~np.isnan(said[:, 0]))
        reader = Reader(apart(one), chunk_size=len(members))  # whose items are the members
        sums = Reading(self.experts, reader, self.untold.powers).sums(reader.chunks[0])

        def evidence(first: int, second: int) -> Evidence:
            log_shares = self.traits.classes[:, CLASS_TRAITS.index("share in translation")]
            prior, untold, told = (
                float(logs[first] - logs[second]) for logs in (log_shares, log_untold, log_posterior)
            )
            value = partial(self.untold.log_odds_of_some, sums, [first, second])
            by_probability = np.zeros(said.shape)
            by_probability[members, said[members].argmax(axis=1)] = shapley_values(value, len(members), prior, untold)
            logs = pair_features(self.experts.opinions(sums.of_some(np.ones((1, len(members))))), None)[0, :, :N_LOGS]
            gaps = (logs[first] - logs[second]).tolist()
            experts = {name.removeprefix("log "): gap for name, gap in zip(PAIR_FEATURES, gaps, strict=False)}
            return Evidence(prior, by_probability, np.zeros(len(said)), told - untold, experts)

        return Explained(log_posterior, evidence)

    def log_odds_of_some(self, sums: ExpertSums, pair: list[int], is_in: npt.NDArray[np.bool_]) -> FloatArray:
        """The log-odds of two classes (coalitions,) where some members answer, given who (coalitions, members).

        `sums` are of an item's members, one each.
        """
        result, step = np.empty(len(is_in)), max(1, HIDDEN_AT_ONCE // max(is_in.shape[1], sums.answers.shape[1]))
        for start in range(0, len(is_in), step):
            opinions = self.experts.opinions(sums.of_some(is_in[start : start + step].astype(np.float64)))
            logs = np.log(np.maximum(answer(self.prepared, opinions)[:, pair], LEAST_OF_SOME))
            result[start : start + step] = logs[:, 0] - logs[:, 1]
        return result

    @property
    def n_numbers(self) -> int:
        """How many numbers the experts hold in an export: those of two of them, and the evidence of each network."""
        return (2 + len(self.network.first)) * self.experts.translation.weights.size

    def form(self) -> RuleForm:
        """The rule for torch and ONNX. The experts' logarithms are floored, so that single precision does not show."""
        experts, translation, n_classes = self.experts, self.experts.translation, len(self.traits.classes)

        def apart(numbers: FloatArray, axis: int) -> FloatArray:
            """Without what all classes have in common: softmax ignores it, and it costs precision."""
            return np.asarray(numbers - numbers.max(axis=axis, keepdims=True))

        return RuleForm(
            {
                **{f"network_{name}": value for name, value in self.prepared._asdict().items()},
                "member_weights": experts.member_weights[:, None, None],
                "is_hard": experts.is_hard.astype(np.float64)[:, None, None],
                "translation_table": apart(translation.weights, 1).transpose(0, 2, 1).reshape(-1, n_classes),
                "translation_bias": apart(translation.bias, 1),
                "translation_prior": apart(translation.log_prior, 0),
                "combination_table": apart(experts.of_votes, 1),
                "combination_prior": apart(experts.combination.log_prior, 0),
                "powers": self.powers.reshape(len(self.powers), -1, 1, 1, 2),
            },
            _answer,
        )


def _answer(numbers: Mapping[str, Array], rows: GivenRows) -> Array:
    return answer(Prepared(*(numbers[f"network_{name}"] for name in Prepared._fields)), _opinions(numbers, rows))


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
