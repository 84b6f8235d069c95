"""Files are read as arrays or a table, and a file that is neither is refused in one sentence."""

import zipfile

import numpy as np
import pytest

import consilience as cs
from consilience.data.tables.columns import pooled_labels
from consilience.files import delimited
from consilience.files.contents import read_contents

ARRAY = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 5))


def text(path, content):
    path.write_text(content, encoding="utf-8")
    return str(path)


def test_python_objects_are_never_loaded(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (open, (str(tmp_path / "boom"), "w"))

    np.save(tmp_path / "a.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", x=np.array([Bomb()], dtype=object))
    (tmp_path / "boom").unlink(missing_ok=True)  # saving calls it too
    for name in ("a.npy", "a.npz"):
        with pytest.raises(cs.InvalidPredictions, match="Python objects, which are never loaded"):
            read_contents(str(tmp_path / name))
    assert not (tmp_path / "boom").exists()


def test_archives_that_claim_or_hide_too_much(tmp_path):
    header = (
        b"\x93NUMPY\x01\x00v\x00"
        + b"{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999, 3), }".ljust(117)
        + b"\n"
    )
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("x.npy", header)
        archive.writestr("text.txt", "hello")
    with pytest.raises(cs.InvalidPredictions, match="must be a NumPy archive"):
        read_contents(str(tmp_path / "a.npz"))
    np.savez(tmp_path / "b.npz", x=ARRAY)
    (tmp_path / "b.npz").rename(tmp_path / "b.npy")
    with pytest.raises(cs.InvalidPredictions, match="must be a NumPy array"):
        read_contents(str(tmp_path / "b.npy"))


def test_a_table_has_no_entries(tmp_path):
    (tmp_path / "p.csv").write_text("item,member,label\n1,a,x\n", encoding="utf-8")
    with pytest.raises(cs.InvalidPredictions, match=r"a table has no entries to pick one of; got '.*p\.csv:a'"):
        read_contents(f"{tmp_path / 'p.csv'}:a")


def test_tables_that_are_far_too_wide_or_name_a_column_twice(tmp_path, monkeypatch):
    import pyarrow as pa
    import pyarrow.parquet as pq

    monkeypatch.setattr(delimited, "MOST_COLUMNS", 3)
    wide = tmp_path / "wide.csv"
    wide.write_text("item,a,b,c\n1,.2,.3,.5\n", encoding="utf-8")
    with pytest.raises(cs.InvalidPredictions, match=r"wide\.csv must have at most 3 columns; it has 4"):
        read_contents(str(wide))
    columns = [pa.array([0.5])] * 4
    pq.write_table(pa.table(columns, names=list("abcd")), tmp_path / "wide.parquet")
    with pytest.raises(cs.InvalidPredictions, match="it has 4 columns, and at most 3 are read"):
        read_contents(str(tmp_path / "wide.parquet"))
    pq.write_table(pa.table(columns[:2], names=["a", "a"]), tmp_path / "twice.parquet")
    with pytest.raises(cs.InvalidPredictions, match="column with name 'a' has more than one occurrence"):
        read_contents(str(tmp_path / "twice.parquet"))


def test_headers_of_the_second_version(tmp_path):
    with (tmp_path / "p.npy").open("wb") as file:
        np.lib.format.write_array(file, ARRAY, version=(2, 0))
    np.testing.assert_array_equal(read_contents(str(tmp_path / "p.npy")).arrays["p"], ARRAY)


def test_cells_are_text_as_it_stands(tmp_path):
    table = read_contents(text(tmp_path / "a.csv", "count,share,name\n1,.50,007\n2,1e-3,'=b\n,,NA\n")).table
    assert table["share"].rows() == [".50", "1e-3", None]
    assert table["name"].rows() == ["007", "=b", "NA"] and pooled_labels([table["name"]], None)[1] == ["007", "=b"]


def test_a_key_picks_an_array_or_a_group_and_nothing_else_is_read(tmp_path):
    path = tmp_path / "p.npz"
    np.savez(path, **{"rte/item": [0, 1], "rte/label": [1, 0], "clean": ARRAY, "classes": np.array(["x", "y", "z"])})
    assert list(read_contents(f"{path}:rte").arrays) == ["item", "label"]
    assert sorted(read_contents(f"{path}:clean").arrays) == ["classes", "clean"]


def test_a_colon_may_be_part_of_a_name(tmp_path):
    np.save(tmp_path / "odd.npy:x.npy", ARRAY)
    found = read_contents(str(tmp_path / "odd.npy:x.npy"))
    assert list(found.arrays) == ["odd.npy:x"]


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_another_separator_is_named(tmp_path, mark):
    path = text(tmp_path / "a.csv", mark.join(["item", "label"]) + "\n")
    with pytest.raises(cs.InvalidPredictions, match="must have its columns separated by ','; its header"):
        read_contents(path)


def test_a_saved_model_is_no_file_of_predictions(tmp_path):
    cs.Average().fit(ARRAY).save(tmp_path / "model.npz")
    with pytest.raises(cs.InvalidPredictions, match="it is a saved model: name it after --model"):
        read_contents(str(tmp_path / "model.npz"))


def test_names_in_the_metadata_of_tensors(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path = tmp_path / "a.safetensors"
    names = {"items": '["a", "b"]', "classes": "not JSON", "members": "[1]", "format": "pt"}
    safetensors.save_file({"posterior": np.eye(2)}, path, metadata=names)
    arrays = read_contents(str(path)).arrays
    assert arrays.keys() == {"posterior", "items"} and arrays["items"].tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ('u,v\n6" pipe,x\n', [['6" pipe', "x"]]),
        ('u,v\n"a ""b"" c","l\nm"\n', [['a "b" c', "l\nm"]]),
        ("u,v\ra,b\rc,d\r", [["a", "b"], ["c", "d"]]),
        ("u,v\n\na,b\n\r\n\nc,d\n\n", [["a", "b"], ["c", "d"]]),
        ("\nu,v\na,b\n", [["a", "b"]]),
    ],
)
def test_quotes_and_ends_of_lines(tmp_path, content, rows):
    (tmp_path / "a.csv").write_bytes(content.encode())
    table = read_contents(str(tmp_path / "a.csv")).table
    assert [list(row) for row in zip(*(table[name].rows() for name in "uv"), strict=True)] == rows


@pytest.mark.parametrize("content", ['u,v\n"a"b,c\n', 'u,v\n"a,c\n', 'u,v\n"l\nm"",x\n', '"u,v\na,b\n'])
def test_quotes_that_cannot_be_meant(tmp_path, content):
    with pytest.raises(cs.InvalidPredictions, match="must be a table in UTF-8"):
        read_contents(text(tmp_path / "a.csv", content))


def test_packed_text(tmp_path):
    import gzip

    with gzip.open(tmp_path / "vit.csv.gz", "wt", encoding="utf-8") as file:
        file.write("id,cat,dog\na,.5,.5\nb,.25,.75\n")
    panel = cs.read_predictions([tmp_path / "vit.csv.gz"])
    assert panel.members == ["vit"] and panel.items == ["a", "b"]
    (tmp_path / "cut.csv.gz").write_bytes((tmp_path / "vit.csv.gz").read_bytes()[:-9])
    with pytest.raises(cs.InvalidPredictions, match="must be packed by gzip"):
        cs.read_predictions(tmp_path / "cut.csv.gz")
