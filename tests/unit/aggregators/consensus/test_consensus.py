"""How Consensus behaves at the edges, in streams and on its way in and out of files."""

from dataclasses import replace

import numpy as np
import pytest

import consilience as cs
from consilience.aggregators.consensus.learned import network
from consilience.passes.pair_products import MOST_MEMBERS
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
def test_edges(array, name):
    given = EDGES[name](array)
    fitted = cs.Consensus().fit(given)
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


def test_known_labels_are_kept_to_the_last_bit(array, rng):
    found = cs.Consensus().fit(array).posterior_.argmax(axis=1)
    known = np.where(np.arange(60) < 20, np.where(rng.random(60) < 0.3, rng.integers(4, size=60), found), -1)
    fitted = cs.Consensus().fit(array, known)
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
    assert streamed.agreement_.beyond_chance()[2, 2] == pytest.approx(
        cs.Consensus().fit(array).agreement_.beyond_chance()[2, 2]
    )
    assert np.isfinite(streamed.predict_proba(array)).all()
    assert streamed.member_weights_[2] < streamed.member_weights_[0] == streamed.member_weights_[1]


def test_a_class_that_nobody_found_possible_may_come_later(array):
    """Shares that are re-estimated from the first batch leave a little of each class."""
    before, later = array / (1 - array[:, :, 3:]), np.tile(np.eye(4)[3], (3, 5, 1))
    before[:, :, 3] = 0
    streamed = cs.Consensus().partial_fit(before).partial_fit(later)
    assert np.isfinite(streamed.survey_.by_class).all() and np.isfinite(streamed.survey_.totals).all()
    assert streamed.rule().trust == 1
    assert (streamed.posterior_.argmax(axis=1) == 3).all()


