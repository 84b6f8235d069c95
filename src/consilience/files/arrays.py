"""Recognise which arrays of a file are predictions, labels or names. `LAYOUTS` lists what a file may hold."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from consilience.data.axes import Axis, some
from consilience.data.names import as_written, sorted_names
from consilience.data.predictions import Predictions
from consilience.data.tables.columns import Column
from consilience.data.tables.layouts import check_names, check_repeated
from consilience.data.tables.numbers import Numbers, Scale, as_probabilities, scale_in, scale_of
from consilience.data.tables.told import ITEM, LABEL, MEMBER, TRUTH, Told, first_named, role_of
from consilience.files.contents import AXIS_NAMES, ORDERS, Arrays, Contents
from consilience.system.errors import InvalidPredictions, Say

BLOCK = "(members, items, classes)"

MANY_ROWS = 6
"""So many rows of 0 with one 1 are no accident."""


class _View(NamedTuple):
    """The arrays of a file, and what the user says of them."""

    arrays: Arrays
    contents: Contents
    told: Told
    scale: Scale | None  # of the numbers
    is_alone: bool  # whether this is the only file
    names: dict[str, Any]  # of the axes

    def of(self, dimensions: tuple[int, ...], kinds: str) -> Arrays:
        """The arrays of so many dimensions whose values are of these kinds, as NumPy calls them."""
        return {n: a for n, a in self.arrays.items() if a.ndim in dimensions and a.dtype.kind in kinds}

    def only(self, arrays: Arrays, what: str) -> tuple[str, Any]:
        """The only one of these arrays, and its name."""
        if len(arrays) != 1:
            hint = f"; pick one as {self.contents.path.name}:{next(iter(arrays))}" if arrays else ""
            raise InvalidPredictions(f"expected one {what}; it holds {some(list(arrays))}{hint}")
        return next(iter(arrays.items()))

    def members_first(self, array: Any, usual: str, *, asks: bool = True) -> Any:
        """The array with members along its first axis, as the user says, or the number of names fits one order alone.

        Raises if neither these nor the sizes tell which axis that is, and `asks`.
        """
        given = self.names.get("members"), self.names.get("items") or self.told.items
        expected = [None if names is None else len(names) for names in given]
        shapes = dict(zip(ORDERS, (array.shape[:2], array.shape[1::-1]), strict=True))
        fits = [own for own, s in shapes.items() if all(n in (None, size) for n, size in zip(expected, s, strict=True))]
        order = self.contents.order or (fits[0] if len(fits) == 1 else None)
        if order is None and asks and array.shape[0] >= array.shape[1] > 1:
            sizes, other = " × ".join(f"{n:,}" for n in array.shape), usual.replace("members, items", "items, members")
            raise InvalidPredictions(
                f"an array of {sizes} may be ({usual}) or ({other}): add :members-first or :items-first to the file's "
                "name"
            )
        return np.swapaxes(array, 0, 1) if order == "items-first" else array


Read = tuple[Predictions, str]


def from_arrays(contents: Contents, arrays: Arrays, *, told: Told, scale: Scale | None, is_alone: bool) -> Read:
    """The predictions in a file's arrays, and what was understood. `scale` is what the user says of the numbers."""
    view = _View(arrays, contents, told, scale, is_alone, axis_names(arrays))
    for layout in LAYOUTS:
        if (read := layout(view)) is not None:
            return read
    shapes = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()) or "nothing"
    raise InvalidPredictions(f"expected an array {BLOCK} or (items, classes); it holds {shapes}")


# ---- layouts ------------------------------------------------------------------------------------------------


def _answers(view: _View) -> Read | None:
    """The items, members and labels of a list of answers, if three arrays have such names."""
    flat = [name for name, array in view.arrays.items() if array.ndim == 1]
    found = [first_named(flat, names) for names in (ITEM, MEMBER, LABEL)]
    if None in found:
        return None
    item, member, label = (view.arrays[name] for name in found if name is not None)
    made = Predictions.from_answers(item, member, label, **view.names, partial=True)
    return made, f"a list of {len(label):,} answers"


