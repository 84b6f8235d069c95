"""A fitted aggregator as an ONNX graph: the rule with its numbers, for any runtime, without this library."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.data.answers import TIE
from consilience.system.atomic import whole_file
from consilience.system.errors import extra

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from consilience.answering.rule import AbstractRule, Names

OPSET, IR_VERSION = 17, 8
"""Versions of 2022, which runtimes of recent years can read."""

MOST_BYTES = 2**31 - 2**20
"""A file of protocol buffers has less than 2 GiB."""


def write_onnx(rule: AbstractRule, names: Names, path: str | os.PathLike[str], *, logits: bool) -> None:
    """Write the rule to a file: `predictions` in, `posterior` and `label` out."""
    onnx = extra("onnx", name="onnx", use="to_onnx")
    graph = Graph(onnx, np.dtype(np.float64 if rule.needs_double else np.float32))
    n_bytes = rule.n_numbers * graph.dtype.itemsize
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"an ONNX file must stay below 2 GiB; {len(names.members)} members × {len(names.classes)}² classes "
            f"take {n_bytes / 2**30:.1f} GiB"
        )
    _draw(graph, rule, len(names.classes), logits=logits)
    model = _model(graph, names, logits=logits)
    onnx.checker.check_model(model, full_check=True)
    with whole_file(path) as file:
        file.write(model.SerializeToString())


def _model(graph: Graph, names: Names, *, logits: bool) -> Any:
    """The graph with what a reader needs to know of it."""
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    value, n_classes = helper.make_tensor_value_info, len(names.classes)
    drawn = helper.make_graph(
        graph.nodes,
        names.aggregator,
        [value("predictions", types.FLOAT, [len(names.members), "batch", n_classes])],
        [value("posterior", types.FLOAT, ["batch", n_classes]), value("label", types.INT64, ["batch"])],
        graph.constants,
    )
    version = str(sys.modules["consilience"].__version__)  # by name: a lower layer does not import the whole package
    opset = [helper.make_opsetid("", OPSET)]
    producer = {"producer_name": "consilience", "producer_version": version}
    model = helper.make_model(drawn, opset_imports=opset, ir_version=IR_VERSION, **producer)
    facts = {
        "aggregator": names.aggregator,
        "consilience": version,
        "input": "logits" if logits else "probabilities",
        "members": json.dumps(names.members, default=str),
        "classes": json.dumps(names.classes, default=str),
    }
    helper.set_model_props(model, facts)
    return model


@final
@dataclass
class Graph:
    """Nodes and constants, collected as they are applied; a value is known by its name."""

    onnx: Any
    dtype: np.dtype[Any]  # of all numbers inside
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def apply(self, operator: str, *inputs: Any, name: str | None = None, **attributes: Any) -> str:
        """The name of what an operator makes of values, known by name, and of arrays."""
        name = f"{operator.lower()}_{len(self.nodes)}" if name is None else name
        self.nodes.append(self.onnx.helper.make_node(operator, self._names(inputs), [name], **attributes))
        return name

    def largest(self, values: str, count: int) -> tuple[str, str]:
        """The largest values of each row (batch, count), the largest first, and their places."""
        numbers, places = (f"{part}_{len(self.nodes)}" for part in ("largest", "places"))
        inputs = self._names((values, np.array([count])))
        self.nodes.append(self.onnx.helper.make_node("TopK", inputs, [numbers, places], axis=1))
        return numbers, places

    def _names(self, values: tuple[Any, ...]) -> list[str]:
        return [value if isinstance(value, str) else self._constant(value) for value in values]

    def cast(self, value: str, dtype: npt.DTypeLike, *, name: str | None = None) -> str:
        """The values in another type."""
        return self.apply("Cast", value, name=name, to=self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _constant(self, values: npt.NDArray[Any] | float) -> str:
        array = np.asarray(values)
        array = array.astype(self.dtype) if array.dtype == np.float64 else array
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def tied(self, rows: str) -> tuple[str, str]:
        """The largest entries of each row (members, batch, classes) as ones among zeros, and how many they are.

        `is_largest` says the same of arrays.
        """
        least = self.apply("Mul", self.apply("ReduceMax", rows, axes=[2]), 1 - TIE)
        is_tied = self.cast(self.apply("GreaterOrEqual", rows, least), self.dtype)
        return is_tied, self.apply("ReduceSum", is_tied, np.array([2]))

    def side_by_side(self, values: str, is_answer: str, n_features: int) -> str:
        """The rows of all members of an item as one (batch, members × classes), zero where missing."""
        side_by_side = self.apply("Transpose", self.apply("Mul", values, is_answer), perm=[1, 0, 2])
        # 0 keeps the size of the batch, even of an empty one, which -1 would not.
        return self.apply("Reshape", side_by_side, np.array([0, n_features]))


class GraphRows(NamedTuple):
    """Names of what is known of the rows (members, batch, classes), and of which of them count."""

    given: str  # what came in, zero where missing
    are_logits: bool
    votes: str | None  # rows of votes, where there are members whose answers count as such (`SoftMember.ballots`)
    probabilities: str  # of those members the votes
    is_answer: str  # (members, batch, 1): also without the answers that are no vote
    n_classes: int


def _draw(graph: Graph, rule: AbstractRule, n_classes: int, *, logits: bool) -> None:
    """The whole graph, from `predictions` to `posterior` and `label`."""
    numbers = graph.cast("predictions", graph.dtype)
    is_missing = graph.apply("ReduceMax", graph.cast(graph.apply("IsNaN", numbers), graph.dtype), axes=[2])
    given = graph.apply("Where", graph.cast(is_missing, bool), 0.0, numbers)
    probabilities = graph.apply("Softmax", given, axis=2) if logits else given
    votes, is_answer = None, graph.apply("Sub", 1.0, is_missing)
    if rule.is_label.any():
        is_tied, n_tied = graph.tied(probabilities)
        votes = graph.apply("Div", is_tied, n_tied)
        is_vote = graph.cast(graph.apply("Less", n_tied, n_classes - 0.5), graph.dtype)
        is_answer = graph.apply("Mul", is_answer, with_votes(graph, rule, is_vote, is_answer))
        probabilities = with_votes(graph, rule, votes, probabilities)
    rows = GraphRows(given, logits, votes, probabilities, is_answer, n_classes)
    posterior = rule.draw(graph, rows)
    is_silent = graph.cast(graph.apply("ReduceMin", is_missing, axes=[0], keepdims=0), bool)
    graph.cast(graph.apply("Where", is_silent, np.nan, posterior), np.float32, name="posterior")
    largest = graph.apply("ArgMax", "posterior", axis=1, keepdims=0)
    graph.apply("Where", graph.apply("Squeeze", is_silent, np.array([1])), np.array(-1), largest, name="label")


def with_votes(graph: Graph, rule: AbstractRule, votes: str | None, soft: str) -> str:
    """What holds of soft members, and of those whose answers count as votes."""
    return soft if votes is None else graph.apply("Where", rule.is_label[:, None, None], votes, soft)
