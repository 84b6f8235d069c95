"""A linear rule in an ONNX graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from consilience.answering.onnx import with_votes

if TYPE_CHECKING:
    from consilience.answering.linear.rule import LinearLayer, LinearRule
    from consilience.answering.onnx import Graph, GraphRows


def draw_linear(rule: LinearRule, graph: Graph, rows: GraphRows) -> str:
    """(1 - weight) · average + weight · softmax(scores), or the half of it that counts."""
    features, layer = _features(graph, rule, rows), rule.layer()
    if layer is None:
        average = _average(graph, rule, features if rule.averages_logs else rows.probabilities, rows)
        return graph.apply("Softmax", average, axis=1) if rule.averages_logs else average
    pure = graph.apply("Softmax", _scores(graph, layer, features, rows.is_answer), axis=1)
    if rule.weight == 1:
        return pure
    average = _average(graph, rule, rows.probabilities, rows)
    return graph.apply("Add", graph.apply("Mul", 1 - rule.weight, average), graph.apply("Mul", rule.weight, pure))


def _features(graph: Graph, rule: LinearRule, rows: GraphRows) -> str:
    """What scores are linear in: floored logarithms, or without a floor the probabilities; votes are one-hot."""
    if rule.log_floor is None or rule.is_label.all():
        return rows.probabilities
    if rows.are_logits:
        logs = graph.apply("Max", graph.apply("LogSoftmax", rows.given, axis=2), np.log(rule.log_floor))
    else:
        logs = graph.apply("Log", graph.apply("Max", rows.given, rule.log_floor))
    return with_votes(graph, rule, rows.votes, logs)


def _average(graph: Graph, rule: LinearRule, averaged: str, rows: GraphRows) -> str:
    """The mean of the rows of each item, weighed among those who answered; even if nobody votes."""
    weights = graph.apply("Mul", rule.member_weights[:, None, None], rows.is_answer)
    over_members = np.array([0])
    total = graph.apply("ReduceSum", graph.apply("Mul", weights, averaged), over_members, keepdims=0)
    behind = graph.apply("ReduceSum", weights, over_members, keepdims=0)
    average = graph.apply("Div", total, behind)
    if not rule.is_label.any():
        return average
    return graph.apply("Where", graph.apply("Greater", behind, 0.0), average, 1 / rows.n_classes)


def _scores(graph: Graph, layer: LinearLayer, features: str, is_answer: str) -> str:
    """The linear layer (batch, classes)."""
    side_by_side = graph.side_by_side(features, is_answer, len(layer.table))
    scores = graph.apply("Add", graph.apply("MatMul", side_by_side, layer.table), layer.log_prior)
    if not layer.bias.any():
        return scores
    flags = graph.apply("Transpose", graph.apply("Squeeze", is_answer, np.array([2])), perm=[1, 0])
    return graph.apply("Add", scores, graph.apply("MatMul", flags, layer.bias))
