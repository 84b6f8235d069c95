"""A fitted aggregator as an ONNX graph: the rule with its numbers, for any runtime, without this library."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from consilience.answering.correction import ANSWER_FLOOR, FLOOR
from consilience.system.atomic import whole_file
from consilience.system.extras import extra

if TYPE_CHECKING:
    import os

    import numpy.typing as npt

    from consilience.answering.correction import Correction
    from consilience.answering.frozen import FrozenRule, LinearLayer

OPSET, IR_VERSION = 17, 8
"""Of 2022: what runtimes of the last years read."""

MOST_BYTES = 2**31 - 2**20
"""A file of protocol buffers has less than 2 GiB."""


def write_onnx(rule: FrozenRule, path: str | os.PathLike[str], *, logits: bool) -> None:
    """Write the rule to a file: `predictions` in, `posterior` and `label` out."""
    onnx = extra("onnx", name="onnx", use="to_onnx")
    layer = rule.layer()
    graph = Graph(onnx, np.dtype(np.float64 if layer is not None and layer.needs_double else np.float32))
    n_bytes = 0 if layer is None else layer.table.size * graph.dtype.itemsize
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"an ONNX file must stay below 2 GiB; {len(rule.members)} members × {len(rule.classes)}² classes "
            f"take {n_bytes / 2**30:.1f} GiB"
        )
    _draw(graph, rule, layer, logits=logits)
    model = _model(graph, rule, logits=logits)
    onnx.checker.check_model(model, full_check=True)
    with whole_file(path) as file:
        file.write(model.SerializeToString())


def _model(graph: Graph, rule: FrozenRule, *, logits: bool) -> Any:
    """The graph with what a reader needs to know of it."""
    helper, types = graph.onnx.helper, graph.onnx.TensorProto
    value, n_classes = helper.make_tensor_value_info, len(rule.classes)
    drawn = helper.make_graph(
        graph.nodes,
        rule.aggregator,
        [value("predictions", types.FLOAT, [len(rule.members), "batch", n_classes])],
        [value("posterior", types.FLOAT, ["batch", n_classes]), value("label", types.INT64, ["batch"])],
        graph.constants,
    )
    version = str(sys.modules["consilience"].__version__)  # by name: a lower layer does not import the whole package
    opset = [helper.make_opsetid("", OPSET)]
    producer = {"producer_name": "consilience", "producer_version": version}
    model = helper.make_model(drawn, opset_imports=opset, ir_version=IR_VERSION, **producer)
    facts = {
        "aggregator": rule.aggregator,
        "consilience": version,
        "input": "logits" if logits else "probabilities",
        "members": json.dumps(rule.members, default=str),
        "classes": json.dumps(rule.classes, default=str),
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
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        self.nodes.append(self.onnx.helper.make_node(operator, names, [name], **attributes))
        return name

    def cast(self, value: str, dtype: npt.DTypeLike, *, name: str | None = None) -> str:
        """The values in another type."""
        return self.apply("Cast", value, name=name, to=self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))

    def _constant(self, values: npt.NDArray[Any] | float) -> str:
        array = np.asarray(values)
        array = array.astype(self.dtype) if array.dtype == np.float64 else array
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name


class Rows(NamedTuple):
    """Names of what is known of the rows (members, batch, classes), and of which of them count."""

    probabilities: str
    logs: str
    is_answer: str  # (members, batch, 1)


def _draw(graph: Graph, rule: FrozenRule, layer: LinearLayer | None, *, logits: bool) -> None:
    """The whole rule, from `predictions` to `posterior` and `label`."""
    numbers = graph.cast("predictions", graph.dtype)
    is_missing = graph.apply("ReduceMax", graph.cast(graph.apply("IsNaN", numbers), graph.dtype), axes=[2])
    is_answer = graph.apply("Sub", 1.0, is_missing)
    given = graph.apply("Where", graph.cast(is_missing, bool), 0.0, numbers)
    probabilities, logs = _read(graph, rule, given, logits=logits)
    posterior = _posterior(graph, rule, layer, Rows(probabilities, logs, is_answer))
    if rule.correction is not None:
        posterior = _corrected(graph, rule, rule.correction, posterior, Rows(probabilities, logs, is_answer))
    is_silent = graph.cast(graph.apply("ReduceMin", is_missing, axes=[0], keepdims=0), bool)
    graph.cast(graph.apply("Where", is_silent, np.nan, posterior), np.float32, name="posterior")
    largest = graph.apply("ArgMax", "posterior", axis=1, keepdims=0)
    graph.apply("Where", graph.apply("Squeeze", is_silent, np.array([1])), np.array(-1), largest, name="label")


def _read(graph: Graph, rule: FrozenRule, given: str, *, logits: bool) -> tuple[str, str]:
    """Each row as probabilities and as logarithms; where only the most probable class counts, one-hot in both."""
    votes = _votes(graph, given, len(rule.classes)) if rule.is_label.any() else given
    if rule.is_label.all():
        return votes, votes
    probabilities, logs = _read_soft(graph, rule.floor, given, logits=logits)
    if rule.is_label.any():
        is_label = rule.is_label[:, None, None]
        probabilities, logs = (graph.apply("Where", is_label, votes, soft) for soft in (probabilities, logs))
    return probabilities, logs


def _read_soft(graph: Graph, floor: float | None, given: str, *, logits: bool) -> tuple[str, str]:
    """Probabilities, and their floored logarithms where a floor says that these are wanted."""
    if not logits:
        return given, given if floor is None else graph.apply("Log", graph.apply("Max", given, floor))
    if floor is None:
        probabilities = graph.apply("Softmax", given, axis=2)
        return probabilities, probabilities
    logs = graph.apply("LogSoftmax", given, axis=2)
    return graph.apply("Exp", logs), graph.apply("Max", logs, np.log(floor))


def _votes(graph: Graph, given: str, n_classes: int) -> str:
    """The largest entry of each row as a one-hot row; the lowest class wins a tie."""
    label = graph.apply("ArgMax", given, axis=2, keepdims=0)
    one_hot = graph.apply("OneHot", label, np.array(n_classes), np.array([0, 1], dtype=np.float32), axis=-1)
    return graph.cast(one_hot, graph.dtype)  # runtimes know no OneHot of double precision


def _posterior(graph: Graph, rule: FrozenRule, layer: LinearLayer | None, rows: Rows) -> str:
    """(1 - weight) · average + weight · softmax(scores), or the half of it that counts."""
    if layer is None:
        average = _average(graph, rule, rows.logs if rule.averages_logs else rows.probabilities, rows.is_answer)
        return graph.apply("Softmax", average, axis=1) if rule.averages_logs else average
    pure = graph.apply("Softmax", _scores(graph, layer, rows), axis=1)
    if rule.weight == 1:
        return pure
    average = _average(graph, rule, rows.probabilities, rows.is_answer)
    return graph.apply("Add", graph.apply("Mul", 1 - rule.weight, average), graph.apply("Mul", rule.weight, pure))


def _corrected(graph: Graph, rule: FrozenRule, correction: Correction, posterior: str, rows: Rows) -> str:
    """Softmax(sharpness · log posterior + bias + weights · log max(probability, FLOOR))."""
    floored = graph.apply("Log", graph.apply("Max", posterior, ANSWER_FLOOR))
    sharpened = graph.apply("Add", graph.apply("Mul", correction.sharpness, floored), correction.bias)
    logs = graph.apply("Log", graph.apply("Max", rows.probabilities, FLOOR))
    table = rule.correction_table()
    scores = graph.apply("MatMul", _side_by_side(graph, logs, rows.is_answer, len(table)), table)
    return graph.apply("Softmax", graph.apply("Add", sharpened, scores), axis=1)


def _side_by_side(graph: Graph, values: str, is_answer: str, n_features: int) -> str:
    """The rows of all members of an item as one (batch, members × classes), zero where missing."""
    side_by_side = graph.apply("Transpose", graph.apply("Mul", values, is_answer), perm=[1, 0, 2])
    # 0 keeps the size of the batch, even of an empty one, which -1 would not.
    return graph.apply("Reshape", side_by_side, np.array([0, n_features]))


def _average(graph: Graph, rule: FrozenRule, rows: str, is_answer: str) -> str:
    """The mean of the rows of each item, weighed among those who answered."""
    weights = graph.apply("Mul", rule.member_weights[:, None, None], is_answer)
    over_members = np.array([0])
    total = graph.apply("ReduceSum", graph.apply("Mul", weights, rows), over_members, keepdims=0)
    return graph.apply("Div", total, graph.apply("ReduceSum", weights, over_members, keepdims=0))


def _scores(graph: Graph, layer: LinearLayer, rows: Rows) -> str:
    """The linear layer (batch, classes)."""
    features = _side_by_side(graph, rows.logs, rows.is_answer, len(layer.table))
    scores = graph.apply("Add", graph.apply("MatMul", features, layer.table), layer.log_prior)
    if not layer.bias.any():
        return scores
    flags = graph.apply("Transpose", graph.apply("Squeeze", rows.is_answer, np.array([2])), perm=[1, 0])
    return graph.apply("Add", scores, graph.apply("MatMul", flags, layer.bias))
