"""Training: seeded, fair to families, and it learns something in a few steps."""

from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch")
from consilience.aggregators.consensus.class_shares import EVEN_WORTH, MANY
from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    FEATURE_NAMES,
    ITEM_FEATURES,
    MEMBER_TRAITS,
    PAIR_FEATURES,
    PANEL_TRAITS,
)
from panels_of_quality import hard, soft
from training.features import STATED, Features, features_of
from training.fit import (
    FEW_DRAWS,
    UNEVEN,
    Recipe,
    batch_of,
    drawn_statement,
    fit,
    is_nearly_even,
    panel_ranges,
    sample,
    weights,
)
from training.network import AVERAGE
from training.panels import Lesson, generated_jobs, read_lessons, store_all

QUICK = Recipe(steps=30, learning_rate=1e-2)
BELIEF = PANEL_TRAITS.index("belief in stated shares")


def lesson_of(family, n_items=10, n_candidates=3, n_members=2, seed=0):
    """A panel of any numbers, each item answered by all members."""
    rng = np.random.default_rng(seed)
    n_answers = n_items * n_members
    features = Features(
        pair=rng.random((n_items, n_candidates, len(PAIR_FEATURES))).astype(np.float16),
        item=rng.random((n_items, len(ITEM_FEATURES))).astype(np.float16),
        candidates=np.tile(np.arange(n_candidates, dtype=np.int32), (n_items, 1)),
        classes=rng.random((n_candidates, len(CLASS_TRAITS))).astype(np.float32),
        panel=rng.random(len(PANEL_TRAITS)).astype(np.float32),
        members=rng.random((n_members, len(MEMBER_TRAITS))).astype(np.float32),
        own=rng.random((n_answers, n_candidates)).astype(np.float16),
        said=rng.random((n_answers, n_candidates)).astype(np.float16),
        answer_item=np.repeat(np.arange(n_items), n_members),
        answer_member=np.tile(np.arange(n_members), n_items),
        average=np.empty(0),
    )
    shares = np.full(n_candidates, 1 / n_candidates)
    return Lesson(features, rng.integers(n_candidates, size=n_items), shares, family)


@pytest.fixture(scope="module")
def lessons(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lessons")
    return read_lessons(store_all(generated_jobs(20), folder, 1, lambda _: None))


def test_training_improves_on_averaging(lessons):
    _, history = fit(lessons, QUICK, seed=0)
    assert len(history) == 30
    assert np.mean(history[-5:]) < min(np.mean(history[:5]), 0) - 0.05


def test_the_same_seed_gives_the_same_weights(lessons):
    first, again, other = (fit(lessons, Recipe(steps=5), seed)[0].state_dict() for seed in (3, 3, 4))
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["first.weight"], other["first.weight"])


@pytest.mark.parametrize("has_members", [True, False])
def test_members_are_weighed_unless_they_are_left_out(lessons, has_members):
    found = fit(lessons, Recipe(steps=5, has_members=has_members), seed=0)[0].state_dict()
    assert bool(found["member_last.weight"].any()) == has_members


# ---- how often panels are drawn ---------------------------------------------------------------------------


def shares_of(families, **words):
    """What panels of each family weigh together."""
    found = weights([lesson_of(family) for family in families], Recipe(**words))
    np.testing.assert_allclose(found.sum(), 1)
    total = Counter()
    for family, share in zip(families, found, strict=True):
        total[family] += share
    return total


def test_every_real_family_weighs_the_same():
    families = ["generated crowd", "generated rare", *["mnist"] * FEW_DRAWS, *["judges"] * (2 * FEW_DRAWS)]
    found = shares_of(families, real=0.4)
    expected = {"generated crowd": 0.3, "generated rare": 0.3, "mnist": 0.2, "judges": 0.2}
    assert found == pytest.approx(expected)


def test_a_family_of_few_panels_weighs_less():
    found = shares_of(["generated crowd", "mnist", *["judges"] * FEW_DRAWS], real=0.4)
    assert found["mnist"] / found["judges"] == pytest.approx(1 / FEW_DRAWS)


