import numpy as np
import pytest
import sklearn.base

import consilience as cs

from simulate import diagonal_confusion, labels_from_confusion, softmax_members


def draw(rng, accuracies, n_items=3000, n_classes=3):
    confusion = diagonal_confusion(accuracies, n_classes)
    return labels_from_confusion(rng, confusion, np.full(n_classes, 1 / n_classes), n_items)


def test_accuracies_are_estimated_without_labels(rng):
    labels, truth = draw(rng, [0.95, 0.8, 0.7, 0.6, 0.5])
    labels[1, 1500:] = -1
    report = cs.diagnose(cs.Predictions.from_labels(labels)).members
    truly = [(row == truth)[row >= 0].mean() for row in labels]
    assert sorted(report["estimated accuracy"], reverse=True) == report["estimated accuracy"]
    assert (np.array(report["from"]) < truly).all() and (np.array(report["to"]) > np.array(truly) - 0.1).all()
    assert report["coverage"] == [1, 0.5, 1, 1, 1]


def test_accuracies_are_measured_with_labels(rng):
    labels, truth = draw(rng, [0.95, 0.8, 0.7, 0.6, 0.5])
    known = np.where(rng.permutation(len(truth)) < 300, truth, -1)
    diagnosis = cs.diagnose(cs.Predictions.from_labels(labels), labels=known)
    truly = np.array([(row == truth).mean() for row in labels])
    report = diagnosis.members
    np.testing.assert_allclose(report["estimated accuracy"], truly, atol=0.06)
    assert all(report["measured"]) and diagnosis.answers["average"].is_measured
    assert " of 300 items with a label, a difference of " in repr(diagnosis)
    assert "measured" not in cs.diagnose(cs.Predictions.from_labels(labels)).members.columns


@pytest.mark.parametrize("method", [cs.DawidSkene(), cs.Consensus()])
def test_labels_that_taught_a_method_do_not_measure_it(rng, method):
    labels, truth = draw(rng, [0.9, 0.8, 0.7], n_items=300)
    p, known = cs.Predictions.from_labels(labels), np.where(np.arange(300) < 60, truth, -1)
    assert (
        cs.diagnose(p, aggregator=sklearn.base.clone(method).fit(p), labels=known).answers["fused answer"].is_measured
    )
    taught = cs.diagnose(p, aggregator=sklearn.base.clone(method).fit(p, known), labels=known)
    assert not taught.answers["fused answer"].is_measured and taught.answers["average"].is_measured
    assert not taught.verdict.rivals


def test_confusions_agree_with_the_estimates(rng):
    """However modest the members are: the matrices are of what they say."""
    array, _ = softmax_members(rng, [3, 2, 1], n_items=400, n_classes=4)
    modest = 0.2 * array + 0.2
    diagnosis = cs.diagnose(modest)
    right = np.trace(diagnosis.counts, axis1=1, axis2=2) / diagnosis.counts.sum(axis=(1, 2))
    np.testing.assert_allclose(right, diagnosis.members["estimated accuracy"], atol=1e-9)


def test_independent_members_are_no_copies(rng):
    labels, _ = draw(rng, [0.8, 0.7, 0.75, 0.6])
    independent = cs.diagnose(cs.Predictions.from_labels(labels), aggregator=cs.DawidSkene())
    assert np.abs(independent.dependence[~np.eye(4, dtype=bool)]).max() < 0.15
    assert not any("copies" in warning for warning in independent.warnings)
    copied = cs.diagnose(cs.Predictions.from_labels(labels[[0, 1, 2, 3, 3]], members=list("abcde")))
    assert copied.dependence[3, 4] == pytest.approx(1)
    assert copied.agreement[3, 4] == 1
    assert any("'d' and 'e' look like copies: they give the same answer to 100.0%" in w for w in copied.warnings)


def test_equal_probabilities_are_copies_even_of_two_members(rng):
    array, _ = softmax_members(rng, [2, 2], n_items=60, n_classes=3)
    assert not any("copies" in warning for warning in cs.diagnose(array).warnings)
    assert any("look like copies" in warning for warning in cs.diagnose(array[[0, 0]]).warnings)


def test_members_who_never_differ_are_one(rng):
    labels, _ = draw(rng, [0.8], n_items=300)
    identical = cs.diagnose(cs.Predictions.from_labels(labels[[0, 0, 0, 0]]))
    np.testing.assert_array_equal(identical.dependence, 1)


