"""Ways to damage a file: as bytes, and inside archives, headers, JSON and tables, where checksums would hide it."""

from __future__ import annotations

import io
import json
import re
import warnings
import zipfile
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from trust.seeds import npy

if TYPE_CHECKING:
    from random import Random

ODD_BYTES = (
    b"\x00",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\n",
    b"\r",
    b'"',
    b"'",
    b",",
    b"\xef\xbb\xbf",
    b"\xed\xa0\x80",
    b"\x1b[",
)
ODD_NUMBERS = (0, 1, -1, 2, 3, 127, 255, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 10**30)
ODD_TEXTS = (
    "",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "-0",
    "0.5",
    "1e-320",
    "\x00",
    "\ud7ff",
    "=1+1",
    "item",
    "label",
    "True",
    "x" * 300,
)
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    [],
    {},
    "",
    "x",
    "fit",
    [[]],
    {"pairs": [[1, 2]]},
    {"pairs": 3},
    1e308,
    -1,
    0.5,
    10**30,
    [None, None],
)
ODD_ARRAYS = (
    lambda: np.zeros((0,)),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros((3, 0)),
    lambda: np.array(0.5),
    lambda: np.full((2, 3, 3), np.nan),
    lambda: np.full((3, 6, 3), np.inf),
    lambda: np.full((6, 3), 1e308),
    lambda: np.full((6, 3), 5e-324),
    lambda: np.ones((3, 3, 3, 3)),
    lambda: np.array(["a", "b", "c"]),
    lambda: np.array([b"\xff", b"b", b"c"]),
    lambda: np.array([1 + 2j, 3]),
    lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    lambda: np.zeros(3, dtype=[("a", "f8"), ("b", "U3")]),
    lambda: np.array([True, False, True]),
    lambda: np.array([2**63, 1], dtype=np.uint64),
    lambda: np.array([-(2**63), 1]),
    lambda: np.eye(3, dtype=np.longdouble)[None],
    lambda: np.zeros((2, 2), dtype="V5"),
    lambda: np.zeros((2, 2), dtype="U0"),
)


def mutate(name: str, data: bytes, pool: list[bytes], rng: Random) -> bytes:
    """One to four damages of a file, of which the first may be one that its format alone knows."""
    suffix = name.rpartition(".")[2]
    if suffix in STRUCTURED and rng.random() < 0.7:
        data = STRUCTURED[suffix](data, rng)
        if rng.random() < 0.8:
            return data
    for _ in range(rng.choice((1, 1, 2, 4))):
        data = rng.choice(PLAIN)(data, pool, rng)
    return data


# ---- bytes ------------------------------------------------------------------------------------------------


def _flip(data: bytes, _: list[bytes], rng: Random) -> bytes:
    place = rng.randrange(max(1, len(data)))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :] if data else b"\x00"