@pytest.mark.parametrize("uneven", [0.05, 0.3])
def test_uneven_kinds_have_a_share_of_the_generated_panels(uneven):
    families = [*["generated crowd"] * 3, *UNEVEN, *["mnist"] * FEW_DRAWS]
    found = shares_of(families, real=0.4, uneven=uneven)
    assert found["generated crowd"] == pytest.approx(0.6 * (1 - uneven))
    for kind in UNEVEN:
        assert found[kind] == pytest.approx(0.6 * uneven / len(UNEVEN))


@pytest.mark.parametrize(
    "families",
    [
        ["generated crowd", "generated rare"],
        ["mnist", "mnist", "judges"],
        [*UNEVEN],
        [*UNEVEN, "generated crowd"],
        [*UNEVEN, "mnist"],
    ],
    ids=["generated", "real", "uneven", "uneven and others", "uneven and real"],
)
def test_weights_sum_to_one_where_all_panels_are_of_one_sort(families):
    assert all(share > 0 for share in shares_of(families).values())


# ---- batches ----------------------------------------------------------------------------------------------


def test_a_batch_has_a_row_for_each_item_and_candidate():
    lessons = [lesson_of("mnist", 4, 2), lesson_of("judges", 10, 5, n_members=3)]
    batch = batch_of(lessons, 6, 0.0, np.random.default_rng(0))
    assert batch.values.shape == (4 * 2 + 6 * 5, len(FEATURE_NAMES))
    assert torch.bincount(batch.item).tolist() == [2] * 4 + [5] * 6
    assert batch.panel.tolist() == [0] * 4 + [1] * 6
    assert (batch.item[batch.true] == torch.arange(10)).all()
    assert batch.panels.shape == (2, len(PANEL_TRAITS)) and batch.members.shape == (5, len(MEMBER_TRAITS))
    assert batch.member_panel.tolist() == [0, 0, 1, 1, 1]


def test_a_batch_has_the_evidence_of_each_answer_and_candidate():
    """Of the items that are drawn, and of those alone; each where its item and candidate have their row."""
    lessons = [lesson_of("mnist", 4, 2), lesson_of("judges", 10, 5, n_members=3)]
    batch = batch_of(lessons, 6, 0.0, np.random.default_rng(0))
    assert len(batch.evidence) == 4 * 2 * 2 + 6 * 5 * 3
    assert torch.bincount(batch.entry_row).tolist() == [2] * 8 + [3] * 30  # each row has all members'
    panel_of_row = batch.panel[batch.item]
    assert (batch.member_panel[batch.entry_member] == panel_of_row[batch.entry_row]).all()
    features = lessons[1].features
    row = 8 + 5 * 2 + 4  # the last candidate of the third item that was drawn of the second lesson
    item = [
        i for i in range(10) if np.allclose(features.pair[i, 4], batch.values[row, : len(PAIR_FEATURES)], atol=1e-3)
    ]
    for entry in torch.nonzero(batch.entry_row == row)[:, 0].tolist():
        member = int(batch.entry_member[entry]) - 2
        (answer,) = np.flatnonzero((features.answer_item == item[0]) & (features.answer_member == member))
        np.testing.assert_array_equal(batch.evidence[entry], [features.own[answer, 4], features.said[answer, 4]])


def test_items_whose_truth_is_no_candidate_are_never_drawn():
    lesson = lesson_of("mnist", 10)
    truth = np.where(np.arange(10) % 2, -1, lesson.truth)
    batch = batch_of([lesson._replace(truth=truth)], 64, 0.0, np.random.default_rng(0))
    assert len(batch.true) == 5
    values = batch.values.reshape(5, 3, -1)[:, :, AVERAGE].numpy()
    np.testing.assert_array_equal(values, lesson.features.pair[::2, :, AVERAGE].astype(np.float32))


