"""The learned rule in an ONNX graph: the experts, their features and the network, as `torch_form` has them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np

from consilience.aggregators.consensus.learned.experts import (
    AMONG_EQUALS,
    EQUAL,
    ITEM,
    LEAST,
    LOWEST_LOG,
    MOST_CANDIDATES,
    N_LOGS,
    PAIR,
    VOTE,
)

if TYPE_CHECKING:
    from consilience.aggregators.consensus.learned.experts import Experts
    from consilience.aggregators.consensus.learned.network import Prepared
    from consilience.aggregators.consensus.learned.rule import LearnedRule
    from consilience.answering.onnx import Graph, GraphRows
    from consilience.maths.em import Scores
    from consilience.system.arrays import FloatArray

MEMBERS, CLASSES = np.array([0]), np.array([1])
"""The axes that sums run over: of the rows (members, batch, classes), and of what is (batch, classes)."""


class DrawnOpinions(NamedTuple):
    """Names of what the experts say (batch, classes)."""

    average: str
    weighted: str
    translation: str
    combination: str
    votes: str
    evidence: list[str]  # of each network
    n_answers: str  # (batch, 1)


def draw_learned(rule: LearnedRule, graph: Graph, rows: GraphRows) -> str:
    """Draw the weighted gate · softmax(scores) + (1 - gate) · average of `network.answer`; the posterior's name."""
    opinions = _opinions(graph, rule.weighed, rows)
    average = opinions.average
    n_classes = rule.n_classes
    ranked = _ranking(graph, opinions) if n_classes > MOST_CANDIDATES else None
    places = None if ranked is None else graph.largest(ranked, MOST_CANDIDATES)[1]
    pair, item = _pair_features(graph, opinions, places), _item_features(graph, rule, opinions)
    network = DrawnNetwork(graph, rule.prepared, places)
    evidence = [_chosen(graph, rows, places) for rows in opinions.evidence]
    learned = network.answer(pair, item, evidence, _chosen(graph, average, places))
    if ranked is not None:
        learned = graph.apply("ScatterElements", average, places, learned, axis=1)
        learned = _evened(graph, learned, ranked)
    return _normalized(graph, graph.apply("Mul", learned, rule.prepared.class_weights))


# ---- the experts ------------------------------------------------------------------------------------------


def _opinions(graph: Graph, experts: Experts, rows: GraphRows) -> DrawnOpinions:
    is_answer, n_classes = rows.is_answer, len(experts.translation.log_prior)
    said = graph.apply("Mul", rows.probabilities, is_answer)
    votes, has_voted = _votes(graph, said, is_answer)
    soft = _softened(graph, experts, said, is_answer, n_classes)
    weights = graph.apply("Mul", experts.member_weights[:, None, None], is_answer)
    n_answers, n_votes = _over_members(graph, is_answer), _over_members(graph, has_voted)
    shares = graph.apply("Div", _over_members(graph, votes), graph.apply("Max", n_votes, 1.0))
    weighted = _over_members(graph, graph.apply("Mul", weights, soft))
    return DrawnOpinions(
        average=graph.apply("Div", _over_members(graph, soft), n_answers),
        weighted=graph.apply("Div", weighted, _over_members(graph, weights)),
        translation=_log_posterior(graph, experts.translation, said, is_answer),
        combination=_log_posterior(graph, experts.combination, votes, has_voted),
        evidence=[_evidence(graph, experts, powers, said, is_answer, votes) for powers in experts.powers],
        votes=graph.apply("Where", graph.apply("Greater", n_votes, 0.0), shares, 1 / n_classes),
        n_answers=n_answers,
    )


def _votes(graph: Graph, said: str, is_answer: str) -> tuple[str, str]:
    """The votes as one-hot rows, and who votes (members, batch, 1): rows with several largest entries do not."""
    is_tied, n_tied = graph.tied(said)
    has_one = graph.cast(graph.apply("Less", n_tied, 1.5), graph.dtype)
    has_voted = graph.apply("Mul", is_answer, has_one)
    return graph.apply("Mul", is_tied, has_voted), has_voted


def _softened(graph: Graph, experts: Experts, said: str, is_answer: str, n_classes: int) -> str:
    """The rows, where those of members who give votes alone count as `VOTE`."""
    if not experts.is_hard.any():
        return said
    kept = 1 - (1 - VOTE) * experts.is_hard[:, None, None]
    even = graph.apply("Mul", (1 - kept) / n_classes, is_answer)
    return graph.apply("Add", graph.apply("Mul", kept, said), even)