@pytest.mark.parametrize("n_answers", [20, 50, 100])
def test_sparse_independent_crowds_are_no_copies(rng, n_answers):
    labels, _ = draw(rng, rng.uniform(0.55, 0.95, size=100), n_items=500)
    for row in labels:
        row[rng.permutation(500)[n_answers:]] = -1
    answered = (labels >= 0).any(axis=0)
    d = cs.diagnose(cs.Predictions.from_labels(labels[:, answered], 3), aggregator=cs.DawidSkene())
    assert not any("copies" in warning for warning in d.warnings)


def test_dissents_are_counted_as_one_would_by_hand(rng):
    labels = rng.integers(-1, 3, size=(5, 200))
    labels[0] = np.maximum(labels[0], 0)
    expected = [0] * 5
    for item in labels.T:
        for member, label in enumerate(item):
            others = np.bincount([o for m, o in enumerate(item) if m != member and o >= 0], minlength=3)
            favorites = np.flatnonzero((others == others.max()) & (others > 0))
            expected[member] += label >= 0 and len(favorites) == 1 and favorites[0] != label
    assert cs.diagnose(cs.Predictions.from_labels(labels, 3)).members["dissents"] == expected


def test_silent_members_do_not_count(rng):
    labels, _ = draw(rng, [0.8, 0.7, 0.6])
    silent = np.full((3, labels.shape[1]), -1)
    without = cs.diagnose(cs.Predictions.from_labels(labels)).beyond_chance
    with_silent = cs.diagnose(cs.Predictions.from_labels(np.concatenate([labels, silent]))).beyond_chance
    assert with_silent.alpha == pytest.approx(without.alpha)
    np.testing.assert_allclose(with_silent.by_member, [*without.by_member, *[np.nan] * 3])
    np.testing.assert_allclose(with_silent.kappa[:3, :3], without.kappa)


def test_who_always_says_the_frequent_class_is_told_by_kappa(rng):
    """The consensus answers the same as a constant member in nine of ten cases, which says nothing of it."""
    confusion = np.stack([np.array([[0.95, 0.05], [0.05, 0.95]])] * 4 + [np.array([[1.0, 0.0], [1.0, 0.0]])])
    labels, _ = labels_from_confusion(rng, confusion, [0.9, 0.1], 2000)
    diagnosis = cs.diagnose(cs.Predictions.from_labels(labels, members=[*"abcd", "constant"]))
    assert diagnosis.members["agreement"][4] > 0.85
    assert diagnosis.members["kappa"][4] == pytest.approx(0, abs=1e-9) and min(diagnosis.members["kappa"][:4]) > 0.3
    assert diagnosis.beyond_chance.sentence() in repr(diagnosis)


def test_classes_in_another_order(rng):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=100, n_classes=3)
    fitted = cs.DawidSkene().fit(cs.Predictions(array, classes=["a", "b", "c"]))
    turned = cs.Predictions(array[:, :, ::-1], classes=["c", "b", "a"])
    expected = cs.diagnose(cs.Predictions(array, classes=["a", "b", "c"]), aggregator=fitted).members
    assert cs.diagnose(turned, aggregator=fitted).members["agreement"] == expected["agreement"]


def test_agreement_is_the_share_of_common_items_with_the_same_label(rng):
    labels, _ = draw(rng, [0.8, 0.7, 0.6], n_items=50)
    labels[0, :10] = labels[1, 40:] = -1
    agreement = cs.diagnose(cs.Predictions.from_labels(labels)).agreement
    for a in range(3):
        for b in range(3):
            both = (labels[a] >= 0) & (labels[b] >= 0)
            assert agreement[a, b] == pytest.approx((labels[a] == labels[b])[both].mean())


def test_confused_pairs_are_named(rng):
    confusion = diagonal_confusion([0.95, 0.95, 0.95], 3)
    confusion[2, 1] = [0.02, 0.38, 0.6]
    labels, _ = labels_from_confusion(rng, confusion, np.ones(3) / 3, 2000)
    report = cs.diagnose(cs.Predictions.from_labels(labels, classes=["cat", "dog", "fox"])).members
    assert report["confuses most"][2].startswith("dog → fox")


