"""Read predictions, labels and posteriors from files of any format, and join the members of several files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.axes import Axis, listed, short, some
from consilience.data.labels import NamedLabels
from consilience.data.names import as_written, is_unknown, text_of, unwritable
from consilience.data.predictions import Predictions, as_ratings, as_told, check_every_item_is_answered, doubts, renamed
from consilience.data.tables.columns import Columns
from consilience.data.tables.layouts import Understood, read_columns
from consilience.data.tables.numbers import Scale, numbers_in
from consilience.data.tables.roles import columns_of_labels, item_of_rows, may_name_items
from consilience.data.tables.told import FUSED, ITEM, RATED, Told, is_called_truth, role_of
from consilience.files.arrays import from_arrays, items_in, labels_in
from consilience.files.contents import Arrays, Contents, read_contents
from consilience.files.tools.export import Export, pooled
from consilience.files.writing import KNOWN
from consilience.system import tables
from consilience.system.errors import Either, InvalidPredictions, Say, warn, within
from consilience.system.untrusted import read_text


class LabelSource(NamedTuple):
    """Labels as `fit` and `evaluate` take them, and one line on how their file was understood."""

    labels: Any
    found: str
    column: str | None = None  # that holds them, in a table


class Posterior(NamedTuple):
    """A posterior as predictions of one member, and the items (items,) whose labels its fit was given."""

    predictions: Predictions
    is_known: npt.NDArray[np.bool_]


class Source(NamedTuple):
    """Predictions, and for each file one line on how it was understood, with some rows of a table as an example."""

    predictions: Predictions
    found: list[str]
    examples: list[tables.Table | None]
    remarks: list[str]  # on what a tool's reader left out


def read_predictions(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    item: str | None = None,
    member: str | None = None,
    label: str | None = None,
    classes: Iterable[Any] | None = None,
    ordered: bool = False,
    items: Iterable[Any] | None = None,
    positive: str | None = None,
    normalize: bool = False,
    logits: bool = False,
    format: str | None = None,  # noqa: A002 - what the tools call it
    question: str | None = None,
) -> Predictions:
    """Predictions from one file for all members, from one file for each member, or from a mixture.

    A table is read as `Predictions.from_frame` reads a frame: the same panel, or the same refusal. Since nothing is
    printed here, a column that may hold answers is never left out unless these arguments decide it.

    Parameters
    ----------
    paths
        Files that end in .npy, .npz, .safetensors, .csv, .tsv, .parquet, .jsonl, .ndjson, .json, .eval, .xlsx, .sqlite
        or .db; text may be packed, as in votes.csv.gz. `FILE:KEY` picks an array, a sheet or a table. `FILE:logits`,
        `:percent`, `:probabilities`, `:counts` or `:labels` says what its numbers are, and `:items-first` or
        `:members-first` how its axes stand.
    item, member, label, classes, ordered, positive, normalize
        As in `Predictions.from_frame`; `classes` also names the classes of arrays.
    items
        The names of the items, for files that do not name theirs.
    logits
        The numbers of all files are logits or log-probabilities.
    format
        The tool that wrote the files, such as "label-studio", if they are not recognised as its own; `consilience
        formats` lists them.
    question
        The question that is read, where a tool's file has several.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import consilience as cs
    >>> p, labels = cs.datasets.shifted_digits()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = [f"{folder}/{name}.npy" for name in ("wide", "narrow")]
    ...     for path, rows in zip(paths, p.to_array()):
    ...         np.save(path, rows)
    ...     cs.read_predictions(paths)
    Predictions(2 members × 899 items × 10 classes)
    """
    sources = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    told = Told(
        item,
        member,
        label,
        None if classes is None else tuple(map(str, listed("class", classes))),
        None if items is None else tuple(map(str, listed("item", items))),
        normalize,
        positive=positive,
        strict=True,
        format=format,
        question=question,
        ordered=ordered,
    )
    read = read_sources([os.fspath(source) for source in sources], logits=logits, told=told)
    made = read.predictions
    for remark in (*read.remarks, *doubts(made)):
        warn(remark)
    return made


def read_sources(sources: Sequence[str], *, logits: bool = False, told: Told | None = None) -> Source:
    """Read predictions from one file for all members, one file per member, or a mixture."""
    if not sources:
        raise InvalidPredictions("expected at least one file of predictions; got none")
    told = told or Told()
    parts: list[Understood] = []
    exports: dict[str, Export] = {}
    forms: dict[str, str] = {}
    for source in sources:
        contents = read_contents(source, told)
        _check_no_truth(contents, sources)
        if contents.export is not None:
            exports[source], forms[source] = contents.export, contents.format
            continue
        read = recognised(contents, source, told, logits=logits, is_alone=len(sources) == 1)
        parts.append(read._replace(words=f"{source}: {contents.format}, {read.words}", source=source))
    if exports:  # together: a member may have answered in several of them
        with within(_listed(list(exports))):
            export = pooled(exports)
            made = export.predictions(told)
        words = "\n".join(f"{source}: {forms[source]}, {own.words}" for source, own in exports.items())
        words = f"{words}; classes {some(made.classes)}"
        parts.append(Understood(made, words, export.example, source=", ".join(exports)))
    for part in parts:
        _check_can_be_written(part)
    panel = _joined(parts, told, sources)
    found: list[str] = []
    examples: list[tables.Table | None] = []
    for part in parts:
        lines = f"{part.words}{_lacking(part.predictions.axes.items, panel)}".split("\n")
        found += lines
        examples += [*[None] * (len(lines) - 1), part.example]
    remarks = [f"{source}: {own.remarks}" for source, own in exports.items() if own.remarks]
    return Source(panel, found, examples, remarks)


def _listed(sources: Sequence[str]) -> str:
    return f"{', '.join(sources[:3])}{', …' if len(sources) > 3 else ''}"


def recognised(contents: Contents, source: str, told: Told, *, logits: bool, is_alone: bool = True) -> Understood:
    """The predictions in a table or in arrays, with the names that the user gives to what has none."""
    contents, _ = _without_answers(contents)
    scale: Scale | None = contents.scale or ("logits" if logits else "counts" if told.normalize else None)
    with within(contents.path):
        if contents.table is not None:
            read = read_columns(contents.table, told, scale, is_of_file=contents.scale is not None)
        else:
            arrays = contents.arrays or {}
            read = Understood(*from_arrays(contents, arrays, told=told, scale=scale, is_alone=is_alone))
            # The items of a posterior may come from a table, whose order nobody chose.
            if "posterior" in arrays:
                made = read.predictions
                read = read._replace(predictions=renamed(made, items=made.axes.items.matched_by_name()))
    return read._replace(predictions=_with_names(read.predictions, told, source))


def _with_names(made: Predictions, told: Told, source: str) -> Predictions:
    """Name the items and classes of a file that does not, as the user says."""
    for axis, names in (("items", told.items), ("classes", told.classes)):
        own: Axis = getattr(made.axes, axis)
        if names is None or own.is_named:
            continue
        are_some = axis == "classes" and not made.soft  # labels may be of some classes alone
        size = max(own.size, len(names)) if are_some else own.size
        if len(names) != size:
            raise InvalidPredictions(
                Say(axis), f" must name each of the {size:,} {axis} of {source}; got {len(names):,} names"
            )
        made = renamed(made, **{axis: Axis(own.kind, size, names)})
    return made


# ---- several files together ---------------------------------------------------------------------------------


def _joined(parts: list[Understood], told: Told, sources: Sequence[str]) -> Predictions:
    """The members of all files side by side, on the classes that the user names."""
    if len(parts) > 1:
        _check_rows_are_matched(parts)
        for kind in ("items", "classes"):
            _check_fit_together(parts, kind)
    with within(_listed(sources)):
        panel = parts[0].predictions
        if len(parts) > 1:
            panel = Predictions.concatenate(_with_all_classes([part.predictions for part in parts]))
        return as_told(panel, told)


def _lacking(items: Axis, panel: Predictions) -> str:
    """How many items of the other files a file lacks, for a message: rows may have been lost."""
    if items.size == panel.n_items:
        return ""
    lacking = [name for name in panel.items if items.find(name) is None]
    total = f"{len(lacking):,} of the {panel.n_items:,} items of all files"
    return f"; it lacks {total}, such as {short(lacking[0])}"


def _check_no_truth(contents: Contents, sources: Sequence[str]) -> None:
    """Raise if a file among several is called as true labels are: `report *.npy` would take `truth.npy` as a member."""
    stem = contents.path.stem
    is_truth = stem.lower() in ("labels", "y") or (role_of(stem) == "truth" and is_called_truth(stem))
    if len(sources) > 1 and is_truth and contents.scale is None:
        raise InvalidPredictions(
            f"{contents.path} is called as true labels are, which are no member's answers: give it with "
            f"{Say('labels')}, or leave it out, or give it another name if it is a member"
        )


def _check_rows_are_matched(parts: list[Understood]) -> None:
    """Raise if files are matched by the places of their rows although columns may name their items.

    A column with another value in each row decides nothing if it is the same in all files.
    """
    unnamed = [part for part in parts if not part.predictions.axes.items.is_named]
    by_row = {part.source: part.unread for part in unnamed if part.unread is not None}
    for source, unread in by_row.items():
        ids = [name for name in unread if unread[name].are_ids]
        if len(by_row) == len(parts):
            ids = [name for name in ids if any(_texts(o, name) != _texts(unread, name) for o in by_row.values())]
        if ids:
            raise may_name_items([unread[name] for name in ids]).within(source)


def _texts(columns: Columns, name: str) -> list[str]:
    return list(map(str, columns[name].coded.values)) if name in columns else []


def _check_can_be_written(part: Understood) -> None:
    """Raise for a name that no file could give back: JSON can hold halves of characters, and bytes of 0."""
    for axis in part.predictions.axes:
        name = unwritable(axis.names) if axis.is_named else None
        if name is not None:
            raise InvalidPredictions(
                f"{part.source}: names must have whole characters and no bytes of 0, so that they can be written; got "
                f"the {axis.kind} {short(name)}"
            )


def _check_fit_together(parts: list[Understood], kind: str) -> None:
    """Raise if files without names of items or classes have not equally many, or stand beside others with names."""
    axes: dict[str, Axis] = {part.source: getattr(part.predictions.axes, kind) for part in parts}
    unnamed = {source: own for source, own in axes.items() if not own.is_named}
    if not unnamed:
        return
    are_soft = all(part.predictions.hard is None for part in parts)
    if are_soft and len({own.size for own in unnamed.values()}) > 1:
        listing = ", ".join(f"{source} has {own.size}" for source, own in unnamed.items())
        raise InvalidPredictions(f"files must have the same {kind} where they do not name them; {listing}")
    longest = max(unnamed.values(), key=lambda own: own.size)
    # Names among 0, 1, 2, … are those by which files without names are told.
    others = [own for own in axes.values() if own.is_named and not own.is_counted]
    if any(not longest.has_all(own.names) for own in others):
        source = next(iter(unnamed))
        raise InvalidPredictions(
            f"all files must name their {kind}, or none; {source} does not, and others have {some(others[0].names)}: "
            "say ",
            Either("items=", "--items FILE") if kind == "items" else Say("classes", tuple(map(str, others[0].names))),
            f" to name those of {source}, in their order",
        )


def _with_all_classes(parts: list[Predictions]) -> list[Predictions]:
    """Give labels without class names as many classes as the other parts: a member may never use the last class."""
    n_classes = max((part.n_classes for part in parts if not part.axes.classes.is_named), default=0)
    return [
        part if part.soft or part.axes.classes.is_named else renamed(part, classes=Axis("class", n_classes))
        for part in parts
    ]


# ---- labels, posteriors, names ------------------------------------------------------------------------------


def read_labels(source: str, *, told: Told | None = None, are_optional: bool = False) -> LabelSource:
    """Read labels: one per item, or beside the names of their items if the file has them.

    `are_optional` says that the columns were named for other files, and may be missing from this one.
    """
    contents, column = read_contents(source, told), None
    items: str | None = "the same file"
    if contents.table is not None:
        named, items, column = _labels_in_table(contents.table, told or Told(), source, are_optional=are_optional)
    elif contents.arrays is not None:
        named, items = _labels_in_arrays(contents.arrays, source)
    else:
        named = _truth(contents, source)
    labels, n_given = named.labels, _n_given(named.labels, told)
    where = "" if column is None else f" in {column!r}"
    order = "in the order of the items" if items is None else f"items in {items}"
    found = f"{contents.path}: {contents.format}, {n_given:,} label{'' if n_given == 1 else 's'}{where}, {order}"
    return LabelSource(labels if named.items is None else named, found, column)


def _n_given(labels: Any, told: Told | None) -> int:
    """How many labels are known; a word such as NA may be a class."""
    classes = {text_of(name) for name in (told and told.classes) or ()}
    said = labels.tolist() if isinstance(labels, np.ndarray) else labels
    return sum(not is_unknown(label) or text_of(label) in classes for label in said)


def _labels_in_table(
    table: Columns, told: Told, source: str, *, are_optional: bool
) -> tuple[NamedLabels, str | None, str]:
    """The labels, and where their items and they themselves are found."""
    with within(source):
        table = table.joined(told.item)
        if are_optional:
            known = [name if name in table else None for name in (told.item, told.label)]
            told = Told(known[0], None, known[1])
        item, label = columns_of_labels(table, told)
        named = NamedLabels(None if item is None else item.item_rows(base=2), label.rows())
    where = None if item is None else repr(item.name) if item.name else "the column without a name"
    return named, where, label.name


def _labels_in_arrays(arrays: Arrays, source: str) -> tuple[NamedLabels, str | None]:
    """The labels, and where their items are found."""
    candidates = labels_in(arrays)
    if len(candidates) != 1:
        held = some([f"{name} {array.shape}" for name, array in arrays.items()])
        raise InvalidPredictions(f"{source} must hold one array of labels (items,), called labels; it holds {held}")
    name, array = next(iter(candidates.items()))
    with within(source):
        items = items_in(arrays, name)
    if items is None:
        return NamedLabels(None, array), None
    return NamedLabels(list(map(text_of, arrays[items].tolist())), array.tolist()), repr(items)


def _truth(contents: Contents, source: str) -> NamedLabels:
    """The true labels that a tool's export has beside the answers."""
    export = contents.export
    if export is None or not export.truth:
        raise InvalidPredictions(f"{source} must have true labels; it is {contents.format}, with answers alone")
    answered = {item for item, _, _ in export.answers}  # nobody asks for the truth of other items
    truth = {item: label for item, label in export.truth.items() if item in answered}
    return NamedLabels(list(truth), list(truth.values()))


