"""Fast = slow: against loops, enumeration, and PyTorch's autograd."""

import numpy as np
import pytest

import consilience as cs
from consilience.passes.reader import Reader

import reference
from assertions import assert_never_falls
from simulate import diagonal_confusion, labels_from_confusion, softmax_members


@pytest.fixture
def labels(rng):
    confusion = diagonal_confusion([0.9, 0.7, 0.6, 0.5], 3)
    table, _ = labels_from_confusion(rng, confusion, [0.5, 0.3, 0.2], 60)
    table[rng.random(table.shape) < 0.2] = -1
    table[0, (table < 0).all(axis=0)] = 0
    return table


@pytest.mark.parametrize("smoothing", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("n_iter", [1, 7])
def test_dawid_skene_is_the_loops(labels, smoothing, n_iter):
    ds = cs.DawidSkene(smoothing=smoothing, max_iter=n_iter, tol=None).fit(cs.Predictions.from_labels(labels, 3))
    posterior, prior, confusion, log_likelihood = reference.dawid_skene(labels, 3, n_iter, smoothing)
    np.testing.assert_allclose(ds.posterior_, posterior, atol=1e-12)
    np.testing.assert_allclose(ds.class_prior_, prior, atol=1e-12)
    np.testing.assert_allclose(ds.confusion_, confusion, atol=1e-12)
    penalty = (smoothing * (1 + np.eye(3)) * np.log(np.maximum(confusion, 1e-300))).sum() if smoothing else 0
    penalty += smoothing * np.log(prior).sum()
    assert ds.history_[-1] == pytest.approx(log_likelihood + penalty, rel=1e-12)


def test_last_objective_belongs_to_the_parameters_returned(labels):
    predictions = cs.Predictions.from_labels(labels, 3)
    ds = cs.DawidSkene(smoothing=0, max_iter=4, tol=None).fit(predictions)
    total = 0.0
    for i in range(labels.shape[1]):
        joint = ds.class_prior_.copy()
        for m in range(len(labels)):
            if labels[m, i] >= 0:
                joint *= ds.confusion_[m, :, labels[m, i]]
        total += np.log(joint.sum())
        np.testing.assert_allclose(ds.posterior_[i], joint / joint.sum(), atol=1e-12)
    assert ds.history_[-1] == pytest.approx(total, rel=1e-12)


def test_bcc_history_is_the_true_bound(labels):
    bcc = cs.BayesianClassifierCombination(max_iter=5, tol=None).fit(cs.Predictions.from_labels(labels, 3))
    expected = reference.elbo(
        labels, bcc.posterior_, bcc.parameters_.confusion, bcc.parameters_.classes, 1 + np.eye(3), np.ones(3)
    )
    assert bcc.history_[-1] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize(
    "method",
    [
        cs.DawidSkene(max_iter=50, tol=None),
        cs.DawidSkene(smoothing=0, max_iter=50, tol=None),
        cs.DawidSkene(class_prior=[0.2, 0.3, 0.5], max_iter=50, tol=None),
        cs.BayesianClassifierCombination(max_iter=50, tol=None),
        cs.BayesianClassifierCombination(class_prior="uniform", max_iter=50, tol=None),
    ],
    ids=repr,
)
@pytest.mark.parametrize("is_semi_supervised", [False, True])
def test_objectives_never_fall(labels, method, is_semi_supervised):
    known = np.full(labels.shape[1], -1)
    known[:5] = 0 if is_semi_supervised else -1
    assert_never_falls(method.fit(cs.Predictions.from_labels(labels, 3), known).history_)


def test_dawid_skene_becomes_bcc_as_items_grow(rng):
    """With many items the priors are washed out, and both are the maximum-likelihood rates."""
    labels, _ = labels_from_confusion(rng, diagonal_confusion([0.8, 0.7, 0.9], 3), [0.5, 0.3, 0.2], 20_000)
    predictions = cs.Predictions.from_labels(labels, 3)
    ds, bcc = cs.DawidSkene(smoothing=0).fit(predictions), cs.BayesianClassifierCombination().fit(predictions)
    np.testing.assert_allclose(ds.confusion_, bcc.confusion_, atol=5e-3)


# ---- Soft Dawid-Skene -------------------------------------------------------------------------------------


def assert_is_autograds(array, schedule, steps, smoothing, tolerance=1e-8):
    averaging = {i: a for i, a in enumerate(schedule) if i == 0 or a != schedule[i - 1]}
    sds = cs.SoftDawidSkene(
        averaging=averaging, max_iter=len(schedule), optimizer_steps=steps, init_smoothing=smoothing
    ).fit(array)
    posterior, prior, concentration, history = reference.soft_dawid_skene_autograd(array, schedule, steps, smoothing)
    np.testing.assert_allclose(sds.posterior_, posterior, atol=tolerance)
    np.testing.assert_allclose(sds.class_prior_, prior, atol=tolerance)
    np.testing.assert_allclose(sds.concentration_, concentration, atol=tolerance)
    np.testing.assert_allclose(sds.history_, history, rtol=tolerance)


@pytest.mark.parametrize("smoothing", [0.0, 1.0, 10.0])
def test_sds_is_autograd_with_torchs_adamw(rng, smoothing):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=200, n_classes=5)
    assert_is_autograds(array, [1e-2] * 10 + [0.3] * 10, 3, smoothing)


