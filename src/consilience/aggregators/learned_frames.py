"""What an aggregator learned, as data frames that look as crowd-kit's do.

In pandas, names are the index. Other libraries have no index: names come first, as columns, and the columns of
classes are called by their texts.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from consilience.data.names import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from consilience.system.arrays import FloatArray

Library: TypeAlias = Literal["pandas", "polars", "pyarrow"]
Orientation: TypeAlias = Literal["true_by_observed", "observed_by_true"]


def frame_of(
    values: FloatArray, names: Mapping[str, Sequence[Any]], classes: Sequence[Any], axis: str, library: Library
) -> Any:
    """Values with one column per class, along an axis of this name, and rows that these names tell apart."""
    if library not in ("pandas", "polars", "pyarrow"):
        raise ValueError(f"library must be 'pandas', 'polars' or 'pyarrow'; got {library!r}")
    if find_spec(library) is None:
        raise ModuleNotFoundError(f"a frame of {library} needs {library}: pip install {library}", name=library)
    if library == "pandas":
        import pandas as pd  # noqa: PLC0415 - only users of frames pay for it

        indexes = [pd.Index(list(values), name=name, tupleize_cols=False) for name, values in names.items()]
        index = indexes[0] if len(indexes) == 1 else pd.MultiIndex.from_arrays(indexes)
        return pd.DataFrame(values, index=index, columns=pd.Index(list(classes), name=axis, tupleize_cols=False))
    import narwhals as nw  # noqa: PLC0415 - only users of frames pay for it

    columns = [*names, *map(str, classes)]
    if repeated := {name for name in columns if columns.count(name) > 1}:
        raise ValueError(
            f"columns of {library} must have distinct names; {min(repeated)!r} stands for two: use library='pandas'"
        )
    content = [*map(_of_one_kind, names.values()), *values.T]
    return nw.from_dict(dict(zip(columns, content, strict=True)), backend=library).to_native()


def _of_one_kind(names: Sequence[Any]) -> list[Any]:
    """Names as a column of one type: as they are if all are text or all are numbers of one type, else their texts."""
    kinds = {type(name) for name in names}
    return list(names) if len(kinds) == 1 and kinds <= {str, bool, int, float} else list(map(text_of, names))
