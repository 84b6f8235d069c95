"""Recognise which arrays or columns of a file are predictions, labels or names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.data.axes import some
from consilience.data.labels import NamedLabels
from consilience.data.names import check_spellings, sorted_names, text_of
from consilience.data.predictions import Predictions
from consilience.files.cells import MOST_ROUNDED, Cells, Numbers, check_one_notation, numbers_in
from consilience.files.contents import AXIS_NAMES, Arrays, Contents, Table, read_contents
from consilience.files.plausibility import check_labels, check_members
from consilience.system import tables
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import numpy.typing as npt

    from consilience.system.arrays import FloatArray

ITEM = ("item", "task", "item_id", "task_id", "id", "example", "question", "document", "image", "index")
MEMBER = ("member", "worker", "annotator", "model", "judge", "rater", "labeler", "user", "worker_id", "annotator_id")
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


class Posterior(NamedTuple):
    """A posterior as predictions of one member, and the items (items,) whose labels its fit was given."""

    predictions: Predictions
    is_known: npt.NDArray[np.bool_]


KNOWN = "known"
"""The column or array of a written posterior that marks the items whose labels the fit was given."""

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
        labels, names = next(iter(candidates.values())), _axis_names(contents.arrays)
        return NamedLabels(names["items"], labels.tolist()) if len(names.get("items", ())) == len(labels) else labels
    assert contents.table is not None  # noqa: S101 - one of the two is there
    table, named = contents.table, columns or Columns()
    item = _column(table, named.item, (*ITEM, *UNNAMED))
    others = [name for name in table if name != item and name not in UNNAMED]
    is_alone = len(others) == 1 and named.label is None
    label = others[0] if is_alone else _column(table, named.label, TRUTH)
    if label is None:
        raise InvalidPredictions(
            f"{source} must have a column of labels, one of {some(TRUTH)}; it has {some(list(table))}"
        )
    if item is None:
        return table[label].names
    try:
        return NamedLabels(_all_named(table[item], item), table[label].names)
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{source}: {error}") from None


def read_posterior(source: str, *, columns: Columns | None = None) -> Posterior:
    """Read a posterior (items, classes), with its names if it has any."""
    contents = read_contents(source)
    part, _ = _recognised(contents, logits=False, columns=columns or Columns(), is_alone=True)
    if part.n_members != 1:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} holds {part.n_members} members")
    return Posterior(part, _known_in(contents, part.n_items))


def _known_in(contents: Contents, n_items: int) -> npt.NDArray[np.bool_]:
    """The items that a written posterior marks as known to its fit; none if it marks none."""
    marks: Any = np.zeros(n_items, dtype=bool)
    if contents.arrays is not None and "posterior" in contents.arrays:
        marks = contents.arrays.get(KNOWN, marks)
    if contents.table is not None and _is_marked(contents.table):
        marks = np.array([str(name).lower() == "true" for name in contents.table[KNOWN].names])
    if marks.shape != (n_items,) or marks.dtype.kind != "b":
        raise InvalidPredictions(f"{contents.path}: {KNOWN!r} must say of each of the {n_items} items true or false")
    return np.asarray(marks)


def _is_marked(table: Table) -> bool:
    """Whether the third column marks what was known, as `write_posterior` writes it, and is no class."""
    is_third = list(table)[:3] == ["item", "label", KNOWN]
    return is_third and {str(name).lower() for name in table[KNOWN].names} <= {"true", "false"}


def _recognised(contents: Contents, *, logits: bool, columns: Columns, is_alone: bool) -> tuple[Predictions, str]:
    contents = _without_answers(contents)
    try:
        if contents.table is not None:
            made, words = _from_table(_without_index(contents.table), contents.path.stem, columns, logits=logits)
        else:
            assert contents.arrays is not None  # noqa: S101 - one of the two is there
            made, words = _from_arrays(contents, contents.arrays, logits=logits, is_alone=is_alone)
        if is_alone:
            made.check_every_item_is_answered()
        # The items of a posterior may come from a table, whose order nobody chose.
        is_ordered = contents.arrays is not None and "posterior" not in contents.arrays
        return made if is_ordered else made.with_items(made.axes.items.matched_by_name()), words
    except InvalidPredictions as error:
        hint = " (if these are logits, say --logits)" if "from_logits" in str(error) else ""
        raise InvalidPredictions(f"{contents.path}: {error}{hint}") from None


def _without_answers(contents: Contents) -> Contents:
    """If `write_posterior` wrote the file, keep only the posterior and its names."""
    if contents.arrays is not None and "posterior" in contents.arrays:
        kept = {name: array for name, array in contents.arrays.items() if name in ("posterior", "items", "classes")}
        return contents._replace(arrays=kept)
    table = contents.table
    if table is not None and list(table)[:2] == ["item", "label"]:
        answers = ("label", KNOWN) if _is_marked(table) else ("label",)
        others = {name: cells for name, cells in table.items() if name not in answers}
        numbers = numbers_in(list(others.values())[1:]) if len(others) > 2 else None
        if numbers is not None and numbers.meaning() == "probabilities" and numbers.sum_to_one():
            return contents._replace(table=others)
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
    names = _axis_names(arrays)
    if (answers := _answers_in(arrays)) is not None:
        item, member, label = answers
        return Predictions.from_answers(item, member, label, **names), f"a list of {len(label):,} answers"
    blocks = {name: a for name, a in arrays.items() if a.ndim == 3 and a.dtype.kind == "f"}
    matrices = {name: a for name, a in arrays.items() if a.ndim == 2 and a.dtype.kind == "f"}
    labels = {name: a for name, a in arrays.items() if a.ndim in (1, 2) and a.dtype.kind in "iu" and name not in names}
    if blocks:
        name = _the_only_name(blocks, contents, "array (members, items, classes)")
        made, kind = _soft(blocks[name], name, logits=logits, names=names), f"{_kind(name, logits)} {BLOCK}"
        check_members(made, f"the order of axes is {BLOCK}")
        return made, kind
    if matrices:
        _check_same_shape(matrices, contents)
        members = [contents.path.stem] if len(matrices) == 1 else list(matrices)
        is_logits = logits or all("logit" in name.lower() for name in matrices)
        made = _soft(list(matrices.values()), "", logits=is_logits, names={"members": members} | names)
        return made, f"{_kind('', is_logits)} (items, classes) of {some(members)}"
    if labels and (is_alone or len(labels) == 1):
        name = _the_only_name(labels, contents, "array of labels (members, items)")
        rows = np.atleast_2d(labels[name])
        named = {"members": [contents.path.stem]} if len(rows) == 1 else {}
        made = Predictions.from_labels(rows, **(named | names), partial=True)
        check_members(made, "the order of axes is (members, items)")
        return made, "hard labels (members, items)"
    shapes = ", ".join(f"{name} {array.shape} {array.dtype}" for name, array in arrays.items()) or "nothing"
    raise InvalidPredictions(f"expected an array {BLOCK} or (items, classes); it holds {shapes}")


BLOCK = "(members, items, classes)"


def _axis_names(arrays: Arrays) -> dict[str, Any]:
    """The names that an archive gives the axes."""
    return {name: [text_of(n) for n in arrays[name].tolist()] for name in AXIS_NAMES if _is_flat(arrays.get(name))}


def _is_flat(array: Any) -> bool:
    return array is not None and array.ndim == 1


def _soft(values: Any, name: str, *, logits: bool, names: dict[str, Any]) -> Predictions:
    made = Predictions.from_logits if logits or "logit" in name.lower() else Predictions
    return made(values, **names, partial=True)


def _kind(name: str, logits: bool) -> str:
    return "logits" if logits or "logit" in name.lower() else "probabilities"


def _answers_in(arrays: Arrays) -> tuple[Any, Any, Any] | None:
    """The items, members and labels of a list of answers, if three arrays have such names."""
    flat = [name for name, array in arrays.items() if array.ndim == 1]
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


def _from_table(table: Table, stem: str, columns: Columns, *, logits: bool) -> tuple[Predictions, str]:
    if columns == Columns() and (item := _item_of_probabilities(table)) is not NOT_FOUND:
        return _wide(table, stem, item, None, logits=logits, is_told=False)
    item, member = _column(table, columns.item, (*ITEM, *UNNAMED)), _column(table, columns.member, MEMBER)
    label, is_told = _column(table, columns.label, LABEL), columns != Columns()
    if item is not None and member is not None:
        return _long(table, item, member, label, is_told=is_told)
    if member is not None:
        raise InvalidPredictions(f"a table with the members in {member!r} needs a column of items, one of {some(ITEM)}")
    return _wide(table, stem, item, label, logits=logits, is_told=is_told)


NOT_FOUND = object()


def _item_of_probabilities(table: Table) -> Any:
    """The column of items (None if there is none) of a table whose other columns sum to 1 in each row.

    Those columns are classes, whatever their names: a class may be called `image`, `user` or `model`.
    """
    for item in dict.fromkeys((_column(table, None, (*ITEM, *UNNAMED)), None)):
        others = [cells for name, cells in table.items() if name != item]
        numbers = numbers_in(others) if len(others) > 1 else None
        if numbers is not None and numbers.are_probabilities():
            return item
    return NOT_FOUND


def _without_index(table: Table) -> Table:
    """Drop an unnamed index if another column names the items, or if it only numbers the answers of a long table.

    An index without a name is never a class or a member. It names the items, or nothing.
    """
    item, member = _column(table, None, ITEM), _column(table, None, MEMBER)
    dropped = []
    for name in table:
        if name not in UNNAMED:
            continue
        names = table[name].names
        if member is None and len(set(names)) < len(names):
            raise InvalidPredictions(f"a column without a name must be an index; {name!r} holds {some(names)}")
        if item is not None or (member is not None and names == [str(row) for row in range(len(names))]):
            dropped.append(name)
    return {name: cells for name, cells in table.items() if name not in dropped}


def _long(table: Table, item: str, member: str, label: str | None, *, is_told: bool) -> tuple[Predictions, str]:
    """One answer per row: a label, or one probability per class if there is no label."""
    others = [name for name in table if name not in (item, member, label)]
    numeric = [name for name in others if numbers_in([table[name]]) is not None]
    numbers = numbers_in(table[name] for name in numeric) if numeric else None
    roles = f"items in {item!r}, members in {member!r}"
    names = {item: table[item].names, member: table[member].names}
    if label is None:
        check_one_notation(table[name] for name in numeric)
        rows, words = _shares(numbers)
        return _answers(names, item, member, numeric, rows), f"{roles}, probabilities of {some(numeric)}{words}"
    answers = table[label].answers
    is_soft = np.array([answer is None for answer in answers])
    if not is_soft.any() or len(numeric) < 2 or numbers is None:
        made = Predictions.from_frame(tables.Table({**names, label: answers}), item=item, member=member, label=label)
        if not is_told:
            check_labels(made, {label: table[label]})
        return made, f"{roles}, labels in {label!r}: {some(made.classes)}{_unknown([table[label]])}"
    hard, soft = ({name: _at(values, is_in) for name, values in names.items()} for is_in in (~is_soft, is_soft))
    said = tables.Table({**hard, label: _at(answers, ~is_soft)})
    people = Predictions.from_frame(said, item=item, member=member, label=label)
    rows, words = _shares(numbers._replace(values=numbers.values[is_soft]))
    models = _answers(soft, item, member, numeric, rows)
    return Predictions.concatenate([people, models]), (
        f"{roles}, labels in {label!r} of {people.n_members}, probabilities of {some(numeric)} of {models.n_members}"
        f"{words}"
    )


def _at(values: list[Any], is_in: Any) -> list[Any]:
    return [values[place] for place in np.flatnonzero(is_in)]


def _answers(names: dict[str, Any], item: str, member: str, classes: list[str], rows: FloatArray | None) -> Predictions:
    """Rows of probabilities in a long table."""
    columns = {} if rows is None else dict(zip(classes, rows.T, strict=True))
    return Predictions.from_frame(
        tables.Table({**names, **columns}), item=item, member=member, label=None, classes=classes
    )


def _wide(
    table: Table, stem: str, item: str | None, label: str | None, *, logits: bool, is_told: bool
) -> tuple[Predictions, str]:
    """One item per row: a column per class (one member's probabilities), or a column per member (labels)."""
    others = [name for name in table if name != item]
    items = None if item is None else _all_named(table[item], item)
    if not others:
        raise InvalidPredictions(f"a table must have columns beside that of the items, {item!r}; it has none")
    if len(others) == 1 or (label is not None and numbers_in([table[label]]) is None):
        only = others[0] if len(others) == 1 else str(label)
        return _label_columns(table, {stem: only}, items, is_told=is_told)
    columns = [table[name] for name in others]
    check_one_notation(columns)
    numbers = numbers_in(columns)
    meaning = "labels" if numbers is None else numbers.meaning()
    if numbers is None or meaning == "labels":
        return _label_columns(table, {name: name for name in others}, items, is_told=is_told)
    rows, words = (numbers.values, "") if logits else _shares(numbers)
    read = Predictions.from_logits if logits else Predictions
    made = read([rows], members=[stem], items=items, classes=others, partial=True)
    return made, f"{'logits' if logits else 'probabilities'} of {some(others)}{words}"


def _shares(numbers: Numbers | None) -> tuple[FloatArray | None, str]:
    """Numbers as probabilities, and what was understood of how they are written."""
    if numbers is None:
        return None, ""
    rows, meaning = numbers.values, numbers.meaning()
    words = ", with decimal commas" if numbers.has_comma else ""
    if meaning == "counts":
        raise InvalidPredictions(
            f"numbers must be probabilities or labels; all rows sum to {rows[0].sum():g}, so they may be counts of "
            "votes: give one answer per row, or divide them by their sum"
        )
    if meaning == "unclear":
        raise InvalidPredictions(
            "rows of 0 with one 1 may be labels by several members or one member's probabilities; "
            f"got {len(rows)} such rows: write probabilities as 0.0 and 1.0, or labels as a long table"
        )
    if meaning == "per cent":
        sums = rows.sum(axis=1, keepdims=True)
        is_rounded = np.abs(sums - 100) <= MOST_ROUNDED
        return rows / np.where(is_rounded, sums, 100), f", in per cent{words}"
    return rows, words


def _label_columns(
    table: Table, columns: dict[str, str], items: list[str] | None, *, is_told: bool
) -> tuple[Predictions, str]:
    """Hard labels, each column a member, items in the order of the table."""
    answers = [table[name].answers for name in columns.values()]
    for name, given in zip(columns.values(), answers, strict=True):
        check_spellings(set(given), name)
    classes = sorted_names({answer for column in answers for answer in column if answer is not None})
    rows = np.array(answers, dtype=object)
    made = Predictions.from_labels(rows, members=list(columns), items=items, classes=classes, partial=True)
    if not is_told:
        check_labels(made, {name: table[name] for name in columns.values()})
        check_members(made, "a table has a row for each item")
    what = "one member's labels" if len(columns) == 1 else f"labels, one column each of {some(list(columns))}"
    return made, f"{what}: {some(classes)}{_unknown(table[name] for name in columns.values())}"


def _unknown(columns: Any) -> str:
    n_unknown = sum(cells.n_unknown for cells in columns)
    return f"; {n_unknown:,} cells such as NA are missing answers" if n_unknown else ""


def _all_named(cells: Cells, item: str) -> list[str]:
    names = [name for name in cells.names if name is not None]
    if len(names) < len(cells.names):
        row = cells.names.index(None) + 2
        raise InvalidPredictions(f"column {item!r} must name every item; row {row} is empty")
    return names


def _column(table: Collection[str], wanted: str | None, names: Sequence[str]) -> str | None:
    """The column the user named, or the one with the first of the usual names."""
    if wanted is not None:
        if wanted not in table:
            raise InvalidPredictions(f"expected the column {wanted!r}; the table has {some(list(table))}")
        return wanted
    by_name = {column.lower(): column for column in reversed(list(table))}  # the first of two
    by_name |= {column: column for column in table}  # an exact match comes before another case
    return next((by_name[name] for name in names if name in by_name), None)