def test_sds_is_autograd_where_nobody_votes_for_a_class(rng):
    """Without the guard; with it, such a class cannot become the answer."""
    array, _ = softmax_members(rng, [2, 1, 1], n_items=200, n_classes=4)
    array[:, :, 3] *= 0.01
    array /= array.sum(axis=2, keepdims=True)
    sds = cs.SoftDawidSkene(averaging=0.05, max_iter=20, init_smoothing=1.0, guard_silent_classes=False).fit(array)
    posterior, _, _, _ = reference.soft_dawid_skene_autograd(array, [0.05] * 20, 5, 1.0)
    np.testing.assert_allclose(sds.posterior_, posterior, atol=1e-8)
    guarded = cs.SoftDawidSkene(averaging=0.05, max_iter=20, init_smoothing=1.0).fit(array)
    assert (guarded.posterior_.argmax(axis=1) == 3).sum() == 0 < (sds.posterior_.argmax(axis=1) == 3).sum()


def test_auto_smoothing_goes_by_what_each_member_answered(rng):
    array, _ = softmax_members(rng, [3, 3], n_items=2000, n_classes=10)
    array[1, 100:] = np.nan
    alone = cs.SoftDawidSkene(max_iter=1).fit(array[1:, :100])
    together = cs.SoftDawidSkene(max_iter=1).fit(array)
    diagonals = [np.diagonal(m.confusion_[-1]).mean() for m in (alone, together)]
    assert diagonals[1] == pytest.approx(diagonals[0], abs=0.1)


def test_a_soft_stream_adds_what_the_online_rule_believes(rng):
    array, truth = softmax_members(rng, [3, 2, 1], n_items=120, n_classes=3)
    sds = cs.SoftDawidSkene(averaging=0.02).fit(array[:, :60])
    before, labels = sds.statistics_, np.where(np.arange(60) < 20, truth[60:], -1)
    expected = sds.predict_proba(array[:, 60:])
    expected[:20] = np.eye(3)[truth[60:80]]
    sds.partial_fit(array[:, 60:], labels)
    np.testing.assert_allclose(sds.posterior_, expected, atol=1e-12)
    batch = Reader(cs.Predictions(array[:, 60:]), log_floor=1e-10).statistics(expected)
    np.testing.assert_allclose(sds.statistics_.sums, before.sums + batch.sums, rtol=1e-10)


def test_known_labels_count_in_the_start(rng):
    array, truth = softmax_members(rng, [1, 1], n_items=50, n_classes=3)
    sds = cs.SoftDawidSkene(max_iter=1, averaging=0.0, learning_rate=0.0, init_smoothing=1.0).fit(array, truth)
    counts = np.zeros((2, 3, 3))
    for m in range(2):
        np.add.at(counts[m], (truth, array[m].argmax(axis=1)), 1)
    np.testing.assert_allclose(sds.concentration_, (counts + 1) / (counts + 1).sum(axis=2, keepdims=True), rtol=1e-12)


def test_sds_is_autograd_on_real_prompts(shared):
    array = shared("mmlu_prompts.npz")["probabilities"].astype(np.float64)
    assert_is_autograds(array, [1e-3] * 30, 5, 10.0)