@pytest.mark.parametrize("n_members", [3, MOST_MEMBERS + 1])
def test_all_that_was_learned_comes_back(rng, n_members, tmp_path):
    array, _ = softmax_members(rng, rng.uniform(0.5, 3, size=n_members), 80, 3)
    fitted = cs.Consensus(forgetting=0.9).fit(array)
    fitted.save(tmp_path / "model")
    loaded = cs.load(tmp_path / "model")
    assert type(loaded) is cs.Consensus and loaded.get_params() == fitted.get_params()
    for name in ("posterior_", "confusion_", "class_prior_", "member_weights_", "history_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(fitted, name))
    np.testing.assert_array_equal(loaded.agreement_.products, fitted.agreement_.products)
    np.testing.assert_array_equal(loaded.survey_.by_class, fitted.survey_.by_class)
    np.testing.assert_array_equal(loaded.gives_votes_, fitted.gives_votes_)
    np.testing.assert_array_equal(loaded.vote_statistics_.sums, fitted.vote_statistics_.sums)
    np.testing.assert_array_equal(loaded.partial_fit(array).posterior_, fitted.partial_fit(array).posterior_)


def test_what_was_learned_where_nobody_votes_comes_back(tmp_path):
    undecided = np.full((3, 20, 4), 0.25)
    fitted = cs.Consensus().fit(undecided)
    assert not fitted.vote_statistics_.answer_counts.any()
    fitted.save(tmp_path / "model")
    np.testing.assert_array_equal(cs.load(tmp_path / "model").predict_proba(undecided), fitted.posterior_)


@pytest.fixture
def confused(rng):
    """Two of three members take class 3 for class 2: nothing but labels can tell."""
    truth = rng.integers(5, size=1500)
    said = np.stack([truth, *[np.where(truth == 3, 2, truth)] * 2])
    return cs.Predictions.from_logits(1.5 * np.eye(5)[said] + rng.normal(size=(3, 1500, 5))), truth


def first(labels, n):
    return np.where(np.arange(len(labels)) < n, labels, -1)


def test_labels_correct_the_items_without(confused):
    predictions, truth = confused
    accuracies = [
        cs.metrics.accuracy(cs.Consensus().fit(predictions, known).posterior_[400:], truth[400:])
        for known in (None, *(first(truth, n) for n in (25, 100, 400)))
    ]
    assert accuracies[0] < accuracies[2] - 0.03
    assert accuracies[1] > accuracies[0] - 0.01
    assert accuracies[3] > accuracies[2]


def test_labels_that_mean_nothing_do_little_harm(confused, rng):
    """The negative control: 50 labels of chance."""
    predictions, truth = confused
    nonsense = first(rng.integers(5, size=1500), 50)
    plain = cs.Consensus().fit(predictions).posterior_[50:]
    with pytest.warns(UserWarning, match="labels contradict the answers"):
        misled = cs.Consensus().fit(predictions, nonsense).posterior_[50:]
    assert cs.metrics.accuracy(misled, truth[50:]) > cs.metrics.accuracy(plain, truth[50:]) - 0.05


def test_no_labels_is_the_label_free_method(confused):
    predictions, _ = confused
    plain, none_known = cs.Consensus().fit(predictions), cs.Consensus().fit(predictions, np.full(1500, -1))
    assert plain.correction_ is none_known.correction_ is None
    np.testing.assert_array_equal(plain.posterior_, none_known.posterior_)


@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_a_few_labels_hardly_move_anything(confused, n_labels):
    predictions, truth = confused
    plain, told = (cs.Consensus().fit(predictions, known).posterior_ for known in (None, first(truth, n_labels)))
    assert (plain[n_labels:].argmax(axis=1) == told[n_labels:].argmax(axis=1)).mean() > 0.9


def test_a_class_without_labels_is_not_lost(confused):
    predictions, truth = confused
    known = np.where((np.arange(1500) < 300) & (truth != 4), truth, -1)
    posterior = cs.Consensus().fit(predictions, known).posterior_[300:]
    assert (posterior[truth[300:] == 4].argmax(axis=1) == 4).mean() > 0.5


def test_late_labels_are_the_same_as_early_ones(confused):
    predictions, truth = confused
    early = cs.Consensus().fit(predictions, first(truth, 100))
    late = cs.Consensus().fit(predictions)
    for part in (slice(0, 30), slice(30, 100)):
        assert late.add_labels(predictions.take(part), truth[part]) is late
    np.testing.assert_allclose(late.predict_proba(predictions), early.predict_proba(predictions), atol=1e-9)
    before = late.correction_
    assert late.add_labels(predictions.take(slice(0, 3)), [-1, -1, -1]).correction_ is before


def test_an_item_labelled_again_counts_once(confused):
    predictions, truth = confused
    model = cs.Consensus().fit(predictions, first(truth, 20))
    once = model.predict_proba(predictions)
    for _ in range(3):
        model.add_labels(predictions.take(slice(0, 20)), truth[:20])
    assert len(model.labelled_.weights) == 20
    np.testing.assert_allclose(model.predict_proba(predictions), once, atol=1e-9)


@pytest.mark.parametrize("form", ["names", "soft"])
def test_labels_stand_as_their_predictions_do(rng, form):
    """Classes in another order than in the fit."""
    array, truth = softmax_members(rng, [2, 2, 1], n_items=300, n_classes=3)
    order, late = [2, 0, 1], slice(0, 60)
    model = cs.Consensus().fit(cs.Predictions(array, members=list("abc"), classes=list("xyz")))
    turned = cs.Predictions(array[:, late][:, :, order], members=list("abc"), classes=[*"zxy"])
    labels = {
        "names": np.array(list("xyz"))[truth[late]],
        "soft": np.eye(3)[truth[late]][:, order],
    }[form]
    plain = cs.Consensus().fit(array, first(truth, 60)).predict_proba(array)
    np.testing.assert_allclose(model.add_labels(turned, labels).predict_proba(array), plain, atol=1e-9)
    streamed = cs.Consensus().partial_fit(cs.Predictions(array, members=list("abc"), classes=list("xyz")))
    streamed.partial_fit(turned, labels)
    np.testing.assert_array_equal(streamed.labelled_.targets.argmax(axis=1), truth[late])


def test_stating_the_noise_helps(rng):
    truth = rng.integers(4, size=3000)
    predictions = cs.Predictions.from_logits(5 * np.eye(4)[truth] + 2 * rng.normal(size=(3, 3000, 4)))
    wrong = rng.random(3000) < 0.2
    noisy = first(np.where(wrong, (truth + rng.integers(1, 4, size=3000)) % 4, truth), 400)
    ignored, stated = (
        cs.metrics.nll(cs.Consensus(label_noise=noise).fit(predictions, noisy).posterior_[400:], truth[400:])
        for noise in (0.0, 0.2)
    )
    assert stated < ignored


def test_one_wrong_label_changes_nothing_else(confused):
    predictions, _ = confused
    plain = cs.Consensus().fit(predictions).posterior_
    item = plain.max(axis=1).argmax()
    labels = np.full(1500, -1)
    labels[item] = plain[item].argmin()
    told = cs.Consensus().fit(predictions, labels).posterior_
    np.testing.assert_allclose(np.delete(told, item, axis=0), np.delete(plain, item, axis=0), atol=1e-9)


def test_soft_labels_of_nothing_are_none(confused):
    predictions, _ = confused
    assert cs.Consensus().fit(predictions, np.full((1500, 5), np.nan)).correction_ is None


def test_half_precision_takes_labels(rng):
    array, truth = softmax_members(rng, [2, 2], n_items=60, n_classes=4)
    fitted = cs.Consensus().fit(array.astype(np.float16), first(truth, 20))
    assert fitted.correction_ is not None


def test_streams_learn_from_labels_when_they_come(confused):
    predictions, truth = confused
    streamed = cs.Consensus()
    for start in range(0, 900, 300):
        labels = first(truth[start : start + 300], 100) if start == 300 else None
        streamed.partial_fit(predictions.take(slice(start, start + 300)), labels)
        assert (streamed.correction_ is None) == (start == 0)
    plain = cs.Consensus().fit(predictions.take(slice(0, 900)))
    rest = predictions.take(slice(900, 1500))
    scores = [cs.metrics.accuracy(model.predict_proba(rest), truth[900:]) for model in (plain, streamed)]
    assert scores[1] > scores[0] + 0.02


def test_a_stream_of_labels_ends_where_one_fit_does(confused):
    """Each batch learns from all labels so far, and not on top of what earlier ones corrected."""
    predictions, truth = confused
    streamed = cs.Consensus()
    for start in range(0, 1200, 300):
        streamed.partial_fit(predictions.take(slice(start, start + 300)), first(truth[start : start + 300], 30))
    known = np.where((np.arange(1200) % 300) < 30, truth[:1200], -1)
    whole = cs.Consensus().fit(predictions.take(slice(0, 1200)), known)
    rest = predictions.take(slice(1200, 1500))
    losses = [cs.metrics.nll(model.predict_proba(rest), truth[1200:]) for model in (whole, streamed)]
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def test_labels_of_one_class_teach_nothing(confused):
    predictions, truth = confused
    known = np.where((np.arange(1500) < 200) & (truth == 4), truth, -1)
    with pytest.warns(UserWarning, match=r"where all are of one class; all \d+ are 4"):
        fitted = cs.Consensus().fit(predictions, known)
    assert fitted.correction_ is None
    np.testing.assert_array_equal(fitted.predict_proba(predictions), cs.Consensus().fit(predictions).posterior_)


def test_streams_forget_labels(confused):
    predictions, truth = confused
    streamed = cs.Consensus(forgetting=0.5).partial_fit(predictions.take(slice(0, 50)), truth[:50])
    streamed.partial_fit(predictions.take(slice(50, 60)), truth[50:60])
    np.testing.assert_allclose(streamed.labelled_.weights, [0.5] * 50 + [1.0] * 10)
    for _ in range(10):
        streamed.partial_fit(predictions.take(slice(60, 70)))
    assert len(streamed.labelled_.weights) == 0


def test_soft_labels_that_are_sure_are_labels(confused):
    predictions, truth = confused
    rows = np.full((1500, 5), np.nan)
    rows[:80] = np.eye(5)[truth[:80]]
    soft, hard = (cs.Consensus().fit(predictions, known) for known in (rows, first(truth, 80)))
    np.testing.assert_allclose(soft.posterior_, hard.posterior_, atol=1e-12)


def test_soft_labels_are_the_answer_to_their_items(confused):
    predictions, truth = confused
    rows = np.full((1500, 5), np.nan)
    rows[:80] = 0.9 * np.eye(5)[truth[:80]] + 0.02
    fitted = cs.Consensus().fit(predictions, rows)
    np.testing.assert_allclose(fitted.posterior_[:80], rows[:80], atol=1e-12)
    np.testing.assert_allclose(fitted.labelled_.targets, rows[:80], atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.full((10, 3), 1 / 3), r"soft labels must be .*\(items, classes\) = \(10, 4\); got .*\(10, 3\)"),
        (np.full((10, 4), 0.5), r"soft labels must be probabilities that sum to 1.*item 0 has \[0.5"),
        (np.tile([1.5, -0.5, 0, 0], (10, 1)), "item 0 has"),
        (np.tile([0.5, np.nan, 0.25, 0.25], (10, 1)), "NaN throughout where unknown"),
    ],
)
def test_wrong_soft_labels(rng, rows, message):
    array, _ = softmax_members(rng, [2, 2], n_items=10, n_classes=4)
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.Consensus().fit(array, rows)


