"""A Dask frame of votes on a cluster of two worker processes gives what the same votes give in memory."""

import os
import signal

import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.base import clone

import consilience as cs
from consilience.passes import cluster

pytestmark = pytest.mark.filterwarnings("ignore")  # Dask's and its dependencies' own

pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

CLASSES = np.array(["cat", "dog", "fox"])


def votes(n_items=400, seed=0):
    """A crowd of eight, each on half of the items, in any order; some votes are NA, and some are given twice."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=n_items)
    item, worker = np.nonzero(rng.random((n_items, 8)) < 0.5)
    item, worker = np.append(item, np.arange(n_items)), np.append(worker, np.zeros(n_items, dtype=int))
    said = np.where(rng.random(len(item)) < 0.8 - 0.05 * worker, truth[item], rng.integers(3, size=len(item)))
    labels = np.where((rng.random(len(item)) < 0.05) & (worker > 0), "NA", CLASSES[said])
    frame = pd.DataFrame(
        {"task": [f"t{place:03d}" for place in item], "worker": [f"w{place}" for place in worker], "label": labels}
    )
    order = rng.permutation(len(frame))
    return frame.iloc[order].reset_index(drop=True), {f"t{place:03d}": CLASSES[k] for place, k in enumerate(truth)}


FRAME, TRUTH = votes()


@pytest.fixture(scope="module")
def client():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made,
        Client(made) as connected,
    ):
        yield connected


def by_name(model):
    rows = model.posterior_ if isinstance(model.posterior_, np.ndarray) else model.posterior_.compute()
    return pd.DataFrame(rows, index=list(model.items_), columns=model.classes_).sort_index()


METHODS = [
    cs.Average(),
    cs.MajorityVote(),
    cs.DawidSkene(),
    cs.BayesianClassifierCombination(),
    cs.SoftDawidSkene(max_iter=5),
    cs.Consensus(),
]


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_votes_on_a_cluster_give_what_they_give_in_memory(client, method):
    here = clone(method).fit(cs.Predictions.from_frame(FRAME))
    there = clone(method).fit(dd.from_pandas(FRAME, npartitions=5))
    assert (there.members_, there.classes_) == (here.members_, here.classes_)
    assert len(there.items_) == 400
    pd.testing.assert_frame_equal(by_name(there), by_name(here), atol=1e-10, rtol=0)
    np.testing.assert_allclose(there.confusion_, here.confusion_, atol=1e-10)


def test_new_votes_are_matched_by_the_names_of_members(client):
    new = FRAME[(FRAME["worker"] != "w3") & (FRAME["task"] < "t100")]
    model = cs.DawidSkene().fit(cs.Predictions.from_frame(FRAME))
    blocks = cluster.ClusterPredictions(dd.from_pandas(new, npartitions=3))
    there = pd.DataFrame(model.predict_proba(blocks).compute(), index=list(blocks.items)).sort_index()
    local = cs.Predictions.from_frame(new)
    here = pd.DataFrame(model.predict_proba(local), index=local.items).sort_index()
    pd.testing.assert_frame_equal(there, here, atol=1e-10, rtol=0)


def test_a_sorted_frame_is_not_sorted_again(client, monkeypatch):
    frame = dd.from_pandas(FRAME.set_index("task").sort_index(), npartitions=4)
    monkeypatch.setattr(type(frame), "shuffle", None)
    there = cs.DawidSkene().fit(frame)
    here = cs.DawidSkene().fit(cs.Predictions.from_frame(FRAME))
    pd.testing.assert_frame_equal(by_name(there), by_name(here), atol=1e-10, rtol=0)


def test_labels_are_matched_by_the_names_of_items(client):
    known = {name: label for name, label in TRUTH.items() if name < "t040"}
    frame = dd.from_pandas(FRAME, npartitions=5)
    here = cs.DawidSkene().fit(cs.Predictions.from_frame(FRAME), known)
    for given in (known, pd.Series(known)):
        pd.testing.assert_frame_equal(by_name(cs.DawidSkene().fit(frame, given)), by_name(here), atol=1e-10, rtol=0)
    with pytest.raises(cs.InvalidPredictions, match="labels must name their items"):
        cs.DawidSkene().fit(frame, list(TRUTH.values()))
    with pytest.raises(cs.InvalidPredictions, match="must have votes on the cluster; 'nobody' has none"):
        cs.DawidSkene().fit(frame, known | {"nobody": "cat"})


@pytest.mark.parametrize("most", [2**24, 1800], ids=["all", "a sample"])
def test_insight_into_votes(client, monkeypatch, most):
    monkeypatch.setattr("consilience.insight.arguments.MOST_BROUGHT", most)
    known = {name: label for name, label in TRUTH.items() if name < "t060"}
    frame, local = dd.from_pandas(FRAME, npartitions=5), cs.Predictions.from_frame(FRAME)
    methods = {"average": cs.Average(), "dawid-skene": cs.DawidSkene()}
    there, here = (cs.compare(data, known, aggregators=methods) for data in (frame, local))
    np.testing.assert_allclose(there["nll"], here["nll"], atol=1e-10)
    assert cs.diagnose(frame, known, aggregator=cs.DawidSkene()).classes == ["cat", "dog", "fox"]
    suggested = cs.suggest(frame, known, n=3)
    assert all(own.item in TRUTH and own.item not in known for own in suggested)


def test_an_item_is_explained_by_its_name(client):
    numbered = FRAME.assign(task=FRAME["task"].str[1:].astype(int) + 1)  # names that could be taken for positions
    frame, local = dd.from_pandas(numbered, npartitions=5), cs.Predictions.from_frame(numbered)
    model = cs.DawidSkene().fit(local)
    there, here = (cs.explain(data, 7, aggregator=model) for data in (frame, local))
    assert there.item == here.item == 7
    np.testing.assert_allclose(there.posterior, here.posterior, atol=1e-10)
    with pytest.raises(cs.InvalidPredictions, match="must have votes on the cluster; 4000 has none"):
        cs.explain(frame, 4000, aggregator=model)
    with pytest.raises(cs.InvalidPredictions, match="votes in a Dask frame have none"):
        cs.monitor(frame, window=100)


def test_a_parquet_data_set_is_read_by_the_workers(client, tmp_path):
    for place in range(3):
        FRAME[place::3].to_parquet(tmp_path / f"part-{place}.parquet")
    there = cs.DawidSkene().fit(dd.read_parquet(tmp_path))
    pd.testing.assert_frame_equal(
        by_name(there), by_name(cs.DawidSkene().fit(cs.Predictions.from_frame(FRAME))), atol=1e-10, rtol=0
    )
    there.save(tmp_path / "model.npz")
    assert sorted(cs.load(tmp_path / "model.npz").items_) == sorted(TRUTH)


def test_bad_frames_are_refused_in_a_sentence(client):
    with pytest.raises(cs.InvalidPredictions, match="a row for each vote, with columns such as task, worker and label"):
        cs.DawidSkene().fit(dd.from_pandas(pd.DataFrame({"item": range(50), "cat": 0.2, "dog": 0.8}), npartitions=2))
    holes = FRAME.assign(task=FRAME["task"].where(FRAME.index > 3))
    with pytest.raises(cs.InvalidPredictions, match="column 'task' must have no missing values"):
        cs.DawidSkene().fit(dd.from_pandas(holes, npartitions=2))
    with pytest.raises(cs.InvalidPredictions, match="must have rows; got none"):
        cs.DawidSkene().fit(dd.from_pandas(FRAME[:0], npartitions=1))
    silent = pd.concat([FRAME, pd.DataFrame({"task": ["quiet"], "worker": ["w0"], "label": ["NA"]})])
    with pytest.raises(cs.InvalidPredictions, match="each item needs an answer of at least one member; item 'quiet'"):
        cs.DawidSkene().fit(dd.from_pandas(silent.reset_index(drop=True), npartitions=2))


def test_a_worker_killed_in_a_fit_to_votes(monkeypatch):
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as made,
        Client(made) as connected,
    ):
        pids, real, passes = list(connected.run(os.getpid).values()), cluster.tree_sum, []

        def tree_sum(client, parts):
            passes.append(None)
            if len(passes) == 3:
                os.kill(pids[0], signal.SIGKILL)
            return real(client, parts)

        monkeypatch.setattr(cluster, "tree_sum", tree_sum)
        there = cs.DawidSkene(max_iter=6, tol=None).fit(dd.from_pandas(FRAME, npartitions=5))
        here = cs.DawidSkene(max_iter=6, tol=None).fit(cs.Predictions.from_frame(FRAME))
        pd.testing.assert_frame_equal(by_name(there), by_name(here), atol=1e-10, rtol=0)
