"""What was written is read as it was, and a file appears whole or not at all."""

import re

import numpy as np
import pytest

import consilience as cs
from consilience.files import read_posterior, read_sources, write_table
from consilience.system.tables import Table
from written import write_fitted

HEADER = "item,answer,confidence,n_answers,agreement,review"
ARRAY = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 5))


@pytest.mark.parametrize("suffix", ["npz", "csv", "jsonl", "parquet", "safetensors"])
def test_what_was_written_is_read_as_one_member(tmp_path, suffix):
    pytest.importorskip({"parquet": "pyarrow", "safetensors": "safetensors"}.get(suffix, "numpy"))
    aggregator = cs.DawidSkene(max_iter=3, tol=None).fit(ARRAY)
    write_fitted(tmp_path / f"out.{suffix}", aggregator)
    predictions = read_sources([str(tmp_path / f"out.{suffix}")]).predictions
    assert predictions.n_members == 1
    np.testing.assert_allclose(predictions.to_array()[0], aggregator.posterior_)


@pytest.mark.parametrize("suffix", ["npz", "npy", "csv", "jsonl", "parquet", "safetensors"])
def test_a_posterior_comes_back(tmp_path, suffix):
    pytest.importorskip({"parquet": "pyarrow", "safetensors": "safetensors"}.get(suffix, "numpy"))
    predictions = cs.Predictions(ARRAY, items=list("abcde"), classes=["x", "y", "z"])
    aggregator = cs.SoftDawidSkene(max_iter=3).fit(predictions)
    path = tmp_path / f"out.{suffix}"
    write_fitted(path, aggregator)
    back = read_posterior(str(path)).predictions
    np.testing.assert_allclose(back.to_array()[0], aggregator.posterior_, rtol=1e-15)
    if suffix != "npy":
        assert (back.items, back.classes) == (predictions.items, predictions.classes)
    assert list(tmp_path.iterdir()) == [path]


def test_classes_named_like_columns_are_refused_in_tables(tmp_path):
    for name in ("item", "label", "review", "confidence", "", "Unnamed: 0"):
        aggregator = cs.Average().fit(cs.Predictions(ARRAY, classes=[name, "b", "c"]))
        for file in ("out.csv", "out.parquet", "out.jsonl"):
            with pytest.raises(cs.InvalidPredictions, match=f"a table cannot have a column '{name}' for a class"):
                write_fitted(tmp_path / file, aggregator)


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    aggregator = cs.Average().fit(ARRAY)
    monkeypatch.setattr(np, "savez_compressed", lambda *_, **__: (_ for _ in ()).throw(OSError("disk full")))
    (tmp_path / "out.npz").write_bytes(b"before")
    with pytest.raises(OSError, match="disk full"):
        write_fitted(tmp_path / "out.npz", aggregator)
    assert [path.name for path in tmp_path.iterdir()] == ["out.npz"]
    assert (tmp_path / "out.npz").read_bytes() == b"before"


def test_outputs_are_checked_before_the_work(tmp_path):
    aggregator = cs.Average().fit(ARRAY)
    with pytest.raises(ValueError, match=re.escape("must end in one of .npz .npy .csv")):
        write_fitted(tmp_path / "out.xlsx", aggregator)
    with pytest.raises(FileNotFoundError, match="directory must exist"):
        write_fitted(tmp_path / "no" / "out.npz", aggregator)


def test_a_table_is_written_with_empty_cells_for_none(tmp_path):
    write_table(tmp_path / "t.csv", Table({"item": ["a", 2], "label": [None, "x,y"]}))
    assert (tmp_path / "t.csv").read_bytes() == b'item,label\r\na,\r\n2,"x,y"\r\n'
    with pytest.raises(ValueError, match=re.escape("must end in one of .csv")):
        write_table(tmp_path / "t.parquet", Table({"item": ["a"]}))


def test_names_that_read_like_formulas_are_quoted(tmp_path):
    predictions = cs.Predictions(ARRAY, items=["=1+1", "b", "c", "d", "e"], classes=["-x", "y", "z"])
    aggregator = cs.Average().fit(predictions)
    write_fitted(tmp_path / "out.csv", aggregator)
    first, second = (tmp_path / "out.csv").read_text(encoding="utf-8").splitlines()[:2]
    assert first == f"{HEADER},'-x,y,z" and second.startswith("'=1+1,")
    back = read_posterior(str(tmp_path / "out.csv")).predictions
    assert (back.items, back.classes) == (predictions.items, predictions.classes)


@pytest.mark.parametrize("suffix", ["npz", "csv", "jsonl", "parquet", "safetensors"])
def test_items_whose_labels_the_fit_was_given_are_marked(tmp_path, suffix):
    pytest.importorskip({"parquet": "pyarrow", "safetensors": "safetensors"}.get(suffix, "numpy"))
    aggregator, path = cs.Average().fit(cs.Predictions(ARRAY, classes=["x", "y", "z"])), tmp_path / f"out.{suffix}"
    marks = np.array([False, True, False, False, True])
    write_fitted(path, aggregator, is_known=marks)
    back = read_posterior(str(path))
    np.testing.assert_array_equal(back.is_known, marks)
    np.testing.assert_allclose(back.predictions.to_array()[0], aggregator.posterior_)
    predictions = read_sources([str(path)]).predictions  # the marks are no class
    np.testing.assert_allclose(predictions.to_array()[0], aggregator.posterior_)
    write_fitted(path, aggregator, is_known=np.zeros(5, dtype=bool))
    assert not read_posterior(str(path)).is_known.any()
    assert suffix != "csv" or path.read_text(encoding="utf-8").startswith(f"{HEADER},x,y,z\n")


def test_a_class_called_known_is_no_mark(tmp_path):
    aggregator = cs.Average().fit(cs.Predictions(ARRAY, classes=["known", "y", "z"]))
    path = tmp_path / "out.csv"
    write_fitted(path, aggregator)
    back = read_posterior(str(path))
    assert back.predictions.classes == ["known", "y", "z"] and not back.is_known.any()
    with pytest.raises(cs.InvalidPredictions, match="cannot have a column 'known' for a class"):
        write_fitted(path, aggregator, is_known=np.ones(5, dtype=bool))


def test_tables_of_earlier_versions_are_read(tmp_path):
    rows = "".join(f"{item},x,True,{p[0]},{p[1]},{p[2]}\n" for item, p in zip("abcde", ARRAY[0].tolist(), strict=True))
    (tmp_path / "old.csv").write_text(f"item,label,known,x,y,z\n{rows}", encoding="utf-8")
    back = read_posterior(str(tmp_path / "old.csv"))
    assert back.predictions.classes == ["x", "y", "z"] and back.is_known.all()
    np.testing.assert_allclose(back.predictions.to_array()[0], ARRAY[0])


def test_names_of_two_kinds_are_written_as_text(tmp_path):
    model = cs.Average().fit(ARRAY)
    for suffix in ("csv", "jsonl", "parquet"):
        write_fitted(tmp_path / f"out.{suffix}", model, [1, "a", "=b", "007", "e"])
        assert read_posterior(str(tmp_path / f"out.{suffix}")).predictions.items == ["1", "a", "=b", "007", "e"]


def test_marks_that_are_none(tmp_path):
    np.savez(tmp_path / "out.npz", posterior=ARRAY[0], known=np.zeros(3, dtype=bool))
    with pytest.raises(cs.InvalidPredictions, match="'known' must say of each of the 5 items true or false"):
        read_posterior(str(tmp_path / "out.npz"))
