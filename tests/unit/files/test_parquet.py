import itertools

import numpy as np
import polars as pl
import pytest

from consilience import InvalidPredictions
from consilience.files.stored import BYTE, DOUBLE, FALSE, LIST, RECORD, TEXT, TRUE, UUID, read_parquet

N_ROWS = 3000
COLUMNS = {
    "item": [f"i{row}" if row % 7 else None for row in range(N_ROWS)],
    "member": [f"m{row % 5}" for row in range(N_ROWS)],
    "share": np.random.default_rng(0).random(N_ROWS),
    "shares": [[0.25, 0.75]] * (N_ROWS - 1) + [None],
    "is_right": [True, None] * (N_ROWS // 2),
}
ARROW = list(itertools.product(["none", "snappy", "zstd"], ["1.0", "2.0"], [True, False], [500, 10**6], [True, False]))
POLARS = list(itertools.product(["lz4", "uncompressed", "brotli"], [None, 500], [True, False]))


@pytest.mark.parametrize(("compression", "pages", "has_dictionary", "size", "has_index"), ARROW)
def test_what_arrow_writes(compression, pages, has_dictionary, size, has_index, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    options = {"compression": compression, "data_page_version": pages, "use_dictionary": has_dictionary}
    options |= {"row_group_size": size, "data_page_size": size, "write_page_index": has_index}
    pq.write_table(pa.table(COLUMNS), tmp_path / "a.parquet", write_page_checksum=has_index, **options)
    found = read_parquet(tmp_path / "a.parquet")
    assert list(found) == list(COLUMNS)
    assert np.array_equal(found["share"].numbers, COLUMNS["share"])


@pytest.mark.parametrize(("compression", "size", "has_statistics"), POLARS)
def test_what_polars_writes(compression, size, has_statistics, tmp_path):
    frame = pl.DataFrame(COLUMNS, strict=False)
    frame.write_parquet(tmp_path / "a.parquet", compression=compression, row_group_size=size, statistics=has_statistics)
    assert np.array_equal(read_parquet(tmp_path / "a.parquet")["share"].numbers, COLUMNS["share"])


def test_a_dictionary_may_be_longer_than_its_column(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    empty = pa.table({"member": pa.array(["a", "b"]).dictionary_encode(), "share": [0.5, 0.5]}).slice(0, 0)
    pq.write_table(empty, tmp_path / "a.parquet")
    assert list(read_parquet(tmp_path / "a.parquet")) == ["member", "share"]


def test_wherever_a_file_ends_it_is_refused(tmp_path):
    pl.DataFrame({"item": ["a", "b"], "label": ["x", "y"]}).write_parquet(tmp_path / "whole.parquet")
    whole = (tmp_path / "whole.parquet").read_bytes()
    for end in range(0, len(whole), 17):
        (tmp_path / "a.parquet").write_bytes(whole[:end] + whole[-8:])
        with pytest.raises(InvalidPredictions, match="a.parquet must be a Parquet table of text and numbers; "):
            read_parquet(tmp_path / "a.parquet")


@pytest.mark.parametrize("byte", [b"\x01", b"\x7f"])
def test_a_page_of_less_than_no_cells(byte, tmp_path):
    """The number of cells is twice what is written, with the sign in its last bit: 8 stands for four, 1 for -1."""
    pl.DataFrame({"item": ["a", "b", "c", "d"]}).write_parquet(tmp_path / "a.parquet", compression="uncompressed")
    whole = (tmp_path / "a.parquet").read_bytes()
    page = bytes.fromhex("2c1508")  # field 5, a record; in it field 1, a whole number; four
    assert whole.count(page) == 1
    (tmp_path / "a.parquet").write_bytes(whole.replace(page, page[:2] + byte))
    with pytest.raises(InvalidPredictions, match="a.parquet .* it claims -[0-9]+ cells, and at most"):
        read_parquet(tmp_path / "a.parquet")


def with_header(path, header):
    """A table of one column whose page begins with another header."""
    pl.DataFrame({"share": COLUMNS["share"]}).write_parquet(path, compression="uncompressed")
    whole = path.read_bytes()
    assert len(header) < 8 * N_ROWS
    path.write_bytes(whole[:4] + header + whole[4 + len(header) :])


@pytest.mark.parametrize("kind", [TRUE, FALSE, BYTE, DOUBLE, UUID, TEXT, LIST, RECORD])
def test_a_list_of_more_values_than_bytes(kind, tmp_path):
    most = b"\xff" * 8 + b"\x0f"  # 2**60 - 1, in groups of seven bits
    with_header(tmp_path / "a.parquet", bytes([0xF0 | LIST, 0xF0 | kind]) + most)
    with pytest.raises(InvalidPredictions, match="a.parquet must be a Parquet table .*; its header is damaged"):
        read_parquet(tmp_path / "a.parquet")


@pytest.mark.parametrize("header", [bytes([0x10 | RECORD]) * 10**4, b"\x15" + b"\x80" * 10**4])
def test_a_header_without_end(header, tmp_path):
    """Records inside records, and a whole number that goes on and on."""
    with_header(tmp_path / "a.parquet", header)
    with pytest.raises(InvalidPredictions, match="a.parquet must be a Parquet table .*; its header is damaged"):
        read_parquet(tmp_path / "a.parquet")
