"""Recognise which arrays of a file are predictions, labels or names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.axes import some
from consilience.data.names import sorted_names, text_of
from consilience.data.predictions import Predictions
from consilience.data.tables.plausibility import check_names, check_repeated
from consilience.data.tables.scales import Scale, as_probabilities, check_orientation, named_scale, scale_of
from consilience.data.tables.vocabulary import ITEM, LABEL, MEMBER, TRUTH, column_named, role_of
from consilience.files.contents import AXIS_NAMES, Arrays, Contents
from consilience.system.errors import InvalidPredictions, Say

if TYPE_CHECKING:
    from consilience.data.tables.told import Told

BLOCK = "(members, items, classes)"

MANY_ROWS = 6
"""So many rows of 0 with one 1 are no accident."""


def from_arrays(
    contents: Contents, arrays: Arrays, *, told: Told, scale: Scale | None, is_alone: bool
) -> tuple[Predictions, str]:
    """The predictions in a file's arrays, and what was understood. `scale` is what the user says of the numbers."""
    names = axis_names(arrays)
    if (answers := _answers_in(arrays)) is not None:
        item, member, label = answers
        return Predictions.from_answers(item, member, label, **names, partial=True), f"a list of {len(label):,} answers"
    blocks = {name: a for name, a in arrays.items() if a.ndim == 3 and a.dtype.kind in "fiub"}
    if blocks:
        return _of_blocks(blocks, contents, told, scale, names)
    if (shares := _of_one_class(arrays, contents, told, scale, names)) is not None:
        return shares
    # Whole numbers are labels, unless the user says of this file that they are not. --logits is said of all files.
    numbers = "fiu" if scale is not None and (contents.scale is not None or scale == "counts") else "f"
    matrices = {} if scale == "labels" else {n: a for n, a in arrays.items() if a.ndim == 2 and a.dtype.kind in numbers}
    if matrices:
        _check_same_shape(matrices, contents)
        members = [contents.path.stem] if len(matrices) == 1 else list(matrices)
        made, words = _matrices(matrices, scale, {"members": members} | names)
        return made, f"{words} (items, classes) = {made.n_items:,} × {made.n_classes:,} of {some(members)}"
    kinds = "iuUf" if scale == "labels" else "iuU"
    labels = {n: a for n, a in arrays.items() if a.ndim in (1, 2) and a.dtype.kind in kinds and n not in names}
    if labels and (is_alone or len(labels) == 1):
        return _of_labels(labels, contents, told, scale, names)
    shapes = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()) or "nothing"
    raise InvalidPredictions(f"expected an array {BLOCK} or (items, classes); it holds {shapes}")


def _of_blocks(
    blocks: Arrays, contents: Contents, told: Told, scale: Scale | None, names: dict[str, Any]
) -> tuple[Predictions, str]:
    """All members in one array."""
    if scale == "labels":
        raise InvalidPredictions(f"labels must be an array (members, items); got one {BLOCK}")
    name = _the_only_name(blocks, contents, "array (members, items, classes)")
    order = contents.order or _order_by_names(blocks[name].shape, told, names)
    if blocks[name].size and scale_of(blocks[name].reshape(-1, blocks[name].shape[-1])) is not None:
        _check_order(blocks[name].shape, order, "items, members, classes")
    made, words = _block(_turned(blocks[name], order), name, scale, names)
    return made, f"{words} {BLOCK} = {_sizes(made)}"


def _of_labels(
    labels: Arrays, contents: Contents, told: Told, scale: Scale | None, names: dict[str, Any]
) -> tuple[Predictions, str]:
    name = _the_only_name(labels, contents, "array of labels (members, items)")
    array = labels[name]
    if scale is None:
        _check_not_one_hot(array)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]  # one member's, as a column
    rows = np.atleast_2d(array)
    if array.ndim == 2:
        order = contents.order or _order_by_names(array.shape, told, names)
        _check_order(array.shape, order, "items, members")
        rows = _turned(array, order)
    made = _labels(rows, contents.path.stem, names)
    if array.dtype.kind == "U":
        check_names(name, sorted(set(array.ravel().tolist())))
        check_repeated(made, name)
    return made, f"hard labels (members, items) = {made.n_members:,} × {made.n_items:,}"