def test_a_fitted_aggregator_is_used_as_it_is(rng):
    array, _ = softmax_members(rng, [2, 1, 1], n_items=100, n_classes=3)
    average = cs.Average(weights=[1, 1e-6, 1e-6]).fit(array)
    report = cs.diagnose(array, aggregator=average).members
    assert report["agreement"][0] == 1


def test_crowds_with_many_workers(rng):
    """Of whom each answers few items."""
    labels, truth = draw(rng, rng.uniform(0.3, 0.95, size=150), n_items=1000)
    labels[rng.random(labels.shape) < 0.9] = -1
    labels[0, (labels < 0).all(axis=0)] = 0
    d = cs.diagnose(cs.Predictions.from_labels(labels))
    assert len(d.members) == 150
    assert d.agreement.shape == (len(d.compared),) * 2
    truly = [(own == truth)[own >= 0].mean() for own in labels]
    assert np.corrcoef(truly, d.members["estimated accuracy"])[0, 1] > 0.8


def test_two_answers_of_one_member_count_once_in_pairs(anaesthetists):
    d = cs.diagnose(anaesthetists)
    assert np.nanmax(d.agreement) <= 1
    assert d.members["coverage"] == pytest.approx([1] * 5)


def test_consensus_tells_accuracies_and_who_is_odd(rng):
    n_items, n_classes = 2000, 5
    truth = rng.integers(n_classes, size=n_items)
    accuracies = np.array([0.8, 0.7, 0.65])

    def saying(classes):
        return 0.5 * np.eye(n_classes)[classes] + 0.1  # modest: its probability says little of its accuracy

    said = np.where(
        rng.random((3, n_items)) < accuracies[:, None],
        truth,
        (truth + rng.integers(1, 5, size=(3, n_items))) % n_classes,
    )
    members = {name: saying(labels) for name, labels in zip("abc", said, strict=True)}
    members |= {"guesses": saying(rng.integers(n_classes, size=n_items)), "moved": saying((truth + 1) % n_classes)}
    model = cs.Consensus().fit(members)
    diagnosis = cs.diagnose(members, aggregator=model)
    assert (np.array(diagnosis.members["from"][:3]) < accuracies).all()
    assert (np.array(diagnosis.members["to"][:3]) > accuracies - 0.1).all()
    assert any(warning.startswith("member 'guesses'") for warning in diagnosis.warnings)
    moved = "member 'moved' seems to have its classes in another order: it says 1 for 0, 2 for 1, 3 for 2, …."
    assert any(warning.startswith(moved) for warning in diagnosis.warnings)
    assert f"! {moved}" in repr(diagnosis)


def test_known_class_shares_teach_whoever_estimates(rng):
    """The default method, or the Consensus behind another one; a Consensus that is given has its own."""
    labels, truth = labels_from_confusion(rng, diagonal_confusion([0.8, 0.7, 0.7], 2), [0.9, 0.1], 400)
    predictions, shares = cs.Predictions.from_labels(labels, classes=["usual", "rare"]), {"rare": 0.1, "usual": 0.9}
    known = cs.diagnose(predictions, aggregator=cs.Consensus(class_shares=shares))
    for method in (None, cs.MajorityVote()):
        diagnosis = cs.diagnose(predictions, aggregator=method, class_shares=shares)
        assert diagnosis.members["estimated accuracy"] == known.members["estimated accuracy"]
        assert (
            diagnosis.members["estimated accuracy"]
            != cs.diagnose(predictions, aggregator=method).members["estimated accuracy"]
        )
    with pytest.raises(ValueError, match="class_shares must be given to the aggregator where that is a Consensus"):
        cs.diagnose(predictions, aggregator=cs.Consensus(), class_shares=shares)


def test_what_members_confuse_is_counted_where_labels_are_enough():
    rng = np.random.default_rng(0)
    truth = np.arange(200) % 2
    labels = np.where(rng.random((3, 200)) < 0.8, truth, 1 - truth)
    labels[0, :100] = np.where(truth[:100] == 1, 0, truth[:100])  # every second time, and nobody else does
    p = cs.Predictions.from_labels(labels, 2)
    found = cs.diagnose(p, labels=np.where(np.arange(200) < 100, truth, -1))
    assert found.counts_labels and found.members["confuses most"][0] == "1 → 0 100%"
    few = cs.diagnose(p, labels=np.where(np.arange(200) < 30, truth, -1))
    assert not few.counts_labels and few.members["confuses most"] == cs.diagnose(p).members["confuses most"]