@pytest.mark.parametrize(("stated", "share"), [(0.0, 0.0), (1.0, 1.0), (0.5, 0.5)])
def test_shares_are_stated_of_some_panels(stated, share):
    lesson = lesson_of("mnist")
    classes, panel = lesson.features.classes.copy(), lesson.features.panel.copy()
    classes[:, STATED : STATED + 2], panel[BELIEF] = 0, 0
    lesson = lesson._replace(features=lesson.features._replace(classes=classes, panel=panel))
    batch = batch_of([lesson] * 200, 2, stated, np.random.default_rng(0))
    is_stated = batch.panels[:, BELIEF] > 0
    assert is_stated.float().mean() == pytest.approx(share, abs=0.1)
    first = len(PAIR_FEATURES) + STATED
    rows = batch.values[:, first : first + 2].abs().sum(dim=1)
    assert not rows[~is_stated[batch.panel[batch.item]]].any()


@pytest.mark.parametrize("make", [soft, hard], ids=["probabilities", "votes"])
def test_rows_are_the_features_by_name(make):
    features = features_of(make(n_items=12, n_classes=30, missing=0.2))
    lesson = Lesson(features, np.zeros(12, int), np.full(30, 1 / 30), "mnist")
    batch = batch_of([lesson], 12, 0.0, np.random.default_rng(0))
    row, (item, place) = 24 * 7 + 3, (7, 3)
    expected = [
        *features.pair[item, place],
        *features.classes[features.candidates[item, place]],
        *features.item[item],
        *features.panel,
    ]
    np.testing.assert_allclose(batch.values[row], expected, rtol=1e-6)


# ---- what is stated ---------------------------------------------------------------------------------------


def statements(shares, n=300):
    rng = np.random.default_rng(0)
    drawn = [drawn_statement(np.array(shares), rng) for _ in range(n)]
    return [(one.shares, one.n_counted) for one in drawn]


def test_statements_are_exact_even_or_counted():
    found = statements([0.3, 0.36, 0.34])
    exact = [shares for shares, n in found if n == MANY]
    even = [shares for shares, n in found if n == EVEN_WORTH and np.ptp(shares) == 0]
    counted = [(shares, n) for shares, n in found if n != MANY and np.ptp(shares) > 0]
    assert all(abs(len(some) - 100) < 35 for some in (exact, even, counted))
    np.testing.assert_array_equal(exact, np.tile([0.3, 0.36, 0.34], (len(exact), 1)))
    assert all(20 <= n <= 500 and (shares > 0).all() for shares, n in counted)
    np.testing.assert_allclose([shares.sum() for shares, _ in found], 1)
    errors = [np.abs(shares - [0.3, 0.36, 0.34]).max() * np.sqrt(n) for shares, n in counted]
    assert np.mean(errors) < 1  # as far off as a sample is


def test_nobody_calls_uneven_shares_even():
    found = statements([0.9, 0.1, 0.0])
    assert all(np.ptp(shares) > 0.3 for shares, _ in found)
    assert sum(n == MANY for _, n in found) == pytest.approx(100, abs=35)
    assert is_nearly_even(np.array([0.3, 0.36, 0.34])) and not is_nearly_even(np.array([0.9, 0.1, 0.0]))


# ---- scales -----------------------------------------------------------------------------------------------


def test_ranges_leave_the_oddest_panels_out():
    lessons = [lesson_of("mnist") for _ in range(11)]
    lessons = [
        one._replace(features=one.features._replace(panel=np.full(len(PANEL_TRAITS), n, np.float32)))
        for n, one in enumerate(lessons)
    ]
    lowest, highest = panel_ranges(lessons, share=0.1)
    np.testing.assert_allclose(
        np.delete([lowest, highest], BELIEF, axis=1), np.repeat([[1], [9]], len(PANEL_TRAITS) - 1, 1)
    )
    assert (lowest[BELIEF], highest[BELIEF]) == (0, 1)  # whatever was stated in the lessons


def test_a_sample_states_the_shares_of_some(lessons):
    for stated in (0.0, 1.0):
        batch = sample(lessons, stated)
        assert bool((batch.panels[:, BELIEF] > 0).any()) == (stated > 0)