def _block(view: _View) -> Read | None:
    """All members in one array, on one scale."""
    blocks = view.of((3,), "fiub")
    if not blocks:
        return None
    if view.scale == "labels":
        raise InvalidPredictions(f"labels must be an array (members, items); got one {BLOCK}")
    name, block = view.only(blocks, f"array {BLOCK}")
    is_on_scale = bool(block.size) and scale_of(block.reshape(-1, block.shape[-1])) is not None
    block = view.members_first(block, BLOCK[1:-1], asks=is_on_scale)
    scale = scale_in(block, name, view.scale)
    if scale == "counts" and view.scale is None:
        raise InvalidPredictions(
            f"an array {BLOCK} must hold probabilities; this one holds whole numbers: say {Say('normalize')} if they "
            "are counts of votes"
        )
    rows = block if scale in (None, "probabilities") else [as_probabilities(m, scale, p) for p, m in enumerate(block)]
    made = Predictions(rows, **view.names, partial=True)
    sizes = f"{made.n_members:,} × {made.n_items:,} × {made.n_classes:,}"
    return made, f"{scale or 'probabilities'} {BLOCK} = {sizes}"


def _one_class(view: _View) -> Read | None:
    """The probabilities of one class, in an array (items,) or (items, 1)."""
    positive, arrays = view.told.positive, view.of((1, 2), "f")
    flat = {name: np.ravel(a) for name, a in arrays.items() if a.size and a.shape[1:] in ((), (1,))}
    shares = {name: a for name, a in flat.items() if np.fmin.reduce(a) >= 0 and np.fmax.reduce(a) <= 1}  # or missing
    has_others = positive is None and any(array.shape[1:] not in ((), (1,)) for array in view.arrays.values())
    if not shares or view.scale == "labels" or has_others:
        return None
    if positive is None:
        raise InvalidPredictions(
            "an array (items,) of numbers from 0 to 1 may be the probabilities of one class: say "
            f"{Say('positive', 'NAME')}, the name of that class"
        )
    _, own = view.only(shares, f"array of probabilities of {positive!r}")
    made = Predictions(
        [np.stack([1 - own, own], axis=1)],
        members=[view.contents.path.stem],
        items=view.names.get("items"),
        classes=[f"not {positive}", positive],
        partial=True,
    )
    return made, f"the probability of {positive!r} of {len(own):,} items"


def _matrices(view: _View) -> Read | None:
    """One array for each member, each on a scale of its own."""
    # Whole numbers are labels, unless the user says of this file that they are not. --logits is said of all files.
    told = view.scale
    is_said = told is not None and (view.contents.scale is not None or told == "counts")
    matrices = {} if told == "labels" else view.of((2,), "fiu" if is_said else "f")
    if not matrices:
        return None
    _check_same_shape(matrices, view.contents)
    rows, scales = [], []
    for place, (name, matrix) in enumerate(matrices.items()):
        scale = scale_in(matrix, name, told)
        if told is None and scale in (None, "counts"):
            _check_no_labels(matrix)
            _check_not_independent(matrix)
            scale = None
        scales.append(scale)
        rows.append(as_probabilities(matrix, scale, place))
    members = [view.contents.path.stem] if len(matrices) == 1 else list(matrices)
    made = Predictions(rows, **({"members": members} | view.names), partial=True)
    words = " and ".join(dict.fromkeys(scale or "probabilities" for scale in scales))
    return made, f"{words} (items, classes) = {made.n_items:,} × {made.n_classes:,} of {some(members)}"


def _labels(view: _View) -> Read | None:
    """The labels of one member, or of all of them in one array."""
    found = view.of((1, 2), "iuUf" if view.scale == "labels" else "iuU")
    found = {name: array for name, array in found.items() if name not in view.names}
    if not found or (len(found) > 1 and not view.is_alone):
        return None
    name, array = view.only(found, "array of labels (members, items)")
    if view.scale is None:
        _check_not_one_hot(array)
    array = array[:, 0] if array.shape[1:] == (1,) else array  # one member's, as a column
    rows = view.members_first(array, "members, items") if array.ndim == 2 else array[None]
    own = {"members": [view.contents.path.stem]} if len(rows) == 1 else {}
    names: dict[str, Any] = own | view.names | {"partial": True}
    made = _of_names(rows, name, names) if array.dtype.kind == "U" else Predictions.from_labels(rows, **names)
    return made, f"hard labels (members, items) = {made.n_members:,} × {made.n_items:,}"


