import json

import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members

ARRAY = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=40, n_classes=3)[0]


@pytest.fixture
def saved(tmp_path):
    fitted = cs.SoftDawidSkene(averaging={0: 0.1, 3: 0.01}, max_iter=5).fit(
        cs.Predictions(ARRAY, members=["a", 2, 1.5], items=[f"i{n}" for n in range(40)])
    )
    fitted.save(tmp_path / "model.consilience")
    return fitted, tmp_path / "model.consilience"


def test_everything_comes_back(saved):
    fitted, path = saved
    loaded = cs.load(path)
    assert type(loaded) is cs.SoftDawidSkene
    assert loaded.get_params() == fitted.get_params()
    for name in ("posterior_", "concentration_", "confusion_", "class_prior_", "history_", "weight_", "items_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    assert loaded.members_ == ["a", 2, 1.5]
    np.testing.assert_array_equal(loaded.fit(ARRAY).posterior_, fitted.fit(ARRAY).posterior_)


def test_the_posterior_can_be_left_out(saved, tmp_path):
    fitted, path = saved
    fitted.save(tmp_path / "small", posterior=False)
    loaded = cs.load(tmp_path / "small")
    assert not hasattr(loaded, "posterior_") and not hasattr(loaded, "items_")
    assert (tmp_path / "small").stat().st_size < path.stat().st_size
    np.testing.assert_array_equal(loaded.predict_proba(ARRAY), fitted.predict_proba(ARRAY))


def test_no_pickle_inside(saved):
    with np.load(saved[1], allow_pickle=False) as archive:
        assert all(archive[key].dtype != object for key in archive.files)
        header = json.loads(archive["header"].tobytes())
    assert (header["format"], header["version"]) == ("consilience aggregator", 1)


def test_a_failed_save_leaves_the_old_file(saved):
    fitted, path = saved
    before = path.read_bytes()
    for name in (object(), ("a", 1)):
        fitted.items_ = [name]
        with pytest.raises(cs.InvalidPredictions, match="must be text or numbers to be saved; got"):
            fitted.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def write_header(path, **changes):
    header = {
        "format": "consilience aggregator",
        "version": 1,
        "aggregator": "Average",
        "parameters": {},
        "learned": {},
    }
    text = json.dumps(header | changes)
    with path.open("wb") as file:
        np.savez(file, header=np.frombuffer(text.encode(), dtype=np.uint8))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 99}, "has format version 99; expected 1"),
        ({"format": "other"}, "is not a file that consilience saved: its format is 'other'"),
        ({"aggregator": "os.system"}, "holds 'os.system'; expected one of"),
    ],
)
def test_other_headers(tmp_path, changes, message):
    write_header(tmp_path / "f", **changes)
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.load(tmp_path / "f")


def test_files_that_are_not_ours(tmp_path, saved):
    pickled = tmp_path / "pickled.npy"
    np.save(pickled, np.array([{}], dtype=object))
    np.save(tmp_path / "array.npy", np.zeros(3))
    np.savez(tmp_path / "arrays.npz", x=np.zeros(3))
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("hello")
    (tmp_path / "cut").write_bytes(saved[1].read_bytes()[:500])
    for name in ("pickled.npy", "array.npy", "arrays.npz", "empty", "text", "cut"):
        with pytest.raises(cs.InvalidPredictions, match="is not a file that consilience saved"):
            cs.load(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        cs.load(tmp_path / "missing")
