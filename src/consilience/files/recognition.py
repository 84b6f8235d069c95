"""Read predictions, labels and posteriors from files of any format, and join the members of several files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.data.axes import Axis, short, some
from consilience.data.label_roles import item_of_labels, label_of_labels
from consilience.data.labels import NamedLabels
from consilience.data.names import UNKNOWN, is_missing, text_of, unwritable
from consilience.data.predictions import Predictions
from consilience.data.roles import ITEM, TRUTH, UNNAMED, Layout, joined_items
from consilience.files.arrays import axis_names, from_arrays, items_in, labels_in
from consilience.files.cells import Cells
from consilience.files.contents import Contents, read_contents
from consilience.files.posteriors import Posterior, known_in, without_answers
from consilience.files.tables import Understood, all_named, column_like_ids, from_table
from consilience.system.errors import InvalidPredictions
from consilience.system.untrusted import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.files.contents import Table
    from consilience.files.scales import Scale
    from consilience.system import tables


class LabelSource(NamedTuple):
    """Labels as `fit` and `evaluate` take them, and one line on how their file was understood."""

    labels: Any
    found: str
    column: str | None = None  # that holds them, in a table


class Source(NamedTuple):
    """Predictions, and for each file one line on how it was understood, with some rows of a table as an example."""

    predictions: Predictions
    found: list[str]
    examples: list[tables.Table | None]


def read_predictions(sources: Sequence[str], *, logits: bool = False, layout: Layout | None = None) -> Source:
    """Read predictions from one file for all members, one file per member, or a mixture."""
    if not sources:
        raise InvalidPredictions("expected at least one file of predictions; got none")
    told = layout or Layout()
    parts, found, examples = [], [], []
    for source in sources:
        contents = read_contents(source)
        part, words, example, may_name = _recognised(contents, told, logits=logits, is_alone=len(sources) == 1)
        if may_name is not None and len(sources) > 1:
            raise InvalidPredictions(f"{source}: {_by_place(may_name)}")
        parts.append(_with_names(part, told, source))
        _check_can_be_written(parts[-1], source)
        found.append(f"{source}: {contents.format}, {words}")
        examples.append(example)
    _check_fit_together(parts, sources)
    try:
        panel = parts[0] if len(parts) == 1 else Predictions.concatenate(_with_all_classes(parts))
        if told.classes is not None:
            panel = panel.aligned(panel.members, told.classes)
        panel.check_every_item_is_answered()
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{', '.join(sources[:3])}{', …' if len(sources) > 3 else ''}: {error}") from None
    return Source(panel, found, examples)


def read_labels(source: str, *, layout: Layout | None = None, are_optional: bool = False) -> LabelSource:
    """Read labels: one per item, or beside the names of their items if the file has them.

    `are_optional` says that the columns were named for other files, and may be missing from this one.
    """
    contents = read_contents(source)
    if contents.arrays is not None:
        candidates = labels_in(contents.arrays)
        if len(candidates) != 1:
            held = some(list(contents.arrays))
            raise InvalidPredictions(f"{source} must hold one array of labels (items,), called labels; it holds {held}")
        name, array = next(iter(candidates.items()))
        try:
            items = items_in(contents.arrays, name)
        except InvalidPredictions as error:
            raise InvalidPredictions(f"{source}: {error}") from None
        if items is None:
            return LabelSource(array, _understood_labels(contents, array.tolist(), None, None))
        named = NamedLabels([text_of(value) for value in contents.arrays[items].tolist()], array.tolist())
        return LabelSource(named, _understood_labels(contents, named.labels, None, repr(items)))
    assert contents.table is not None  # noqa: S101 - one of the two is there
    table, told = contents.table, layout or Layout()
    joined = joined_items(_values(table), told.item)
    if joined is not None:
        table = {str(told.item): Cells(joined, is_text=False), **table}
    if are_optional:
        item, label = (name if name in table else None for name in (told.item, told.label))
        told = Layout(item, None, label)
    try:
        item, label = _columns_of_labels(table, told)
        given = table[label].names
        labels = given if item is None else NamedLabels(all_named(table[item], item), given)
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{source}: {error}") from None
    where = None if item is None else repr(item) if item else "the column without a name"
    return LabelSource(labels, _understood_labels(contents, given, label, where), label)


def _columns_of_labels(table: Table, told: Layout) -> tuple[str | None, str]:
    """The column of items, if there is one, and that of labels."""
    values = _values(table)
    item = item_of_labels(values, told.item)
    label = label_of_labels(values, item, told.label)
    if label is None:
        raise InvalidPredictions(f"it must have a column of labels, one of {some(TRUTH)}; it has {some(list(table))}")
    others = [name for name in table if name != label and name not in UNNAMED]
    if item is None and (may_name := column_like_ids(table, others)) is not None:
        raise InvalidPredictions(_by_place(may_name))
    if list(table) == [label] and label in table[label].names:
        raise InvalidPredictions(
            f"a table of labels must have a header; its first line, {label!r}, is a label itself: "
            "put a line such as label before it"
        )
    return item, label


def _by_place(column: str) -> str:
    """That a table would be matched by the places of its rows although a column may name its items."""
    return (
        f"a column must name the items, or none; {column!r}, which has another value in each row, may: say "
        f"--item-column {column} if it does, or leave it out if rows are in the same order everywhere"
    )


def _understood_labels(contents: Contents, labels: Sequence[Any], column: str | None, items: str | None) -> str:
    """One line on the labels of a file: how many there are, and how they find their items."""
    n_given = sum(not (is_missing(label) or text_of(label) in ("", "-1", *UNKNOWN)) for label in labels)
    where = "" if column is None else f" in {column!r}"
    order = "in the order of the items" if items is None else f"items in {items}"
    return f"{contents.path}: {contents.format}, {n_given:,} label{'' if n_given == 1 else 's'}{where}, {order}"


def _values(table: Table) -> dict[str, Sequence[Any]]:
    return {name: cells.values for name, cells in table.items()}


def read_posterior(source: str, *, layout: Layout | None = None) -> Posterior:
    """Read a posterior (items, classes), with its names if it has any."""
    contents = read_contents(source)
    contents = contents._replace(scale=contents.scale or "probabilities")
    part, *_ = _recognised(contents, layout or Layout(), logits=False, is_alone=True)
    part = _with_names(part, layout or Layout(), source)
    if part.n_members != 1:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} holds {part.n_members} members")
    try:
        part.check_every_item_is_answered()
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{source}: {error}") from None
    return Posterior(part, known_in(contents, part.n_items))


def read_names(source: str) -> list[str]:
    """Read the names of items: a table's column of items, an array of names, or one on each line of a .txt file."""
    if source.lower().endswith(".txt"):
        return [line for line in re.split("\r\n|\r|\n", read_text(Path(source), "a list of names")) if line.strip()]
    contents = read_contents(source)
    if contents.arrays is not None:
        flat = {name: array for name, array in contents.arrays.items() if array.ndim == 1}
        named = axis_names(flat).get("items") or [str(value) for array in flat.values() for value in array.tolist()]
        if len(flat) == 1 or "items" in flat:
            return named
        raise InvalidPredictions(f"{source} must hold one array of names; it holds {some(list(contents.arrays))}")
    assert contents.table is not None  # noqa: S101 - one of the two is there
    names = list(contents.table)
    item = names[0] if len(names) == 1 else item_of_labels(_values(contents.table))
    if item is None:
        raise InvalidPredictions(
            f"{source} must have a column of items, such as {some(ITEM[:3])}; it has {some(names)}"
        )
    return all_named(contents.table[item], item)


