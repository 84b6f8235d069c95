"""Other people's methods on small panels; each is skipped where its library is not installed."""

import time
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from benchmarks.quality.panel import Panel
from benchmarks.quality.peers import PEERS, crowd_kit
from benchmarks.quality.peers.peer import Answers, Peer, answers_of
from benchmarks.quality.peers.run import Runner, _limited

ROUNDED = 1e-5
"""HyperLM and Snorkel compute in single precision, and differ by 2e-6 at most on these panels."""

QUICK = [name for name in PEERS if not name.endswith("100 iterations")]
"""The others are the same methods, run for longer."""


@pytest.fixture(params=QUICK)
def peer(request):
    one = PEERS[request.param]
    pytest.importorskip(one.library)
    return one


def drawn(n_classes=2, n_members=7, n_items=40, with_probabilities=False, seed=0):
    """Members that are right three times in four, and the truth; no ties, which each method breaks in its way."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=4 * n_items)
    is_right = rng.random((n_members, len(truth))) < np.linspace(0.6, 0.9, n_members)[:, None]
    votes = np.where(is_right, truth, rng.integers(n_classes, size=is_right.shape))
    votes[2:][rng.random(votes[2:].shape) < 0.2] = -1
    counts = np.sort((votes[:, :, None] == np.arange(n_classes)).sum(axis=0), axis=1)
    items = np.flatnonzero(counts[:, -1] > counts[:, -2])[:n_items]
    votes, truth = votes[:, items], truth[items]
    if not with_probabilities:
        return Panel("drawn", "drawn", "as it is", truth, n_classes, labels=votes)
    rows = rng.dirichlet(np.ones(n_classes), size=votes.shape) + 2 * np.eye(n_classes)[votes]
    rows[votes < 0] = np.nan
    return Panel("drawn", "drawn", "as it is", truth, n_classes, rows / rows.sum(axis=2, keepdims=True))


def panel_for(peer):
    """A panel that the peer applies to: of three classes, or of two for those that are defined for two."""
    return drawn(3) if peer.applies_to(drawn(3)) else drawn(2)


@cache
def posterior_of(peer):
    return peer(panel_for(peer))


def assert_is_posterior(found, panel):
    assert found.shape == (panel.n_items, panel.n_classes)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


def test_gives_a_posterior_of_all_items_that_is_better_than_chance(peer):
    panel = panel_for(peer)
    assert_is_posterior(posterior_of(peer), panel)
    assert (posterior_of(peer).argmax(axis=1) == panel.truth).mean() > 0.75


def test_never_sees_the_truth_and_leaves_no_trace(peer, capfd, recwarn):
    panel = panel_for(peer)
    other = replace(panel, truth=np.random.default_rng(1).permutation(panel.truth))
    before = np.random.get_state()[1]  # noqa: NPY002 - peers use the global generator
    np.testing.assert_array_equal(peer(other), posterior_of(peer))
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002
    assert capfd.readouterr() == ("", "")
    assert not recwarn.list


def test_the_order_of_items_members_and_classes_is_irrelevant(peer):
    """With three classes. With two, HyperLM scores only the second, and may change by a tenth if they are swapped."""
    panel = panel_for(peer)
    items, members = (np.random.default_rng(2).permutation(n) for n in (panel.n_items, panel.n_members))
    renamed = np.append(np.roll(np.arange(panel.n_classes), 1), -1)  # the last is a missing vote's
    other = replace(panel, labels=renamed[panel.labels[members][:, items]], truth=renamed[panel.truth[items]])
    expected, found = posterior_of(peer)[items], peer(other)[:, renamed[:-1]]
    np.testing.assert_allclose(expected, found, atol=ROUNDED)


def test_the_silent_change_nothing(peer):
    panel = panel_for(peer)
    padded = np.pad(panel.labels, ((1, 1), (1, 2)), constant_values=-1)
    other = replace(panel, labels=padded, truth=np.pad(panel.truth, (1, 2)))
    found = peer(other)
    assert_is_posterior(found, other)
    np.testing.assert_array_equal(found[[0, -2, -1]], 1 / panel.n_classes)
    np.testing.assert_allclose(found[1:-2], posterior_of(peer), atol=ROUNDED)


def test_a_class_without_votes_stays_in_its_place(peer):
    panel = drawn(3)
    skipped = replace(panel, n_classes=5, labels=np.array([0, 2, 4, -1])[panel.labels], truth=2 * panel.truth)
    if not peer.applies_to(skipped):
        assert peer.name == "KOS"
        return
    found = peer(skipped)
    assert_is_posterior(found, skipped)
    assert (found.argmax(axis=1) == skipped.truth).mean() > 0.75
    assert (found[:, [1, 3]].max(axis=1) < found.max(axis=1)).all()


def test_cleanlab_reads_probabilities():
    one = PEERS["cleanlab"]
    pytest.importorskip(one.library)
    panel = drawn(3, with_probabilities=True)
    found = one(panel)
    assert_is_posterior(found, panel)
    assert np.abs(found - one(replace(panel, probabilities=None, labels=panel.votes))).max() > 0.01


def test_every_peer_gets_the_same_votes():
    panel = drawn(2, with_probabilities=True)
    seen = []
    for one in PEERS.values():
        spy = Peer(one.name, one.reads, one.library, lambda answers: (seen.append(answers), answers.average)[1])
        spy(panel)
    assert len(seen) == len(PEERS)
    for answers in seen:
        np.testing.assert_array_equal(answers.votes, panel.votes)


def test_conditions_give_their_reasons():
    one_class = Panel("same", "same", "as it is", np.zeros(9, int), 2, labels=np.zeros((4, 9), int))
    assert not any(one.applies_to(one_class) for one in PEERS.values())
    assert PEERS["KOS"].reason_against(drawn(3)) == "is defined for two classes"
    assert "members" in PEERS["M-MSR"].reason_against(drawn(2, n_members=101))
    assert "three members" in PEERS["Snorkel's label model"].reason_against(drawn(2, n_members=2))
    alone = np.full((4, 8), -1)
    alone[np.arange(8) % 4, np.arange(8)] = np.arange(8) // 4
    assert "two answers" in PEERS["cleanlab"].reason_against(replace(drawn(2, n_items=8), labels=alone))


def test_half_precision_rows_are_normalized():
    panel = drawn(3, with_probabilities=True)
    answers = answers_of(replace(panel, probabilities=(panel.probabilities * 0.99).astype(np.float16)))
    np.testing.assert_allclose(answers.average.sum(axis=1), 1, atol=1e-12)


def test_frames_number_workers_and_labels_as_they_appear():
    frame, classes = crowd_kit.frame_of(Answers(np.array([[-1, 2], [4, 2]]), None, 5))
    assert frame.to_numpy().tolist() == [[0, 0, 0], [1, 1, 1], [1, 0, 1]]
    assert classes.tolist() == [4, 2]


@pytest.mark.filterwarnings("ignore:.*inplace:Warning")  # their pandas
def test_restarts_of_mace_are_equal():
    """Why one restart is enough."""
    aggregation = pytest.importorskip("crowdkit.aggregation")
    frame, _ = crowd_kit.frame_of(answers_of(drawn(3)))
    once, twice = (aggregation.MACE(n_restarts=n).fit(frame).probas_ for n in (1, 2))
    np.testing.assert_array_equal(once, twice)


def test_posterior_of_cleanlab_is_its_own_at_the_consensus_label():
    pytest.importorskip("cleanlab")
    from benchmarks.quality.peers.cleanlab import posterior_and_quality

    for with_probabilities in (False, True):
        answers = answers_of(drawn(4, with_probabilities=with_probabilities))
        posterior, labels, quality = posterior_and_quality(answers)
        np.testing.assert_allclose(posterior[np.arange(len(labels)), labels], quality, rtol=1e-9)


@pytest.mark.parametrize(("name", "error"), [("majority vote", 24.1), ("Dawid-Skene, 100 iterations", 10.2)])
def test_published_errors_on_bluebird(shared, name, error):
    pytest.importorskip("crowdkit.aggregation")
    data = shared("crowd.npz")
    item, worker, label, gold = (data[f"bluebird/{key}"].astype(int) for key in ("item", "worker", "label", "gold"))
    votes = np.full((worker.max() + 1, len(gold)), -1)
    votes[worker, item] = label
    found = PEERS[name](Panel("bluebird", "bluebird", "as it is", gold, 2, labels=votes))
    assert 100 * (found.argmax(axis=1) != gold).mean() == pytest.approx(error, abs=0.05)


def test_runner_gives_the_same_as_a_call_and_ends_what_takes_too_long():
    pytest.importorskip("crowdkit.aggregation")
    panel = drawn(3)
    with Runner(limit=60) as runner:
        outcome = runner.run("majority vote", panel)
        np.testing.assert_array_equal(outcome.posterior, PEERS["majority vote"](panel))
        assert outcome.seconds > 0 and not outcome.reason
        assert runner.run("KOS", panel).reason == "is defined for two classes"
        runner.limit = 0
        late = runner.run("GLAD", panel)
        assert late.posterior is None and late.reason == "takes more than 0 s"
        runner.limit = 60
        again = runner.run("majority vote", panel)
        np.testing.assert_array_equal(again.posterior, outcome.posterior)


def spin():
    while True:
        sum(range(1000))


def test_the_limit_is_processor_time():
    with _limited(0.05):
        time.sleep(0.2)  # waiting costs none
    with pytest.raises(TimeoutError), _limited(0.05):
        spin()