def read_posterior(source: str, *, told: Told | None = None) -> Posterior:
    """Read a posterior (items, classes), with its names if it has any."""
    contents = read_contents(source)
    if contents.export is not None:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} is {contents.format}")
    contents, marks = _without_answers(contents._replace(scale=contents.scale or "probabilities"))
    made = recognised(contents, source, told or Told(), logits=False).predictions
    if made.n_members != 1:
        raise InvalidPredictions(f"a posterior is (items, classes); {source} holds {made.n_members} members")
    with within(source):
        made = as_ratings(made, told.classes) if told is not None and told.ordered else made
        check_every_item_is_answered(made)
        is_known = np.zeros(made.n_items, dtype=bool) if marks is None else marks
        if is_known.shape != (made.n_items,) or is_known.dtype.kind != "b":
            raise InvalidPredictions(f"{KNOWN!r} must say of each of the {made.n_items} items true or false")
    return Posterior(made, is_known)


def _without_answers(contents: Contents) -> tuple[Contents, Any]:
    """If `write_posterior` wrote the file, the posterior and its names alone, and the marks of the items it knew."""
    arrays, table = contents.arrays, contents.table
    if arrays is not None and "posterior" in arrays:
        kept = {name: array for name, array in arrays.items() if name in ("posterior", "items", "classes")}
        return contents._replace(arrays=kept), arrays.get(KNOWN)
    if table is not None and (answers := _answers_in(table)):
        others = table.without(answers)
        numbers = numbers_in([others[name] for name in list(others)[1:]]) if len(others) > 2 else None
        if numbers is not None and numbers.meaning() == "probabilities" and numbers.share_of_probabilities() == 1:
            marks = [str(name).lower() == "true" for name in table[KNOWN].rows()] if KNOWN in answers else None
            return contents._replace(table=others), None if marks is None else np.array(marks)
    return contents, None