def _recognised(contents: Contents, told: Layout, *, logits: bool, is_alone: bool) -> Understood:
    contents = without_answers(contents)
    scale: Scale | None = contents.scale or ("logits" if logits else "counts" if told.normalize else None)
    try:
        if contents.table is not None:
            found = from_table(contents, contents.table, told, scale)
        else:
            assert contents.arrays is not None  # noqa: S101 - one of the two is there
            found = Understood(*from_arrays(contents, contents.arrays, scale=scale, is_alone=is_alone))
        made = found.predictions
        # The items of a posterior may come from a table, whose order nobody chose.
        is_ordered = contents.arrays is not None and "posterior" not in contents.arrays
        return found if is_ordered else found._replace(predictions=made.with_items(made.axes.items.matched_by_name()))
    except InvalidPredictions as error:
        raise InvalidPredictions(f"{contents.path}: {error}") from None


def _with_names(part: Predictions, told: Layout, source: str) -> Predictions:
    """Name the items and classes of a file that does not, as the user says."""
    if told.items is not None and not part.axes.items.is_named:
        if len(told.items) != part.n_items:
            raise InvalidPredictions(
                f"--items must name each of the {part.n_items:,} items of {source}; got {len(told.items):,} names"
            )
        part = part.with_items(Axis("item", part.n_items, told.items))
    if told.classes is not None and not part.axes.classes.is_named:
        n_classes = len(told.classes)
        if part.n_classes > n_classes or (part.soft and part.n_classes < n_classes):
            raise InvalidPredictions(
                f"--classes must name each of the {part.n_classes:,} classes of {source}; got {n_classes:,} names"
            )
        part = part.with_classes(Axis("class", n_classes, told.classes))
    return part


