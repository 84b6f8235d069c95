"""The same answers in another storage, library or precision give the same fit."""

import array_api_strict
import numpy as np
import pytest
import torch

import consilience as cs

from simulate import softmax_members

METHODS = [
    cs.Average(),
    cs.MajorityVote(),
    cs.DawidSkene(),
    cs.BayesianClassifierCombination(),
    cs.Consensus(),
    cs.SoftDawidSkene(max_iter=20),
    cs.SoftDawidSkene(solver="exact", averaging={0: 0, 1: 1}, max_iter=2),
]


@pytest.fixture
def array(rng):
    return softmax_members(rng, [3, 2, 1], n_items=80, n_classes=4, missing=0.2)[0]


def as_answers(array):
    """The rows that are not missing, as a shuffled list of answers."""
    member, item = np.nonzero(~np.isnan(array[:, :, 0]))
    order = np.random.default_rng(0).permutation(len(item))
    member, item = member[order], item[order]
    return cs.Predictions.from_answers(item, member, probabilities=array[member, item])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_dense_with_missing_rows_is_a_list_of_answers(method, array):
    dense, answers = cs.Predictions(array), as_answers(array)
    assert any(member.items is not None for member in answers.soft)
    np.testing.assert_allclose(method.fit_predict_proba(answers), method.fit_predict_proba(dense), atol=1e-10)
    np.testing.assert_allclose(method.predict_proba(answers), method.predict_proba(dense), atol=1e-10)


@pytest.mark.parametrize("method", METHODS[1:4], ids=repr)
def test_one_hot_rows_are_labels(method, array):
    labels = np.where(np.isnan(array[:, :, 0]), -1, np.nan_to_num(array).argmax(axis=2))
    one_hot = np.where(labels[:, :, None] < 0, np.nan, np.eye(4)[labels])
    hard = cs.Predictions.from_labels(labels, 4)
    for other in (one_hot, array):
        np.testing.assert_array_equal(method.fit_predict_proba(hard), method.fit_predict_proba(other))


@pytest.mark.parametrize("method", METHODS, ids=repr)
@pytest.mark.parametrize("library", [torch, array_api_strict], ids=["torch", "strict"])
def test_other_array_libraries(method, library, array):
    theirs = library.asarray(array)
    posterior = method.fit_predict_proba(theirs)
    assert isinstance(posterior, type(theirs)) and posterior.dtype == theirs.dtype
    expected = type(method)(**method.get_params()).fit(array)
    np.testing.assert_allclose(np.asarray(posterior), expected.posterior_, atol=1e-12)
    new = method.predict_proba(theirs[:, :5, :])
    assert isinstance(new, type(theirs))
    np.testing.assert_allclose(np.asarray(new), expected.predict_proba(array[:, :5]), atol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_torch_beside_labels(method, array):
    labels = np.nan_to_num(array[2:]).argmax(axis=2)
    people = cs.Predictions.from_labels(labels, 4)
    ours, theirs = (cs.Predictions.concatenate([networks, people]) for networks in (array[:2], torch.tensor(array[:2])))
    np.testing.assert_allclose(method.fit_predict_proba(theirs).numpy(), method.fit_predict_proba(ours), atol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_float32_is_near_float64(method, array):
    narrow = method.fit_predict_proba(array.astype(np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, method.fit_predict_proba(array), atol=1e-4)


def test_another_device(array):
    device = array_api_strict.Device("device1")
    theirs = array_api_strict.asarray(array, device=device)
    for method in METHODS:
        posterior = method.fit_predict_proba(cs.Predictions(theirs, classes=list("abcd")))
        assert posterior.device == device
        assert method.predict_proba(cs.Predictions(theirs[:, :3, ::-1], classes=list("dcba"))).device == device
        cs.explain(theirs, 2, aggregator=method)


def test_members_of_different_precision(array):
    mixed = [torch.tensor(array[0]).float(), torch.tensor(array[1]), torch.tensor(array[2]).half()]
    posterior = cs.SoftDawidSkene(max_iter=3).fit_predict_proba(mixed)
    assert posterior.dtype == torch.float64
    np.testing.assert_allclose(posterior.numpy(), cs.SoftDawidSkene(max_iter=3).fit_predict_proba(array), atol=2e-3)


def test_a_partial_member_of_another_library_and_precision(array):
    first = cs.Predictions(array[:1, :50], items=range(50), members=["some"])
    rest = cs.Predictions(torch.tensor(array[1:2]).float().nan_to_num(0.25), items=range(80), members=["all"])
    posterior = cs.SoftDawidSkene(max_iter=3).fit_predict_proba(cs.Predictions.concatenate([first, rest]))
    assert np.isfinite(np.asarray(posterior)).all()


def test_bfloat16_goes_in():
    half = torch.softmax(torch.arange(24.0).reshape(2, 3, 4) / 9, dim=2).to(torch.bfloat16)
    posterior = cs.SoftDawidSkene(max_iter=3).fit_predict_proba(half)
    assert posterior.dtype == torch.float32


def test_gradients_are_left_alone():
    logits = torch.zeros(2, 3, 4, requires_grad=True)
    posterior = cs.SoftDawidSkene(max_iter=3).fit_predict_proba(torch.softmax(logits, dim=2))
    assert not posterior.requires_grad


def test_memory_maps_and_read_only_arrays(array, tmp_path):
    np.save(tmp_path / "block.npy", array)
    mapped = np.load(tmp_path / "block.npy", mmap_mode="r")
    np.testing.assert_array_equal(
        cs.SoftDawidSkene().fit_predict_proba(mapped), cs.SoftDawidSkene().fit_predict_proba(array)
    )


def test_large_data_is_read_anew_with_the_same_result(array, monkeypatch):
    expected = cs.SoftDawidSkene(max_iter=5).fit_predict_proba(array)
    monkeypatch.setattr("consilience.passes.reader.CACHED_NUMBERS", 0)
    np.testing.assert_array_equal(cs.SoftDawidSkene(max_iter=5).fit_predict_proba(array), expected)
