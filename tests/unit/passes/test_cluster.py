"""Blocks, sums and lost workers, on a client that computes at once; `tests/equivalence` has a real cluster."""

from itertools import pairwise

import numpy as np
import pytest

import consilience as cs
from consilience.maths.em import Scores
from consilience.passes import cluster
from consilience.passes.cluster import ClusterPredictions, ClusterReader, tree_sum
from consilience.passes.reader import Reader, open_reader, read_anywhere

from simulate import softmax_members

pytest.importorskip("distributed")

ARRAY, _ = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=50, n_classes=4, missing=0.1)
EDGES = [0, 20, 20, 35, 50]  # one block is empty
FIELDS = ("n_items", "class_counts", "answer_counts", "sums", "log_evidence")


class Done:
    """A future whose result is there."""

    status = "finished"

    def __init__(self, value, client):
        self.value, self.client, self.key = value, client, id(self)

    def result(self):
        return self.value


def value_of(given):
    if isinstance(given, list):
        return [value_of(own) for own in given]
    return given.value if isinstance(given, Done) else given


class AtOnce:
    """A client that computes what is submitted at once, and counts it."""

    def __init__(self):
        self.submitted = []

    def submit(self, function, *arguments, **_):
        self.submitted.append(function)
        return Done(function(*map(value_of, arguments)), self)

    def who_has(self, futures):
        return {future.key: [f"worker {place % 2}"] for place, future in enumerate(futures)}

    def nthreads(self):
        return {"worker 0": 1, "worker 1": 1}

    def scatter(self, values, *, hash):  # noqa: A002, ARG002 - Dask's name. No broadcast: it may not end where a worker dies
        return [Done(value, self) for value in values]

    def gather(self, futures):
        return [future.result() for future in futures]

    def compute(self, values):
        return values


@pytest.fixture
def client(monkeypatch):
    made = AtOnce()
    monkeypatch.setattr(cluster, "_client", lambda: made)
    monkeypatch.setattr(cluster, "_finished", lambda futures: futures)
    return made


def blocks(array=ARRAY, edges=EDGES):
    return [array[:, first:last] for first, last in pairwise(edges)]


def scores_of(seed=1):
    rng = np.random.default_rng(seed)
    return Scores(rng.normal(size=4), rng.normal(size=(3, 4, 4)), rng.normal(size=(3, 4)))


def assert_same(one, other):
    for name in FIELDS:
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-12)


@pytest.mark.parametrize("first", ["harden", "votes", "ballots"])
@pytest.mark.parametrize("second", ["harden", "votes", "ballots"])
def test_answers_that_are_labels_already_stay_so(client, first, second):
    rows = np.array([[[0.6, 0.2, 0.2], [0.4, 0.4, 0.2], [0.1, 0.2, 0.7]]] * 2)
    there, here = ClusterPredictions([rows[:, :2], rows[:, 2:]]), cs.Predictions(rows)
    for name in (first, second):
        there, here = getattr(there, name)(), getattr(here, name)()
    np.testing.assert_array_equal(
        np.concatenate([block.result().to_array() for block in there.blocks], axis=1), here.to_array()
    )


@pytest.mark.parametrize(("n_parts", "n_tasks"), [(1, 0), (2, 1), (8, 1), (9, 2), (17, 3)])
def test_a_tree_adds_every_part_once(client, n_parts, n_tasks):
    parts = [client.submit(lambda value=value: 10**value) for value in range(n_parts)]
    client.submitted.clear()
    assert tree_sum(client, parts) == int("1" * n_parts)
    assert len(client.submitted) == n_tasks


@pytest.mark.parametrize(("n_bytes", "groups"), [(1, [[0, 2, 4], [1, 3]]), (2**26, [[0, 2], [4], [1, 3]])])
def test_small_blocks_of_a_worker_are_visited_together(client, n_bytes, groups):
    owners = [f"worker {place % 2}" for place in range(5)]
    assert cluster._together(client, owners, np.full(5, n_bytes)) == groups


