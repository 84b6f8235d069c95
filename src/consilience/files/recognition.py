"""Read predictions, labels and posteriors from files of any format, and join the members of several files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.data.axes import Axis, short, some
from consilience.data.labels import NamedLabels
from consilience.data.names import UNKNOWN, is_missing, text_of, unwritable
from consilience.data.predictions import Predictions
from consilience.data.tables.items import item_of_rows, may_name_items
from consilience.data.tables.layouts import Understood, read_columns
from consilience.data.tables.told import Told
from consilience.data.tables.truth import columns_of_labels
from consilience.data.tables.vocabulary import ITEM, is_called_truth, role_of
from consilience.files.arrays import axis_names, from_arrays, items_in, labels_in
from consilience.files.contents import Contents, read_contents
from consilience.files.posteriors import Posterior, known_in, without_answers
from consilience.files.tools.export import pooled
from consilience.system.errors import Either, InvalidPredictions, Say
from consilience.system.untrusted import read_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from consilience.data.tables.columns import Columns
    from consilience.data.tables.scales import Scale
    from consilience.files.tools.export import Export
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
    remarks: list[str]  # on what a tool's reader left out


def read_predictions(sources: Sequence[str], *, logits: bool = False, told: Told | None = None) -> Source:
    """Read predictions from one file for all members, one file per member, or a mixture."""
    if not sources:
        raise InvalidPredictions("expected at least one file of predictions; got none")
    told = told or Told()
    read, plain, exports = [], [], {}
    for source in sources:
        contents = read_contents(source, told)
        _check_no_truth(contents, sources)
        if contents.export is not None:
            exports[source] = contents
            continue
        understood = _recognised(contents, told, logits=logits, is_alone=len(sources) == 1)
        part = _with_names(understood.predictions, told, source)
        _check_can_be_written(part, source)
        plain.append(source)
        read.append(understood._replace(predictions=part, words=f"{source}: {contents.format}, {understood.words}"))
    if exports:
        read.append(_of_tools(exports, told))
        plain.append(", ".join(exports))
    if len(plain) > 1:
        _check_rows_are_matched(read, plain)
    parts = [understood.predictions for understood in read]
    _check_fit_together(parts, plain)
    try:
        panel = parts[0] if len(parts) == 1 else Predictions.concatenate(_with_all_classes(parts))
        if told.classes is not None and panel.classes != list(told.classes) and told.positive is None:
            panel = panel.aligned(panel.members, told.classes)
        panel.check_every_item_is_answered()
    except InvalidPredictions as error:
        raise error.within(_listed(sources)) from None
    if len(parts) > 1:
        read = [own._replace(words=f"{own.words}{_lacking(own.predictions.axes.items, panel)}") for own in read]
    said = {source: "" if own.export is None else own.export.remarks for source, own in exports.items()}
    remarks = [f"{source}: {remark}" for source, remark in said.items() if remark]
    return Source(panel, [own.words for own in read], [own.example for own in read], remarks)


def _lacking(items: Axis, panel: Predictions) -> str:
    """How many items of the other files a file lacks, for a message: rows may have been lost."""
    lacking = [name for name in panel.items if items.find(name) is None]
    such = f", such as {short(lacking[0])}" if lacking else ""
    return f"; it lacks {len(lacking):,} of the {panel.n_items:,} items of all files{such}" if lacking else ""


def _of_tools(files: dict[str, Contents], told: Told) -> Understood:
    """The answers in the files of tools together: a member may have answered in several of them."""
    exports = {source: own.export for source, own in files.items() if own.export is not None}
    lines = [f"{source}: {files[source].format}, {own.words}" for source, own in exports.items()]
    try:
        export = pooled(exports)
        made = export.predictions(told)
    except InvalidPredictions as error:
        raise error.within(_listed(list(files))) from None
    _check_can_be_written(made, _listed(list(files)))
    return Understood(made, "\n".join([*lines[:-1], f"{lines[-1]}; classes {some(made.classes)}"]), export.example)


def _listed(sources: Sequence[str]) -> str:
    return f"{', '.join(sources[:3])}{', …' if len(sources) > 3 else ''}"


def _check_no_truth(contents: Contents, sources: Sequence[str]) -> None:
    """Raise if a file among several is called as true labels are: `report *.npy` would take `truth.npy` as a member."""
    stem = contents.path.stem
    is_truth = stem.lower() in ("labels", "y") or (role_of(stem) == "truth" and is_called_truth(stem))
    if len(sources) > 1 and is_truth and contents.scale is None:
        raise InvalidPredictions(
            f"{contents.path} is called as true labels are, which are no member's answers: give it with ",
            Say("labels"),
            ", or leave it out, or give it another name if it is a member",
        )


def _check_rows_are_matched(read: list[Understood], sources: Sequence[str]) -> None:
    """Raise if files are matched by the places of their rows although columns may name their items.

    A column with another value in each row decides nothing if it is the same in all files.
    """
    by_row = {source: own for source, own in zip(sources, read, strict=True) if _is_by_row(own)}
    for source, own in by_row.items():
        unread = own.unread
        ids = [name for name in unread or () if unread is not None and unread[name].are_ids]
        others = [other.unread for other in by_row.values() if other.unread is not None]
        differing = [
            name
            for name in ids
            if len(by_row) < len(read)
            or any(name not in other or _texts(other, name) != _texts(unread, name) for other in others)
        ]
        if differing and unread is not None:
            raise may_name_items([unread[name] for name in differing]).within(source)


def _is_by_row(understood: Understood) -> bool:
    return not understood.predictions.axes.items.is_named and understood.unread is not None


def _texts(columns: Columns | None, name: str) -> list[str]:
    return [] if columns is None else list(map(str, columns[name].coded.values))


def read_labels(source: str, *, told: Told | None = None, are_optional: bool = False) -> LabelSource:
    """Read labels: one per item, or beside the names of their items if the file has them.

    `are_optional` says that the columns were named for other files, and may be missing from this one.
    """
    contents = read_contents(source, told)
    if contents.export is not None:
        return _truth(contents, contents.export, source)
    if contents.arrays is not None:
        candidates = labels_in(contents.arrays)
        if len(candidates) != 1:
            held = some(list(contents.arrays))
            raise InvalidPredictions(f"{source} must hold one array of labels (items,), called labels; it holds {held}")
        name, array = next(iter(candidates.items()))
        try:
            items = items_in(contents.arrays, name)
        except InvalidPredictions as error:
            raise error.within(source) from None
        if items is None:
            return LabelSource(array, _understood_labels(contents, array.tolist(), None, None))
        named = NamedLabels([text_of(value) for value in contents.arrays[items].tolist()], array.tolist())
        return LabelSource(named, _understood_labels(contents, named.labels, None, repr(items)))
    assert contents.table is not None  # noqa: S101 - one of the two is there
    told = told or Told()
    try:
        table = contents.table.joined(told.item)
        if are_optional:
            item, label = (name if name in table else None for name in (told.item, told.label))
            told = Told(item, None, label)
        item, label = columns_of_labels(table, told)
        given = table[label].rows()
        labels = given if item is None else NamedLabels(all_named(table, item), given)
    except InvalidPredictions as error:
        raise error.within(source) from None
    where = None if item is None else repr(item) if item else "the column without a name"
    return LabelSource(labels, _understood_labels(contents, given, label, where), label)


def _truth(contents: Contents, export: Export, source: str) -> LabelSource:
    """The true labels that a tool's export has beside the answers."""
    if not export.truth:
        raise InvalidPredictions(f"{source} must have true labels; it is {contents.format}, with answers alone")
    answered = {item for item, _, _ in export.answers}  # nobody asks for the truth of other items
    truth = {item: label for item, label in export.truth.items() if item in answered}
    named = NamedLabels(list(truth), list(truth.values()))
    return LabelSource(named, _understood_labels(contents, named.labels, None, "its own"))


