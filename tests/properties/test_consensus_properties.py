"""What must stay true of the learned `Consensus`, whatever its weights: on generated panels of every kind."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import consilience as cs
from consilience.aggregators.consensus.learned.experts import MOST_CANDIDATES, VOTE
from consilience.passes.pair_products import MOST_MEMBERS
from consilience.passes.reader import Reader
from consilience.system.arrays import to_numpy

from generated_panels import generated, panels
from simulate import softmax_members

ANY = panels(least_items=2)
MANY = 30
assert MANY > MOST_CANDIDATES

NEAR = 1e-5
"""Of improbable classes that tie for the last place among the candidates, the network sees some: those may differ."""


def fused(given_, **options):
    return np.asarray(to_numpy(cs.Consensus(**options).fit(given_).posterior_), dtype=np.float64)


def assert_same(one, other, tolerance=1e-7):
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


def average_of(array):
    """The mean of what is said of each item; whoever gives votes alone is softened."""
    softened = []
    for rows in array:
        is_hard = np.isnan(rows).all() or np.nanmean(np.max(rows, axis=1)) >= 1 - 1e-6
        softened.append(VOTE * rows + (1 - VOTE) / rows.shape[1] if is_hard else rows)
    return np.nanmean(softened, axis=0)


# ---- order and names --------------------------------------------------------------------------------------


@generated
@given(panel=ANY)
def test_renamed_and_reordered_members(panel):
    array, order = panel.array(), panel.rng.permutation(panel.n_members)
    names = [f"member {n}" for n in order]
    assert_same(fused(array), fused(cs.Predictions(array[order], members=names)))


@generated
@given(panel=ANY)
def test_renamed_and_reordered_items(panel):
    array, order = panel.array(), panel.rng.permutation(panel.n_items)
    assert_same(fused(array)[order], fused(cs.Predictions(array[:, order], items=[f"item {n}" for n in order])))


@pytest.mark.parametrize("kind", ["modest", "rounded", "zeros", "labels", "flat"])
@generated
@given(panel=ANY)
def test_renamed_and_reordered_classes(panel, kind):
    """Also where answers are tied: no class is preferred for its place."""
    array = panel.of_kind(kind).array()
    order = panel.rng.permutation(panel.n_classes)
    names = [f"class {n}" for n in order]
    assert_same(fused(array)[:, order], fused(cs.Predictions(array[:, :, order], classes=names)))


@pytest.mark.parametrize("kind", ["modest", "rounded", "labels"])
@generated
@given(panel=panels(least_items=3))
def test_reordered_classes_where_only_some_are_candidates(panel, kind):
    """Most classes of hard members are equally improbable: who is a candidate must not follow from the order."""
    array = panel.of_kind(kind).with_classes(MANY).array()
    order = panel.rng.permutation(MANY)
    assert_same(fused(array)[:, order], fused(array[:, :, order]), NEAR)


@pytest.mark.parametrize("kind", ["modest", "rounded", "zeros", "labels", "flat"])
@generated
@given(panel=ANY)
def test_class_shares_go_with_their_classes(panel, kind):
    """In order or by name, in chunks, and in one batch of a stream."""
    array, shares = panel.of_kind(kind).array(), panel.rng.dirichlet(np.ones(panel.n_classes))
    shares = panel.rng.multinomial(50, shares) if panel.rng.random() < 0.5 else shares
    answers = fused(array, class_shares=shares)
    order = panel.rng.permutation(panel.n_classes)
    turned = array[:, :, order]
    assert_same(answers[:, order], fused(turned, class_shares=shares[order]))
    names = [f"class {n}" for n in order]
    by_name = {f"class {n}": shares[n] for n in range(panel.n_classes)}
    assert_same(answers[:, order], fused(cs.Predictions(turned, classes=names), class_shares=by_name))
    assert_same(answers, fused(array, class_shares=shares, chunk_size=3))
    np.testing.assert_array_equal(cs.Consensus(class_shares=shares).partial_fit(array).posterior_, answers)
    np.testing.assert_allclose(answers.sum(axis=1), 1, atol=1e-9)


@generated
@given(panel=panels(least_items=3))
def test_class_shares_where_only_some_are_candidates(panel):
    array, shares = panel.with_classes(MANY).array(), panel.rng.dirichlet(np.ones(MANY))
    order = panel.rng.permutation(MANY)
    answers = fused(array, class_shares=shares)
    assert_same(answers[:, order], fused(array[:, :, order], class_shares=shares[order]), NEAR)
    np.testing.assert_allclose(answers.sum(axis=1), 1, atol=1e-9)


def test_tied_votes_favor_nobody(rng):
    """Two classes that are exchanged throughout are answered alike where members are undecided between them."""
    array, _ = softmax_members(rng, [2, 1, 1], n_items=40, n_classes=3)
    both = np.concatenate([array, array[:, :, [1, 0, 2]]], axis=1)
    undecided = np.tile([0.45, 0.45, 0.1], (3, 1, 1))
    answers = fused(np.concatenate([both, undecided], axis=1))
    assert answers[-1, 0] == pytest.approx(answers[-1, 1], abs=1e-9)


# ---- where the panel lies ---------------------------------------------------------------------------------


@generated
@given(panel=ANY, chunk_size=st.integers(1, 50))
def test_chunks_of_any_size(panel, chunk_size):
    array = panel.array()
    whole, parts = cs.Consensus().fit(array), cs.Consensus(chunk_size=chunk_size).fit(array)
    assert_same(whole.posterior_, parts.posterior_)
    assert_same(whole.predict_proba(array), parts.predict_proba(array))


@generated
@given(panel=ANY)
def test_on_disk(panel, tmp_path_factory):
    array, folder = panel.array(), tmp_path_factory.mktemp("members")
    paths = [folder / f"{number}.npy" for number in range(panel.n_members)]
    for path, rows in zip(paths, array, strict=True):
        np.save(path, rows)
    mapped = [np.load(path, mmap_mode="r") for path in paths]
    np.testing.assert_array_equal(fused(mapped), fused(array))


@generated
@given(panel=ANY, precision=st.sampled_from(["float64", "float32"]))
def test_torch(panel, precision):
    torch = pytest.importorskip("torch")
    array = panel.array()
    fitted = cs.Consensus().fit(torch.tensor(array, dtype=getattr(torch, precision)))
    assert isinstance(fitted.posterior_, torch.Tensor)
    if precision == "float64":
        assert_same(to_numpy(fitted.posterior_), fused(array))
    np.testing.assert_allclose(to_numpy(fitted.posterior_).sum(axis=1), 1, atol=1e-5)


@generated
@given(panel=panels(kinds=("modest", "flat", "labels"), least_items=2))
def test_single_and_half_precision(panel):
    array = panel.array()
    assert_same(fused(array.astype(np.float32)), fused(array), 1e-3)
    half = fused(array.astype(np.float16))
    assert np.isfinite(half).all()
    np.testing.assert_allclose(half.sum(axis=1), 1, atol=1e-5)


@generated
@given(panel=ANY)
def test_to_torch(panel):
    torch = pytest.importorskip("torch")
    array = panel.array()
    fitted = cs.Consensus().fit(array)
    assert_same(fitted.to_torch()(torch.tensor(array)).detach().numpy(), fitted.predict_proba(array))


@pytest.mark.parametrize("kind", ["modest", "labels"])
@generated
@given(panel=panels(least_items=3))
def test_to_torch_where_only_some_classes_are_candidates(panel, kind):
    torch = pytest.importorskip("torch")
    array = panel.of_kind(kind).with_classes(MANY).array()
    fitted = cs.Consensus().fit(array)
    assert_same(fitted.to_torch()(torch.tensor(array)).detach().numpy(), fitted.predict_proba(array), NEAR)


def test_dask(rng):
    distributed = pytest.importorskip("distributed")
    dask_array = pytest.importorskip("dask.array")
    array, _ = softmax_members(rng, [3, 2, 1], n_items=60, n_classes=4)
    array[0, :5] = [0.4, 0.4, 0.1, 0.1]  # no vote
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0"):
        lazy = dask_array.from_array(array, chunks=(3, 20, 4))
        fitted, local = cs.Consensus().fit(lazy), cs.Consensus().fit(array)
        assert_same(np.asarray(fitted.posterior_), local.posterior_)
        assert_same(fitted.survey_.by_class, local.survey_.by_class)
        for shares in ([0.4, 0.3, 0.2, 0.1], [40, 30, 20, 10], "even"):
            known = cs.Consensus(class_shares=shares)
            assert_same(np.asarray(known.fit(lazy).posterior_), known.fit(array).posterior_)


# ---- streams ----------------------------------------------------------------------------------------------


@generated
@given(panel=ANY)
def test_a_stream_of_one_batch_is_a_fit(panel):
    array = panel.array()
    streamed = cs.Consensus().partial_fit(array)
    np.testing.assert_array_equal(streamed.posterior_, fused(array))


@generated
@given(panel=panels(least_items=4), forgetting=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_stream_adds_up(panel, forgetting):
    array, half = panel.array(), panel.n_items // 2
    first, second = array[:, :half], array[:, half:]
    alone = [cs.Consensus().fit(part) for part in (first, second)]
    streamed = cs.Consensus(forgetting=forgetting).partial_fit(first).partial_fit(second)
    expected = forgetting * alone[0].agreement_ + alone[1].agreement_
    np.testing.assert_allclose(streamed.agreement_.products, expected.products, atol=1e-9)
    n_items = forgetting * half + len(second[0])
    assert streamed.statistics_.n_items == pytest.approx(n_items)
    assert streamed.survey_.totals[0] == pytest.approx(n_items)
    for posterior in (streamed.posterior_, streamed.predict_proba(array)):
        assert np.isfinite(posterior).all()
        np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-9)


@generated
@given(panel=panels(least_items=4, least_members=2))
def test_a_stream_with_a_member_missing(panel):
    array = panel.array()
    array[0] = np.where(np.isnan(array[0]), 1 / panel.n_classes, array[0])  # it answers everything alone
    names = [f"m{number}" for number in range(panel.n_members)]
    by_name, by_gap = (cs.Consensus().partial_fit(cs.Predictions(array, members=names)) for _ in range(2))
    absent = array.copy()
    absent[1:] = np.nan
    by_name.partial_fit(cs.Predictions(array[:1], members=names[:1]))
    by_gap.partial_fit(cs.Predictions(absent, members=names))
    assert_same(by_name.posterior_, by_gap.posterior_)
    assert_same(
        by_name.predict_proba(array[:1, :2]) if panel.n_members == 1 else by_name.predict_proba(array),
        by_gap.predict_proba(array),
    )


@pytest.mark.parametrize("place", ["agreement", "average_statistics", "added_up", "lazy_posterior"])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_an_interrupted_fit_changes_nothing(rng, place, method, monkeypatch):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=30, n_classes=4)
    fitted = cs.Consensus().fit(array)
    before = {name: value for name, value in vars(fitted).items() if name.endswith("_")}

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    owner = Reader if hasattr(Reader, place) else None
    with monkeypatch.context() as patch:
        if owner is None:
            patch.setattr("consilience.aggregators.consensus.learned.network.LearnedRule.lazy_posterior", interrupted)
        else:
            patch.setattr(Reader, place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            getattr(fitted, method)(array[:, :10])
    after = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    assert after.keys() == before.keys() and all(after[name] is value for name, value in before.items())


# ---- members and answers ----------------------------------------------------------------------------------


@generated
@given(panel=panels())
def test_answers_are_probabilities(panel):
    array = panel.array()
    answer, average = fused(array), average_of(array)
    assert np.isfinite(answer).all() and (answer >= 0).all() and (answer <= 1).all()
    assert (answer[average > 0] > 0).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, atol=1e-9)


@generated
@given(panel=panels(least_members=2, least_items=2))
def test_members_without_any_answer_change_nothing(panel):
    array = panel.array()
    silent = np.full_like(array[:1], np.nan)
    assert_same(fused(np.concatenate([silent, array, silent])), fused(array))


@generated
@given(panel=panels(least_members=2, least_items=2))
def test_hard_members_beside_soft_ones(panel):
    """As labels or as one-hot rows."""
    array = panel.array()
    said = np.where(np.isnan(array[0]).any(axis=1), -1, np.nan_to_num(array[0]).argmax(axis=1))
    one_hot = np.where(said[:, None] < 0, np.nan, np.eye(panel.n_classes)[said])
    labels = cs.Predictions.from_labels(said[None], panel.n_classes, partial=True)
    beside = cs.Predictions.concatenate([cs.Predictions(array[1:], partial=True), labels])
    assert_same(fused(beside), fused(np.concatenate([array[1:], one_hot[None]])))


@pytest.mark.parametrize("n_classes", [2, 5, MANY])
@generated
@given(panel=panels(kinds=("labels",), least_items=2))
def test_labels_and_one_hot_rows_are_the_same(panel, n_classes):
    array = panel.with_classes(n_classes).array()
    labels = np.where(np.isnan(array[:, :, 0]), -1, np.nan_to_num(array).argmax(axis=2))
    assert_same(fused(cs.Predictions.from_labels(labels, n_classes)), fused(array))
    if not np.isnan(array).any():
        assert_same(fused(array.astype(int)), fused(array))


@generated
@given(panel=panels())
def test_a_member_alone_is_averaged(panel):
    array = panel.array()[:1]
    assume(not np.isnan(array).any())
    fitted = cs.Consensus().fit(array)
    assert_same(fitted.posterior_, average_of(array), 1e-12)
    assert_same(fitted.predict_proba(array), average_of(array), 1e-12)


@generated
@given(panel=panels())
def test_an_item_alone_is_averaged(panel):
    array = panel.array()[:, :1]
    assert_same(fused(array), average_of(array), 1e-12)


@generated
@given(panel=ANY)
def test_all_items_twice_have_the_same_answers_twice(panel):
    array = panel.array()
    answers = fused(np.concatenate([array, array], axis=1))
    np.testing.assert_allclose(answers[: panel.n_items], answers[panel.n_items :], atol=1e-12)


@generated
@given(panel=ANY)
def test_answers_given_twice_count_twice(panel):
    """A list of answers may repeat some: they count like another member's."""
    array = panel.array()
    members, items = np.nonzero(~np.isnan(array[:, :, 0]))
    again = np.concatenate([np.arange(len(items)), np.arange(0, len(items), 3)])
    listed = cs.Predictions.from_answers(items[again], members[again], probabilities=array[members, items][again])
    fitted = cs.Consensus().fit(listed)
    posterior = to_numpy(fitted.posterior_)
    assert np.isfinite(posterior).all()
    np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-9)
    once = cs.Predictions.from_answers(items, members, probabilities=array[members, items])
    aligned = np.argsort([int(name) for name in once.items]) if once.items is not None else slice(None)
    assert_same(fused(once)[aligned], fused(array))


