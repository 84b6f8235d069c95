"""The ways into `Predictions` from Python: arrays, lists, lists of answers, frames of three libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

import consilience as cs
from consilience.data.names import UNKNOWN, is_whole

from doors.panels import AXES, Panel

if TYPE_CHECKING:
    from collections.abc import Callable


class Entrance(NamedTuple):
    """A way in: which panels it takes, how it opens, and which names go in with them."""

    kinds: tuple[str, ...]
    open: Callable[[Panel], cs.Predictions]
    named: tuple[str, ...] = AXES


def names_of(panel):
    return {axis: getattr(panel, axis) for axis in AXES}


def numbers(names):
    """The names as integers if they are written as such, else as they are."""
    are_whole = all(name.isdecimal() and str(int(name)) == name for name in names)
    return [int(name) for name in names] if are_whole else list(names)


def long_rows(panel):
    """One entry for each answer: positions of item and member, items in the order of the panel."""
    item, member = np.nonzero(~np.isnan(panel.answers[:, :, 0]).T)
    return item, member


def long_columns(panel, item="task", member="worker", label="label"):
    """A long table: a label for each answer, or a column of probabilities for each class."""
    items, members = long_rows(panel)
    columns = {item: [panel.items[i] for i in items], member: [panel.members[m] for m in members]}
    if panel.is_hard.all():
        return columns | {label: [panel.classes[k] for k in panel.votes[members, items]]}
    return columns | {name: panel.answers[members, items, k] for k, name in enumerate(panel.classes)}


def said(panel):
    """Labels (members, items): positions of classes, or their names where a number could be either."""
    if not any(map(is_whole, panel.classes)):
        return panel.votes
    return np.array([[None if vote < 0 else panel.classes[vote] for vote in votes] for votes in panel.votes], object)


def has_clash(panel, *headers):
    """Whether a class has the name of a column, so that no table of this form can hold both."""
    return not panel.is_hard.all() and bool(set(headers) & set(panel.classes))


def like_missing(panel):
    """The classes, to be told where a frame has one whose name stands for a missing answer; else None."""
    return panel.classes if panel.is_hard.any() and {"", *UNKNOWN} & set(panel.classes) else None


def _frame(panel, make):
    label = "label" if panel.is_hard.all() else None
    return cs.Predictions.from_frame(make(long_columns(panel)), label=label, classes=like_missing(panel))


def _pandas(panel):
    import pandas as pd

    return _frame(panel, pd.DataFrame)


def _pandas_of_numbers(panel):
    """As pandas reads a CSV file: columns of numbers where all names are."""
    import pandas as pd

    columns = long_columns(panel)
    return _frame(panel, lambda _: pd.DataFrame({name: _as_numbers(values) for name, values in columns.items()}))


def _as_numbers(values):
    return numbers(values) if isinstance(values, list) else values


def _pandas_with_numbered_columns(panel):
    """As `pd.DataFrame(array)` has them."""
    import pandas as pd

    frame = pd.DataFrame(long_columns(panel))
    frame.columns = [*frame.columns[:2], *numbers(list(frame.columns[2:]))]
    label = "label" if panel.is_hard.all() else None
    return cs.Predictions.from_frame(frame, label=label, classes=like_missing(panel))


def _categorical(panel):
    import pandas as pd

    return _frame(panel, lambda columns: pd.DataFrame(columns).astype(dict.fromkeys(list(columns)[:2], "category")))


def _polars(panel):
    import polars as pl

    return _frame(panel, pl.DataFrame)


def _pyarrow(panel):
    import pyarrow as pa

    return _frame(panel, pa.table)


def _lazy(panel):
    import polars as pl

    return _frame(panel, lambda columns: pl.DataFrame(columns).lazy())


def _records(panel):
    return _frame(
        panel, lambda columns: [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    )


def _other_names(panel):
    """Columns that are recognised, behind one that only numbers the rows."""
    import pandas as pd

    label = "verdict" if panel.is_hard.all() else "label"
    frame = pd.DataFrame(long_columns(panel, "question_id", "judge_model", label)).reset_index()
    return cs.Predictions.from_frame(frame, classes=like_missing(panel))


def own_orders(panel):
    """For each member an order of items and one of classes.

    The first member's are the panel's: if chance gives all members one order, it is the order of labels without names.
    """
    rng = panel.rng
    _, n_items, n_classes = panel.answers.shape
    yield np.arange(n_items), np.arange(n_classes)
    for _ in panel.members[1:]:
        yield rng.permutation(n_items), rng.permutation(n_classes)


def _frame_for_each(panel):
    """Each member's frame has its own order of items and classes."""
    import pandas as pd

    frames = {}
    for name, rows, (items, classes) in zip(panel.members, panel.answers, own_orders(panel), strict=True):
        frames[name] = pd.DataFrame(rows, index=panel.items, columns=panel.classes).iloc[items, classes]
    return cs.Predictions(frames)