def test_with_noise_members_may_outvote_a_label(confused):
    predictions, truth = confused
    labels = first(truth, 200)
    unanimous = np.flatnonzero((predictions.to_array().argmax(axis=2) == truth).all(axis=0)[:200])
    labels[unanimous[0]] = (truth[unanimous[0]] + 1) % 5
    sure, doubting = (cs.Consensus(label_noise=noise).fit(predictions, labels) for noise in (0.0, 0.3))
    item = unanimous[0]
    assert sure.posterior_[item].argmax() == labels[item]
    assert doubting.posterior_[item].argmax() == truth[item]
    np.testing.assert_allclose(doubting.posterior_.sum(axis=1), 1, atol=1e-12)


def test_noise_is_a_share(rng):
    array, _ = softmax_members(rng, [2, 2], n_items=10, n_classes=4)
    with pytest.raises(ValueError, match="label_noise must be"):
        cs.Consensus(label_noise=0.7).fit(array)


def test_too_many_members_to_correct(rng, monkeypatch):
    for module in ("label_free_fit", "labels.teaching"):
        monkeypatch.setattr(f"consilience.aggregators.consensus.{module}.MOST_CORRECTED", 10)
    array, truth = softmax_members(rng, [2, 2, 2], n_items=30, n_classes=4)
    with pytest.warns(UserWarning, match=r"only settle their own items where members × classes are over 10; got 3 × 4"):
        fitted = cs.Consensus().fit(array, first(truth, 5))
    assert fitted.correction_ is None
    np.testing.assert_array_equal(fitted.posterior_[:5], np.eye(4)[truth[:5]])


