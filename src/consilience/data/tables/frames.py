"""Columns of a data frame of any library (pandas, polars, pyarrow, …), of a `datasets.Dataset`, or of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from consilience.data.axes import Axis, some
from consilience.data.tables.columns import Coded, Column, Columns, Notation, are_scored, read_rows
from consilience.data.tables.told import UNNAMED, Told, names_of, role_of
from consilience.system.arrays import Array
from consilience.system.errors import InvalidPredictions, polars, within


def is_frame(value: Any) -> bool:
    """Whether this is a data frame of any library, or a `datasets.Dataset`."""
    kind = type(value)  # a lazy frame warns if it is asked for its columns
    return hasattr(kind, "columns") or hasattr(kind, "column_names")


def columns_of(frame: Any) -> Columns:
    """The columns of a frame, lazy or not. The index of pandas is a column, unless it only counts the rows."""
    if isinstance(frame, Columns):
        return frame
    if hasattr(frame, "column_names") and hasattr(frame, "features"):
        return _of_data_set(frame)
    if isinstance(frame, list) and frame and all(isinstance(record, dict) for record in frame):
        names = dict.fromkeys(name for record in frame for name in record)
        return Columns({name: Column.of_list(name, [record.get(name) for record in frame]) for name in names})
    import narwhals as nw  # noqa: PLC0415 - only users of frames pay for it

    frame = _levels_as_columns(frame)
    try:
        table = nw.from_native(frame)
        if isinstance(table, nw.LazyFrame):
            table = table.collect()
        found = {name: _column(name, own) for name, own in zip(table.columns, table.iter_columns(), strict=True)}
    except TypeError as error:
        raise InvalidPredictions(
            f"frame must be a data frame (pandas, polars, pyarrow, …); got {type(frame).__name__}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        twice = Counter(map(str, getattr(frame, "column_names", frame.columns))).most_common(1)
        raise InvalidPredictions(f"frame must have columns of different names; got {twice[0][0]!r} twice") from error
    return Columns(_index(frame, found) | found)


def _column(name: Any, series: Any) -> Column:
    """A column of narwhals, whose values are not copied until somebody asks what they are."""
    if series.implementation.is_pandas():
        return _of_pandas(name, series.to_native())
    try:
        return Column.of_polars(name, series.to_polars())
    except (ImportError, ModuleNotFoundError, NotImplementedError):
        return Column.of_list(name, series.to_list())


def _of_pandas(name: Any, series: Any) -> Column:
    import pandas as pd  # noqa: PLC0415 - it is there, since this is its series

    def code() -> Coded:
        codes, values = pd.factorize(series, use_na_sentinel=True)
        return Coded(codes.astype(np.int32), list(values.tolist() if hasattr(values, "tolist") else values))

    kind, test = series.dtype, pd.api.types
    is_text = isinstance(kind, pd.StringDtype)
    if is_text and kind.storage == "pyarrow":  # which `factorize` would copy
        return Column.of_polars(name, polars().from_pandas(series))
    if test.is_numeric_dtype(kind) and not test.is_bool_dtype(kind) and not test.is_complex_dtype(kind):
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return Column(name, len(series), code, stored=(numbers, Notation(all_points=test.is_float_dtype(kind))))
    if kind.kind == "O" and not is_text and test.infer_dtype(series, skipna=True) not in ("string", "empty"):
        return Column.of_list(name, series.tolist())
    return Column(name, len(series), code)


def _levels_as_columns(frame: Any) -> Any:
    """A pandas frame whose index has several levels, such as items and members, with a column for each level."""
    index: Any = getattr(frame, "index", None)
    if getattr(index, "nlevels", 1) == 1:
        return frame
    levels = list(index.names)
    if None in levels or set(levels) & set(frame.columns):
        raise InvalidPredictions(
            f"frame must have items and members in columns; its index has the levels {some(levels)}: give the levels "
            "names that no column has, or make columns of them with reset_index()"
        )
    return frame.reset_index()


def index_names(frame: Any) -> list[Any] | None:
    """The names in a pandas index that does not only count the rows."""
    index = getattr(frame, "index", None)
    is_range = (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)
    if index is None or callable(index) or is_range:
        return None
    if getattr(index, "dtype", None) == np.int64 and np.array_equal(index, np.arange(len(index))):
        return None
    names = list(index)
    return None if names == list(range(len(names))) else names


def _index(frame: Any, columns: dict[Any, Column]) -> dict[Any, Column]:
    names = index_names(frame)
    if names is None:
        return {}
    name = frame.index.name
    if not isinstance(name, str) or name in columns or role_of(name) not in ("item", "member", "label"):
        name = UNNAMED[0]
    if name in columns:
        raise InvalidPredictions(
            f"a frame must have a name for each column; {name!r} is one, and would be the index {some(names)}"
        )
    return {name: Column.of_list(name, names)}


def _of_data_set(data: Any) -> Columns:
    """The columns of a `datasets.Dataset`. Labels that it stores as numbers have the names it gives them."""
    columns = data.with_format(None).to_dict() if hasattr(data, "with_format") else data.to_dict()
    for name, feature in data.features.items():
        if type(feature).__name__ == "ClassLabel":
            columns[name] = [None if k is None or k < 0 else feature.names[k] for k in columns[name]]
    return Columns({name: Column.of_list(name, values) for name, values in columns.items()})


def is_member_table(part: Any) -> bool:
    """Whether a member is a data frame, or a list of scores by class."""
    return is_frame(part) or are_scored(part)


def shared_index(labels: Any) -> list[Any] | None:
    """The items that a list of pandas Series names by their index; raises if not all members name the same ones."""
    parts = labels if isinstance(labels, list | tuple) else []
    indexes = [index_names(part) for part in parts if not isinstance(part, list | tuple)]
    for member, index in enumerate(indexes):
        if index != indexes[0]:
            places = ["none" if names is None else some(names) for names in (indexes[0], index)]
            raise InvalidPredictions(
                f"labels must have the same index for every member; member 0 has {places[0]} and member {member} "
                f"{places[1]}: from_frame(pd.DataFrame({{'name': series, …}})) matches them by index"
            )
    return indexes[0] if indexes else None


# ---- one frame, array or list of scores for each member -------------------------------------------------------


MemberRows: TypeAlias = "tuple[Array, dict[str, Any]]"


def read_member(
    part: Any, name: Any, items: list[Any] | None, classes: list[Any] | None, *, normalize: bool
) -> MemberRows:
    """One member's rows, and the names of items and classes: those of a frame or of scores, if it has some."""
    names: dict[str, Any] = {"items": items, "classes": classes}
    if is_frame(part):
        rows, own = _read_frame(part, name, classes, normalize=normalize)
        return rows, names | own
    if not are_scored(part):
        return part, names
    if isinstance(part[0], Mapping):
        raise InvalidPredictions(
            f"member {name!r} must have a score for every class; it has only the best one: run the pipeline with "
            "top_k=None, or give the labels to from_labels"
        )
    rows, own_classes = read_rows(part, str(name))
    return rows, names if own_classes is None else names | {"classes": own_classes}