def all_named(table: Columns, item: str) -> list[str]:
    """The names of items in a column; raises if one is missing."""
    names = table[item].rows()
    if None in names:
        raise InvalidPredictions(f"column {item!r} must name every item; row {names.index(None) + 2} is empty")
    return names


def _understood_labels(contents: Contents, labels: Sequence[Any], column: str | None, items: str | None) -> str:
    """One line on the labels of a file: how many there are, and how they find their items."""
    n_given = sum(not (is_missing(label) or text_of(label) in ("", "-1", *UNKNOWN)) for label in labels)
    where = "" if column is None else f" in {column!r}"
    order = "in the order of the items" if items is None else f"items in {items}"
    return f"{contents.path}: {contents.format}, {n_given:,} label{'' if n_given == 1 else 's'}{where}, {order}"


def read_posterior(source: str, *, told: Told | None = None) -> Posterior:
    """Read a posterior (items, classes), with its names if it has any."""
    contents = read_contents(source)
    if contents.export is not None:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} is {contents.format}")
    contents = contents._replace(scale=contents.scale or "probabilities")
    told = told or Told()
    part = _with_names(_recognised(contents, told, logits=False, is_alone=True).predictions, told, source)
    if part.n_members != 1:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} holds {part.n_members} members")
    try:
        part.check_every_item_is_answered()
    except InvalidPredictions as error:
        raise error.within(source) from None
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
    if contents.export is not None:
        return list(dict.fromkeys(item for item, _, _ in contents.export.answers))
    assert contents.table is not None  # noqa: S101 - one of the three is there
    names = list(contents.table)
    column = contents.table.all[0] if len(names) == 1 else item_of_rows(contents.table, Told(), are_truths=True)
    if column is None:
        raise InvalidPredictions(
            f"{source} must have a column of items, such as {some(ITEM[:3])}; it has {some(names)}"
        )
    return all_named(contents.table, column.name)


