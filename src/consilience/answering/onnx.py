"""A fitted aggregator as an ONNX graph: the rule with its numbers, for any runtime, without this library.

Nothing is written twice: what a rule does to tensors (`RuleForm`) is done here to `Traced` arrays, which note it down.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any, final

import numpy as np

from consilience.answering.rule import AbstractRule, Names, RuleForm, given_rows
from consilience.system.atomic import whole_file
from consilience.system.errors import extra

OPSET, IR_VERSION = 17, 8  # versions of 2022, which runtimes of recent years can read
MOST_BYTES = 2**31 - 2**20  # a file of protocol buffers has less than 2 GiB

BOOL, INTEGER = np.dtype(bool), np.dtype(np.int64)


def write_onnx(rule: AbstractRule, names: Names, path: str | os.PathLike[str], *, logits: bool) -> None:
    """Write the rule to a file: `predictions` in, `posterior` and `label` out."""
    onnx = extra("onnx", name="onnx", use="to_onnx")
    _check_size(rule, names, np.dtype(np.float32))  # before numbers are copied
    form = rule.form()
    graph = Graph(onnx, np.dtype(np.float64 if form.needs_double else np.float32))
    _check_size(rule, names, graph.dtype)
    _draw(graph, rule, form, (len(names.members), None, len(names.classes)), logits=logits)
    model = _model(graph, names, logits=logits)
    onnx.checker.check_model(model, full_check=True)
    with whole_file(path) as file:
        file.write(model.SerializeToString())


def _check_size(rule: AbstractRule, names: Names, dtype: np.dtype[Any]) -> None:
    n_bytes = rule.n_numbers * dtype.itemsize
    if n_bytes > MOST_BYTES:
        raise ValueError(
            f"an ONNX file must stay below 2 GiB; {len(names.members)} members × {len(names.classes)}² classes "
            f"take {n_bytes / 2**30:.1f} GiB"
        )


def _draw(graph: Graph, rule: AbstractRule, form: RuleForm, shape: AxisSizes, *, logits: bool) -> None:
    """The whole graph, from `predictions` to `posterior` and `label`."""
    given = Traced(graph, "predictions", shape, np.dtype(np.float32)).cast(graph.dtype)
    is_missing = given.apply("IsNaN", dtype=BOOL).cast(graph.dtype).reduced("ReduceMax", 2, keepdims=True)
    given = TRACED.where(is_missing.cast(BOOL), 0.0, given)
    is_label = graph.constant(rule.is_label[:, None, None])
    rows = given_rows(TRACED, given, 1.0 - is_missing, is_label, have_votes=rule.have_votes, logits=logits)
    posterior = form.answer({name: graph.constant(values) for name, values in form.numbers.items()}, rows)
    is_silent = is_missing.reduced("ReduceMin", 0).cast(BOOL)
    posterior = TRACED.where(is_silent, np.nan, posterior).cast(np.dtype(np.float32), name="posterior")
    largest = posterior.apply("ArgMax", shape=shape[1:2], dtype=INTEGER, axis=1, keepdims=0)
    largest.apply("Where", is_silent[:, 0], -1, place=2, name="label")


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


AxisSizes = tuple[int | None, ...]  # sizes of axes; None is that of the batch


@final
@dataclass
class Graph:
    """Nodes and constants, collected as they are needed."""

    onnx: Any
    dtype: np.dtype[Any]  # of all numbers inside
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)

    def constant(self, values: Any) -> Traced:
        """Numbers that are known; they become part of the graph where something is computed from them."""
        array = np.asarray(values)
        array = array.astype(self.dtype) if array.dtype == np.float64 else array
        return Traced(self, None, array.shape, array.dtype, array)

    def keep(self, values: np.ndarray[Any, Any]) -> str:
        """The name of a constant."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def add(self, operator: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> None:
        """One more node, between values that are known by name."""
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, outputs, **attributes))


def _operator(operator: str, *, place: int = 0, dtype: np.dtype[Any] | None = None) -> Callable[..., Any]:
    return lambda array, other: array.apply(operator, other, place=place, dtype=dtype)


