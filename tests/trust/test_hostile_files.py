"""Files that mean harm: they are data, they take no more memory than they are worth, and they stay where they are."""

import io
import json
import time
import tracemalloc
import zipfile
from contextlib import contextmanager

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.registry import commands
from consilience.files import read_labels, read_posterior, read_sources
from consilience.system import untrusted

BLOCK = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 8))
READERS = {
    "aggregate": lambda path: read_sources([str(path)]),
    "labels": lambda path: read_labels(str(path)).labels,
    "evaluate": lambda path: read_posterior(str(path)),
    "load": cs.load,
}
LITTLE = 16 * 2**20
"""Bytes that a refusal may take: what modules loaded on the way need, and nothing of what a file claims."""


@contextmanager
def little_memory(most=LITTLE):
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def header_only(shape, descr="<f8"):
    """An array that claims a shape and holds nothing."""
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + len(text.ljust(117) + b"\n").to_bytes(2, "little") + text.ljust(117) + b"\n"


def archive(path, entries, *, claim=None, compression=zipfile.ZIP_DEFLATED):
    """An archive of entries; `claim` is the size that its directory says the first one unpacks to."""
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, data in entries:
            file.writestr(name, data)
        if claim is not None:
            file.filelist[0].file_size = claim
    return path


# ---- sizes ------------------------------------------------------------------------------------------------

