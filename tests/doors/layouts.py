"""The ways to write a panel to files that are read: arrays and tables, long and wide, of every format."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from consilience.data.names import UNKNOWN, is_whole
from consilience.data.tables.told import UNNAMED
from consilience.files.writing import with_quote

from doors.entrances import long_columns, long_rows, numbers
from doors.panels import AXES, Panel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Layout(NamedTuple):
    """A way to write a panel: which panels it takes, what it writes (and returns the files), and which names."""

    kinds: tuple[str, ...]
    write: Callable[[Panel, Path], list[str]]
    named: tuple[str, ...] = AXES


# ---- tables -----------------------------------------------------------------------------------------------


def write_table(path, columns):
    """Write columns of names and numbers as others would; None is an empty cell."""
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({name: pa.array(list(values)) for name, values in columns.items()}), path)
        return
    if path.suffix == ".jsonl":
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*map(list, columns.values()), strict=True))
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return
    if path.suffix == ".db":
        path.unlink(missing_ok=True)
        with closing(sqlite3.connect(path)) as held:
            names = ", ".join(f'"{str(name).replace(chr(34), chr(34) * 2)}"' for name in columns)
            held.execute(f"CREATE TABLE answers ({names})")
            places = ", ".join("?" * len(columns))
            held.executemany(f"INSERT INTO answers VALUES ({places})", zip(*columns.values(), strict=True))  # noqa: S608
            held.commit()
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        writer.writerow([_cell(name) for name in columns])
        writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))


def _cell(value):
    """A name that would read as missing, or as guarded by an apostrophe, gets one; formulas are written as they are."""
    needs_quote = isinstance(value, str) and (value.startswith("'") or value in {"", *UNKNOWN})
    return with_quote(value) if needs_quote else value


def _long(suffix, *headers, typed=False):
    def write(panel, folder):
        columns = long_columns(panel, *(headers or ("item", "member", "label")))
        if typed:
            columns = {
                name: numbers(values) if isinstance(values, list) else values for name, values in columns.items()
            }
        write_table(folder / f"long{suffix}", columns)
        return [str(folder / f"long{suffix}")]

    return write


def _as_pandas_writes(panel, folder):
    """With an index that nobody asked for."""
    import pandas as pd

    pd.DataFrame(long_columns(panel, "item", "member", "label")).to_csv(folder / "indexed.csv")
    return [str(folder / "indexed.csv")]


def _mixed_long(suffix):
    """People's labels and models' probabilities in one table: each row has one or the other."""

    def write(panel, folder):
        columns = {"item": [], "member": [], "label": []} | {name: [] for name in panel.classes}
        for (member, item), vote in np.ndenumerate(panel.votes):
            if vote < 0:
                continue
            row = panel.answers[member, item]
            values = [panel.items[item], panel.members[member]]
            if panel.is_hard[member]:
                values += [panel.classes[vote], *[None] * len(row)]
            else:
                values += [None, *row.tolist()]
            for column, value in zip(columns.values(), values, strict=True):
                column.append(value)
        write_table(folder / f"mixed{suffix}", columns)
        return [str(folder / f"mixed{suffix}")]

    return write


def _wide(suffix, *, typed=False):
    """Labels: one row for each item, one column for each member."""

    def write(panel, folder):
        items, classes = (numbers(names) if typed else names for names in (panel.items, panel.classes))
        said = [[None if vote < 0 else classes[vote] for vote in votes] for votes in panel.votes]
        write_table(folder / f"wide{suffix}", {"item": items} | dict(zip(panel.members, said, strict=True)))
        return [str(folder / f"wide{suffix}")]

    return write


def _each_wide(suffix):
    """A table of probabilities for each member: one row for each item, one column for each class."""

    def write(panel, folder):
        for place, rows in enumerate(panel.answers):
            own = np.flatnonzero(~np.isnan(rows[:, 0]))
            columns = {name: rows[own, k].tolist() for k, name in enumerate(panel.classes)}
            write_table(folder / f"member{place}{suffix}", {"item": [panel.items[i] for i in own]} | columns)
        return [str(folder / f"member{place}{suffix}") for place in range(len(panel.members))]

    return write


# ---- arrays -----------------------------------------------------------------------------------------------


def _values(panel):
    return panel.votes if panel.is_hard.all() else panel.answers


def _block(panel, folder):
    np.save(folder / "block.npy", _values(panel))
    return [str(folder / "block.npy")]


def _each(panel, folder):
    for place, values in enumerate(_values(panel)):
        np.save(folder / f"member{place}.npy", values)
    return [str(folder / f"member{place}.npy") for place in range(len(panel.members))]


def _logits(panel, folder):
    """Log-probabilities, which are recognised; shifted in each row, so that they are none by themselves."""
    shift = panel.rng.normal(size=(*panel.answers.shape[:2], 1))
    np.save(folder / "block.npy", np.log(panel.answers) - 10 + shift)
    return [str(folder / "block.npy")]


def _scales(panel, folder):
    """Each member on a scale of its own: probabilities, per cent, or logits."""
    scaled = [lambda p: p, lambda p: 100 * p, np.log]
    for place, rows in enumerate(panel.answers):
        columns = dict(zip(panel.classes, scaled[place % 3](rows).T.tolist(), strict=True))
        columns = {name: [None if np.isnan(value) else value for value in values] for name, values in columns.items()}
        write_table(folder / f"member{place}.csv", {"item": panel.items} | columns)
    return [str(folder / f"member{place}.csv") for place in range(len(panel.members))]


def _lists(panel, folder):
    """One row of a long table for each answer, whose probabilities are in one column of lists."""
    item, member = long_rows(panel)
    names = {"item": [panel.items[i] for i in item], "member": [panel.members[m] for m in member]}
    write_table(folder / "lists.parquet", names | {"probs": panel.answers[member, item].tolist()})
    return [str(folder / "lists.parquet")]


def _spaced(panel, folder):
    """With a space after each comma."""
    rows = list(zip(*long_columns(panel, "item", "member", "label").values(), strict=True))
    with (folder / "spaced.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([_cell(value) for value in row] for row in rows)
    quoted = (folder / "spaced.csv").read_text(encoding="utf-8").replace('","', '", "')
    (folder / "spaced.csv").write_text(f"item, member, label\r\n{quoted}", encoding="utf-8", newline="")
    return [str(folder / "spaced.csv")]


def _archive(panel, folder):
    names = {axis: np.array(getattr(panel, axis)) for axis in AXES}
    np.savez(folder / "archive.npz", answers=_values(panel), **names)
    return [str(folder / "archive.npz")]


def _archive_of_members(panel, folder):
    members = {f"member{place}": values for place, values in enumerate(panel.answers)}
    np.savez(folder / "members.npz", **members, items=np.array(panel.items), classes=np.array(panel.classes))
    return [str(folder / "members.npz")]


def _safetensors(panel, folder):
    from safetensors.numpy import save_file

    save_file({"answers": np.ascontiguousarray(_values(panel))}, folder / "block.safetensors")
    return [str(folder / "block.safetensors")]


SUFFIXES = (".csv", ".tsv", ".parquet", ".jsonl", ".db")
LAYOUTS = {
    "array": Layout(("soft", "hard"), _block, ()),
    "array for each member": Layout(("soft",), _each, ()),
    "archive": Layout(("soft", "hard"), _archive),
    "archive of members": Layout(("soft",), _archive_of_members, ("items", "classes")),
    "safetensors": Layout(("soft", "hard"), _safetensors, ()),
    **{f"long {suffix}": Layout(("soft", "hard"), _long(suffix)) for suffix in SUFFIXES},
    **{f"wide {suffix}": Layout(("hard",), _wide(suffix)) for suffix in SUFFIXES},
    **{f"wide {suffix} each": Layout(("soft",), _each_wide(suffix), ("items", "classes")) for suffix in SUFFIXES},
    "long as crowd-kit": Layout(("soft", "hard"), _long(".csv", "task", "worker", "label")),
    "long as pandas": Layout(("soft", "hard"), _as_pandas_writes),
    "long .parquet of numbers": Layout(("soft", "hard"), _long(".parquet", typed=True)),
    "wide .parquet of numbers": Layout(("hard",), _wide(".parquet", typed=True)),
    "logits": Layout(("soft",), _logits, ()),
    "wide on several scales each": Layout(("soft",), _scales, ("items", "classes")),
    "long .parquet of lists": Layout(("soft",), _lists, ("members", "items")),
    "long with spaces": Layout(("hard",), _spaced),
    "mixed .csv": Layout(("mixed",), _mixed_long(".csv")),
    "mixed .parquet": Layout(("mixed",), _mixed_long(".parquet")),
}


def can_be_written(name, panel):
    """Whether this layout can say the panel: a column has one name and one role, and pandas guards no names."""
    is_of_labels = panel.is_hard.all()
    if not name.startswith(("long", "mixed", "wide")):
        return not (name == "archive" and is_of_labels and any(map(is_whole, panel.classes)))  # positions, or names?
    headers = panel.members if is_of_labels and name.startswith("wide") else [] if is_of_labels else panel.classes
    taken = {"item"} if name.endswith("each") else {"item", "member", "label", "task", "worker"}
    names = {*panel.items, *panel.members, *panel.classes}
    if name.startswith("wide"):
        taken |= {*UNNAMED, "index"}  # a column of numbers that is called so is left out, and said to be
    is_guarded = name == "long as pandas" and any(_cell(name) != name for name in names)
    is_twice = ".db" in name and len({header.lower() for header in headers}) < len(headers)  # in SQLite's eyes
    return not taken & set(headers) and not is_guarded and not is_twice