def _recognised(contents: Contents, told: Told, *, logits: bool, is_alone: bool) -> Understood:
    contents = without_answers(contents)
    scale: Scale | None = contents.scale or ("logits" if logits else "counts" if told.normalize else None)
    try:
        if contents.table is not None:
            return read_columns(contents.table, told, scale, is_of_file=contents.scale is not None)
        assert contents.arrays is not None  # noqa: S101 - one of the two is there
        made, words = from_arrays(contents, contents.arrays, told=told, scale=scale, is_alone=is_alone)
        # The items of a posterior may come from a table, whose order nobody chose.
        if "posterior" in contents.arrays:
            made = made.with_items(made.axes.items.matched_by_name())
    except InvalidPredictions as error:
        raise error.within(contents.path) from None
    return Understood(made, words)


def _with_names(part: Predictions, told: Told, source: str) -> Predictions:
    """Name the items and classes of a file that does not, as the user says."""
    if told.items is not None and not part.axes.items.is_named:
        if len(told.items) != part.n_items:
            raise InvalidPredictions(
                Say("items"),
                f" must name each of the {part.n_items:,} items of {source}; got {len(told.items):,} names",
            )
        part = part.with_items(Axis("item", part.n_items, told.items))
    if told.classes is not None and not part.axes.classes.is_named:
        n_classes = len(told.classes)
        if part.n_classes > n_classes or (part.soft and part.n_classes < n_classes):
            raise InvalidPredictions(
                Say("classes"),
                f" must name each of the {part.n_classes:,} classes of {source}; got {n_classes:,} names",
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
    for axis in ("items", "classes"):
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
                "say ",
                Either("items=", "--items FILE") if axis == "items" else Say("classes", tuple(map(str, other.names))),
                f" to name those of {source}, in their order",
            )


def _is_count(named: Axis, unnamed: dict[str, Axis]) -> bool:
    """Whether these names are among the numbers by which files without names are told."""
    largest = max(unnamed.values(), key=lambda own: own.size)
    return all(largest.find(name) is not None for name in named.names)


def _with_all_classes(parts: list[Predictions]) -> list[Predictions]:
    """Give labels without class names as many classes as the other parts: a member may never use the last class."""
    n_classes = max((part.n_classes for part in parts if not part.axes.classes.is_named), default=0)
    return [
        part
        if part.soft or part.axes.classes.is_named or part.n_classes == n_classes
        else part.with_classes(Axis("class", n_classes))
        for part in parts
    ]