def _turned(array: Any, order: str | None) -> Any:
    """The array with the members along its first axis."""
    return np.swapaxes(array, 0, 1) if order == "items-first" else array


def _check_order(shape: tuple[int, ...], order: str | None, other: str) -> None:
    """Raise if neither the user, names nor sizes tell whether the first axis holds members or items."""
    if order is None and shape[0] >= shape[1] > 1:
        usual = other.replace("items, members", "members, items")
        raise InvalidPredictions(
            f"an array of {' × '.join(f'{size:,}' for size in shape)} may be ({usual}) or ({other}): add "
            ":members-first or :items-first to the file's name"
        )


def _order_by_names(shape: tuple[int, ...], told: Told, names: dict[str, Any]) -> str | None:
    """The order of the axes if the number of names fits one order alone."""
    items = names.get("items") or told.items
    fits = {
        order: all(
            given is None or len(given) == shape[axis]
            for given, axis in zip((names.get("members"), items), axes, strict=True)
        )
        for order, axes in (("members-first", (0, 1)), ("items-first", (1, 0)))
    }
    orders = [order for order, is_fit in fits.items() if is_fit]
    return orders[0] if len(orders) == 1 else None


def _of_one_class(
    arrays: Arrays, contents: Contents, told: Told, scale: Scale | None, names: dict[str, Any]
) -> tuple[Predictions, str] | None:
    """The probabilities of one class, in an array (items,) or (items, 1); None if there is no such array."""
    flat = {n: a for n, a in arrays.items() if a.dtype.kind == "f" and (a.ndim == 1 or a.shape[1:] == (1,))}
    shares = {n: np.ravel(a) for n, a in flat.items() if a.size and np.nanmin(a) >= 0 and np.nanmax(a) <= 1}
    if not shares or scale == "labels" or (told.positive is None and any(a.ndim > 1 for a in arrays.values())):
        return None
    if told.positive is None:
        raise InvalidPredictions(
            "an array (items,) of numbers from 0 to 1 may be the probabilities of one class: say ",
            Say("positive", "NAME"),
            ", the name of that class",
        )
    name = _the_only_name(shares, contents, f"array of probabilities of {told.positive!r}")
    rows = np.stack([1 - shares[name], shares[name]], axis=1)
    classes = [f"not {told.positive}", told.positive]
    own = {"members": [contents.path.stem], "classes": classes} | {n: v for n, v in names.items() if n == "items"}
    return Predictions([rows], **own, partial=True), f"the probability of {told.positive!r} of {len(rows):,} items"


def labels_in(arrays: Arrays) -> Arrays:
    """The arrays that may be labels: those named so, else all with one dimension."""
    flat = {name: array for name, array in arrays.items() if array.ndim == 1 and name not in AXIS_NAMES}
    called = {name: array for name, array in flat.items() if name.lower() in TRUTH}
    return called or {name: array for name, array in flat.items() if role_of(name) != "item"} or flat


def items_in(arrays: Arrays, labels: str) -> str | None:
    """The array that names the items of labels, such as `items` or `question_id`; one that only counts names none."""
    flat = {name: array for name, array in arrays.items() if array.ndim == 1 and name != labels}
    named = [name for name in flat if name == "items" or role_of(name) == "item"]
    found = [name for name in named if name == "items" or not _counts(flat[name])]
    if len(found) > 1:
        raise InvalidPredictions(f"one array must name the items of labels; {some(found)} may")
    if found and len(flat[found[0]]) != len(arrays[labels]):
        raise InvalidPredictions(
            f"labels must be as many as the items they name; got {len(arrays[labels])} in {labels!r} and "
            f"{len(flat[found[0]])} in {found[0]!r}"
        )
    return found[0] if found else None


def _counts(array: Any) -> bool:
    return [str(value) for value in array.tolist()] == [str(row) for row in range(len(array))]