def test_a_worker_with_much_data_has_few_tasks(client):
    groups = cluster._together(client, ["a"] * 1000, np.full(1000, 2**26))
    assert len(groups) == cluster.MOST_TASKS
    assert sorted(place for group in groups for place in group) == list(range(1000))


def test_several_threads_of_a_worker_have_work(client, monkeypatch):
    monkeypatch.setattr(client, "nthreads", lambda: {"a": 2})
    assert cluster._together(client, ["a"] * 5, np.full(5, 10)) == [[0, 1], [2, 3, 4]]
    assert cluster._together(client, ["a", None, "gone"], np.full(3, 10)) == [[0], [1], [2]]


def test_items_are_counted_across_blocks_and_empty_ones_left_out(client):
    predictions = ClusterPredictions(blocks())
    assert (predictions.n_members, predictions.n_items, predictions.n_classes) == (3, 50, 4)
    assert predictions.starts.tolist() == [0, 20, 35, 50] and len(predictions.blocks) == 3
    assert predictions.items == range(50)
    assert predictions.answering() == ([0, 1, 2], []) and predictions.is_soft.all()


@pytest.mark.parametrize("items", [[41, 3, 20], slice(18, 22)], ids=["positions", "a range"])
def test_items_are_taken_from_the_blocks_that_have_them(client, items):
    found = ClusterPredictions(blocks()).take(items)
    assert found.items == np.arange(50)[items].tolist()
    np.testing.assert_array_equal(found.to_array(), ARRAY[:, items])


def test_wrong_blocks_are_named(client):
    with pytest.raises(cs.InvalidPredictions, match=r"block 0 has shape \(3, 20, 4\), block 1 \(2, 20, 4\)$"):
        ClusterPredictions([ARRAY[:, :20], ARRAY[:2, :20]])
    with pytest.raises(cs.InvalidPredictions, match=r"each block must be \(members, items, classes\)"):
        ClusterPredictions([ARRAY[0]])
    with pytest.raises(cs.InvalidPredictions, match=r"must be \(members, items, classes\); got 2 dimensions"):
        ClusterPredictions(ARRAY[0])
    bad = ARRAY.copy()
    bad[1, 40] = 0.4
    with pytest.raises(cs.InvalidPredictions, match="item 40 of member 1 sums to 1.6"):
        ClusterPredictions(blocks(bad))


def test_a_fit_of_other_members_or_classes(client):
    predictions = ClusterPredictions(blocks())
    assert predictions.aligned([0, 1, 2], list("abcd")) is predictions
    message = "^predictions must have the 2 members and 4 classes of the fit; got 3 and 4$"
    with pytest.raises(cs.InvalidPredictions, match=message):
        predictions.aligned([0, 1], list("abcd"))


def test_without_a_cluster_there_is_one_sentence():
    with pytest.raises(cs.InvalidPredictions, match="^a Dask array needs a cluster: start a dask.distributed.Client"):
        ClusterPredictions(blocks())


def test_predictions_on_a_cluster_have_their_own_reader(client):
    predictions = ClusterPredictions(blocks())
    assert read_anywhere(predictions) is predictions
    assert isinstance(open_reader(predictions, chunk_size=6), ClusterReader)


@pytest.mark.parametrize("known", [None, np.where(np.arange(50) < 10, 1, -1)], ids=["unknown", "known"])
def test_sums_over_blocks_are_those_of_memory(client, known):
    """Blocks without a known label are read as if nothing were known."""
    there = ClusterReader(ClusterPredictions(blocks()), log_floor=1e-10, chunk_size=6, known=known)
    here = Reader(cs.Predictions(ARRAY), log_floor=1e-10, known=known)
    weights = np.array([1.0, 2.0, 3.0])
    assert_same(there.average_statistics(there, weights), here.average_statistics(here, weights))
    np.testing.assert_allclose(there.agreement().products, here.agreement().products, rtol=1e-12)
    assert_same(there.expectation(remembers=False)(scores_of()), here.expectation(remembers=False)(scores_of()))


