"""How Consensus behaves at the edges, in streams and on its way in and out of files."""

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.opinion_weights import MOST_MEMBERS
from consilience.passes.reader import Reader

from simulate import softmax_members


@pytest.fixture
def array(rng):
    return softmax_members(rng, [3, 2, 1], n_items=60, n_classes=4)[0]


def test_a_member_alone_is_the_answer(array):
    """Nothing corrects it: it would agree with whatever is made of its answers."""
    fitted = cs.Consensus().fit(array[:1])
    np.testing.assert_allclose(fitted.posterior_, array[0], atol=1e-15)
    np.testing.assert_allclose(fitted.predict_proba(array[:1, :5]), array[0, :5], atol=1e-15)
    silent = np.full_like(array[:1], np.nan)
    alone = cs.Consensus().fit(cs.Predictions(np.concatenate([array[:1], silent]), partial=True))
    np.testing.assert_allclose(alone.posterior_, array[0], atol=1e-15)


def test_no_weight_is_the_weighted_average(array):
    fitted = cs.Consensus(weight=0).fit(array)
    average = cs.Average(weights=fitted.member_weights_).fit(array)
    np.testing.assert_allclose(fitted.posterior_, average.posterior_, atol=1e-12)


def test_without_evidence_answers_are_drawn_to_all_classes_alike(array):
    fitted = cs.Consensus(evidence=0).fit(array)
    average = cs.Consensus(weight=0).fit(array).posterior_
    np.testing.assert_allclose(fitted.posterior_, 0.6 * average + 0.4 / 4, atol=1e-12)


def in_turn(array):
    """Each item answered by one member alone."""
    is_asked = np.arange(array.shape[1]) % len(array) == np.arange(len(array))[:, None]
    return np.where(is_asked[:, :, None], array, np.nan)


HARD = np.eye(4)[[[0, 1, 2, 3] * 5] * 3]
EDGES = {
    "one item": lambda array: array[:, :1],
    "one item, one member": lambda array: array[:1, :1],
    "all alike": lambda array: array[[0, 0, 0, 0]],
    "all alike and sure": lambda _: HARD,
    "always the same class": lambda _: np.tile(np.eye(4)[0], (3, 20, 1)),
    "nobody knows anything": lambda _: np.full((3, 20, 4), 0.25),
    "one knows nothing": lambda array: np.concatenate([array, np.full_like(array[:1], 0.25)]),
    "never on the same item": in_turn,
    "they contradict each other": lambda _: np.stack([HARD[0], HARD[0][:, [1, 2, 3, 0]], HARD[0][:, [2, 3, 0, 1]]]),
    "two classes": lambda array: np.stack([array[:, :, 0], 1 - array[:, :, 0]], axis=2),
    "half precision": lambda array: array.astype(np.float16),
}


@pytest.mark.parametrize("name", EDGES)
@pytest.mark.parametrize("weight", [0.4, 1.0])
def test_edges(array, name, weight):
    given = EDGES[name](array)
    fitted = cs.Consensus(weight=weight, tol=None, max_iter=5).fit(given)
    tolerance = 2e-3 if given.dtype == np.float16 else 1e-12
    for posterior in (fitted.posterior_, fitted.predict_proba(given)):
        assert np.isfinite(posterior).all() and (posterior >= 0).all()
        np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=tolerance)
    assert fitted.member_weights_.sum() == pytest.approx(1) and (fitted.member_weights_ > 0).all()
    assert (fitted.confusion_ > 0).all()


def test_where_nobody_knows_anything_nothing_is_claimed():
    fitted = cs.Consensus().fit(np.full((3, 20, 4), 0.25))
    np.testing.assert_allclose(fitted.posterior_, 0.25, atol=1e-12)
    np.testing.assert_allclose(fitted.member_weights_, 1 / 3, atol=1e-6)


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_torch_in_any_precision(array, precision):
    torch = pytest.importorskip("torch")
    posterior = cs.Consensus().fit_predict_proba(torch.tensor(array).to(getattr(torch, precision)))
    assert posterior.dtype == torch.float32  # at least, whatever comes in
    tolerance = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[precision]
    np.testing.assert_allclose(posterior.numpy(), cs.Consensus().fit_predict_proba(array), atol=tolerance)


