"""Undecided answers count the same wherever they lie and whatever answers them."""

import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

import consilience as cs
from exports import exported, run_onnx

SINGLE, DOUBLE = 1e-5, 1e-12
METHODS = [
    cs.MajorityVote(),
    cs.DawidSkene(max_iter=5, tol=None),
    cs.DawidSkene(max_iter=5, tol=None, missing="informative"),
    cs.BayesianClassifierCombination(max_iter=5, tol=None),
    cs.SoftDawidSkene(max_iter=5, averaging=0.1),
    cs.Consensus(),
]
every_method = pytest.mark.parametrize("method", METHODS, ids=repr)


def undecided(n_classes=3, n_items=60, n_members=4, seed=0):
    """Rounded rows, of which many tie; flat rows; missing rows; items of which nobody says anything."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    array = np.round(rng.dirichlet(np.ones(n_classes), size=(n_members, n_items)) + np.eye(n_classes)[truth], 0) + 0.05
    array /= array.sum(axis=2, keepdims=True)
    array[rng.random((n_members, n_items)) < 0.2] = 1 / n_classes
    array[0, rng.random(n_items) < 0.3] = np.nan
    array[:, :3] = 1 / n_classes
    return array


ARRAY = undecided()


@pytest.fixture(scope="module", params=METHODS, ids=repr)
def model(request):
    return clone(request.param).fit(ARRAY)


def test_the_panel_has_ties():
    is_top = (1 - 1e-6) * ARRAY.max(axis=2, keepdims=True) <= ARRAY
    n_tied = np.bincount(is_top.sum(axis=2).ravel(), minlength=4)
    assert (n_tied > 10).all()  # missing, decided, two tied, all tied


def test_the_fit_and_new_items_have_the_same_answers(model):
    """Where nothing but the rule answers; Soft Dawid-Skene averages the answers of its iterations."""
    if not isinstance(model, cs.SoftDawidSkene):
        np.testing.assert_allclose(model.predict_proba(ARRAY), model.posterior_, atol=DOUBLE)


def test_a_list_of_answers(model):
    member, item = np.nonzero(~np.isnan(ARRAY[:, :, 0]))
    listed = cs.Predictions.from_answers(item, member, probabilities=ARRAY[member, item])
    np.testing.assert_allclose(clone(model).fit(listed).posterior_, model.posterior_, atol=DOUBLE)
    np.testing.assert_allclose(model.predict_proba(listed), model.predict_proba(ARRAY), atol=DOUBLE)


@pytest.mark.parametrize("size", [1, 7])
def test_chunks(model, size):
    if "chunk_size" in model.get_params():
        parts = clone(model).set_params(chunk_size=size).fit(ARRAY)
        np.testing.assert_allclose(parts.posterior_, model.posterior_, atol=1e-10)
        np.testing.assert_allclose(parts.predict_proba(ARRAY), model.predict_proba(ARRAY), atol=1e-10)


def test_a_file_on_disk(model, tmp_path):
    np.save(tmp_path / "array.npy", ARRAY)
    there = clone(model).fit(tmp_path / "array.npy")
    np.testing.assert_allclose(there.posterior_, model.posterior_, atol=DOUBLE)


def test_tensors(model):
    torch = pytest.importorskip("torch")
    there = clone(model).fit(torch.tensor(ARRAY))
    np.testing.assert_allclose(np.asarray(there.posterior_), model.posterior_, atol=DOUBLE)


def test_saved(model, tmp_path):
    model.save(tmp_path / "model.consilience")
    loaded = cs.load(tmp_path / "model.consilience")
    np.testing.assert_array_equal(loaded.predict_proba(ARRAY), model.predict_proba(ARRAY))


@pytest.mark.parametrize("logits", [False, True], ids=["probabilities", "logits"])
def test_exports(model, logits, tmp_path):
    torch = pytest.importorskip("torch")
    given, expected = (np.log(ARRAY) if logits else ARRAY), model.predict_proba(ARRAY)
    module = model.to_torch(logits=logits, dtype=torch.float64)
    np.testing.assert_allclose(module(torch.tensor(given)).numpy(), expected, atol=1e-10)
    posterior, _ = run_onnx(exported(model, tmp_path / "model.onnx", logits=logits), given)
    np.testing.assert_allclose(posterior, expected, atol=SINGLE)


def test_explanations(model):
    for item in (0, 10, 20):
        explanation = cs.explain(ARRAY, item, aggregator=model)
        np.testing.assert_allclose(explanation.posterior, model.predict_proba(ARRAY)[item], atol=1e-10)
        told = explanation.prior + explanation.shares + explanation.by_member.sum()
        np.testing.assert_allclose(told, explanation.log_odds, atol=1e-10)


@every_method
def test_a_stream(method):
    """Batches that end between undecided answers are counted as one by one."""
    streamed = clone(method).partial_fit(ARRAY).partial_fit(ARRAY[:, :5])
    listed = [cs.Predictions(ARRAY), cs.Predictions(ARRAY).take(slice(0, 5))]
    again = clone(method).partial_fit(listed[0]).partial_fit(listed[1])
    np.testing.assert_allclose(streamed.posterior_, again.posterior_, atol=DOUBLE)
    assert np.isfinite(streamed.confusion_).all()


@every_method
def test_many_classes(method):
    """From 64 classes on, what vanishes is left out; an item without votes is not."""
    array = undecided(n_classes=70, n_items=83)
    order = np.random.default_rng(1).permutation(70)
    one, other = (clone(method).fit(rows) for rows in (array, array[:, :, order]))
    np.testing.assert_allclose(one.posterior_[:, order], other.posterior_, atol=1e-7)
    np.testing.assert_allclose(one.posterior_.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(one.class_prior_.sum(), 1, atol=1e-6)


def test_a_panel_that_never_decides_can_be_fitted_and_saved(tmp_path):
    flat = np.full((3, 10, 4), 0.25)
    for method in METHODS:
        model = clone(method).fit(flat)
        np.testing.assert_allclose(model.posterior_, 0.25, atol=1e-6)
        model.save(tmp_path / "flat.consilience")
        np.testing.assert_allclose(cs.load(tmp_path / "flat.consilience").predict_proba(flat), 0.25, atol=1e-6)


def test_a_member_who_gives_labels_and_one_who_cannot_decide():
    """All labels of the only member who decides count as they do without the other."""
    labels = cs.Predictions.from_labels([[0, 1, 1, 0]], 2, members=["decided"])
    flat = cs.Predictions(np.full((1, 4, 2), 0.5), members=["flat"])
    both = cs.MajorityVote().fit_predict_proba(cs.Predictions.concatenate([labels, flat]))
    np.testing.assert_allclose(both, np.eye(2)[[0, 1, 1, 0]])


@pytest.mark.filterwarnings("ignore")  # Dask's and its dependencies' own
def test_on_a_cluster():
    da = pytest.importorskip("dask.array")
    blocks = da.from_array(ARRAY, chunks=(4, 25, 3))
    one_worker = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**one_worker) as cluster, Client(cluster):
        for method in METHODS:
            there, here = clone(method).fit(blocks), clone(method).fit(ARRAY)
            np.testing.assert_allclose(there.posterior_.compute(), here.posterior_, atol=1e-10)
            np.testing.assert_allclose(there.predict_proba(blocks).compute(), here.predict_proba(ARRAY), atol=1e-10)
