"""Generated panels keep their promises, and alterations keep the truth aligned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("sklearn")
import consilience as cs
from benchmarks.quality.generated import KINDS, alter, generate
from benchmarks.quality.generated.alterations import ALTERATIONS, apply
from benchmarks.quality.generated.statistics import describe
from benchmarks.quality.methods import METHODS
from benchmarks.quality.panel import Panel

ROUNDING = 1e-5
"""Probabilities are stored in single precision, 50 of them at most: sums are off by less."""

SEEDS = range(6)


def assert_valid(panel):
    assert (panel.probabilities is None) != (panel.labels is None)
    assert panel.n_classes >= 2 and panel.n_items >= 5 and panel.n_members >= 1
    assert panel.truth.shape == (panel.n_items,)
    assert panel.truth.min() >= -1 and panel.truth.max() < panel.n_classes
    assert len(np.unique(panel.truth[panel.truth >= 0])) >= 2
    assert (panel.votes >= 0).any(axis=0).all()
    if panel.labels is not None:
        assert np.issubdtype(panel.labels.dtype, np.integer)
        assert panel.labels.shape == (panel.n_members, panel.n_items)
        assert panel.labels.min() >= -1 and panel.labels.max() < panel.n_classes
    else:
        assert panel.probabilities.shape == (panel.n_members, panel.n_items, panel.n_classes)
        is_missing = np.isnan(panel.probabilities)
        assert (is_missing.all(axis=2) == is_missing.any(axis=2)).all()
        said = panel.probabilities[~is_missing.any(axis=2)]
        assert said.min() >= 0
        np.testing.assert_allclose(said.sum(axis=1), 1, atol=ROUNDING)


def generated(kind, seeds=SEEDS):
    return [generate(seed, kind) for seed in seeds]


def oracle(rng, *, n_classes=5, n_items=200, is_soft=True, missing=0.3):
    """A panel whose three members are right whenever they answer, and whose truth is unknown here and there."""
    true = rng.permutation(np.arange(n_items) % n_classes)
    labels = np.where(rng.random((3, n_items)) < missing, -1, true)
    labels[0, labels.max(axis=0) < 0] = true[labels.max(axis=0) < 0]
    truth = np.where(rng.random(n_items) < 0.1, -1, true)
    if not is_soft:
        return Panel("oracle", "test", "as it is", truth, n_classes, labels=labels)
    probabilities = np.where(np.eye(n_classes)[labels] > 0, 1 - 1e-6 * (n_classes - 1), 1e-6)
    probabilities[labels < 0] = np.nan
    return Panel("oracle", "test", "as it is", truth, n_classes, probabilities=probabilities)


def assert_right(panel, n_members):
    """The first members are right of every item with a known truth that they answer."""
    votes = panel.votes[:n_members]
    assert ((votes == panel.truth) | (votes < 0) | (panel.truth < 0)).all()


def test_wrong_answers_and_gaps_are_noticed(rng):
    panel = oracle(rng)
    with pytest.raises(AssertionError):
        assert_right(replace(panel, truth=np.roll(panel.truth, 1)), 3)
    gaps = panel.probabilities.copy()
    gaps[:, 3] = np.nan
    with pytest.raises(AssertionError):
        assert_valid(replace(panel, probabilities=gaps))
    with pytest.raises(AssertionError):
        assert_valid(replace(panel, probabilities=panel.probabilities * 2))


def test_shares_of_kinds_sum_to_one():
    assert sum(KINDS.values()) == pytest.approx(1)


@pytest.mark.parametrize("kind", KINDS)
def test_panels_are_valid(kind):
    for panel in generated(kind):
        assert_valid(panel)
        assert panel.n_classes <= 50 and panel.n_items <= 1300
        assert panel.family == f"generated {kind}" and panel.kind == "as it is"


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_gives_one_panel(kind):
    first, again, other = generate(3, kind), generate(3, kind), generate(4, kind)
    np.testing.assert_array_equal(first.truth, again.truth)
    np.testing.assert_array_equal(first.votes, again.votes)
    if first.probabilities is not None:
        np.testing.assert_array_equal(first.probabilities, again.probabilities)
    assert first.name == again.name != other.name
    assert first.votes.shape != other.votes.shape or (first.votes != other.votes).any()


def test_kinds_are_drawn_by_seed():
    panels = [generate(seed) for seed in range(8)]
    assert len({panel.family for panel in panels}) > 2
    kind = panels[0].family.removeprefix("generated ")
    np.testing.assert_array_equal(panels[0].votes, generate(0, kind).votes)


def test_rare_classes_are_rare():
    panels = generated("rare", range(12))
    counts = [np.bincount(panel.truth) for panel in panels if panel.n_items > 100]
    shares = [count.min() / count.sum() for count in counts]
    assert {panel.n_classes for panel in panels} == {2, 3}
    assert max(shares) < 0.4 and np.median(shares) < 0.15 and min(shares) > 0


def test_crowds_give_sparse_votes():
    for panel in generated("crowd"):
        assert panel.labels is not None
        assert np.mean((panel.labels >= 0).sum(axis=0)) <= 25
    assert max(panel.n_members for panel in generated("crowd", range(12))) > 50


def test_functions_say_at_most_two_classes():
    for panel in generated("functions"):
        assert panel.labels is not None and panel.n_members > panel.n_classes / 2
        said = [len(np.unique(labels[labels >= 0])) for labels in panel.labels]
        assert max(said) <= 2 and min(said) == 1


def test_identifiers_know_many_classes_or_some():
    panels = generated("identifiers", range(12))
    assert min(panel.n_classes for panel in panels) >= 10
    assert any(np.isnan(panel.probabilities).any() for panel in panels)
    assert any((np.nanmax(panel.probabilities, axis=1) == 0).any() for panel in panels)  # a class never said
    assert any((np.nanmin(panel.probabilities.max(axis=2), axis=1) == 1).any() for panel in panels)  # labels only


def test_judges_count_votes():
    for panel in generated("judges"):
        counts = [panel.probabilities * n_votes for n_votes in (2, 3, 4, 5, 10)]
        assert any(np.allclose(count, np.round(count), atol=ROUNDING) for count in counts)


def test_on_adversarial_items_most_judges_are_wrong_together():
    accuracies = [np.mean(panel.votes == panel.truth) for panel in generated("judges", range(40)) if panel.n_items > 99]
    assert min(accuracies) < 0.5 < np.median(accuracies)


def accuracy(aggregator, panel):
    """How often the aggregator is right of a panel whose truth is known."""
    return np.mean(np.asarray(aggregator.fit(panel.predictions).posterior_).argmax(axis=1) == panel.truth)


def loss_ratio(panel):
    """The logarithm of BCC's NLL by the average's; .02 is added to both, as where methods are scored."""
    rows = [METHODS[name](panel)[np.arange(panel.n_items), panel.truth] for name in ("bcc", "average")]
    bcc, average = (-np.log(np.maximum(row, 1e-6)).mean() + 0.02 for row in rows)
    return np.log(bcc / average)


def shares_of(panel):
    """The true shares, and those of the average."""
    average = np.asarray(cs.Average().fit(panel.predictions).posterior_)
    return np.bincount(panel.truth, minlength=panel.n_classes) / panel.n_items, average.mean(axis=0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_votes_of_independent_members_are_best_fused_by_confusion_matrices():
    panels = [panel for panel in generated("independent", range(28)) if panel.labels is not None][:20]
    right = [(accuracy(cs.BayesianClassifierCombination(), panel), accuracy(cs.Average(), panel)) for panel in panels]
    bcc, average = np.mean(right, axis=0)
    assert bcc > average + 0.01
    assert np.mean([loss_ratio(panel) for panel in generated("independent", range(20))]) < np.log(0.6)  # soft ones too
    assert np.nanmedian([describe(panel).correlation for panel in panels if panel.n_items > 99]) < 0.05


def test_independent_panels_are_mostly_votes_and_some_of_large_crowds():
    panels = generated("independent", range(40))
    assert 0.6 < np.mean([panel.labels is not None for panel in panels]) < 0.9
    assert max(panel.n_members for panel in panels) >= 30


def test_what_nobody_can_know_is_agreed_upon_and_about_calibrated():
    panels = [panel for panel in generated("unknowable", range(24)) if panel.n_items > 150]
    averages = [np.asarray(cs.Average().fit(panel.predictions).posterior_) for panel in panels]
    tops = np.array([average.max(axis=1).mean() for average in averages])
    right = [np.mean(rows.argmax(axis=1) == panel.truth) for rows, panel in zip(averages, panels, strict=True)]
    assert np.median([agreement(panel.votes) for panel in panels]) > 0.85
    assert np.median(np.abs(tops - right)) < 0.06 and abs(np.mean(tops - right)) < 0.03
    assert tops.min() > 0.3 and tops.max() < 0.85


def agreement(votes):
    """How often the first two members choose the same class, of items that both answer."""
    first, second = votes[:2]
    return np.mean((first == second)[(first >= 0) & (second >= 0)])


def test_shifted_members_believe_in_more_even_classes_than_there_are():
    found = [shares_of(panel) for panel in generated("shifted", range(24))]
    missed = [true.max() - stated[true.argmax()] for true, stated in found]
    assert np.median(missed) > 0.05 and np.mean(np.array(missed) > 0) > 0.8


def test_one_class_dominates_and_members_leave_it_more_or_less_readily():
    panels = [panel for panel in generated("dominated", range(24)) if panel.n_items > 150]
    spans = []
    for panel in panels:
        true, _ = shares_of(panel)
        assert true.max() > 0.45
        none = (panel.votes == true.argmax()).mean(axis=1)
        spans.append(none.max() - none.min())
    assert np.median([shares_of(panel)[0].max() for panel in panels]) >= 0.5
    assert np.median(spans) > 0.25
    assert {panel.labels is None for panel in panels} == {True, False}


def test_lists_find_the_same_and_are_silent_together():
    panels = [panel for panel in generated("lists", range(24)) if panel.n_items > 150]
    assert all(panel.n_classes == 2 for panel in panels)
    found = [(panel.votes[:2] == 1).astype(float) for panel in panels]
    together = [np.corrcoef(hits)[0, 1] for hits in found if hits.std(axis=1).min() > 0]
    assert np.median(together) > 0.4
    assert any((panel.votes[0] < 0).any() for panel in panels)  # silence that is no vote


def test_positions_are_right_as_often_as_each_other_and_members_differ():
    panels = [panel for panel in generated("positions", range(12)) if panel.n_items > 300]
    for panel in panels:
        true, _ = shares_of(panel)
        assert np.ptp(true) < 6 * np.sqrt(0.25 / panel.n_items)  # chance alone
    skills = [(panel.votes == panel.truth).mean(axis=1) for panel in panels]
    assert np.median([np.ptp(skill) for skill in skills]) > 0.2


def test_collapsed_members_see_a_class_far_more_often_than_it_is_there():
    found = [shares_of(panel) for panel in generated("collapsed", range(24))]
    assert np.median([stated.max() / true[stated.argmax()] for true, stated in found if true[stated.argmax()]]) > 1.4


@pytest.mark.parametrize("kind", KINDS)
def test_shuffled_answers_are_no_better_than_the_largest_share(kind, rng):
    panel = next(panel for seed in range(50) if (panel := generate(seed, kind)).n_items > 300)
    control = replace(panel, truth=rng.permutation(panel.truth))
    found = describe(control)
    noise = 4 * np.sqrt(0.25 / panel.n_items)  # four standard errors of a share
    assert found.average < found.largest + noise


@pytest.mark.parametrize("is_soft", [True, False])
@pytest.mark.parametrize("name", ALTERATIONS)
def test_each_alteration_keeps_the_truth_aligned(name, is_soft, rng):
    panel = oracle(rng, is_soft=is_soft)
    for _ in range(10):
        altered = apply(ALTERATIONS[name][1], panel, rng)
        assert_valid(altered)
        assert_right(altered, min(3, altered.n_members))
        if name in {"noisy members", "copies", "useless member", "constant member", "adversarial member"}:
            assert altered.n_members > 3


@pytest.mark.parametrize("is_soft", [True, False])
@pytest.mark.parametrize(("n_classes", "n_items"), [(2, 6), (3, 60), (40, 1500)])
def test_altered_panels_are_valid(is_soft, n_classes, n_items, rng):
    panel = oracle(rng, n_classes=n_classes, n_items=n_items, is_soft=is_soft)
    panel = replace(panel, truth=np.where(panel.truth < 0, panel.votes.max(axis=0), panel.truth))
    for _ in range(30):
        altered = alter(panel, rng)
        assert_valid(altered)
        assert altered.n_items <= 1200 and altered.family == panel.family and altered.name == panel.name


def test_alterations_leave_the_panel_as_it_was(rng):
    panel = oracle(rng)
    before = panel.probabilities.copy()
    for _, alteration in ALTERATIONS.values():
        apply(alteration, panel, rng)
    np.testing.assert_array_equal(panel.probabilities, before)


def test_adversarial_members_are_always_wrong(rng):
    for is_soft in (True, False):
        altered = apply(ALTERATIONS["adversarial member"][1], oracle(rng, is_soft=is_soft), rng)
        wrong = altered.votes[-1]
        assert not ((wrong == altered.truth) & (wrong >= 0)).any()


def test_a_seed_gives_one_alteration():
    panel = generate(0, "latent")
    for seed in range(5):
        first, again = (alter(panel, np.random.default_rng(seed)) for _ in range(2))
        assert first.kind == again.kind
        np.testing.assert_array_equal(first.votes, again.votes)


def test_about_half_of_the_panels_end_as_votes():
    kinds = ["latent"] * 30 + ["crowd"] * 4 + ["functions"] * 4  # soft ones and votes about as in the mixture
    panels = [alter(generate(seed, kind), np.random.default_rng(seed)) for seed, kind in enumerate(kinds)]
    assert 0.3 < np.mean([panel.labels is not None for panel in panels]) < 0.7
    assert len({panel.kind for panel in panels}) > 5