def axis_names(arrays: Arrays) -> dict[str, Any]:
    """The names that an archive gives the axes."""
    flat = {name: arrays[name] for name in AXIS_NAMES if name in arrays and arrays[name].ndim == 1}
    return {name: [text_of(value) for value in array.tolist()] for name, array in flat.items()}


def _sizes(made: Predictions) -> str:
    return f"{made.n_members:,} × {made.n_items:,} × {made.n_classes:,}"


def _block(block: Any, name: str, told: Scale | None, names: dict[str, Any]) -> tuple[Predictions, str]:
    """All members in one array, on one scale."""
    scale = told or named_scale(name) or (scale_of(block.reshape(-1, block.shape[-1])) if block.size else None)
    if scale == "logits" and told is None and named_scale(name) is None:
        check_orientation(*block.shape[1:])
    if scale == "counts" and told is None:
        raise InvalidPredictions(
            f"an array {BLOCK} must hold probabilities; this one holds whole numbers: say ",
            Say("normalize"),
            " if they are counts of votes",
        )
    rows = block if scale in (None, "probabilities") else [as_probabilities(m, scale, p) for p, m in enumerate(block)]
    return Predictions(rows, **names, partial=True), scale or "probabilities"


def _matrices(matrices: Arrays, told: Scale | None, names: dict[str, Any]) -> tuple[Predictions, str]:
    """One array for each member, each on a scale of its own."""
    rows, scales = [], []
    for place, (name, matrix) in enumerate(matrices.items()):
        scale = told or named_scale(name) or scale_of(matrix)
        if scale == "logits" and told is None and named_scale(name) is None:
            check_orientation(*matrix.shape)
        if scale in (None, "counts") and told is None:
            _check_no_labels(matrix)
        scales.append(scale if told or scale != "counts" else None)
        rows.append(as_probabilities(matrix, scales[-1], place))
    return Predictions(rows, **names, partial=True), " and ".join(dict.fromkeys(s or "probabilities" for s in scales))


def _check_no_labels(matrix: Any) -> None:
    """Raise if whole numbers with gaps are labels rather than probabilities."""
    values = np.asarray(matrix)
    is_missing = np.isnan(values)
    if (is_missing.any(axis=1) & ~is_missing.all(axis=1)).any() and (values[~is_missing] % 1 == 0).all():
        raise InvalidPredictions(
            "whole numbers with gaps may be labels (members, items), NaN where missing: add :labels to the file's name "
            "if they are"
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


def _labels(rows: Any, stem: str, names: dict[str, Any]) -> Predictions:
    named = {"members": [stem]} if len(rows) == 1 else {}
    if rows.dtype.kind == "U":
        given = sorted_names(set(rows.ravel().tolist()) - {"", "-1"})
        rows = np.where(np.isin(rows, ("", "-1")), None, rows.astype(object))
        named = {"classes": given, **named}
    return Predictions.from_labels(rows, **(named | names), partial=True)


def _answers_in(arrays: Arrays) -> tuple[Any, Any, Any] | None:
    """The items, members and labels of a list of answers, if three arrays have such names."""
    flat = [name for name, array in arrays.items() if array.ndim == 1]
    found = [column_named(flat, None, names) for names in (ITEM, MEMBER, LABEL)]
    return None if None in found else tuple(arrays[name] for name in found if name is not None)  # type: ignore[return-value]


def _the_only_name(arrays: Arrays, contents: Contents, what: str) -> str:
    if len(arrays) != 1:
        hint = f"; pick one as {contents.path.name}:{next(iter(arrays))}" if arrays else ""
        raise InvalidPredictions(f"expected one {what}; it holds {some(list(arrays))}{hint}")
    return next(iter(arrays))


def _check_same_shape(matrices: Arrays, contents: Contents) -> None:
    (usual, _), *others = Counter(array.shape for array in matrices.values()).most_common()
    if others:
        name = next(name for name, array in matrices.items() if array.shape != usual)
        raise InvalidPredictions(
            f"members must be of one shape (items, classes); {contents.path} has {name!r} of {matrices[name].shape} "
            f"beside {usual}"
        )
