"""The ways to give labels: by order or by item, as names, numbers or positions, in Python and in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from hypothesis import assume

from consilience.data.names import is_whole

from doors.entrances import numbers
from doors.layouts import write_table

if TYPE_CHECKING:
    from collections.abc import Callable


class Asked(NamedTuple):
    """What the labels are about: the names that items and classes have, in the order they were shown."""

    items: list[Any]
    classes: list[Any]
    has_class_names: bool
    truth: Any  # (items,), positions of classes
    is_known: Any  # (items,)
    rng: Any

    def labels(self, classes=None, unknown=None):
        """One for each item, in order."""
        names = self.classes if classes is None else classes
        return [names[k] if known else unknown for k, known in zip(self.truth, self.is_known, strict=True)]

    def by_item(self, items=None, classes=None):
        """Of the known items, in another order: items and labels."""
        names, labels = self.items if items is None else items, self.labels(classes)
        places = self.rng.permutation(np.flatnonzero(self.is_known)).tolist()
        return [names[place] for place in places], [labels[place] for place in places]


def asked(shown, named, rng):
    """What the labels of a panel are about; without names, items and classes are called by their positions."""
    items = shown.items if "items" in named else list(range(len(shown.items)))
    classes = shown.classes if "classes" in named else list(range(len(shown.classes)))
    return Asked(items, classes, "classes" in named, shown.truth, shown.is_known, rng)


def are_counted(items):
    """Whether items are called 0, 1, 2, …: a list without names is then in that order, whatever order they came in."""
    return {*map(str, items)} == {str(place) for place in range(len(items))}


class Form(NamedTuple):
    """A way to give labels, whether only their order tells whose they are, and whether any door may refuse it.

    A Series of items without names may be refused: either its index or its order may tell whose labels they are.
    """

    give: Callable[..., Any]
    is_ordered: bool = False
    may_be_refused: bool = False
    is_series: bool = False


def as_numbers(names):
    return list(names) if any(isinstance(name, int) for name in names) else numbers(names)


def _all_numbers(names):
    found = as_numbers(names)
    assume(all(isinstance(name, int) and name >= 0 for name in found))
    return found


def _check_minus_one_is_free(told):
    assume(not {"-1", -1} & {*told.classes})


# ---- in Python --------------------------------------------------------------------------------------------


def _list_with_minus_one(told):
    _check_minus_one_is_free(told)
    return told.labels(unknown=-1)


def _array_of_objects(told):
    return np.array([*told.labels(), None], dtype=object)[:-1]


def _numbers(told):
    return np.array(told.labels(_all_numbers(told.classes), unknown=-1))


def _floats(told):
    return np.array(told.labels(_all_numbers(told.classes), unknown=np.nan), dtype=np.float64)


def _positions(told):
    """Only where names cannot be meant."""
    assume(not told.has_class_names or not any(map(is_whole, told.classes)))
    return np.where(told.is_known, told.truth, -1)


def _series(told):
    import pandas as pd

    items, labels = told.by_item()
    return pd.Series(labels, index=items)


def _series_of_numbers(told):
    """As pandas reads a CSV file."""
    import pandas as pd

    items, labels = told.by_item(as_numbers(told.items), as_numbers(told.classes))
    return pd.Series(labels, index=items)


def _series_of_all_items(told):
    """With gaps, which make floating-point numbers of integers."""
    import pandas as pd

    order = told.rng.permutation(len(told.items))
    labels = pd.Series(told.labels(as_numbers(told.classes), unknown=None), index=as_numbers(told.items))
    return labels.iloc[order]


def _series_in_order(told):
    import pandas as pd

    assume(all(isinstance(name, str) for name in as_numbers(told.items)))  # or the index would name items
    return pd.Series(told.labels())


def _polars_series(told):
    import polars as pl

    return pl.Series(told.labels())


def _mapping(told):
    return dict(zip(*told.by_item(), strict=True))


def _mapping_of_numbers(told):
    return dict(zip(*told.by_item(as_numbers(told.items), as_numbers(told.classes)), strict=True))


FORMS = {
    "list": Form(lambda told: told.labels(), is_ordered=True),
    "list with -1": Form(_list_with_minus_one, is_ordered=True),
    "array of names": Form(_array_of_objects, is_ordered=True),
    "numbers": Form(_numbers, is_ordered=True),
    "numbers with NaN": Form(_floats, is_ordered=True),
    "positions": Form(_positions, is_ordered=True, may_be_refused=True),
    "polars series": Form(_polars_series, is_ordered=True),
    "series in order": Form(_series_in_order, is_ordered=True, may_be_refused=True),
    "series": Form(_series, is_series=True),
    "series of numbers": Form(_series_of_numbers, is_series=True),
    "series of all items": Form(_series_of_all_items, is_series=True),
    "mapping": Form(_mapping),
    "mapping of numbers": Form(_mapping_of_numbers),
}


# ---- in files ---------------------------------------------------------------------------------------------


def _table(suffix, header="item", label="label", *, typed=False):
    def write(told, folder):
        items, labels = told.by_item(*((as_numbers(told.items), as_numbers(told.classes)) if typed else ()))
        path = Path(folder) / f"truth{suffix}"
        write_table(path, {header: items, label: labels})
        return str(path)

    return write


def _table_of_all_items(suffix):
    """Of all items, with empty cells where the label is unknown, and a column of remarks."""

    def write(told, folder):
        path = Path(folder) / f"all{suffix}"
        write_table(path, {"why": ["?"] * len(told.items), "item": told.items, "label": told.labels()})
        return str(path)

    return write


def _column_alone(told, folder):
    _check_minus_one_is_free(told)
    write_table(Path(folder) / "alone.csv", {"label": told.labels(unknown=-1)})
    return str(Path(folder) / "alone.csv")


def _array(told, folder):
    np.save(Path(folder) / "truth.npy", _positions(told))
    return str(Path(folder) / "truth.npy")


def _array_of_numbers(told, folder):
    np.save(Path(folder) / "truth.npy", _numbers(told))
    return str(Path(folder) / "truth.npy")


def _array_of_names(told, folder):
    _check_minus_one_is_free(told)
    np.savez(Path(folder) / "truth.npz", labels=np.array(told.labels(list(map(str, told.classes)), unknown="-1")))
    return str(Path(folder) / "truth.npz")


FILES = {
    "table .csv": Form(_table(".csv")),
    "table .tsv": Form(_table(".tsv", "task", "gold")),
    "table .parquet": Form(_table(".parquet")),
    "table .parquet of numbers": Form(_table(".parquet", typed=True)),
    "table .csv of all items": Form(_table_of_all_items(".csv")),
    "table .parquet of all items": Form(_table_of_all_items(".parquet")),
    "column alone": Form(_column_alone, is_ordered=True),
    "array of positions": Form(_array, is_ordered=True, may_be_refused=True),
    "array of numbers": Form(_array_of_numbers, is_ordered=True),
    "archive of names": Form(_array_of_names, is_ordered=True, may_be_refused=True),
}
