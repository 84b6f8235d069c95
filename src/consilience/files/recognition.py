"""Recognise which arrays or columns of a file are predictions, labels or names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import is_missing, some
from consilience.data.predictions import Predictions
from consilience.data.reading import are_probabilities
from consilience.files.contents import AXIS_NAMES, INTEGER, ITEM, MEMBER, Arrays, Contents, read_contents
from consilience.system.errors import InvalidPredictions
from consilience.system.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

LABEL = ("label", "answer", "vote", "response", "annotation", "prediction", "class", "verdict")
TRUTH = ("labels", "gold", "truth", "true", "target", "targets", "y", *LABEL)
"""Usual names of columns and arrays with these meanings, in order of preference."""


class Source(NamedTuple):
    """Predictions, and one line per file on how it was understood."""

    predictions: Predictions
    found: list[str]


class Columns(NamedTuple):
    """The columns of items, members and labels that the user named."""

    item: str | None = None
    member: str | None = None
    label: str | None = None


UNNAMED = ("", "Unnamed: 0", "__index_level_0__")
"""The names pandas gives an index without a name: in CSV, in CSV read and written again, in Parquet."""


def read_predictions(sources: Sequence[str], *, logits: bool = False, columns: Columns | None = None) -> Source:
    """Read predictions from one file for all members, one file per member, or a mixture."""
    if not sources:
        raise InvalidPredictions("expected at least one file of predictions; got none")
    named = columns or Columns()
    parts, found = [], []
    for source in sources:
        contents = read_contents(source)
        part, words = _recognised(contents, logits=logits, columns=named, is_alone=len(sources) == 1)
        parts.append(part)
        found.append(f"{source}: {contents.format}, {words}")
    return Source(parts[0] if len(parts) == 1 else _side_by_side(parts, sources), found)


def read_labels(source: str, *, columns: Columns | None = None) -> Any:
    """Read labels as `fit` and `evaluate` take them: one per item, or a mapping if the file names items."""
    contents = read_contents(source)
    if contents.arrays is not None:
        candidates = _labels_in(contents.arrays)
        if len(candidates) != 1:
            held = some(list(contents.arrays))
            raise InvalidPredictions(f"{source} must hold one array of labels (items,), called labels; it holds {held}")
        return next(iter(candidates.values()))
    assert contents.table is not None  # noqa: S101 - one of the two is there
    table, named = contents.table, columns or Columns()
    item = _column(table, named.item, (*ITEM, *UNNAMED))
    others = [name for name in table.columns if name != item and name not in UNNAMED]
    label = others[0] if len(others) == 1 else _column(table, named.label, TRUTH)
    if label is None:
        raise InvalidPredictions(f"{source} must have a column of labels, one of {some(TRUTH)}; it has {table.columns}")
    if item is None:
        return table[label]
    found: dict[Any, Any] = {}
    for name, value in zip(table[item], table[label], strict=True):
        if found.setdefault(name, value) != value:
            raise InvalidPredictions(
                f"{source} must give an item one label; {name!r} has {found[name]!r} and {value!r}"
            )
    return found


def read_posterior(source: str, *, columns: Columns | None = None) -> Predictions:
    """Read a posterior (items, classes), with its names if it has any, as predictions of one member."""
    contents = read_contents(source)
    part, _ = _recognised(contents, logits=False, columns=columns or Columns(), is_alone=True)
    if part.n_members != 1:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} holds {part.n_members} members")
    return part


def _recognised(contents: Contents, *, logits: bool, columns: Columns, is_alone: bool) -> tuple[Predictions, str]:
    contents = _without_answers(contents)
    try:
        if contents.table is not None:
            return _from_table(_without_index(contents.table), contents.path.stem, columns)
        assert contents.arrays is not None  # noqa: S101 - one of the two is there
        return _from_arrays(contents, contents.arrays, logits=logits, is_alone=is_alone)
    except InvalidPredictions as error:
        hint = " (if these are logits, say --logits)" if "from_logits" in str(error) else ""
        raise InvalidPredictions(f"{contents.path}: {error}{hint}") from None


def _without_answers(contents: Contents) -> Contents:
    """If `write_posterior` wrote the file, keep only the posterior and its names."""
    if contents.arrays is not None and "posterior" in contents.arrays:
        kept = {name: array for name, array in contents.arrays.items() if name in ("posterior", "items", "classes")}
        return contents._replace(arrays=kept)
    table = contents.table
    if table is not None and table.columns[:2] == ["item", "label"]:
        others = {name: table[name] for name in table.columns if name != "label"}
        numbers = list(others.values())[1:]
        if len(numbers) > 1 and all(_is_numeric(values) for values in numbers) and not _are_labels(numbers):
            return contents._replace(table=Table(others))
    return contents


def _side_by_side(parts: list[Predictions], sources: Sequence[str]) -> Predictions:
    """Join the members of all files. Files that do not name items or classes must have equally many."""
    for axis in ("items", "classes"):
        sizes = [getattr(part.axes, axis).size for part in parts if not getattr(part.axes, axis).is_named]
        if len(set(sizes)) > 1 and all(part.hard is None for part in parts):
            listing = ", ".join(
                f"{source} has {getattr(p.axes, axis).size}" for source, p in zip(sources, parts, strict=True)
            )
            raise InvalidPredictions(f"files must have the same {axis} where they do not name them; {listing}")
    return Predictions.concatenate(_with_all_classes(parts))


def _with_all_classes(parts: list[Predictions]) -> list[Predictions]:
    """Give labels without class names as many classes as the other parts: a member may never use the last class."""
    n_classes = max((part.n_classes for part in parts if not part.axes.classes.is_named), default=0)
    return [
        part if part.soft or part.axes.classes.is_named or part.n_classes == n_classes else part.widened(n_classes)
        for part in parts
    ]


# ---- arrays -----------------------------------------------------------------------------------------------


def _from_arrays(contents: Contents, arrays: Arrays, *, logits: bool, is_alone: bool) -> tuple[Predictions, str]:
    names = {name: arrays[name].tolist() for name in AXIS_NAMES if name in arrays and arrays[name].ndim == 1}
    if (answers := _answers_in(arrays)) is not None:
        item, member, label = answers
        return Predictions.from_answers(item, member, label), f"a list of {len(label):,} answers"
    blocks = {name: a for name, a in arrays.items() if a.ndim == 3 and a.dtype.kind == "f"}
    matrices = {name: a for name, a in arrays.items() if a.ndim == 2 and a.dtype.kind == "f"}
    tables = {name: a for name, a in arrays.items() if a.ndim in (1, 2) and a.dtype.kind in "iu" and name not in names}
    if blocks:
        name = _the_only_name(blocks, contents, "array (members, items, classes)")
        return _soft(blocks[name], name, logits=logits, names=names), f"{_kind(name, logits)} (members, items, classes)"
    if matrices:
        _check_same_shape(matrices, contents)
        members = [contents.path.stem] if len(matrices) == 1 else list(matrices)
        is_logits = logits or all("logit" in name.lower() for name in matrices)
        made = _soft(list(matrices.values()), "", logits=is_logits, names={"members": members} | names)
        return made, f"{_kind('', is_logits)} (items, classes) of {some(members)}"
    if tables and (is_alone or len(tables) == 1):
        name = _the_only_name(tables, contents, "array of labels (members, items)")
        rows = np.atleast_2d(tables[name])
        named = {"members": [contents.path.stem]} if len(rows) == 1 else {}
        return Predictions.from_labels(rows, **(named | names)), "hard labels (members, items)"
    shapes = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()) or "nothing"
    raise InvalidPredictions(f"expected an array (members, items, classes) or (items, classes); it holds {shapes}")


def _soft(values: Any, name: str, *, logits: bool, names: dict[str, Any]) -> Predictions:
    made = Predictions.from_logits if logits or "logit" in name.lower() else Predictions
    return made(values, **names)


def _kind(name: str, logits: bool) -> str:
    return "logits" if logits or "logit" in name.lower() else "probabilities"


def _answers_in(arrays: Arrays) -> tuple[Any, Any, Any] | None:
    """The items, members and labels of a list of answers, if three arrays have such names."""
    flat = Table({name: [] for name, array in arrays.items() if array.ndim == 1})
    found = [_column(flat, None, names) for names in (ITEM, MEMBER, LABEL)]
    return None if None in found else tuple(arrays[name] for name in found if name is not None)  # type: ignore[return-value]


def _labels_in(arrays: Arrays) -> Arrays:
    """The arrays that may be labels: those named so, else all with one dimension."""
    flat = {name: array for name, array in arrays.items() if array.ndim == 1 and name not in AXIS_NAMES}
    called = {name: array for name, array in flat.items() if name.lower() in TRUTH}
    return called or flat


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


# ---- tables -----------------------------------------------------------------------------------------------


def _from_table(table: Table, stem: str, columns: Columns) -> tuple[Predictions, str]:
    if columns == Columns() and (item := _item_of_probabilities(table)) is not NOT_FOUND:
        return _wide(table, stem, item, None)
    item, member = _column(table, columns.item, (*ITEM, *UNNAMED)), _column(table, columns.member, MEMBER)
    if item is not None and member is not None:
        return _long(table, item, member, _column(table, columns.label, LABEL))
    if member is not None:
        raise InvalidPredictions(f"a table with the members in {member!r} needs a column of items, one of {some(ITEM)}")
    return _wide(table, stem, item, _column(table, columns.label, LABEL))


NOT_FOUND = object()


def _item_of_probabilities(table: Table) -> Any:
    """The column of items (None if there is none) of a table whose other columns sum to 1 in each row.

    Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
    """
    for item in dict.fromkeys((_column(table, None, (*ITEM, *UNNAMED)), None)):
        others = [table[name] for name in table.columns if name != item]
        if len(others) > 1 and _sum_to_one(others):
            return item
    return NOT_FOUND


def _sum_to_one(columns: list[list[Any]]) -> bool:
    """Whether columns are probabilities. If all rows are one-hot they may be labels, and do not count."""
    try:
        rows = np.array(columns, dtype=np.float64).T
    except (TypeError, ValueError, OverflowError):
        return False
    rows = rows[~np.isnan(rows).all(axis=1)]
    return bool(len(rows) and are_probabilities(rows).all() and (rows % 1 != 0).any())


def _without_index(table: Table) -> Table:
    """Drop an unnamed index if another column names the items, or if it only numbers the answers of a long table.

    An index without a name is never a class or a member. It names the items, or nothing.
    """
    item, member = _column(table, None, ITEM), _column(table, None, MEMBER)
    dropped = [
        name
        for name in table.columns
        if name in UNNAMED and (item is not None or (member is not None and table[name] == list(range(len(table)))))
    ]
    return Table({name: table[name] for name in table.columns if name not in dropped})


def _long(table: Table, item: str, member: str, label: str | None) -> tuple[Predictions, str]:
    """One answer per row: a label, or one probability per class if there is no label."""
    table = _with_whole_names(table, (item, member, label))
    others = [name for name in table.columns if name not in (item, member, label)]
    numbers = [name for name in others if _is_numeric(table[name])]
    roles = f"items in {item!r}, members in {member!r}"
    if label is None:
        return Predictions.from_frame(table, item=item, member=member, label=None, classes=numbers), (
            f"{roles}, probabilities of {some(numbers)}"
        )
    is_soft = np.array([is_missing(value) for value in table[label]])
    if not is_soft.any() or len(numbers) < 2:
        return Predictions.from_frame(table, item=item, member=member, label=label), f"{roles}, labels in {label!r}"
    hard = _rows(table, ~is_soft, (item, member, label))
    soft = _rows(table, is_soft, (item, member, *numbers))
    people = Predictions.from_frame(hard, item=item, member=member, label=label)
    models = Predictions.from_frame(soft, item=item, member=member, label=None, classes=numbers)
    return Predictions.concatenate([people, models]), (
        f"{roles}, labels in {label!r} of {people.n_members}, probabilities of {some(numbers)} of {models.n_members}"
    )


def _rows(table: Table, is_in: Any, columns: Sequence[str]) -> Table:
    places = np.flatnonzero(is_in)
    return Table({name: [table[name][place] for place in places] for name in columns})


def _wide(table: Table, stem: str, item: str | None, label: str | None) -> tuple[Predictions, str]:
    """One item per row: a column per class (one member's probabilities), or a column per member (labels)."""
    others = [name for name in table.columns if name != item]
    items = None if item is None else table[item]
    if item is not None and any(is_missing(name) for name in table[item]):
        row = next(row for row, name in enumerate(table[item], start=2) if is_missing(name))
        raise InvalidPredictions(f"column {item!r} must name every item; row {row} is empty")
    if not others:
        raise InvalidPredictions(f"a table must have columns beside that of the items, {item!r}; it has none")
    if len(others) > 1 and _sum_to_one([table[name] for name in others]):
        return _probabilities(table, others, stem, items)
    if len(others) == 1 and _is_numeric(table[others[0]]) and not _are_labels([table[others[0]]]):
        raise InvalidPredictions(f"labels must be names or whole numbers; column {others[0]!r} holds other numbers")
    if len(others) == 1 or (label is not None and not _is_numeric(table[label])):
        return _label_columns(
            table, {stem: others[0] if len(others) == 1 else str(label)}, items
        ), "one member's labels"
    if all(_is_numeric(table[name]) for name in others) and not _are_labels([table[name] for name in others]):
        return _probabilities(table, others, stem, items)
    return _label_columns(table, {name: name for name in others}, items), f"labels, one column each of {some(others)}"


def _probabilities(table: Table, others: list[str], stem: str, items: list[Any] | None) -> tuple[Predictions, str]:
    """One member's probabilities, a column for each class."""
    numbers = [[np.nan if is_missing(value) else value for value in table[name]] for name in others]
    classes = _whole_names(others)
    made = Predictions([np.array(numbers, dtype=np.float64).T], members=[stem], items=items, classes=classes)
    return made, f"probabilities of {some(classes)}"


def _label_columns(table: Table, columns: dict[str, str], items: list[Any] | None) -> Predictions:
    """Hard labels, each column a member, items in the order of the table."""
    for name in columns.values():
        fractions = [value for value in table[name] if isinstance(value, float) and value % 1]
        if fractions and not is_missing(fractions[0]):
            raise InvalidPredictions(f"labels must be names or whole numbers; column {name!r} holds {fractions[0]!r}")
    seen = {value for name in columns.values() for value in table[name] if not is_missing(value)}
    classes = sorted(seen, key=lambda value: (str(type(value)), value))
    place = {value: position for position, value in enumerate(classes)}
    rows = [[-1 if is_missing(value) else place[value] for value in table[name]] for name in columns.values()]
    return Predictions.from_labels(rows, members=list(columns), items=items, classes=classes)


def _whole_names(columns: Sequence[Any]) -> list[Any]:
    """Headers as class names: integers if all are such, to match labels in the cells of a table."""
    are_whole = all(INTEGER.fullmatch(str(name)) for name in columns)
    return [int(name) for name in columns] if are_whole else list(columns)


def _with_whole_names(table: Table, roles: tuple[str | None, ...]) -> Table:
    """Turn the headers of the numeric columns into integers, if all of them are such."""
    numbers = [name for name in table.columns if name not in roles and _is_numeric(table[name])]
    new = dict(zip(numbers, _whole_names(numbers), strict=True))
    return Table({new.get(name, name): table[name] for name in table.columns})


def _column(table: Table, wanted: str | None, names: Sequence[str]) -> str | None:
    """The column the user named, or the one with the first of the usual names."""
    if wanted is not None:
        if wanted not in table.columns:
            raise InvalidPredictions(f"expected the column {wanted!r}; the table has {some(table.columns)}")
        return wanted
    by_name = {column.lower(): column for column in reversed(table.columns)}  # the first of two
    by_name |= {column: column for column in table.columns}  # an exact match comes before another case
    return next((by_name[name] for name in names if name in by_name), None)


def _is_numeric(values: list[Any]) -> bool:
    return all(
        is_missing(value) or (isinstance(value, int | float) and not isinstance(value, bool)) for value in values
    )


def _are_labels(columns: list[list[Any]]) -> bool:
    """Whether columns of numbers are labels: whole numbers whose rows are not all one-hot."""
    is_whole = all(is_missing(value) or isinstance(value, int) for values in columns for value in values)
    return is_whole and not all(sorted(row)[-2:] == [0, 1] for row in zip(*columns, strict=True) if None not in row)