def _wide_frame(panel):
    import pandas as pd

    columns = {
        name: [None if v < 0 else panel.classes[v] for v in votes]
        for name, votes in zip(panel.members, panel.votes, strict=True)
    }
    frame = pd.DataFrame({"item": panel.items} | columns)
    return cs.Predictions.from_frame(frame, member=",".join(panel.members), classes=like_missing(panel))


def _pipelines(panel):
    """As transformers give scores: for each item all classes, the best first."""
    scores = {
        name: [[{"label": panel.classes[k], "score": float(row[k])} for k in np.argsort(-row)] for row in rows]
        for name, rows in zip(panel.members, panel.answers, strict=True)
    }
    return cs.Predictions(scores, items=panel.items)


def _torch(panel):
    import torch

    return cs.Predictions(torch.from_numpy(panel.answers), **names_of(panel))


def _answers(panel):
    item, member = long_rows(panel)
    label, rows = None, None
    if panel.is_hard.all():
        label = said(panel)[member, item]
    else:
        rows = panel.answers[member, item]
    return cs.Predictions.from_answers(item, member, label, probabilities=rows, **names_of(panel))


def _parts(panel):
    """Each member on its own, its items and classes in its own order."""
    parts = []
    for place, (name, (items, classes)) in enumerate(zip(panel.members, own_orders(panel), strict=True)):
        own = panel.rearranged([place], items, classes)
        names = names_of(own) | {"members": [name], "partial": True}
        parts.append(
            cs.Predictions.from_labels(said(own), **names)
            if panel.is_hard[place]
            else cs.Predictions(own.answers, **names)
        )
    return cs.Predictions.concatenate(parts)


ENTRANCES = {
    "array": Entrance(("soft",), lambda panel: cs.Predictions(panel.answers, **names_of(panel))),
    "array without names": Entrance(("soft",), lambda panel: cs.Predictions(panel.answers), ()),
    "lists": Entrance(("soft",), lambda panel: cs.Predictions(panel.answers.tolist(), **names_of(panel))),
    "list of arrays": Entrance(("soft",), lambda panel: cs.Predictions(list(panel.answers), **names_of(panel))),
    "mapping": Entrance(
        ("soft",),
        lambda panel: cs.Predictions(
            dict(zip(panel.members, panel.answers, strict=True)), items=panel.items, classes=panel.classes
        ),
    ),
    "names as arrays": Entrance(
        ("soft",),
        lambda panel: cs.Predictions(panel.answers, **{axis: np.array(x) for axis, x in names_of(panel).items()}),
    ),
    "names as numbers": Entrance(
        ("soft",),
        lambda panel: cs.Predictions(panel.answers, **{axis: numbers(x) for axis, x in names_of(panel).items()}),
    ),
    "logits": Entrance(("soft",), lambda panel: cs.Predictions.from_logits(np.log(panel.answers), **names_of(panel))),
    "torch": Entrance(("soft",), _torch),
    "labels": Entrance(("hard",), lambda panel: cs.Predictions.from_labels(said(panel), **names_of(panel))),
    "labels without names": Entrance(("hard",), lambda panel: cs.Predictions.from_labels(panel.votes), ()),
    "answers": Entrance(("soft", "hard"), _answers),
    "parts": Entrance(("soft", "hard", "mixed"), _parts),
    "pandas": Entrance(("soft", "hard"), _pandas),
    "pandas of numbers": Entrance(("soft", "hard"), _pandas_of_numbers),
    "pandas with numbered columns": Entrance(("soft",), _pandas_with_numbered_columns),
    "pandas, categorical": Entrance(("soft", "hard"), _categorical),
    "polars": Entrance(("soft", "hard"), _polars),
    "pyarrow": Entrance(("soft", "hard"), _pyarrow),
    "polars, lazy": Entrance(("soft", "hard"), _lazy),
    "pandas of other names": Entrance(("hard",), _other_names),
    "pandas for each": Entrance(("soft",), _frame_for_each),
    "pandas, wide": Entrance(("hard",), _wide_frame),
    "polars, as records": Entrance(("soft", "hard"), _records),
    "scores": Entrance(("soft",), _pipelines),
}
FRAMES = ("pandas", "polars", "pyarrow")  # how the names of entrances begin whose classes are columns


def takes(name, panel):
    """Whether the panel can be said in this way: a column has one name."""
    if name == "scores":
        return not np.isnan(panel.answers).any()
    if name == "pandas, wide":
        return "item" not in panel.members and not any("," in member for member in panel.members)
    return not (name.startswith(FRAMES) and has_clash(panel, "task", "worker", "label"))