SHAPES = [(10**13, 3), (2**40, 2**40, 2**40), (10**9,), (1, 10**12, 2)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_absurd_shapes(tmp_path, shape, read):
    (tmp_path / "a.npy").write_bytes(header_only(shape) + bytes(64))
    archive(tmp_path / "a.npz", [("p.npy", header_only(shape) + bytes(64)), ("header.npy", npy(np.zeros(3)))])
    for name in ("a.npy", "a.npz"):
        with little_memory(), pytest.raises(cs.InvalidPredictions, match=name):
            read(tmp_path / name)


@pytest.mark.parametrize("claim", [2**31, 2**40, 2**62])
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_directory_that_claims_too_much(tmp_path, claim, read):
    archive(tmp_path / "a.npz", [("p.npy", npy(BLOCK))], claim=claim)
    with little_memory(), pytest.raises(cs.InvalidPredictions, match="would unpack to"):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_an_archive_bomb(tmp_path, monkeypatch, read):
    """Thirty megabytes in thirty kilobytes, under a limit of one megabyte; the true one takes long to make."""
    monkeypatch.setattr(untrusted, "MOST_UNPACKED", 2**20)
    archive(tmp_path / "a.npz", [("p.npy", npy(np.zeros((1, 2**21, 2))))])
    assert (tmp_path / "a.npz").stat().st_size < 2**20 / untrusted.MOST_EXPANSION * 4
    with little_memory(), pytest.raises(cs.InvalidPredictions, match="would unpack to 33,554,560 bytes, and at most"):
        read(tmp_path / "a.npz")


def test_many_small_entries_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(untrusted, "MOST_UNPACKED", 2**20)
    archive(tmp_path / "a.npz", [(f"{n}.npy", npy(np.zeros(2**16))) for n in range(64)])
    with pytest.raises(cs.InvalidPredictions, match="would unpack to"):
        read_sources([str(tmp_path / "a.npz")])
    assert read_labels(f"{tmp_path / 'a.npz'}:3").labels.shape == (2**16,)  # nothing else is unpacked


def test_an_archive_that_holds_more_than_it_claims(tmp_path):
    """What is unpacked ends where the directory says it does."""
    archive(tmp_path / "a.npz", [("p.npy", npy(np.zeros((1, 2**21, 2))))], claim=500)
    with little_memory(), pytest.raises(cs.InvalidPredictions, match="Bad CRC-32"):
        read_sources([str(tmp_path / "a.npz")])


def test_parquet_that_claims_many_rows(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    zeros = pa.array(np.zeros(2**24, dtype=np.int8))
    pq.write_table(pa.table({"item": zeros, "label": zeros}), tmp_path / "a.parquet")
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    before, started = pa.total_allocated_bytes(), time.perf_counter()
    with little_memory(), pytest.raises(cs.InvalidPredictions, match="claims 33,554,432 cells, and at most"):
        read_sources([str(tmp_path / "a.parquet")])
    assert pa.total_allocated_bytes() - before < LITTLE and time.perf_counter() - started < 5


def test_parquet_that_repeats_a_long_text(tmp_path):
    """A text of a megabyte in ten thousand rows is held once."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rows = np.zeros(10_000, dtype=np.int32)
    texts = pa.DictionaryArray.from_arrays(pa.array(rows), pa.array(["x" * 2**20]))
    columns = {"item": np.arange(10_000), "member": texts, "label": rows % 2 + np.arange(10_000) % 2}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet", compression="gzip")
    assert (tmp_path / "a.parquet").stat().st_size < 200_000
    with little_memory(64 * 2**20):
        assert read_sources([str(tmp_path / "a.parquet")]).predictions.n_members == 1


@pytest.mark.parametrize("kind", ["encrypted", "bzip2", "twice"])
def test_archives_that_numpy_does_not_write(tmp_path, kind):
    path = tmp_path / "a.npz"
    if kind == "twice":
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive(path, [("p.npy", npy(BLOCK)), ("p.npy", npy(BLOCK))])
    else:
        archive(path, [("p.npy", npy(BLOCK))], compression=zipfile.ZIP_BZIP2 if kind == "bzip2" else zipfile.ZIP_STORED)
    if kind == "encrypted":
        data = bytearray(path.read_bytes())
        data[6] |= 1
        data[data.index(b"PK\x01\x02") + 8] |= 1
        path.write_bytes(data)
    for read in READERS.values():
        with pytest.raises(cs.InvalidPredictions, match="a.npz"):
            read(path)


# ---- code -------------------------------------------------------------------------------------------------


class Bomb:
    """Calls a function when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("name", ["a.npy", "a.npz", "a.csv", "a.safetensors", "a.parquet"])
def test_pickles_are_never_opened(tmp_path, read, name):
    import pickle

    array = np.empty(2, dtype=object)
    array[:] = [Bomb(tmp_path / "boom")] * 2
    raw = pickle.dumps(array)
    if name == "a.npz":
        entries = [("header.npy", npy(array)), ("p.npy", npy(array)), ("class_prior_.npy", npy(array)), ("q.pkl", raw)]
        archive(tmp_path / name, entries)
    else:
        (tmp_path / name).write_bytes(npy(array) if name == "a.npy" else raw)
    (tmp_path / "boom").unlink(missing_ok=True)
    with pytest.raises((cs.InvalidPredictions, ValueError)):
        read(tmp_path / name)
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize("entry", ["../evil", "/evil", "..\\evil", "C:\\evil", "\x1b[2J"])
def test_nothing_is_unpacked_to_disk(tmp_path, entry):
    inside = tmp_path / "inside"
    inside.mkdir()
    archive(inside / "a.npz", [(f"{entry}.npy", npy(BLOCK))])
    assert read_sources([str(inside / "a.npz")]).predictions.n_members == 3
    assert sorted(tmp_path.rglob("*")) == [inside, inside / "a.npz"]


# ---- saved models -----------------------------------------------------------------------------------------


def saved(path, **changes):
    """A saved model some of whose header, learned values or arrays are replaced, or left out where None."""
    cs.DawidSkene(max_iter=3, tol=None).fit(BLOCK).save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop("header").tobytes())
    for name, value in changes.items():
        place = arrays if isinstance(value, np.ndarray) else header if name in header else header["learned"]
        if value is None:
            arrays.pop(name, header["learned"].pop(name, None))
        else:
            place[name] = value
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with path.open("wb") as file:
        np.savez(file, **arrays)
    return path


MODELS = {
    "another method's name": ({"aggregator": "os.system"}, "expected one of"),
    "a method that is no text": ({"aggregator": ["Average"]}, "lacks a name"),
    "a parameter it does not have": ({"parameters": {"shell": "rm"}}, "has no parameter 'shell'"),
    "a parameter out of range": ({"parameters": {"max_iter": -1}}, "max_iter must be an integer of at least 1"),
    "parameters that are a list": ({"parameters": [1]}, "lacks a name, parameters"),
    "learned values that are a list": ({"learned": [1]}, "lacks a name, parameters"),
    "a method in place of a value": ({"predict_proba": 1}, "does not learn 'predict_proba'"),
    "a class": ({"__class__": "x"}, "does not learn '__class__'"),
    "a private value": ({"_belief": 1}, "does not learn '_belief'"),
    "a value of another method": ({"member_weights_": np.ones(3)}, "does not learn 'member_weights_'"),
    "a field it does not have": ({"statistics_.evil": 1}, "does not learn 'statistics_.evil'"),
    "an array too few": ({"confusion_": None}, "lacks 'confusion_'"),
    "a field too few": ({"statistics_.sums": None}, "sums"),
    "no members": ({"members_": []}, "'members_' is no list of names"),
    "members twice": ({"members_": ["a", "a", "b"]}, "'members_' are no distinct names"),
    "members that are lists": ({"members_": [["a"], ["b"], ["c"]]}, "'members_' are no distinct names"),
    "classes that are a mapping": ({"classes_": {"a": 1}}, "'classes_' is no list of names"),
    "a member too many": ({"members_": ["a", "b", "c", "d"]}, "which its members and classes do not have"),
    "a confusion of others": ({"confusion_": np.ones((3, 2, 2))}, "'confusion_' has the shape (3, 2, 2)"),
    "a confusion that is flat": ({"confusion_": np.ones(27)}, "'confusion_' has the shape (27,)"),
    "a confusion of text": ({"confusion_": np.full((3, 3, 3), "x")}, "'confusion_' must be an array of float64"),
    "a confusion of NaN": ({"confusion_": np.full((3, 3, 3), np.nan)}, "'confusion_' is no array of finite numbers"),
    "a negative confusion": ({"confusion_": np.full((3, 3, 3), -1.0)}, "'confusion_' has negative numbers"),
    "a confusion in the header": ({"confusion_": [1, 2]}, "'confusion_'"),
    "a posterior of others": ({"posterior_": np.ones((5, 3))}, "'posterior_' has the shape (5, 3)"),
    "a history of text": ({"history_": ["x"]}, "'history_' is no list of numbers"),
    "a count that is text": ({"statistics_.n_items": "x"}, "'statistics_.n_items' is no number that it can be, 'x'"),
    "a count below 0": ({"statistics_.n_items": -1}, "'statistics_.n_items' is no number that it can be, -1"),
    "a later version": ({"version": 2}, "has format version 2; expected 1"),
    "a version that is text": ({"version": "x"}, "is not a file that consilience saved"),
    "another format": ({"format": "x"}, "its format is 'x'"),
}


@pytest.mark.parametrize(("changes", "message"), MODELS.values(), ids=MODELS)
def test_saved_models_that_are_none(tmp_path, changes, message):
    with pytest.raises(cs.InvalidPredictions) as caught:
        cs.load(saved(tmp_path / "model.npz", **changes))
    assert message in str(caught.value) and "model.npz" in str(caught.value) and "\n" not in str(caught.value)


def test_what_saved_models_are_made_of(tmp_path):
    """The same file without a change is loaded: the cases above are refused for what they change."""
    assert cs.load(saved(tmp_path / "model.npz")).predict_proba(BLOCK).shape == (8, 3)


NEVER = np.concatenate([BLOCK[:, :, :2] / BLOCK[:, :, :2].sum(axis=2, keepdims=True), np.zeros((3, 8, 1))], axis=2)
SILENT = BLOCK.copy()
SILENT[1] = np.nan
AWKWARD = {
    "a class that nobody names": lambda: cs.Predictions(NEVER),
    "a silent member": lambda: cs.Predictions(SILENT),
    "one item": lambda: cs.Predictions(BLOCK[:, :1]),
    "one member": lambda: cs.Predictions(BLOCK[:1]),
    "certainty": lambda: cs.Predictions(np.eye(3)[BLOCK.argmax(axis=2)]),
    "labels": lambda: cs.Predictions.from_labels([[0, 1, 2, -1], [0, 1, -1, 1]], 4),
    "single precision": lambda: cs.Predictions(BLOCK.astype(np.float32)),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("make", AWKWARD.values(), ids=AWKWARD)
@pytest.mark.parametrize("method", commands().values(), ids=commands())
@pytest.mark.parametrize("labels", [None, {0: 1}], ids=["no label", "a label"])
def test_what_was_saved_is_loaded(tmp_path, method, make, labels):
    """The checks refuse nothing of what fits really learn."""
    predictions = make()
    fitted = method().fit(predictions, labels)
    fitted.save(tmp_path / "m.npz")
    fitted.save(tmp_path / "small.npz", posterior=False)
    for name in ("m.npz", "small.npz"):
        answer = cs.load(tmp_path / name).predict_proba(predictions)
        np.testing.assert_array_equal(answer, fitted.predict_proba(predictions))


@pytest.mark.parametrize("text", [b"[" * 100_000, b'{"a":' * 100_000, b"\xff\xfe", b"", b"NaN", b"[]", b'"x"'])
def test_headers_that_are_no_json_or_too_much_of_it(tmp_path, text):
    archive(tmp_path / "m.npz", [("header.npy", npy(np.frombuffer(text, np.uint8)))])
    with pytest.raises(cs.InvalidPredictions, match="is not a file that consilience saved"):
        cs.load(tmp_path / "m.npz")
