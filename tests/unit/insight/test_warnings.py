"""Each warning: where it is given, where it is not, and what it says to do."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight.accuracy.estimates import AccuracyEstimate, Estimates
from consilience.insight.verdict import Change
from consilience.insight.warnings import (
    WARNINGS,
    PanelEvidence,
    copied_members,
    lost_by_fusing,
    not_settled,
    overconfident_members,
    renamed_members,
    too_few_items,
    useless_members,
    wrong_together,
)

from simulate import softmax_members

N_ITEMS, N_CLASSES = 400, 3


def voted(rng, accuracies, truth, n_classes=N_CLASSES):
    """Labels (members, items) of members who err independently, with these accuracies."""
    wrong = (truth + rng.integers(1, n_classes, size=(len(accuracies), len(truth)))) % n_classes
    return np.where(rng.random(wrong.shape) < np.array(accuracies)[:, None], truth, wrong)


def evidence_of(predictions, chosen, accuracies=None, fused=AccuracyEstimate(0.9, 0.8, 1.0), **others):  # noqa: B008
    data = predictions if isinstance(predictions, cs.Predictions) else cs.Predictions.from_labels(predictions, 3)
    accuracies = [0.8] * data.n_members if accuracies is None else accuracies
    estimates = Estimates([AccuracyEstimate(a, a - 0.1, a + 0.1) for a in accuracies], {"fused answer": fused})
    return PanelEvidence(data, chosen, estimates, **others)


@pytest.fixture
def truth(rng):
    return rng.integers(N_CLASSES, size=N_ITEMS)


def test_able_members_who_err_independently_give_no_cause_for_a_warning(rng, truth):
    evidence = evidence_of(voted(rng, [0.9, 0.8, 0.7], truth), truth)
    assert not any(find(evidence) for find in WARNINGS.values())


def test_the_fused_answer_is_warned_of_where_it_is_estimated_to_be_wrong_often(rng, truth):
    labels = voted(rng, [0.9, 0.8, 0.7], truth)
    (warned,) = wrong_together(evidence_of(labels, truth, fused=AccuracyEstimate(0.5, 0.3, 0.7)))
    assert (
        "estimated to be right on 50% (30% to 70%)" in warned.text and "label some items drawn at random" in warned.text
    )
    assert not wrong_together(evidence_of(labels, truth, fused=AccuracyEstimate(0.5, 0.3, 0.95)))  # too little is known
    (measured,) = wrong_together(evidence_of(labels, truth, fused=AccuracyEstimate(0.5, 0.4, 0.6, is_measured=True)))
    assert "measured with the labels, it is right on 50% (40% to 60%)" in measured.text
    assert not wrong_together(evidence_of(labels, truth, fused=AccuracyEstimate(0.7, 0.6, 0.8, is_measured=True)))


def test_few_items_are_warned_of_by_how_little_their_labels_would_tell(rng, truth):
    labels = voted(rng, [0.9, 0.8, 0.7], truth)
    (warned,) = too_few_items(evidence_of(labels[:, :20], truth[:20]))
    assert warned.text.startswith("20 items are too few to tell how good the members are: even with all labels, an")
    assert "15 points up or down" in warned.text and "Bring more items" in warned.text  # 1.645 · √(.8 · .2 / 20)
    assert not too_few_items(evidence_of(labels, truth))
    assert not too_few_items(evidence_of(labels, truth, accuracies=[np.nan] * 3))


def test_a_member_that_guesses_is_warned_of(rng, truth):
    labels = np.concatenate([voted(rng, [0.9, 0.8, 0.5], truth), rng.integers(3, size=(1, N_ITEMS))])
    evidence = evidence_of(labels, truth)
    (warned,) = useless_members(evidence)
    assert warned.about == (3,) and "leave it out if they make no sense" in warned.text
    assert not renamed_members(evidence)
    assert not useless_members(evidence_of(labels[:, :40], truth[:40]))  # too few votes
    assert not useless_members(evidence_of(labels[2:], truth))  # nobody else to judge it


def test_always_saying_the_frequent_class_is_useless_however_often_it_is_right(rng):
    truth = (rng.random(N_ITEMS) < 0.1).astype(int)
    labels = np.concatenate([voted(rng, [0.9, 0.9], truth, 2), np.zeros((1, N_ITEMS), dtype=int)])
    assert [warned.about for warned in useless_members(evidence_of(labels, truth))] == [(2,)]


@pytest.mark.parametrize(
    ("n_classes", "names"), [(3, "it says 1 for 0, 2 for 1, 0 for 2."), (2, "it says 1 for 0, 0 for 1.")]
)
def test_a_member_with_its_classes_in_another_order_is_warned_of(rng, n_classes, names):
    truth = rng.integers(n_classes, size=N_ITEMS)
    labels = voted(rng, [0.9, 0.9, 0.8, 0.9], truth, n_classes)
    labels[3] = (labels[3] + 1) % n_classes
    evidence = evidence_of(cs.Predictions.from_labels(labels, n_classes), truth)
    (warned,) = renamed_members(evidence)
    assert warned.about == (3,) and names in warned.text and "Check the order of its columns" in warned.text
    assert not useless_members(evidence)  # one warning is enough
    assert not renamed_members(evidence_of(labels[:3], truth))


def test_a_member_that_claims_more_than_is_estimated_is_warned_of(rng, truth):
    sure = 0.9 * np.eye(3)[voted(rng, [0.9, 0.5, 0.5], truth)] + 0.1 / 3
    data = cs.Predictions(sure, members=["a", "b", "c"])
    (warned,) = overconfident_members(evidence_of(data, truth, accuracies=[0.9, 0.5, 0.85]))
    assert warned.about == (1,)
    assert (
        "'b' is too sure: it claims to be right on 93% of its answers, and is estimated to be right on 50% (40% to 60%)"
        in warned.text
    )
    assert "Use the probabilities of the fused answer" in warned.text
    assert not overconfident_members(evidence_of(data, truth, accuracies=[0.9, np.nan, 0.85]))
    assert not overconfident_members(evidence_of(data.votes(), truth, accuracies=[0.5] * 3))  # labels claim nothing


def test_members_who_contradict_the_others_in_the_same_way_are_copies(rng, truth):
    labels = voted(rng, [0.9, 0.8, 0.7], truth)
    (warned,) = copied_members(evidence_of(labels[[0, 1, 2, 2]], truth))
    assert warned.about == (2, 3)
    assert "the same answer to 100.0% of 400 common items" in warned.text and "keep one if so" in warned.text
    assert not copied_members(evidence_of(labels, truth))
    right = np.tile(truth, (4, 1))
    assert not copied_members(evidence_of(right, truth))  # who is right gives the same answers without copying
    blind = np.zeros((4, N_ITEMS), dtype=int)
    assert not copied_members(evidence_of(blind, truth))


def test_copies_who_answer_items_several_times_are_found(rng, truth):
    n_items = len(truth)
    first = np.where(rng.random(n_items) < 0.6, truth, rng.integers(3, size=n_items))
    again = np.where(rng.random(n_items) < 0.7, first, rng.integers(3, size=n_items))
    answers = [(m, labels) for m in (0, 1) for labels in (first, again)]
    answers += [(2, np.where(rng.random(n_items) < 0.6, truth, rng.integers(3, size=n_items))) for _ in range(2)]
    items, members, labels = (
        np.concatenate(part)
        for part in zip(*((np.arange(n_items), np.full(n_items, m), said) for m, said in answers), strict=True)
    )
    (warned,) = copied_members(evidence_of(cs.Predictions.from_answers(items, members, labels), truth))
    assert warned.about == (0, 1) and "pairs of answers" in warned.text


def test_members_who_judge_two_candidates_of_each_item_are_no_copies(rng, truth):
    """Where the one passes and the other fails, all able members say both, and one of these is not the fused answer."""
    good, bad = np.ones(N_ITEMS, dtype=int), np.zeros(N_ITEMS, dtype=int)
    said = [voted(rng, [0.97] * 3, candidate, 2) for candidate in (good, bad)]
    items = np.tile(np.arange(N_ITEMS), 6)
    members = np.tile(np.repeat(np.arange(3), N_ITEMS), 2)
    p = cs.Predictions.from_answers(items, members, np.concatenate([labels.ravel() for labels in said]))
    assert not copied_members(evidence_of(p, good))


def test_members_who_give_equal_probabilities_are_copies(rng, truth):
    rows = rng.dirichlet(np.ones(3), size=(2, N_ITEMS))
    chosen = rows[0].argmax(axis=1)  # so that nobody contradicts it
    assert [warned.about for warned in copied_members(evidence_of(cs.Predictions(rows[[0, 0]]), chosen))] == [(0, 1)]
    assert not copied_members(evidence_of(cs.Predictions(rows), chosen))
    sure = np.eye(3)[truth]
    assert not copied_members(evidence_of(cs.Predictions(np.stack([sure, sure])), truth))


def test_a_fit_that_has_not_settled_is_warned_of(rng, truth):
    labels = voted(rng, [0.9, 0.8, 0.7], truth)
    (warned,) = not_settled(evidence_of(labels, truth, has_settled=False))
    assert "Raise max_iter" in warned.text
    assert not not_settled(evidence_of(labels, truth))


def test_warnings_are_plain_words():
    """What a user cannot act on, or has to look up, is in none of them; the functions are known by name."""
    assert all(find.__doc__ for find in WARNINGS.values())
    texts = " ".join(code for find in WARNINGS.values() for code in map(str, find.__code__.co_consts))
    assert not any(word in texts for word in ("effective", "takes over", "nats", "posterior", "kappa"))


def test_labelling_functions_of_one_class_are_not_useless(rng):
    """Each says one class where it applies, and is mostly right there."""
    truth = rng.integers(3, size=900)
    functions = [np.where((truth == k) & (rng.random(900) < 0.5), k, -1) for k in (0, 1, 2, 0, 1, 2)]
    for row in functions:
        row[rng.permutation(900)[:20]] = row.max()
    labels = np.stack([*functions, np.where(rng.random(900) < 0.9, truth, rng.integers(3, size=900))])
    warnings = cs.diagnose(cs.Predictions.from_labels(labels, 3)).warnings
    assert not [sentence for sentence in warnings if "blind guessing" in sentence]


@pytest.mark.parametrize(
    ("made_right", "made_wrong", "is_warned"),
    [(0, 6, True), (11, 25, True), (0, 1, False), (11, 16, False), (9, 3, False)],
)
def test_a_loss_by_fusing_is_warned_of_where_the_paired_interval_tells_it(
    rng, truth, made_right, made_wrong, is_warned
):
    labels, known = voted(rng, [0.9, 0.8, 0.7], truth), np.zeros(100, dtype=int)
    fused = (np.arange(100) < made_wrong).astype(int)
    average = (np.arange(100) >= 100 - made_right).astype(int)
    found = lost_by_fusing(evidence_of(labels, truth, change=Change.of(fused, np.eye(2)[average], known)))
    assert bool(found) == is_warned and not lost_by_fusing(evidence_of(labels, truth))
    assert all(f"{made_right} became right and {made_wrong} became wrong" in warned.text for warned in found)


@pytest.mark.filterwarnings("ignore:.*labels contradict")
def test_labels_that_contradict_are_told_wherever_the_panel_is_diagnosed(rng):
    array, truth = softmax_members(rng, [3, 3, 3], n_items=300, n_classes=3)
    wrong, right = (np.where(np.arange(300) < 20, labels, -1) for labels in ((truth + 1) % 3, truth))
    for known, is_told in ((wrong, True), (right, False)):
        found = cs.diagnose(array, aggregator=cs.Consensus().fit(array, known))
        assert any("known labels contradict" in text for text in found.warnings) == is_told