def test_sds_posterior_is_enumeration(rng):
    """The pure posterior of new items is Bayes' rule with SciPy's Dirichlet densities."""
    from scipy import stats

    array, _ = softmax_members(rng, [2, 1], n_items=40, n_classes=3)
    sds = cs.SoftDawidSkene(max_iter=5, averaging=0.5).fit(array)
    rows = array[:, :4]
    pure = sds.predict_proba(rows, pure=True)
    for i in range(4):
        joint = [
            sds.class_prior_[k]
            * np.prod([stats.dirichlet.pdf(rows[m, i] / rows[m, i].sum(), sds.concentration_[m, k]) for m in (0, 1)])
            for k in range(3)
        ]
        np.testing.assert_allclose(pure[i], np.array(joint) / sum(joint), rtol=1e-9)
    mixed = (1 - sds.weight_) * rows.mean(axis=0) + sds.weight_ * pure
    np.testing.assert_allclose(sds.predict_proba(rows), mixed, atol=1e-12)


@pytest.mark.parametrize("solver", ["adamw", "exact"])
def test_history_is_q_of_what_is_returned(rng, solver):
    array, _ = softmax_members(rng, [2, 1], n_items=30, n_classes=3)
    sds = cs.SoftDawidSkene(max_iter=4, averaging=0.3, solver=solver).fit(array)
    expected = reference.q_function(array, sds.posterior_, sds.class_prior_, sds.concentration_)
    assert sds.history_[-1] == pytest.approx(expected, rel=1e-10)


def test_exact_step_is_the_maximum_of_q(rng):
    array, _ = softmax_members(rng, [2, 1], n_items=50, n_classes=3)
    sds = cs.SoftDawidSkene(max_iter=1, averaging=0.0, solver="exact").fit(array)
    best = sds.history_[-1]
    for _ in range(20):
        other = sds.concentration_ * np.exp(0.05 * rng.normal(size=sds.concentration_.shape))
        assert reference.q_function(array, sds.posterior_, sds.class_prior_, other) < best


def test_exact_em_climbs_the_likelihood(rng):
    """With exact M steps and no averaging this is plain EM: the evidence never falls."""
    array, _ = softmax_members(rng, [2, 1, 1.5], n_items=100, n_classes=3)
    evidence = []
    for n_iter in range(1, 15):
        sds = cs.SoftDawidSkene(max_iter=n_iter, averaging=1, solver="exact").fit(array)
        evidence.append(sds.statistics_.log_evidence)
    assert_never_falls(evidence)


def test_hard_members_are_dawid_skenes(rng):
    """With hard members alone, no averaging and no floor in sight, Soft Dawid-Skene is Dawid-Skene."""
    labels, _ = labels_from_confusion(rng, diagonal_confusion([0.9, 0.7, 0.6], 3), [0.5, 0.3, 0.2], 100)
    predictions = cs.Predictions.from_labels(labels, 3)
    soft = cs.SoftDawidSkene(averaging=1, max_iter=6, smoothing=0.0).fit(predictions)
    hard = cs.DawidSkene(max_iter=6, smoothing=0.0, tol=None).fit(predictions)
    np.testing.assert_allclose(soft.posterior_, hard.posterior_, atol=1e-9)
    assert np.isnan(soft.concentration_).all()


def test_polyak_averages_of_posteriors_and_of_statistics_agree(rng):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=70, n_classes=4, missing=0.1)
    predictions = cs.Predictions(array)
    sds = cs.SoftDawidSkene(averaging=0.2, max_iter=9).fit(predictions)
    again = Reader(predictions, log_floor=1e-10).statistics(sds.posterior_)
    np.testing.assert_allclose(sds.statistics_.sums, again.sums, rtol=1e-10)
    np.testing.assert_allclose(sds.statistics_.class_counts, again.class_counts, rtol=1e-10)


def test_online_rule_nearly_reproduces_the_fit(shared):
    array = shared("mmlu_prompts.npz")["probabilities"].astype(np.float64)
    sds = cs.SoftDawidSkene().fit(array)
    assert sds.weight_ == pytest.approx(1 - 0.999**100)
    assert np.abs(sds.predict_proba(array) - sds.posterior_).max() < 0.02