@final
@dataclass(eq=False)
class Traced:
    """An array that an ONNX graph will compute: operations are noted down instead of being done.

    It has what rules need of the array API, and of torch's additions to it.
    """

    graph: Graph
    _name: str | None
    shape: AxisSizes
    dtype: np.dtype[Any]
    _values: np.ndarray[Any, Any] | None = None  # those of a constant, which may have no name yet

    __array_ufunc__ = None  # NumPy leaves operations with it to its own methods

    @property
    def name(self) -> str:
        """What nodes call it."""
        if self._name is None:
            assert self._values is not None  # noqa: S101 - of constants alone
            self._name = self.graph.keep(self._values)
        return self._name

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        del api_version
        return TRACED

    def apply(
        self,
        operator: str,
        *others: Any,
        shape: AxisSizes | None = None,
        dtype: np.dtype[Any] | None = None,
        name: str | None = None,
        place: int = 0,
        **attributes: Any,
    ) -> Traced:
        """What an operator makes of this array and others; this one is at a `place` among them."""
        inputs = [other if isinstance(other, Traced) else self._like(other) for other in others]
        inputs.insert(place, self)
        if shape is None:
            shape = _broadcast([own.shape for own in inputs])
        name = f"{operator.lower()}_{len(self.graph.nodes)}" if name is None else name
        self.graph.add(operator, [own.name for own in inputs], [name], **attributes)
        return Traced(self.graph, name, shape, self.dtype if dtype is None else dtype)

    def _like(self, value: Any) -> Traced:
        """A number, or numbers, in the precision of this array."""
        array = np.asarray(value)
        return self.graph.constant(array if array.dtype == INTEGER and array.ndim else array.astype(self.dtype))

    def cast(self, dtype: np.dtype[Any], *, name: str | None = None) -> Traced:
        """The same in another type."""
        if dtype == self.dtype and name is None:
            return self
        return self.apply("Cast", dtype=dtype, name=name, to=self.graph.onnx.helper.np_dtype_to_tensor_dtype(dtype))

    def reduced(self, operator: str, axis: int, *, keepdims: bool = False) -> Traced:
        """The sum, mean or extreme along an axis."""
        axis %= len(self.shape)
        kept = (1,) if keepdims else ()
        shape = (*self.shape[:axis], *kept, *self.shape[axis + 1 :])
        if operator == "ReduceSum":
            return self.apply(operator, np.array([axis]), shape=shape, keepdims=int(keepdims))
        return self.apply(operator, shape=shape, axes=[axis], keepdims=int(keepdims))

    def sorted(self, count: int, axis: int, *, largest: bool) -> SimpleNamespace:
        """The so many largest or smallest along an axis in order, and their places, as torch's `topk` has them."""
        axis %= len(self.shape)
        shape, place = (*self.shape[:axis], count, *self.shape[axis + 1 :]), len(self.graph.nodes)
        values = Traced(self.graph, f"values_{place}", shape, self.dtype)
        indices = Traced(self.graph, f"indices_{place}", shape, INTEGER)
        inputs = [self.name, self.graph.keep(np.array([count]))]
        self.graph.add("TopK", inputs, [values.name, indices.name], axis=axis, largest=int(largest))
        return SimpleNamespace(values=values, indices=indices)

    def clip(self, low: float | None, high: float | None) -> Traced:
        """The numbers within bounds."""
        result = self if low is None else self.apply("Max", low)
        return result if high is None else result.apply("Min", high)

    def __getitem__(self, key: Any) -> Traced:
        if isinstance(key, Traced):
            return self.apply("Gather", key, shape=(*key.shape, *self.shape[1:]), axis=0)
        if self._values is not None:
            return self.graph.constant(self._values[key])
        result, axis = self, 0
        for part in key if isinstance(key, tuple) else (key,):
            if part is None:
                shape = (*result.shape[:axis], 1, *result.shape[axis:])
                result, axis = result.apply("Unsqueeze", np.array([axis]), shape=shape), axis + 1
            elif isinstance(part, slice) and part == slice(None):
                axis += 1
            elif isinstance(part, slice):
                result, axis = _cut(result, part, axis), axis + 1
            else:
                cut = _cut(result, slice(part, part + 1), axis)
                result = cut.apply("Squeeze", np.array([axis]), shape=(*cut.shape[:axis], *cut.shape[axis + 1 :]))
        return result

    def __matmul__(self, other: Traced) -> Traced:
        if len(other.shape) == 1:  # runtimes refuse an empty batch of it
            return (self @ other[:, None])[:, 0]
        return self.apply("MatMul", other, shape=(*self.shape[:-1], other.shape[-1]))

    __add__ = __radd__ = _operator("Add")
    __mul__ = __rmul__ = _operator("Mul")
    __sub__, __rsub__ = _operator("Sub"), _operator("Sub", place=1)
    __truediv__, __rtruediv__ = _operator("Div"), _operator("Div", place=1)
    __ge__, __le__ = _operator("GreaterOrEqual", dtype=BOOL), _operator("LessOrEqual", dtype=BOOL)
    __and__ = _operator("And")
    __invert__, __neg__ = (lambda self, operator=operator: self.apply(operator) for operator in ("Not", "Neg"))


