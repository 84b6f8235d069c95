"""A fit on a real Dask cluster of two worker processes is the fit in memory."""

import dask
import dask.array as da
import numpy as np
import pytest
from dask import delayed
from dask.sizeof import sizeof
from distributed import Client, LocalCluster
from sklearn.base import clone

import consilience as cs
from consilience.maths.em import Scores
from consilience.passes.cluster import ClusterPredictions
from consilience.passes.reader import Expectation, Reader, open_reader

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


def sent_between(dask_worker):
    return sum(sum(entry["keys"].values()) for entry in dask_worker.transfer_incoming_log)


@pytest.mark.parametrize("method", [cs.SoftDawidSkene(max_iter=10), cs.DawidSkene(), cs.Consensus()], ids=repr)
def test_blocks_stay_where_they_are(client, method):
    array, _ = softmax_members(np.random.default_rng(1), [3, 2, 1], n_items=40_000, n_classes=4)
    blocks = client.scatter([array[:, start : start + 5000] for start in range(0, 40_000, 5000)], hash=False)
    before = sum(client.run(sent_between).values())
    clone(method).fit(blocks).posterior_.persist()
    assert sum(client.run(sent_between).values()) - before < array.nbytes / 10


def test_a_pass_takes_few_tasks_however_many_blocks(client, monkeypatch):
    blocks = ClusterPredictions(da.from_array(ARRAY, chunks=(3, 10, 4)))
    reader, n_tasks = open_reader(blocks), []
    expectation = reader.expectation(remembers=True)
    submit = blocks.client.submit
    monkeypatch.setattr(
        blocks.client, "submit", lambda *given, **options: n_tasks.append(1) or submit(*given, **options)
    )
    expectation(Scores(np.zeros(4), np.zeros((3, 4, 4)), np.zeros((3, 4))))
    assert len(blocks.blocks) == 30
    assert len(n_tasks) < 8


def test_a_fit_knows_the_items_without_a_list_of_them(client):
    assert cs.Average().fit(da.from_array(ARRAY, chunks=(3, 70, 4))).items_ == range(300)


@pytest.mark.parametrize("value", [cs.Predictions(ARRAY), Reader(cs.Predictions(ARRAY))])
def test_dask_knows_how_large_our_objects_are(value):
    assert ARRAY.nbytes < sizeof(value) < 1.1 * ARRAY.nbytes
    assert ARRAY.nbytes < sizeof(Expectation(Reader(cs.Predictions(ARRAY)), remembers=True))


# ---- insight into more items than are brought here --------------------------------------------------------

LARGE, LARGE_TRUTH = softmax_members(np.random.default_rng(2), [3, 2, 1], n_items=4000, n_classes=3)
SOME_LABELS = np.where(np.arange(4000) % 40 == 0, LARGE_TRUTH, -1)


@pytest.fixture
def large(client, monkeypatch):
    """Blocks of which a quarter is looked at; whoever computes the whole array is found out."""
    monkeypatch.setattr("consilience.insight.arguments.MOST_BROUGHT", 9000)
    blocks = da.from_array(LARGE, chunks=(3, 500, 3))
    monkeypatch.setattr(type(blocks), "compute", computed_in_part)
    return blocks


def computed_in_part(self, **options):
    assert self.shape[0] < 2000, "all of it is brought here"
    return dask.compute(self, **options)[0]


def test_a_sample_is_diagnosed_under_a_fit_to_all_items(large):
    there, here = cs.diagnose(large, SOME_LABELS), cs.diagnose(LARGE, SOME_LABELS)
    assert there.members["answers"][0] in range(1000, 1101)
    for name in here.answers:
        found, expected = (diagnosis.answers[name] for diagnosis in (there, here))
        assert found.is_measured
        assert found.value == pytest.approx(expected.value, abs=0.01)  # every label is looked at
    np.testing.assert_allclose(there.members["agreement"], here.members["agreement"], atol=0.05)
    np.testing.assert_allclose(there.confusion, here.confusion, atol=0.1)
    assert cs.diagnose(large, aggregator=cs.DawidSkene()).members["answers"] == [1000] * 3


def test_a_comparison_fits_to_all_items_and_scores_every_label(large):
    methods = {"average": cs.Average(), "dawid-skene": cs.DawidSkene()}
    there, here = (cs.compare(data, SOME_LABELS, aggregators=methods).rows() for data in (large, LARGE))
    for found, expected in zip(there, here, strict=True):
        for column in ("method", "verdict"):
            assert found[column] == expected[column]
        for column in ("accuracy", "nll", "brier", "behind"):
            assert found[column] == pytest.approx(expected[column], abs=1e-10, nan_ok=True)
    assert set(cs.compare(large, aggregators=methods)["verdict"]) == {"cannot be told apart without labels"}


def test_other_verbs_look_at_a_sample_or_refuse(large, tmp_path):
    there, here = cs.agreement(large), cs.agreement(LARGE)
    assert there.n_items == 1000
    assert there.alpha.value == pytest.approx(here.alpha.value, abs=0.05)
    shares = [cs.prevalence(data, aggregator=cs.DawidSkene(), n_bootstrap=0).shares for data in (large, LARGE)]
    np.testing.assert_allclose(*shares, atol=0.05)
    names = [suggestion.item for suggestion in cs.suggest(large, SOME_LABELS, n=5)]
    assert len(set(names)) == 5
    assert not set(names) & set(np.flatnonzero(SOME_LABELS >= 0).tolist())
    assert cs.value_of_labels(large, SOME_LABELS, n_folds=2).n_labels == 100
    cs.write_report(tmp_path / "report.html", large, SOME_LABELS)
    assert "1,0" in (tmp_path / "report.html").read_text()
    with pytest.raises(cs.InvalidPredictions, match=r"up to 9,000 numbers .* 4,000 items have 36,000: .*posterior_"):
        cs.answers(large)


def test_a_stream_on_a_cluster_comes_window_by_window(large):
    there, here = (cs.monitor(data, window=500).windows for data in (large, LARGE))
    assert there["alarm"] == here["alarm"]


def test_only_labelled_rows_of_a_posterior_are_brought_here(large):
    there = cs.Average().fit(large)
    found, expected = (cs.evaluate(model.posterior_, SOME_LABELS) for model in (there, cs.Average().fit(LARGE)))
    assert found["nll"].value == pytest.approx(expected["nll"].value)
    with pytest.raises(AssertionError, match="all of it is brought here"):
        there.posterior_.compute()


def test_delayed_blocks_are_looked_at_too(client):
    blocks = [delayed(ARRAY[:, start : start + 100]) for start in (0, 100, 200)]
    np.testing.assert_allclose(cs.diagnose(blocks).confusion, cs.diagnose(ARRAY).confusion)