def _read_frame(frame: Any, name: Any, classes: Sequence[Any] | None, *, normalize: bool) -> MemberRows:
    from consilience.data.tables.layouts import read_columns  # noqa: PLC0415 - it makes predictions

    columns = columns_of(frame)
    told = Told(classes=None if classes is None else tuple(map(str, classes)), normalize=normalize, strict=True)
    with within(f"member {name!r}"):
        found = read_columns(columns, told, "counts" if normalize else None)
    made, expected = found.predictions, f"member {name!r} must be a frame with a column of probabilities per class"
    if len(made.soft) != 1 or made.n_members != 1:
        raise InvalidPredictions(
            f"{expected}; it has {some(list(columns))}: name the classes with classes=, or use from_frame"
        )
    unread = (found.unread or Columns({})).all
    left_out = [own for own in unread if own.numbers is not None and own.role is None and not own.is_measure]
    if left_out and classes is None:  # they may be classes too
        raise InvalidPredictions(
            f"{expected}; it also has numbers in {some(names_of(left_out))}: name the classes with classes="
        )
    items = _items(made.axes.items, unread, name)
    return made.soft[0].rows, {"classes": made.classes} | ({} if items is None else {"items": items})


def _items(axis: Axis, unread: Sequence[Column], member: Any) -> list[Any] | None:
    """The names of the items; if the frame has none, the only column beside the classes that names each row."""
    own = axis.names if axis.is_named else None
    if own is not None and not axis.is_counted:
        return own
    names = [column for column in unread if column.are_names and column.role in (None, "item")]
    if len(names) > 1:
        raise InvalidPredictions(
            f"one column of member {member!r} must name the items; {some(names_of(names))} may: call it item, or make "
            "it the index"
        )
    return names[0].rows() if names else own
