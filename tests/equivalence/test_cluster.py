"""A fit on a real Dask cluster of two worker processes is the fit in memory."""

import dask.array as da
import numpy as np
import pytest
from dask import delayed
from distributed import Client, LocalCluster
from sklearn.base import clone

import consilience as cs
from consilience.passes.cluster import ClusterPredictions

from simulate import softmax_members

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's and its dependencies' own

ARRAY, TRUTH = softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=300, n_classes=4, missing=0.1)
METHODS = [
    cs.Average(),
    cs.Average(kind="geometric"),
    cs.MajorityVote(),
    cs.DawidSkene(),
    cs.BayesianClassifierCombination(),
    cs.Consensus(),
    cs.SoftDawidSkene(averaging=0.1, max_iter=8),
]


def test_without_a_cluster_there_is_one_sentence():
    with pytest.raises(cs.InvalidPredictions, match="start a dask.distributed.Client first"):
        cs.DawidSkene().fit(da.from_array(ARRAY))


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as connected,
    ):
        yield connected


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_cluster_gives_what_memory_gives(client, method):
    blocks = da.from_array(ARRAY, chunks=(2, 70, 4))
    there, here = clone(method).fit(blocks), clone(method).fit(ARRAY)
    assert isinstance(there.posterior_, da.Array)
    np.testing.assert_allclose(there.posterior_.compute(), here.posterior_, atol=1e-10)
    np.testing.assert_allclose(there.confusion_, here.confusion_, atol=1e-10)
    new = there.predict_proba(blocks[:, :100])
    assert isinstance(new, da.Array)
    np.testing.assert_allclose(new.compute(), here.predict_proba(ARRAY[:, :100]), atol=1e-10)


@pytest.mark.parametrize("method", [cs.SoftDawidSkene(averaging=0.1, max_iter=4), cs.Consensus()], ids=repr)
def test_known_labels_and_explanations(client, method):
    labels = np.where(np.arange(300) % 5 == 0, TRUTH, -1)
    blocks = da.from_array(ARRAY, chunks=(3, 70, 4))
    there, here = (clone(method).fit(data, labels) for data in (blocks, ARRAY))
    np.testing.assert_allclose(there.posterior_.compute(), here.posterior_, atol=1e-10)
    assert cs.explain(blocks, 200, aggregator=there).log_odds == pytest.approx(
        cs.explain(ARRAY, 200, aggregator=here).log_odds
    )


def test_insight_brings_the_items_here_once(client, monkeypatch):
    """It looks at the items again and again; a pass over the cluster each time took minutes."""
    blocks, labels = da.from_array(ARRAY, chunks=(3, 70, 4)), np.where(np.arange(300) % 5 == 0, TRUTH, -1)
    monkeypatch.setattr("consilience.passes.cluster.ClusterPredictions.__init__", None)
    one = {"aggregators": {"average": cs.Average()}}
    assert cs.compare(blocks, labels, **one)["nll"] == pytest.approx(cs.compare(ARRAY, labels, **one)["nll"])
    average = cs.Average()
    assert cs.suggest(blocks, n=5, aggregator=average).items == cs.suggest(ARRAY, n=5, aggregator=average).items
    assert cs.value_of_labels(blocks, labels, n_folds=2).after == cs.value_of_labels(ARRAY, labels, n_folds=2).after


def test_items_are_brought_here_in_the_order_asked(client):
    blocks = ClusterPredictions(da.from_array(ARRAY, chunks=(3, 70, 4)))
    for items in ([250, 3, 140, 4], slice(60, 150), np.arange(300) % 7 == 0):
        expected = cs.Predictions(ARRAY).take(np.arange(300)[items])
        np.testing.assert_array_equal(blocks.take(items).to_array(), expected.to_array())


def test_a_block_gives_all_its_items_at_once(client, monkeypatch):
    """A sample of a large panel has tens of thousands of items, and a task takes a millisecond."""
    blocks, n_tasks = ClusterPredictions(da.from_array(ARRAY, chunks=(3, 70, 4))), []
    submit = blocks.client.submit
    monkeypatch.setattr(blocks.client, "submit", lambda *given: n_tasks.append(1) or submit(*given))
    assert blocks.take(np.arange(300)).n_items == 300
    assert len(n_tasks) == 5


def test_emptied_blocks_and_chunks_of_the_posterior(client):
    blocks = [delayed(ARRAY[:, first:last]) for first, last in ((0, 100), (100, 100), (100, 140))]
    there = cs.DawidSkene().fit(blocks)
    pieces = list(there.posterior_chunks())
    assert [(first, last) for first, last, _ in pieces] == [(0, 100), (100, 140)]
    expected = cs.DawidSkene().fit(ARRAY[:, :140]).posterior_
    np.testing.assert_allclose(np.concatenate([rows for _, _, rows in pieces]), expected, atol=1e-10)


def test_a_member_fitted_on_labels_is_refused_probabilities(client):
    people = cs.Predictions.from_labels(np.nan_to_num(ARRAY[:1]).argmax(axis=2), 4)
    sds = cs.SoftDawidSkene(max_iter=2).fit(cs.Predictions.concatenate([ARRAY[:2], people]))
    with pytest.raises(cs.InvalidPredictions, match="member 2 must answer as it did in the fit, by labels"):
        sds.predict_proba(da.from_array(ARRAY, chunks=(3, 70, 4)))


def test_delayed_blocks(client):
    blocks = [delayed(ARRAY[:, start : start + 100]) for start in (0, 100, 200)]
    there, here = cs.DawidSkene().fit(blocks), cs.DawidSkene().fit(ARRAY)
    np.testing.assert_allclose(there.posterior_.compute(), here.posterior_, atol=1e-10)


def test_wrong_blocks_are_named(client):
    bad = ARRAY.copy()
    bad[1, 250] = 0.4
    with pytest.raises(cs.InvalidPredictions, match="item 250 of member 1 sums to 1.6"):
        cs.DawidSkene().fit(da.from_array(bad, chunks=(3, 70, 4)))
    with pytest.raises(cs.InvalidPredictions, match="got 2 dimensions"):
        cs.DawidSkene().fit(da.from_array(bad[0]))
    with pytest.raises(cs.InvalidPredictions, match="block 0 has shape .*, block 1"):
        cs.DawidSkene().fit([delayed(ARRAY), delayed(ARRAY[:2])])
