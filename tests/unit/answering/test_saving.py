"""One file without pickle: what is written comes back, and what is not ours is refused in a sentence."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.answering.saving import FORMAT, FORMAT_VERSION, read, write
from consilience.maths.em import Statistics

HEADER = {"format": FORMAT, "version": FORMAT_VERSION, "aggregator": "Own", "parameters": {}, "learned": {}}


def write_header(path, header, **arrays):
    with path.open("wb") as file:
        np.savez(file, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)


def test_everything_comes_back(tmp_path):
    statistics = Statistics(2.0, np.ones(2), np.ones((1, 2)), np.ones((1, 2, 2)), -1.5)
    parameters = {"averaging": {0: 0.1, 3: 0.01}, "tol": None, "weights": np.array([1.0, 2.0]), "steps": np.int64(5)}
    learned = {"table_": np.eye(2), "statistics_": statistics, "members_": ["été", 2, 1.5, None], "history_": [-1.0]}
    write(tmp_path / "f", "Own", parameters, learned)
    name, options, found = read(tmp_path / "f")
    assert name == "Own"
    assert options == {"averaging": {0: 0.1, 3: 0.01}, "tol": None, "weights": [1.0, 2.0], "steps": 5}
    np.testing.assert_array_equal(found["table_"], np.eye(2))
    np.testing.assert_array_equal(found["statistics_.sums"], statistics.sums)
    assert found["statistics_.log_evidence"] == -1.5
    assert (found["members_"], found["history_"]) == (["été", 2, 1.5, None], [-1.0])


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text())


@given(st.dictionaries(st.integers() | st.text(), SCALARS))
def test_mappings_keep_their_keys(tmp_path_factory, mapping):
    path = tmp_path_factory.mktemp("saved") / "f"
    write(path, "Own", {"option": mapping}, {})
    assert read(path)[1]["option"] == mapping


def test_no_pickle_inside(tmp_path):
    write(tmp_path / "f", "Own", {}, {"table_": np.eye(2), "members_": ["a"]})
    with np.load(tmp_path / "f", allow_pickle=False) as archive:
        assert all(archive[key].dtype != object for key in archive.files)
        header = json.loads(archive["header"].tobytes())
    assert (header["format"], header["version"]) == ("consilience aggregator", 1)


@pytest.mark.parametrize("name", [object(), ("a", 1)])
def test_a_failed_save_leaves_the_old_file(tmp_path, name):
    path = tmp_path / "f"
    write(path, "Own", {}, {"items_": ["a"]})
    before = path.read_bytes()
    with pytest.raises(cs.InvalidPredictions, match="names must be text or numbers to be saved; got"):
        write(path, "Own", {}, {"items_": [name]})
    with pytest.raises(cs.InvalidPredictions, match="names and parameters must be text or numbers to be saved; got"):
        write(path, "Own", {"option": object()}, {})
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 99}, "has format version 99; expected 1"),
        ({"format": "other"}, "is not a file that consilience saved: its format is 'other'"),
        ({"parameters": []}, "is not a file that consilience saved: its header lacks a name, parameters or what was"),
        ({"aggregator": 3}, "its header lacks a name, parameters or what was learned"),
        ({"learned": {"table_": 1}}, "is not a file that consilience saved: it has 'table_' twice"),
    ],
)
def test_other_headers(tmp_path, changes, message):
    write_header(tmp_path / "f", HEADER | changes, table_=np.eye(2))
    with pytest.raises(cs.InvalidPredictions, match=message):
        read(tmp_path / "f")


@pytest.mark.parametrize("missing", HEADER)
def test_a_header_that_lacks_an_entry(tmp_path, missing):
    write_header(tmp_path / "f", {name: value for name, value in HEADER.items() if name != missing})
    with pytest.raises(cs.InvalidPredictions, match="f is not a file that consilience saved$"):
        read(tmp_path / "f")


def test_files_that_are_not_ours(tmp_path):
    np.save(tmp_path / "pickled.npy", np.array([{}], dtype=object))
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "arrays.npz", x=np.zeros(3))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("hello")
    write(tmp_path / "whole", "Own", {}, {"table_": np.eye(20)})
    (tmp_path / "cut").write_bytes((tmp_path / "whole").read_bytes()[:500])
    for name in ("pickled.npy", "array.npy", "arrays.npz", "empty", "text", "cut"):
        with pytest.raises(cs.InvalidPredictions, match="is not a file that consilience saved"):
            read(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing")


def test_a_folder_that_is_not_there_is_no_matter_of_predictions(tmp_path):
    with pytest.raises(FileNotFoundError, match="the output's directory must exist"):
        write(tmp_path / "nowhere" / "f", "Own", {}, {})


def test_what_a_header_cannot_say_is_refused_in_plain_words(tmp_path):
    """Python spoke of its own calls and limits."""
    path = tmp_path / "model.npz"
    cs.Average().fit(np.full((2, 3, 2), 0.5)).save(path)
    with np.load(path) as archive:
        contents = dict(archive)
    header = json.loads(contents.pop("header").tobytes())
    write_header(path, header | {"parameters": {"surprise": 5}}, **contents)
    with pytest.raises(
        cs.InvalidPredictions, match="this version of consilience saves: Average has no parameter 'surprise'"
    ):
        cs.load(path)
    text = json.dumps(header).replace('"version": 1', f'"version": {"9" * 5000}')
    np.savez(path, header=np.frombuffer(text.encode(), dtype=np.uint8), **contents)
    with pytest.raises(cs.InvalidPredictions, match="a whole number must have at most 300 digits; got 5,000"):
        cs.load(path)