def _put(data: bytes, _: list[bytes], rng: Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(ODD_BYTES) + data[place + rng.choice((0, 1)) :]


def _put_number(data: bytes, _: list[bytes], rng: Random) -> bytes:
    place, width = rng.randrange(len(data) + 1), rng.choice((1, 2, 4, 8))
    number = rng.choice(ODD_NUMBERS) % 256**width
    return data[:place] + number.to_bytes(width, rng.choice(("little", "big"))) + data[place + width :]


def _cut(data: bytes, _: list[bytes], rng: Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _drop(data: bytes, _: list[bytes], rng: Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place + rng.randrange(1, 40) :]


def _double(data: bytes, _: list[bytes], rng: Random) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + data[place : place + rng.randrange(1, 60)] + data[place:]


def _splice(data: bytes, pool: list[bytes], rng: Random) -> bytes:
    other = rng.choice(pool)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _number_in_text(data: bytes, _: list[bytes], rng: Random) -> bytes:
    """Some number that is written out, in a header or a table, becomes another."""
    found = list(re.finditer(rb"\d+", data))
    if not found:
        return data
    place = rng.choice(found)
    return data[: place.start()] + str(rng.choice(ODD_NUMBERS)).encode() + data[place.end() :]


PLAIN = (_flip, _put, _put_number, _cut, _drop, _double, _splice, _number_in_text)


# ---- structure --------------------------------------------------------------------------------------------


def _mutate_npy(data: bytes, rng: Random) -> bytes:
    """Another array altogether, or a header of the same length that says something else."""
    if rng.random() < 0.3:
        return npy(rng.choice(ODD_ARRAYS)())
    start, end = data.find(b"{"), data.find(b"}") + 1
    old = data[start:end]
    choices = (
        (rb"\([^)]*\)", str(tuple(rng.choice(ODD_NUMBERS) for _ in range(rng.randrange(4)))).encode()),
        (
            rb"'[<>|=][^']*'",
            rng.choice(
                [b"'<f4'", b"'>f8'", b"'|O'", b"'<U3'", b"'|S5'", b"'<c16'", b"'<M8[s]'", b"'|V9'", b"'<i8'", b"'<f16'"]
            ),
        ),
        (rb"True|False", rng.choice([b"True", b"False", b"1", b"None"])),
    )
    pattern, new = rng.choice(choices)
    header = re.sub(pattern, lambda _: new, old, count=1)
    return data[:start] + header.ljust(len(old))[: len(old)] + data[end:]


def _mutate_npz(data: bytes, rng: Random) -> bytes:
    """An archive of which one entry is damaged, renamed, doubled or left out, with the right checksums."""
    entries = _entries(data)
    if not entries:
        return data
    place = rng.randrange(len(entries))
    name, content = entries[place]
    action = rng.randrange(6)
    if action == 0:
        entries[place] = (name, _mutate_npy(content, rng))
    elif action == 1:
        entries[place] = (name, rng.choice(PLAIN)(content, [content], rng))
    elif action == 2:
        entries[place] = (
            rng.choice(
                ["posterior.npy", "labels.npy", "items.npy", "classes.npy", "p.txt", "../p.npy", "\u202e.npy", ".npy"]
            ),
            content,
        )
    elif action == 3:
        entries.append((name, content))
    elif action == 4:
        del entries[place]
    else:
        entries.append(
            (
                rng.choice(["classes.npy", "items.npy", "members.npy", "label.npy", "x.npy"]),
                npy(rng.choice(ODD_ARRAYS)()),
            )
        )
    return _archive(entries, rng)


def _mutate_model(data: bytes, rng: Random) -> bytes:
    """A saved model with another value in its header, or another array."""
    if rng.random() < 0.4:
        return _mutate_npz(data, rng)
    entries = dict(_entries(data))
    header = json.loads(np.load(io.BytesIO(entries["header.npy"])).tobytes())
    place = rng.choice([header, header["parameters"], header["learned"], header["learned"]])
    key = rng.choice([*place, "fit", "_belief", "posterior_"])
    value = deepcopy(rng.choice((*ODD_VALUES, list(header["learned"]), header["learned"].get("members_"))))
    if isinstance(place.get(key), list) and place[key] and rng.random() < 0.5:
        place[key][rng.randrange(len(place[key]))] = value
    elif rng.random() < 0.2:
        place.pop(key, None)
    else:
        place[key] = value
    entries["header.npy"] = npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    return _archive(list(entries.items()), rng)


def _mutate_table(data: bytes, rng: Random) -> bytes:
    """A table with another cell, row or column."""
    mark = "\t" if b"\t" in data else ","
    rows = [line.split(mark) for line in data.decode("utf-8", errors="replace").split("\n") if line]
    row = rng.randrange(len(rows)) if rows else 0
    action = rng.randrange(5)
    if rows and action < 2:
        rows[row][rng.randrange(len(rows[row]))] = rng.choice((*ODD_TEXTS, *map(str, ODD_NUMBERS)))
    elif rows and action == 2:
        rows.insert(row, rows[row][:])
    elif rows and action == 3:
        column = rng.randrange(len(rows[row]))
        rows = [cells[:column] + cells[column + 1 :] for cells in rows]
    elif rows:
        rows = [[*cells, rng.choice(ODD_TEXTS)] for cells in rows]
    return "\n".join(mark.join(cells) for cells in rows).encode("utf-8", errors="surrogatepass")


def _mutate_parquet(_: bytes, rng: Random) -> bytes:
    """A table of columns of any types and names."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = rng.randrange(5)
    names = rng.sample(ODD_NAMES, rng.randrange(1, 6))
    columns = [pa.array([rng.choice(values) for _ in range(n_rows)], type=kind) for kind, values in _parquet_types(pa)]
    table = pa.Table.from_arrays([rng.choice(columns) for _ in names], names=names)
    file = io.BytesIO()
    pq.write_table(table, file, use_dictionary=rng.random() < 0.5, compression=rng.choice(["none", "snappy", "gzip"]))
    return file.getvalue()


def _parquet_types(pa: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    return [
        (pa.int64(), (0, 1, None, 2**63 - 1, -(2**63))),
        (pa.int8(), (0, 1, -1)),
        (pa.uint64(), (0, 2**64 - 1)),
        (pa.float64(), (0.5, 0.25, None, float("nan"), float("inf"), 1e308, 5e-324)),
        (pa.float32(), (0.5, 0.5)),
        (pa.float16(), (0.5, 1.0)),
        (pa.bool_(), (True, False, None)),
        (pa.string(), ("a", "b", "", None, "x" * 300, "\x1b[2J", "0.5")),
        (pa.large_string(), ("a", "b")),
        (pa.binary(), (b"a", b"\xff", None)),
        (pa.binary(2), (b"ab", b"\xff\xff")),
        (pa.date32(), (0, 20_000)),
        (pa.timestamp("ns"), (0, 2**62)),
        (pa.duration("s"), (0, 5)),
        (pa.decimal128(10, 2), (None, 1)),
        (pa.null(), (None,)),
        (pa.list_(pa.int64()), ([1], [], None)),
        (pa.struct([("a", pa.int64())]), ({"a": 1}, None)),
        (pa.dictionary(pa.int8(), pa.string()), ("a", "b", None)),
    ]


def _mutate_safetensors(_: bytes, rng: Random) -> bytes:
    """Tensors of any types, shapes and names."""

    kinds = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1}
    tensors = {}
    for name in rng.sample(ODD_NAMES, rng.randrange(4)):
        kind = rng.choice(list(kinds))
        shape = [rng.randrange(4) for _ in range(rng.randrange(4))]
        size = kinds[kind] * int(np.prod(shape))
        data = rng.choice((bytes(size), rng.randbytes(size)))
        tensors[name] = {"dtype": kind, "shape": shape, "data": data}
    header, offset = {}, 0
    for name, tensor in tensors.items():
        end = offset + len(tensor["data"])
        header[name] = {"dtype": tensor["dtype"], "shape": tensor["shape"], "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(tensor["data"] for tensor in tensors.values())


ODD_NAMES = (
    "item",
    "member",
    "label",
    "cat",
    "dog",
    "",
    "class",
    "Item",
    "posterior",
    "items",
    "labels",
    "1",
    "2",
    "\x00",
    "=1",
    "__index_level_0__",
    "a.b",
    "logits",
    "\u202e",
)


def _entries(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _archive(entries: list[tuple[str, bytes]], rng: Random) -> bytes:
    file = io.BytesIO()
    with (
        warnings.catch_warnings(),
        zipfile.ZipFile(file, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive,
    ):
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in entries:
            archive.writestr(name, content)
    return file.getvalue()


STRUCTURED = {
    "npy": _mutate_npy,
    "npz": _mutate_npz,
    "model": _mutate_model,
    "csv": _mutate_table,
    "tsv": _mutate_table,
    "parquet": _mutate_parquet,
    "safetensors": _mutate_safetensors,
}