def _check_can_be_written(part: Predictions, source: str) -> None:
    """Raise for a name that no file could give back: JSON can hold halves of characters, and bytes of 0."""
    for axis in part.axes:
        name = unwritable(axis.names) if axis.is_named else None
        if name is not None:
            raise InvalidPredictions(
                f"{source}: names must have whole characters and no bytes of 0, so that they can be written; got the "
                f"{axis.kind} {short(name)}"
            )


def _check_fit_together(parts: list[Predictions], sources: Sequence[str]) -> None:
    """Raise if files without names of items or classes have not equally many, or stand beside others with names."""
    for axis, option in (("items", "--items"), ("classes", "--classes")):
        unnamed = {s: getattr(p.axes, axis) for s, p in zip(sources, parts, strict=True)}
        unnamed = {source: own for source, own in unnamed.items() if not own.is_named}
        if len({own.size for own in unnamed.values()}) > 1 and all(part.hard is None for part in parts):
            listing = ", ".join(f"{source} has {own.size}" for source, own in unnamed.items())
            raise InvalidPredictions(f"files must have the same {axis} where they do not name them; {listing}")
        named = [getattr(part.axes, axis) for part in parts if getattr(part.axes, axis).is_named]
        if unnamed and any(not own.is_counted and not _is_count(own, unnamed) for own in named):
            source, other = next(iter(unnamed)), next(own for own in named if not own.is_counted)
            raise InvalidPredictions(
                f"all files must name their {axis}, or none; {source} does not, and others have {some(other.names)}: "
                f"say {option} {_offer(axis, other)} to name those of {source}, in their order"
            )


def _is_count(named: Axis, unnamed: dict[str, Axis]) -> bool:
    """Whether these names are among the numbers by which files without names are told."""
    largest = max(unnamed.values(), key=lambda own: own.size)
    return all(largest.find(name) is not None for name in named.names)


def _offer(axis: str, named: Axis) -> str:
    return "FILE" if axis == "items" else ",".join(map(str, named.names[:8])) + (",…" if named.size > 8 else "")


def _with_all_classes(parts: list[Predictions]) -> list[Predictions]:
    """Give labels without class names as many classes as the other parts: a member may never use the last class."""
    n_classes = max((part.n_classes for part in parts if not part.axes.classes.is_named), default=0)
    return [
        part if part.soft or part.axes.classes.is_named or part.n_classes == n_classes else part.widened(n_classes)
        for part in parts
    ]