def test_hard_answers_stay_on_the_workers(client):
    there = ClusterReader(ClusterPredictions(blocks()).harden()).agreement()
    np.testing.assert_array_equal(there.products, Reader(cs.Predictions(ARRAY).harden()).agreement().products)


# ---- workers that are lost --------------------------------------------------------------------------------


def run(expectation, n_passes=4):
    return [expectation(scores_of(seed), averaging=0.3) for seed in range(n_passes)]


def posterior_of(expectation, reader):
    """What each worker's share makes of its items, side by side."""
    rows = {
        place: cluster._averaged_rows(reader.chunks[place].result(), state.result(), within)
        for group, state in zip(reader.predictions.groups, expectation._states, strict=True)
        for within, place in enumerate(group)
    }
    return np.concatenate([rows[place] for place in range(len(rows))])


def losing(monkeypatch, *attempts):
    """Have the data of some attempts at a pass be lost, the first attempt being 1."""
    real, made = cluster.tree_sum, []

    def tree_sum(client, parts):
        made.append(1)
        if len(made) in attempts:
            raise TimeoutError("a worker is gone")
        return real(client, parts)

    monkeypatch.setattr(cluster, "tree_sum", tree_sum)
    return made


@pytest.mark.parametrize("remembers", [True, False])
def test_passes_are_repeated_where_a_worker_was_lost(client, monkeypatch, remembers):
    """In the third pass, and once more while the first two are repeated."""
    reader = ClusterReader(ClusterPredictions(blocks()))
    undisturbed = reader.expectation(remembers=remembers)
    expected = run(undisturbed)
    made = losing(monkeypatch, 3, 5)
    expectation = reader.expectation(remembers=remembers)
    for found, wanted in zip(run(expectation), expected, strict=True):
        assert_same(found, wanted)
    assert len(made) == (4 + 2 + 3 if remembers else 6)  # lost, repeated up to the loss, repeated
    if remembers:
        np.testing.assert_allclose(posterior_of(expectation, reader), posterior_of(undisturbed, reader), rtol=1e-12)


def test_the_posterior_is_that_of_memory(client):
    reader, here = ClusterReader(ClusterPredictions(blocks())), Reader(cs.Predictions(ARRAY))
    there, expectation = reader.expectation(remembers=True), here.expectation(remembers=True)
    run(there)
    run(expectation)
    np.testing.assert_allclose(posterior_of(there, reader), expectation.posterior(here).to_array(), atol=1e-12)


def test_a_fit_gives_up_after_some_attempts(client, monkeypatch):
    expectation = ClusterReader(ClusterPredictions(blocks())).expectation(remembers=False)
    made = losing(monkeypatch, *range(1, 100))
    with pytest.raises(RuntimeError, match="^the cluster lost its data.*, and cannot go on: a worker is gone$"):
        expectation(scores_of())
    assert len(made) == cluster.N_ATTEMPTS


def test_other_errors_are_not_repeated(client, monkeypatch):
    expectation = ClusterReader(ClusterPredictions(blocks())).expectation(remembers=False)
    monkeypatch.setattr(cluster, "tree_sum", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        expectation(scores_of())


def test_scores_that_the_fit_goes_on_to_change_are_repeated_as_they_were(client, monkeypatch):
    """Two passes, the second lost; the fit writes into its scores in between."""
    reader = ClusterReader(ClusterPredictions(blocks()))
    made = losing(monkeypatch, 4)
    results = []
    for _ in range(2):  # undisturbed (attempts 1 and 2), then disturbed (3, 4 lost, 5 and 6)
        expectation, scores = reader.expectation(remembers=True), scores_of()
        expectation(scores, averaging=0.5)
        scores.weights[:] = scores_of(seed=9).weights
        expectation(scores, averaging=0.5)
        results.append(posterior_of(expectation, reader))
    assert len(made) == 6
    np.testing.assert_allclose(results[1], results[0], rtol=1e-12)