@pytest.mark.parametrize("n_classes", [MANY, 1000])
def test_many_classes(rng, n_classes):
    array, truth = softmax_members(rng, [12, 10, 8], n_items=20, n_classes=n_classes)
    answer = fused(array)
    assert (answer > 0).all()
    np.testing.assert_allclose(answer.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(answer, fused(array, chunk_size=3), atol=1e-9)
    assert ((answer.argmax(axis=1) == truth).mean()) > 0.5


def test_more_members_than_are_compared(rng):
    array, _ = softmax_members(rng, rng.uniform(0.5, 3, size=MOST_MEMBERS + 1), n_items=80, n_classes=3)
    silent = np.full_like(array[:1], np.nan)
    assert_same(fused(np.concatenate([array, silent])), fused(array))
    np.testing.assert_allclose(fused(array).sum(axis=1), 1, atol=1e-9)
    votes = cs.Predictions.from_labels(array.argmax(axis=2), 3)
    streamed = cs.Consensus().partial_fit(votes).partial_fit(votes.take(slice(0, 5)))
    assert streamed.gives_votes_.all() and np.isfinite(streamed.posterior_).all()
    assert_same(fused(np.eye(3)[array.argmax(axis=2)]), fused(votes))


@pytest.mark.parametrize("n_items", [1, 2, 15])
def test_where_nobody_votes(rng, n_items):
    """All answers are undecided, on all items or on some: what votes tell is nothing, and the average is symmetric."""
    flat = np.full((3, n_items, 4), 0.25)
    assert_same(fused(flat), flat[0], 1e-9)
    array, _ = softmax_members(rng, [2, 2, 1], n_items=20, n_classes=4)
    mixed = np.concatenate([array, flat], axis=1)
    for chunk_size in (None, 1, 20):
        answers = fused(mixed, chunk_size=chunk_size)
        assert np.isfinite(answers).all()
        assert_same(answers, fused(mixed))
    undecided = np.concatenate([array, np.tile([0.5, 0.5, 0, 0], (1, 20, 1))])  # one member never votes
    assert np.isfinite(fused(undecided)).all()


@generated
@given(panel=ANY)
def test_saved_and_loaded(panel, tmp_path_factory):
    array = panel.array()
    fitted = cs.Consensus(chunk_size=5).fit(array)
    path = tmp_path_factory.mktemp("saved") / "model"
    fitted.save(path)
    loaded = cs.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(array), fitted.predict_proba(array))
    np.testing.assert_array_equal(loaded.partial_fit(array).posterior_, fitted.partial_fit(array).posterior_)