def _evidence(  # noqa: PLR0917 - what members say, in several forms
    graph: Graph, experts: Experts, powers: FloatArray, said: str, is_answer: str, votes: str
) -> str:
    """The members' evidence as a network weighs it (batch, classes), without what all classes have in common."""
    own, of_votes = powers.T[:, :, None, None]
    table = experts.of_votes
    table = table - table.max(axis=1, keepdims=True)
    n_classes = table.shape[1]
    softened = graph.apply("Add", graph.apply("Mul", said, VOTE), (1 - VOTE) / n_classes)
    logs = graph.apply("Mul", graph.apply("Log", softened), graph.apply("Mul", is_answer, own))
    by_vote = graph.apply("MatMul", graph.side_by_side(votes, of_votes, len(table)), table)
    return graph.apply("Add", _over_members(graph, logs), by_vote)


def _log_posterior(graph: Graph, scores: Scores, rows: str, counts: str) -> str:
    """The logarithm of the softmax of linear scores (batch, classes)."""
    table, bias, log_prior = _layer(scores)
    flags = graph.apply("Transpose", graph.apply("Squeeze", counts, np.array([2])), perm=[1, 0])
    by_row = graph.apply("MatMul", graph.side_by_side(rows, counts, len(table)), table)
    by_member = graph.apply("Add", graph.apply("MatMul", flags, bias), log_prior)
    return graph.apply("LogSoftmax", graph.apply("Add", by_row, by_member), axis=1)