@pytest.mark.parametrize("weights", [[None, None], 3, {"a": 1}], ids=repr)
def test_weights_are_a_path(weights):
    with pytest.raises(ValueError, match="weights must be the path of a file of weights, or None; got"):
        cs.Consensus(weights=weights).fit([[[0.9, 0.1], [0.2, 0.8]]])


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000], ids=["a NUL", "too long"])
def test_names_that_no_file_can_have_are_missing(name):
    with pytest.raises(cs.InvalidPredictions, match="are missing"):
        cs.Consensus(weights=name).fit([[[0.9, 0.1], [0.2, 0.8]]])


def test_a_kept_rule_is_never_that_of_an_earlier_batch(rng):
    """Objects that are gone may leave their address to new ones, so addresses tell nothing."""
    streamed = cs.Consensus(forgetting=0.5)
    for _ in range(30):
        batch = rng.dirichlet([1, 1, 1], size=(3, 8))
        streamed.partial_fit(batch)
        np.testing.assert_array_equal(streamed.predict_proba(batch), streamed.posterior_)


@pytest.fixture
def own_weights(tmp_path):
    """A file of weights, a copy of it, and a file of other weights."""
    shipped = network.shipped()
    own = network.contents(replace(shipped, mixture=0.5 * shipped.mixture))
    paths = [tmp_path / name for name in ("own.npz", "copy.npz", "other.npz")]
    for path, contents in zip(paths, (own, own, network.contents(shipped)), strict=True):
        np.savez(path, **contents)
    return paths


def test_a_kept_rule_follows_changed_parameters(rng, own_weights):
    array, (own, copy, other) = rng.dirichlet([1, 1, 1], size=(3, 40)), own_weights
    fitted = cs.Consensus(weights=own).fit(array)
    np.testing.assert_array_equal(fitted.set_params(weights=copy).predict_proba(array), fitted.posterior_)
    with pytest.raises(
        cs.InvalidPredictions, match=r"the weights in '.*other.npz' are not those of the fit .*: fit again, or give"
    ):
        fitted.set_params(weights=other).predict_proba(array)
    with pytest.raises(cs.InvalidPredictions, match="the weights that come with this version are not those of the fit"):
        fitted.set_params(weights=None).partial_fit(array)
    assert "_kept" not in fitted.__getstate__()
    assert fitted.fit(array).network_checksum_ == network.shipped().checksum()


def test_a_file_of_weights_may_move_but_not_change(rng, own_weights, tmp_path):
    array, (own, copy, other) = rng.dirichlet([1, 1, 1], size=(3, 40)), own_weights
    posterior = cs.Consensus(weights=own).fit(array).posterior_
    cs.Consensus(weights=own).fit(array).save(tmp_path / "model.npz")
    np.testing.assert_array_equal(cs.load(tmp_path / "model.npz").predict_proba(array), posterior)
    other.replace(own)
    model = cs.load(tmp_path / "model.npz")
    with pytest.raises(cs.InvalidPredictions, match="not those of the fit"):
        model.predict_proba(array)
    np.testing.assert_array_equal(model.set_params(weights=copy).predict_proba(array), posterior)