def _of_names(rows: Any, name: str, names: dict[str, Any]) -> Predictions:
    """Labels by name, missing where they are empty or -1."""
    said = sorted(set(rows.ravel().tolist()))
    rows = rows.astype(object)
    rows[np.isin(rows, ("", "-1"))] = None
    made = Predictions.from_labels(rows, **({"classes": sorted_names(set(said) - {"", "-1"})} | names))
    check_names(Column.of_list(name, said))
    check_repeated(made, name)
    return made


LAYOUTS = (_answers, _block, _one_class, _matrices, _labels)
"""In the order in which they are tried."""


# ---- names and labels of other files ------------------------------------------------------------------------


def labels_in(arrays: Arrays) -> Arrays:
    """The arrays that may be labels: those named so, else all with one dimension."""
    flat = {name: array for name, array in arrays.items() if array.ndim == 1 and name not in AXIS_NAMES}
    called = {name: array for name, array in flat.items() if name.lower() in TRUTH}
    return called or {name: array for name, array in flat.items() if role_of(name) != "item"} or flat


def items_in(arrays: Arrays, labels: str) -> str | None:
    """The array that names the items of labels, such as `items` or `question_id`; one that only counts names none."""
    flat = {name: array for name, array in arrays.items() if array.ndim == 1 and name != labels}
    counted = {name for name, array in flat.items() if Axis("item", len(array)).is_same_as(array.tolist())}
    found = [name for name in flat if name == "items" or (role_of(name) == "item" and name not in counted)]
    if len(found) > 1:
        raise InvalidPredictions(f"one array must name the items of labels; {some(found)} may")
    if found and len(flat[found[0]]) != len(arrays[labels]):
        raise InvalidPredictions(
            f"labels must be as many as the items they name; got {len(arrays[labels])} in {labels!r} and "
            f"{len(flat[found[0]])} in {found[0]!r}"
        )
    return found[0] if found else None


def axis_names(arrays: Arrays) -> dict[str, Any]:
    """The names that an archive gives the axes."""
    flat = {name: arrays[name] for name in AXIS_NAMES if name in arrays and arrays[name].ndim == 1}
    return {name: [as_written(value) for value in array.tolist()] for name, array in flat.items()}


# ---- refusals -----------------------------------------------------------------------------------------------


def _check_no_labels(matrix: Any) -> None:
    """Raise if whole numbers with gaps are labels rather than probabilities."""
    values = np.asarray(matrix)
    is_missing = np.isnan(values)
    if (is_missing.any(axis=1) & ~is_missing.all(axis=1)).any() and (values[~is_missing] % 1 == 0).all():
        raise InvalidPredictions(
            "whole numbers with gaps may be labels (members, items), NaN where missing: add :labels to the file's name "
            "if they are"
        )


def _check_not_independent(matrix: Any) -> None:
    """Raise if numbers are from 0 to 1, and their sums differ from row to row, as those of several labels do."""
    with np.errstate(invalid="ignore"):  # a NaN that signals
        numbers = Numbers(np.asarray(matrix, dtype=np.float64))
    if numbers.share_of_probabilities() < 0.5 and numbers.are_independent():
        if Numbers(numbers.values.T).share_of_probabilities() > 0.5:
            raise InvalidPredictions("an array must be (items, classes); here columns sum to 1, not rows: turn it")
        raise InvalidPredictions(
            "probabilities must sum to 1 over classes; numbers from 0 to 1 that do not may be several labels, or what "
            "several members say of one class: write a file for each column, and name the class with "
            f"{Say('positive', 'NAME')}"
        )


def _check_not_one_hot(labels: Any) -> None:
    """Raise if rows of 0 with one 1 are so many that they are items rather than members."""
    if labels.ndim < 2 or labels.dtype.kind not in "iu" or len(labels) < min(MANY_ROWS, labels.shape[1] + 1):
        return
    if ((labels == 0) | (labels == 1)).all() and (labels.sum(axis=1) == 1).all():
        raise InvalidPredictions(
            "rows of 0 with one 1 may be labels by several members or one member's probabilities; "
            f"got {len(labels)} such rows: add :labels or :probabilities to the file's name"
        )


def _check_same_shape(matrices: Arrays, contents: Contents) -> None:
    (usual, _), *others = Counter(array.shape for array in matrices.values()).most_common()
    if others:
        name = next(name for name, array in matrices.items() if array.shape != usual)
        raise InvalidPredictions(
            f"members must be of one shape (items, classes); {contents.path} has {name!r} of {matrices[name].shape} "
            f"beside {usual}"
        )