def _layer(scores: Scores) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weights, bias and prior without what all classes have in common: softmax ignores it, and it costs precision."""
    weights = scores.weights - scores.weights.max(axis=1, keepdims=True)
    bias = scores.bias - scores.bias.max(axis=1, keepdims=True)
    table = weights.transpose(0, 2, 1).reshape(-1, len(scores.log_prior))
    return table, bias, scores.log_prior - scores.log_prior.max()


# ---- the features -----------------------------------------------------------------------------------------


def _ranking(graph: Graph, opinions: DrawnOpinions) -> str:
    """What the candidates have most of (batch, classes), as `features.ranking` has it."""
    translation = graph.apply("Exp", opinions.translation)
    best = graph.apply("Max", opinions.average, opinions.weighted, translation, opinions.votes)
    among_equals = graph.apply("Mul", AMONG_EQUALS, opinions.translation)
    return graph.apply("Add", graph.apply("Log", graph.apply("Max", best, LEAST)), among_equals)


def _evened(graph: Graph, rows: str, ranked: str) -> str:
    """The rows, where classes that tie with the last candidate share alike."""
    largest, _ = graph.largest(ranked, MOST_CANDIDATES)
    last = graph.apply("ReduceMin", largest, axes=[1])
    gap = graph.apply("Abs", graph.apply("Sub", ranked, last))
    is_tied = graph.cast(graph.apply("LessOrEqual", gap, EQUAL), graph.dtype)
    total, n_tied = (graph.apply("ReduceSum", some, CLASSES) for some in (graph.apply("Mul", rows, is_tied), is_tied))
    shared = graph.apply("Mul", graph.apply("Div", total, n_tied), is_tied)
    return graph.apply("Add", graph.apply("Mul", rows, graph.apply("Sub", 1.0, is_tied)), shared)


def _chosen(graph: Graph, rows: str, places: str | None) -> str:
    return rows if places is None else graph.apply("GatherElements", rows, places, axis=1)


def _pair_features(graph: Graph, opinions: DrawnOpinions, places: str | None) -> str:
    """(batch, candidates, len(PAIR))."""
    average, weighted, translation, combination, votes = (_chosen(graph, rows, places) for rows in opinions[:5])
    logs = {
        "average": _log(graph, average),
        "weighted average": _log(graph, weighted),
        "translation": _clipped(graph, translation),
        "combination": _clipped(graph, combination),
    }
    found = {f"log {name}": log for name, log in logs.items()} | {
        "average": average,
        "translation": graph.apply("Exp", logs["translation"]),
        "combination": graph.apply("Exp", logs["combination"]),
        "share of votes": votes,
    }
    columns = [graph.apply("Unsqueeze", found[name], np.array([2])) for name in PAIR]
    return graph.apply("Concat", *columns, axis=2)


def _item_features(graph: Graph, rule: LearnedRule, opinions: DrawnOpinions) -> str:
    """(batch, len(ITEM))."""
    n_classes = rule.n_classes
    largest, _ = graph.largest(opinions.average, 2)
    top, second = (graph.apply("Gather", largest, np.array([place]), axis=1) for place in (0, 1))
    found = {
        "top": top,
        "margin": graph.apply("Sub", top, second),
        "entropy": _entropy(graph, opinions.average, n_classes),
        "largest share of votes": graph.apply("ReduceMax", opinions.votes, axes=[1]),
        "log answers": graph.apply("Div", graph.apply("Log", opinions.n_answers), 3.0),
    }
    return graph.apply("Concat", *(found[name] for name in ITEM), axis=1)


def _entropy(graph: Graph, shares: str, n_classes: int) -> str:
    """(batch, 1), 1 where all classes are equally probable."""
    logs = graph.apply("Log", graph.apply("Max", shares, 1e-12))
    total = graph.apply("ReduceSum", graph.apply("Mul", shares, logs), CLASSES)
    return graph.apply("Div", total, -math.log(n_classes))


def _log(graph: Graph, rows: str) -> str:
    return _clipped(graph, graph.apply("Log", graph.apply("Max", rows, 1e-9)))


def _clipped(graph: Graph, logs: str) -> str:
    return graph.apply("Clip", logs, LOWEST_LOG, 0.0)


# ---- the network ------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class DrawnNetwork:
    """The network of one panel, where it is drawn and of which candidates."""

    graph: Graph
    prepared: Prepared
    places: str | None  # (batch, candidates); None of all classes

    def answer(self, pair: str, item: str, evidence: list[str], average: str) -> str:
        """What becomes of the average of the candidates (batch, candidates)."""
        answers = [self._of_one(network, pair, item, rows, average) for network, rows in enumerate(evidence)]
        return self.graph.apply("Mean", *answers)

    def _of_one(self, network: int, pair: str, item: str, evidence: str, average: str) -> str:
        """What one of the networks makes of the average, which has a mass below 1 where there are other classes."""
        graph, prepared = self.graph, self.prepared
        of_item = graph.apply("Unsqueeze", graph.apply("MatMul", item, prepared.by_item[network]), CLASSES)
        hidden = graph.apply("Add", self._times(pair, prepared.by_pair[network]), of_item)
        hidden = graph.apply("Relu", graph.apply("Add", hidden, self._of_candidates(prepared.of_class[network])))
        among = graph.apply("MatMul", _over_candidates(graph, hidden), prepared.of_mean[network])
        among = graph.apply("Unsqueeze", graph.apply("Add", among, prepared.second_bias[network]), CLASSES)
        deep = graph.apply("Relu", graph.apply("Add", self._times(hidden, prepared.of_itself[network]), among))
        logs = graph.apply("Slice", pair, np.array([0]), np.array([N_LOGS]), np.array([2]))
        mixed = self._times(logs, prepared.mixture[network][:, None])
        mixed = graph.apply("Add", mixed, self._of_candidates(prepared.class_mixture[network][:, None]))
        scores = graph.apply("Add", self._times(deep, prepared.last[network][:, :1]), mixed)
        scores = graph.apply("Add", graph.apply("Squeeze", scores, np.array([2])), evidence)
        shares = graph.apply("Softmax", scores, axis=1)
        opening = graph.apply("MatMul", _over_candidates(graph, deep), prepared.last[network][:, 1:])
        gate = graph.apply("Sigmoid", graph.apply("Add", opening, prepared.gate_bias[network]))
        gate = graph.apply("Mul", gate, prepared.trust)
        learned = graph.apply("Mul", graph.apply("ReduceSum", average, CLASSES), shares)
        kept = graph.apply("Mul", graph.apply("Sub", 1.0, gate), average)
        return graph.apply("Add", graph.apply("Mul", gate, learned), kept)

    def _times(self, values: str, table: FloatArray) -> str:
        """The product of (batch, candidates, …) and a table, flat in between: runtimes refuse an empty batch of it."""
        n_candidates = min(self.prepared.of_class.shape[1], MOST_CANDIDATES)
        flat = self.graph.apply("Reshape", values, np.array([-1, len(table)]))
        product = self.graph.apply("MatMul", flat, table)
        return self.graph.apply("Reshape", product, np.array([-1, n_candidates, table.shape[1]]))

    def _of_candidates(self, by_class: FloatArray) -> FloatArray | str:
        """The rows of the candidates (batch, candidates, …), or those of all classes."""
        return by_class if self.places is None else self.graph.apply("Gather", by_class, self.places, axis=0)


def _over_members(graph: Graph, rows: str) -> str:
    return graph.apply("ReduceSum", rows, MEMBERS, keepdims=0)


def _over_candidates(graph: Graph, values: str) -> str:
    return graph.apply("ReduceMean", values, axes=[1], keepdims=0)


def _normalized(graph: Graph, rows: str) -> str:
    return graph.apply("Div", rows, graph.apply("ReduceSum", rows, CLASSES))