def _broadcast(shapes: list[AxisSizes]) -> AxisSizes:
    """The shape of what is computed element by element."""
    n_axes = max(map(len, shapes))
    rows = [(1,) * (n_axes - len(shape)) + shape for shape in shapes]
    return tuple(next((size for size in sizes if size != 1), 1) for sizes in zip(*rows, strict=True))


def _cut(array: Traced, part: slice, axis: int) -> Traced:
    size = array.shape[axis]
    assert size is not None  # noqa: S101 - nobody cuts the batch
    start, stop, _ = part.indices(size)
    shape = (*array.shape[:axis], stop - start, *array.shape[axis + 1 :])
    return array.apply("Slice", *(np.array([value]) for value in (start, stop, axis)), shape=shape)


def _permuted(array: Traced, axes: Sequence[int]) -> Traced:
    return array.apply("Transpose", shape=tuple(array.shape[axis] for axis in axes), perm=list(axes))


def _stacked(arrays: Sequence[Traced], axis: int) -> Traced:
    return _joined([array[(slice(None),) * axis + (None,)] for array in arrays], axis)


def _joined(arrays: Sequence[Traced], axis: int) -> Traced:
    first, *others = arrays
    size = sum(array.shape[axis] or 0 for array in arrays)
    return first.apply("Concat", *others, shape=(*first.shape[:axis], size, *first.shape[axis + 1 :]), axis=axis)


def _reshaped(array: Traced, shape: AxisSizes) -> Traced:
    sizes = tuple(None if size == -1 else size for size in shape)
    return array.apply("Reshape", np.array([-1 if size is None else size for size in sizes]), shape=sizes)


def _named(operators: str, make: Callable[[str], Callable[..., Traced]]) -> dict[str, Callable[..., Traced]]:
    """Functions by name, made of ONNX's operators: `name=Operator`."""
    pairs = (pair.split("=") for pair in operators.split())
    return {name: make(operator) for name, operator in pairs}


TRACED = ModuleType("traced", "The functions of `Traced` arrays, as the array API and torch call them.")
vars(TRACED).update(
    _named("abs=Abs exp=Exp log=Log relu=Relu", lambda operator: lambda array: array.apply(operator)),
    **_named("softmax=Softmax log_softmax=LogSoftmax", lambda operator: lambda a, dim: a.apply(operator, axis=dim)),
    **_named(
        "max=ReduceMax min=ReduceMin mean=ReduceMean sum=ReduceSum",
        lambda operator: lambda array, axis, keepdims=False: array.reduced(operator, axis, keepdims=keepdims),
    ),
    astype=Traced.cast,
    concat=_joined,
    gather=lambda array, axis, places: array.apply("GatherElements", places, shape=places.shape, axis=axis),
    matrix_transpose=lambda array: _permuted(array, (1, 0)),
    maximum=lambda array, other: array.apply("Max", other),
    permute_dims=_permuted,
    reshape=_reshaped,
    scatter=lambda array, axis, places, values: array.apply("ScatterElements", places, values, axis=axis),
    sort=lambda array, axis: array.sorted(array.shape[axis], axis, largest=False).values,
    stack=_stacked,
    topk=lambda array, count, dim: array.sorted(count, dim, largest=True),
    where=lambda is_first, first, second: second.apply("Where", is_first, first, place=2),
    zeros_like=lambda array: array * 0.0,
)