def _answers_in(table: Columns) -> tuple[str, ...]:
    """The columns that `write_posterior` puts between the items and the classes; none if it did not write the table."""
    names = list(table)
    own = next((own for own in (RATED, FUSED, ("label",)) if names[: 1 + len(own)] == ["item", *own]), ())
    is_marked = bool(own) and names[1 + len(own) :][:1] == [KNOWN]
    # A class may be called so too, and then has probabilities.
    if is_marked and {str(name).lower() for name in table[KNOWN].rows()} <= {"true", "false"}:
        return (*own, KNOWN)
    return own


def read_names(source: str) -> list[str]:
    """Read the names of items: a table's column of items, an array of names, or one on each line of a .txt file."""
    if source.lower().endswith(".txt"):
        return [line for line in re.split("\r\n|\r|\n", read_text(Path(source), "a list of names")) if line.strip()]
    contents = read_contents(source)
    table, export = contents.table, contents.export
    if contents.arrays is not None:
        flat = {name: array for name, array in contents.arrays.items() if array.ndim == 1}
        found = [flat["items"]] if "items" in flat else list(flat.values())
        if len(found) != 1:
            raise InvalidPredictions(f"{source} must hold one array of names; it holds {some(list(contents.arrays))}")
        return list(map(as_written, found[0].tolist()))
    if table is None:
        return list(dict.fromkeys(item for item, _, _ in export.answers)) if export is not None else []
    column = table.all[0] if len(table) == 1 else item_of_rows(table, Told(), are_truths=True)
    if column is None:
        raise InvalidPredictions(
            f"{source} must have a column of items, such as {some(ITEM[:3])}; it has {some(list(table))}"
        )
    return column.item_rows(base=2)
