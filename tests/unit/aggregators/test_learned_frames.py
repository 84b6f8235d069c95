"""What was learned as frames: names, orientation, libraries."""

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import consilience as cs
from consilience.data.tables.frames import columns_of

LABELS = [[0, 1, 2, 0, 1], [0, 1, 2, 1, 1], [0, 2, 2, 0, 0]]


@pytest.fixture
def fitted():
    names = {"members": ["ann", "bob", "cyd"], "items": list("vwxyz"), "classes": ["cat", "dog", "fox"]}
    return cs.DawidSkene(max_iter=3, tol=None).fit(cs.Predictions.from_labels(LABELS, **names))


def test_names_are_the_index_in_pandas(fitted):
    frame = fitted.posterior_frame()
    assert (list(frame.index), frame.index.name) == (list("vwxyz"), "task")
    assert (list(frame.columns), frame.columns.name) == (["cat", "dog", "fox"], "label")
    np.testing.assert_array_equal(frame, fitted.posterior_)
    assert frame.idxmax(axis=1).tolist() == fitted.predict(cs.Predictions.from_labels(LABELS)).tolist()


def test_orientations_are_transposes_and_say_so(fitted):
    ours, theirs = fitted.confusion_frame(), fitted.confusion_frame(orientation="observed_by_true")
    assert ours.index.names == ["worker", "true"] and ours.columns.name == "label"
    assert theirs.index.names == ["worker", "label"] and theirs.columns.name == "true"
    assert ours.loc[("bob", "cat"), "dog"] == theirs.loc[("bob", "dog"), "cat"] == fitted.confusion_[1, 0, 1]
    np.testing.assert_allclose(ours.sum(axis=1), 1)
    np.testing.assert_allclose(theirs.groupby("worker").sum(), 1)
    assert np.abs(theirs.sum(axis=1) - 1).max() > 0.01  # control: rows of the other orientation are no distribution


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_names_come_first_where_there_is_no_index(fitted, library):
    pytest.importorskip(library)
    posterior, confusion = fitted.posterior_frame(library), fitted.confusion_frame(library)
    assert type(posterior).__module__.startswith((library, "pyarrow.lib"))
    for frame, expected in ((posterior, fitted.posterior_frame()), (confusion, fitted.confusion_frame())):
        columns = frame.to_dict(as_series=False) if library == "polars" else frame.to_pydict()
        pd.testing.assert_frame_equal(pd.DataFrame(columns), expected.reset_index(), check_names=False)


def test_pandas_is_not_needed_for_the_others(fitted, monkeypatch):
    pytest.importorskip("polars")
    monkeypatch.setattr("consilience.aggregators.base.find_spec", lambda name: None if name == "pandas" else name)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert fitted.posterior_frame("polars").shape == (5, 4)
    with pytest.raises(ModuleNotFoundError, match="a frame of pandas needs pandas: pip install pandas"):
        fitted.posterior_frame()


def test_numbers_and_tuples_as_names():
    names = {"items": [(1, 2), (1, 3), (2, 2)], "classes": [10, 20, 30]}
    fitted = cs.MajorityVote().fit(cs.Predictions.from_labels([[10, 20, 30]], **names))
    frame = fitted.posterior_frame()
    assert frame.index.nlevels == 1 and frame.columns.tolist() == [10, 20, 30]
    assert fitted.confusion_frame("polars").columns == ["worker", "true", "10", "20", "30"]


def test_posteriors_of_other_libraries():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor([[[0.9, 0.1], [0.2, 0.8]]])
    np.testing.assert_allclose(cs.Average().fit(tensor).posterior_frame(), tensor[0].numpy())


def test_what_the_user_is_told(fitted):
    with pytest.raises(NotFittedError, match="this DawidSkene is not fitted yet; call fit first"):
        cs.DawidSkene().posterior_frame()
    with pytest.raises(ValueError, match="library must be 'pandas', 'polars' or 'pyarrow'; got 'excel'"):
        fitted.posterior_frame("excel")
    with pytest.raises(ValueError, match="orientation must be 'true_by_observed' or .*; got 'columns'"):
        fitted.confusion_frame(orientation="columns")
    clash = cs.MajorityVote().fit(cs.Predictions.from_labels([[0, 1]], classes=["task", "label"]))
    with pytest.raises(ValueError, match="'task' stands for two: use pandas"):
        clash.posterior_frame("polars")
    assert clash.posterior_frame().loc[0, "task"] == 1


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_names_of_several_types_are_text_where_a_column_has_one(library):
    array = np.random.default_rng(0).dirichlet([1, 1], size=(2, 3))
    items = [1, "a", ("b", 2)]
    model = cs.DawidSkene(max_iter=3, tol=None).fit(cs.Predictions(array, items=items, classes=[1, "a"]))
    assert columns_of(model.posterior_frame(library=library))["task"].rows() == list(map(str, items))
    assert model.confusion_frame(library=library).shape == (4, 4)
