"""What is suggested to be labelled: whom it favours, how it spreads, and what it leaves out."""

import numpy as np
import pytest

import consilience as cs

from simulate import diagonal_confusion, labels_from_confusion, named, softmax_members


@pytest.fixture
def members(rng):
    """Three members of 2,000 items and four classes, some answers missing."""
    array, truth = softmax_members(rng, [5, 4, 3], 2000, 4, missing=0.1)
    return cs.Predictions(array, members=["vit", "cnn", "knn"], classes=["ant", "bee", "cat", "dog"]), truth


def entropy(posterior):
    return -(posterior * np.log(np.maximum(posterior, 1e-12))).sum(axis=1)


def test_uncertain_items_are_favoured_but_not_they_alone(members):
    p, _ = members
    posterior = cs.Consensus().fit(p).posterior_
    uncertainty = entropy(posterior)
    chosen = uncertainty[cs.suggest(p, n=200).positions]
    top = np.sort(uncertainty)[-200:]
    assert uncertainty.mean() * 1.05 < chosen.mean() < top.mean() * 0.95
    assert (chosen < np.median(uncertainty)).sum() > 20  # some that are easy, or nothing is learned of them


def test_every_answer_has_its_share(members):
    p, _ = members
    posterior = cs.Consensus().fit(p).posterior_
    suggested = cs.suggest(p, n=80)
    counts = np.bincount(posterior[suggested.positions].argmax(axis=1), minlength=4)
    expected = 80 * np.bincount(posterior.argmax(axis=1), weights=entropy(posterior)) / entropy(posterior).sum()
    np.testing.assert_allclose(counts, expected, atol=6)  # drawn one by one they would differ by about twice that
    first = np.bincount(posterior[suggested.positions[:12]].argmax(axis=1), minlength=4)
    assert first.min() >= 1  # whoever labels the first dozen has seen every class


def test_copies_of_an_item_are_hardly_suggested_twice(members):
    p, _ = members
    twice = cs.Predictions(np.repeat(p.to_array()[:, :300], 5, axis=1))
    originals = cs.suggest(twice, n=60).positions // 5
    assert len(set(originals.tolist())) >= 58


def test_nothing_known_is_suggested_and_nothing_twice(members):
    p, truth = members
    labels = np.where(np.arange(2000) % 3 == 0, truth, -1)
    for n in (1, 7, 500):
        positions = cs.suggest(p, named(labels, p), n=n, aggregator=cs.Average()).positions
        assert len(set(positions.tolist())) == n
        assert (labels[positions] == -1).all()


def test_known_items_speak_for_those_like_them(members):
    """Where half of the kinds are labelled already, the other half is suggested."""
    p, truth = members
    model = cs.Consensus().fit(p)
    answers = model.posterior_.argmax(axis=1)
    labels = np.where((answers < 2) & (np.arange(2000) % 2 == 0), truth, -1)
    suggested = cs.suggest(p, named(labels, p), n=40, aggregator=model).positions
    assert (answers[suggested] >= 2).mean() > 0.8


def test_all_that_are_left_where_they_are_fewer(members):
    p, truth = members
    labels = truth.copy()
    labels[[3, 14, 159]] = -1
    assert sorted(cs.suggest(p, named(labels, p), n=10, aggregator=cs.Average()).positions.tolist()) == [3, 14, 159]
    nothing = cs.suggest(p, named(truth, p), n=10, aggregator=cs.Average())
    assert len(nothing) == 0 and repr(nothing) == "no item is left to label"


def test_the_seed_decides(members):
    p, _ = members
    first, again, other = (cs.suggest(p, n=20, aggregator=cs.Average(), seed=seed).items for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_labels_correct_the_answers_it_starts_from(members):
    """Labels go into the fit; those of a fitted aggregator are only left out."""
    p, truth = members
    wrong = named(np.where(np.arange(2000) < 300, (truth + 1) % 4, -1), p)
    plain, misled = cs.Consensus().fit(p), cs.suggest(p, wrong, n=30, aggregator=cs.Consensus(label_noise=0))
    moved = [row.answer != p.classes[plain.posterior_[row.position].argmax()] for row in misled]
    assert np.mean(moved) > 0.5
    kept = cs.suggest(p, wrong, n=30, aggregator=plain)
    assert [row.answer for row in kept] == [p.classes[plain.posterior_[k].argmax()] for k in kept.positions]


def test_names_by_item_and_soft_labels(members):
    p, truth = members
    rows = np.full((2000, 4), np.nan)
    rows[:100] = np.eye(4)[truth[:100]]
    by_item = {k: p.classes[truth[k]] for k in range(100)}
    assert cs.suggest(p, rows, n=15).items == cs.suggest(p, by_item, n=15).items


def test_it_says_why():
    rows = [[0.9, 0.1], [0.3, 0.7]]
    p = cs.Predictions([[rows[0], rows[1]], [rows[0], rows[0]], [rows[0], rows[0]]], members=["a", "b", "c"])
    told = {row.item: row.why for row in cs.suggest(p, n=2, aggregator=cs.Average())}
    assert told == {0: "all say 0: tells whether that can be relied on", 1: "members disagree: b and c say 0, a says 1"}
    unsure = cs.Predictions([[[0.6, 0.4]], [[0.55, 0.45]]], classes=["cat", "dog"])
    assert cs.suggest(unsure, n=1, aggregator=cs.Average())[0].why == "all say cat, but dog may be: 0.43"
    alone = cs.Predictions([[[0.6, 0.4]], [[np.nan, np.nan]]], classes=["cat", "dog"])
    assert cs.suggest(alone, n=1, aggregator=cs.Average())[0].why.startswith("only one member answers: cat")


def test_of_a_crowd_only_numbers_are_told(rng):
    labels, _ = labels_from_confusion(rng, diagonal_confusion(np.full(40, 0.6), 3), np.full(3, 1 / 3), 50)
    labels[rng.random(labels.shape) < 0.5] = -1
    labels[0] = np.maximum(labels[0], 0)
    suggested = cs.suggest(cs.Predictions.from_labels(labels, n_classes=3), n=10)
    row = suggested[0]
    votes = np.bincount(labels[:, row.position][labels[:, row.position] >= 0], minlength=3)
    assert row.why.startswith(f"members disagree: {votes.max()} say {votes.argmax()}")


def test_many_items_take_little_room():
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(10), size=200_000).astype(np.float32)
    model = cs.Average().fit([rows, rows[::-1]])
    assert len(set(cs.suggest([rows, rows[::-1]], n=1000, aggregator=model).items)) == 1000


@pytest.mark.parametrize("n", [0, -1, 2.5, True, "3"])
def test_how_many_is_a_whole_number(n):
    with pytest.raises(ValueError, match="n must be an integer of at least 1"):
        cs.suggest([[[0.5, 0.5]]], n=n)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be an integer of at least 0; got -1"),
        ({"seed": 0.5}, "seed must be an integer of at least 0; got 0.5"),
        ({"aggregator": "x"}, "aggregator must be one of consilience's, such as Consensus.*; got str"),
    ],
)
def test_wrong_options_are_told_in_our_words(members, options, message):
    with pytest.raises(ValueError, match=message):
        cs.suggest(members[0] if isinstance(members, tuple) else members, n=3, **options)
