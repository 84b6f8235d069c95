"""A small table: columns of values that print well and turn into a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Literal, final

import numpy as np

MOST_PRINTED = 40  # how many rows are printed


@final
class Table:
    """Named columns of equal length.

    >>> table = Table({"method": ["Average", "DawidSkene"], "accuracy": [0.91, 0.93]})
    >>> table
    method      accuracy
    Average       0.9100
    DawidSkene    0.9300
    >>> table["accuracy"]
    [0.91, 0.93]
    """

    def __init__(self, columns: Mapping[str, Sequence[Any]]) -> None:
        self._columns = {name: list(values) for name, values in columns.items()}
        if len({len(values) for values in self._columns.values()}) > 1:
            raise ValueError("columns must be equally long")

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, Any]]) -> Table:
        """A table of rows, at least one, that all have the columns of the first.

        >>> Table.of_rows([{"method": "Average", "accuracy": 0.91}]).columns
        ['method', 'accuracy']
        """
        listed = list(rows)
        return cls({name: [row[name] for row in listed] for name in listed[0]})

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self._columns:
            raise KeyError(f"expected one of the columns {self.columns}; got {column!r}: rows() has the rows")
        return self._columns[column]

    def select(self, *columns: str) -> Table:
        """Some of the columns, in the order wanted."""
        return Table({name: self._columns[name] for name in columns})

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), []))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a mapping from column to value."""
        return [dict(zip(self._columns, row, strict=True)) for row in zip(*self._columns.values(), strict=True)]

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as plain lists."""
        return {name: list(values) for name, values in self._columns.items()}

    def to_frame(self, library: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """The table as a data frame of a library that is installed."""
        import narwhals as nw  # noqa: PLC0415 - only users of frames pay for it

        return nw.from_dict(self.to_dict(), backend=library).to_native()

    def __repr__(self) -> str:
        """Aligned text, numbers to the right and the rest to the left; only the first rows of a long table."""
        texts = [[name, *map(_text, values[:MOST_PRINTED])] for name, values in self._columns.items()]
        widths = [max(map(len, column)) for column in texts]
        is_number = [all(isinstance(value, int | float | np.number) for value in v) for v in self._columns.values()]
        lines = []
        for row in zip(*texts, strict=True):
            cells = (
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(row, widths, is_number, strict=True)
            )
            lines.append("  ".join(cells).rstrip())
        if len(self) > MOST_PRINTED:
            lines.append(f"… and {len(self) - MOST_PRINTED} more rows")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self._columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(_text(value))}</td>' for value in row)}</tr>"
            for row in zip(*self._columns.values(), strict=True)
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.4f}"
    return str(value)