@pytest.mark.parametrize("weight", [0.1, 0.3, 0.4, 0.7, 1.0])
def test_known_labels_are_kept_to_the_last_bit(array, weight, rng):
    known = np.where(np.arange(60) < 20, rng.integers(4, size=60), -1)
    fitted = cs.Consensus(weight=weight, tol=None).fit(array, known)
    np.testing.assert_array_equal(fitted.posterior_[:20], np.eye(4)[known[:20]])
    fitted.partial_fit(array, known)
    np.testing.assert_array_equal(fitted.posterior_[:20], np.eye(4)[known[:20]])


def test_nothing_is_half_learned(array, monkeypatch):
    fitted = cs.Consensus().partial_fit(array)
    before = {name: value for name, value in vars(fitted).items() if name.endswith("_")}

    def interrupted(*_):
        raise KeyboardInterrupt

    posterior = fitted.posterior_
    for place in ("agreement", "average_statistics", "lazy_posterior", "gather"):
        with monkeypatch.context() as patch:
            patch.setattr(Reader, place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                fitted.partial_fit(array[:, :10])
        assert fitted.posterior_ is posterior
        after = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
        assert all(after[name] is value for name, value in before.items())


def test_a_member_who_falls_silent_keeps_its_place(array):
    """A stream that forgets leaves a fraction of an item of it: neither more sure nor less than it was."""
    streamed = cs.Consensus(forgetting=0.5).partial_fit(array)
    silent = array.copy()
    silent[2] = np.nan
    for _ in range(20):
        streamed.partial_fit(cs.Predictions(silent, partial=True))
    assert 0 < streamed.agreement_.counts[2, 2] < 1e-3
    assert streamed.agreement_.beyond_chance(4)[2, 2] == pytest.approx(
        cs.Consensus().fit(array).agreement_.beyond_chance(4)[2, 2]
    )
    assert np.isfinite(streamed.predict_proba(array)).all()
    assert streamed.member_weights_[2] < streamed.member_weights_[0] == streamed.member_weights_[1]


@pytest.mark.parametrize("n_members", [3, MOST_MEMBERS + 1])
def test_all_that_was_learned_comes_back(rng, n_members, tmp_path):
    array, _ = softmax_members(rng, rng.uniform(0.5, 3, size=n_members), 20, 3)
    fitted = cs.Consensus(weight=0.3).fit(array)
    fitted.save(tmp_path / "model")
    loaded = cs.load(tmp_path / "model")
    assert type(loaded) is cs.Consensus and loaded.get_params() == fitted.get_params()
    for name in ("posterior_", "confusion_", "class_prior_", "member_weights_", "history_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    np.testing.assert_array_equal(loaded.agreement_.products, fitted.agreement_.products)
    np.testing.assert_array_equal(loaded.partial_fit(array).posterior_, fitted.partial_fit(array).posterior_)


def test_accuracies_are_estimated_from_agreement():
    """Independent members, uniformly wrong where they err; two copies leave the others as they are."""
    rng = np.random.default_rng(0)
    accuracies = np.array([0.9, 0.85, 0.8, 0.75, 0.7, 0.6])
    truth = rng.integers(4, size=20_000)
    wrong = (truth + rng.integers(1, 4, size=(6, 20_000))) % 4
    votes = np.where(rng.random((6, 20_000)) < accuracies[:, None], truth, wrong)
    found = cs.Consensus().fit(cs.Predictions.from_labels(votes, 4)).estimated_accuracy_
    np.testing.assert_allclose(found, accuracies, atol=0.025)
    copied = cs.Predictions.from_labels(votes[[0, 1, 2, 3, 4, 5, 5, 5]], 4)
    found = cs.Consensus().fit(copied).estimated_accuracy_
    np.testing.assert_allclose(found, accuracies[[0, 1, 2, 3, 4, 5, 5, 5]], atol=0.05)
