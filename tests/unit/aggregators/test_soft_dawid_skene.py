"""Soft Dawid-Skene against PyTorch's autograd, enumeration and loops."""

import numpy as np
import pytest
from scipy import stats

import consilience as cs
from consilience.aggregators.soft_dawid_skene import DirichletModel, Emissions, lend_to_silent_classes
from consilience.answering import saving
from consilience.maths.dirichlet import log_normalizer
from consilience.maths.em import Moments, Statistics
from consilience.passes.reader import Reader

import reference
from assertions import assert_never_falls
from simulate import softmax_members


def assert_is_autograds(array, schedule, steps, smoothing, tolerance=1e-8):
    averaging = {i: a for i, a in enumerate(schedule) if i == 0 or a != schedule[i - 1]}
    sds = cs.SoftDawidSkene(
        averaging=averaging,
        max_iter=len(schedule),
        optimizer_steps=steps,
        init_smoothing=smoothing,
        init_ties="first",  # as in the reference: real prompts have ties
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
    sds = cs.SoftDawidSkene(averaging=0.05, max_iter=20, init_smoothing=1.0, silent_classes="flat").fit(array)
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


def test_sds_is_autograd_on_real_classifiers():
    array = cs.datasets.shifted_digits().predictions.to_array()
    assert_is_autograds(array, [1e-3] * 30, 5, 10.0)


def test_sds_is_autograd_on_real_prompts(shared):
    array = shared("mmlu_prompts.npz")["probabilities"].astype(np.float64)
    assert_is_autograds(array, [1e-3] * 30, 5, 10.0)


def test_sds_posterior_is_enumeration(rng):
    """The pure posterior of new items is Bayes' rule with SciPy's Dirichlet densities."""
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


def test_polyak_averages_of_posteriors_and_of_statistics_agree(rng):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=70, n_classes=4, missing=0.1)
    predictions = cs.Predictions(array)
    sds = cs.SoftDawidSkene(averaging=0.2, max_iter=9).fit(predictions)
    again = Reader(predictions, log_floor=1e-10).statistics(sds.posterior_)
    np.testing.assert_allclose(sds.statistics_.sums, again.sums, rtol=1e-10)
    np.testing.assert_allclose(sds.statistics_.class_counts, again.class_counts, rtol=1e-10)


def test_online_rule_nearly_reproduces_the_fit(rng):
    array, _ = softmax_members(rng, [0.4] * 10, n_items=1000, n_classes=4)
    sds = cs.SoftDawidSkene().fit(array)
    assert sds.weight_ == pytest.approx(1 - 0.999**100)
    assert np.abs(sds.predict_proba(array) - sds.posterior_).max() < 0.02


@pytest.fixture(scope="module")
def array():
    return softmax_members(np.random.default_rng(0), [3, 2, 1], n_items=40, n_classes=3)[0]


def test_paper_presets():
    assert cs.SoftDawidSkene.paper("mnist", start="ours").get_params() == cs.SoftDawidSkene().get_params()
    letter = cs.SoftDawidSkene.paper("mnist")
    assert (letter.init_smoothing, letter.init_iterations, letter.silent_classes) == (0, 1, "flat")
    assert cs.SoftDawidSkene.paper("cifar100").averaging == {0: 1e-5, 100: 1e-3}
    imagenet = cs.SoftDawidSkene.paper("imagenet")
    assert (imagenet.max_iter, imagenet.optimizer_steps) == (25, 1)
    with pytest.raises(ValueError, match="name must be one of .*; got 'svhn'"):
        cs.SoftDawidSkene.paper("svhn")
    with pytest.raises(ValueError, match="start must be one of .*; got 'theirs'"):
        cs.SoftDawidSkene.paper("mnist", start="theirs")


def test_schedule_weighs_what_its_steps_weigh(array):
    sds = cs.SoftDawidSkene(averaging={0: 0.1, 5: 0.01}, max_iter=9).fit(array)
    assert sds.weight_ == pytest.approx(1 - 0.9**5 * 0.99**4)


def test_rows_of_nan_stand_for_a_missing_person(array):
    people = cs.Predictions.from_labels(array[:1].argmax(axis=2), 3)
    sds = cs.SoftDawidSkene(max_iter=3).fit(cs.Predictions.concatenate([array, people]))
    absent = np.concatenate([array, np.full_like(array[:1], np.nan)])
    silent = cs.Predictions.from_labels(np.full((1, 40), -1), 3, partial=True)
    expected = sds.predict_proba(cs.Predictions.concatenate([array, silent]))
    np.testing.assert_allclose(sds.predict_proba(absent), expected, atol=1e-12)


def test_a_pure_fit_answers_by_the_e_step_alone(array):
    fitted = cs.SoftDawidSkene(max_iter=5).fit(array)
    pure = fitted.pure()
    np.testing.assert_array_equal(pure.predict_proba(array), fitted.predict_proba(array, pure=True))
    average = cs.Average().fit(array).posterior_
    mixed = (1 - fitted.weight_) * average + fitted.weight_ * pure.predict_proba(array)
    np.testing.assert_allclose(fitted.predict_proba(array), mixed, rtol=1e-12)
    assert fitted.weight_ < 1
    with pytest.raises(AttributeError, match="has no posterior_"):
        _ = pure.posterior_


# ---- the mathematics --------------------------------------------------------------------------------------


def dirichlet_model(is_soft, **options):
    defaults = {"class_prior": None, "solver": "adamw", "optimizer_steps": 3, "learning_rate": 0.01}
    defaults |= {"weight_decay": 1e-4, "optimizer_moments": "kept", "smoothing": 0.5, "floor": 1e-10}
    return DirichletModel(np.asarray(is_soft), **defaults | options)


def emissions_of(rng, n_members=2, n_classes=3):
    table = rng.uniform(0.2, 3, size=(n_members, n_classes, n_classes))
    prior = rng.dirichlet(np.ones(n_classes))
    return Emissions(prior, table, log_normalizer(table), Moments.zero(table.shape))


def statistics_of(array, posterior):
    return Reader(cs.Predictions(array), log_floor=1e-10).statistics(posterior)


def test_scores_are_log_densities_up_to_what_all_classes_share(rng):
    emissions, row = emissions_of(rng), rng.dirichlet(np.ones(3), size=2)
    log_prior, weights, bias = dirichlet_model([True, True]).scores(emissions)
    found = log_prior + np.einsum("mkj,mj->k", weights, np.log(row)) + bias.sum(axis=0)
    densities = [
        np.log(emissions.class_prior[k]) + sum(stats.dirichlet.logpdf(row[m], emissions.table[m, k]) for m in (0, 1))
        for k in range(3)
    ]
    np.testing.assert_allclose(np.diff(found), np.diff(densities), rtol=1e-9)


def test_a_step_does_not_depend_on_the_number_of_items(rng):
    """All items given twice move the concentrations as all items given once."""
    array, _ = softmax_members(rng, [2, 1], n_items=30, n_classes=3)
    posterior = array.mean(axis=0)
    once, twice = (
        dirichlet_model([True, True]).maximize(statistics, emissions)
        for statistics, emissions in (
            (statistics_of(array, posterior), emissions_of(np.random.default_rng(1))),
            (2 * statistics_of(array, posterior), emissions_of(np.random.default_rng(1))),
        )
    )
    np.testing.assert_allclose(twice.table, once.table, rtol=1e-12)
    np.testing.assert_allclose(twice.class_prior, posterior.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(once.log_normalizers, log_normalizer(once.table), rtol=1e-12)
    assert once.moments.n_steps == 3


def test_members_beside_each_other_are_fitted_as_alone(rng, monkeypatch):
    """Rows do not depend on each other, however many are treated at once."""
    array, _ = softmax_members(rng, [2, 1, 1], n_items=30, n_classes=3)
    whole = cs.SoftDawidSkene(max_iter=3, averaging=0.2).fit(array).table_
    monkeypatch.setattr("consilience.aggregators.soft_dawid_skene.ROW_NUMBERS", 6)
    np.testing.assert_array_equal(cs.SoftDawidSkene(max_iter=3, averaging=0.2).fit(array).table_, whole)


@pytest.mark.parametrize(
    ("is_soft", "at_once", "parts"),
    [
        ([True, True], 100, [(0, 6)]),
        ([True, True], 4, [(0, 4), (4, 6)]),
        ([True, False], 100, [(0, 3)]),
        ([False, True], 2, [(3, 5), (5, 6)]),
        ([False, False], 2, []),
    ],
)
def test_soft_rows_are_treated_once_and_hard_ones_never(monkeypatch, is_soft, at_once, parts):
    monkeypatch.setattr("consilience.aggregators.soft_dawid_skene.ROW_NUMBERS", 3 * at_once)
    assert [(part.start, part.stop) for part in dirichlet_model(is_soft)._soft_parts(3)] == parts


def test_classes_that_nobody_votes_for_are_lent_the_average_row():
    """By hand: two classes with votes, of which the member has 3 right and 1 wrong on average."""
    sums = np.array([[[4.0, 1, 0], [1.0, 2, 0], [0, 0, 0]]])
    statistics = Statistics(8.0, np.array([5.0, 3, 0]), sums.sum(axis=2), sums, 0.0)
    lent = lend_to_silent_classes(statistics)
    np.testing.assert_allclose(lent[0], [[4, 1, 0], [1, 2, 0], [0.5, 0.5, 3]])
    everyone = Statistics(8.0, np.array([5.0, 3, 1]), sums.sum(axis=2), sums, 0.0)
    assert lend_to_silent_classes(everyone) is sums


def test_an_exact_step_leaves_rows_that_less_than_one_item_speaks_for(rng):
    model, emissions = dirichlet_model([True, True], solver="exact"), emissions_of(rng)
    before, array = emissions.table.copy(), rng.dirichlet(np.ones(3), size=(2, 20))
    posterior = np.zeros((20, 3))
    posterior[:, 0], posterior[:, 1] = 0.99, 0.01  # a fifth of an item for class 1, nothing for class 2
    after = model.maximize(statistics_of(array, posterior), emissions).table
    np.testing.assert_array_equal(after[:, 1:], before[:, 1:])
    assert (after[:, 0] != before[:, 0]).all()


def test_a_batch_that_is_interrupted_teaches_nothing(array, monkeypatch):
    sds = cs.SoftDawidSkene(max_iter=2).fit(array)
    before = sds.table_.copy()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(DirichletModel, "objective", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sds.partial_fit(array)
    np.testing.assert_array_equal(sds.table_, before)
    assert sds.statistics_.n_items == array.shape[1] and sds.moments_.n_steps == 10


def test_members_answer_as_they_did_in_the_fit(array):
    people = cs.Predictions.from_labels(array[:1].argmax(axis=2), 3, members=["p"])
    mixed = cs.Predictions.concatenate([cs.Predictions(array, members=list("abc")), people])
    sds = cs.SoftDawidSkene(max_iter=2).fit(mixed)
    assert sds.is_soft_.tolist() == [True, True, True, False]
    assert np.isnan(sds.concentration_[3]).all() and not np.isnan(sds.concentration_[:3]).any()
    np.testing.assert_allclose(sds.confusion_.sum(axis=2), 1, rtol=1e-12)
    with pytest.raises(cs.InvalidPredictions, match="member 'p' must answer as it did in the fit, by labels; got prob"):
        sds.predict_proba(cs.Predictions(array[:1], members=["p"]))
    with pytest.raises(
        cs.InvalidPredictions, match="member 'a' must answer as it did in the fit, by probabilities; got"
    ):
        sds.predict_proba(cs.Predictions.from_labels([[0]], 3, members=["a"]))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("init_rows", "'rates' or 'counts'"),
        ("init_ties", "'split' or 'first'"),
        ("optimizer_moments", "'kept' or 'anew'"),
        ("silent_classes", "'average', 'flat' or 'floor'"),
        ("solver", "'adamw' or 'exact'"),
    ],
)
def test_options_must_be_known_words(name, words):
    with pytest.raises(ValueError, match=f"{name} must be {words}; got 'other'"):
        cs.SoftDawidSkene(**{name: "other"}).fit([[[0.5, 0.5]]])


def test_a_start_from_counts_is_not_normalized(array):
    options = {"learning_rate": 0, "weight_decay": 0, "max_iter": 1, "init_smoothing": 1.0}
    rates, counts = (cs.SoftDawidSkene(init_rows=rows, **options).fit(array) for rows in ("rates", "counts"))
    assert counts.concentration_.sum() == pytest.approx(3 * 40 + 3 * 3 * 3)  # an answer to each item, and the smoothing
    np.testing.assert_allclose(rates.confusion_, counts.confusion_, rtol=1e-12)


@pytest.mark.parametrize(("guard", "now"), [(True, "average"), (False, "flat")])
def test_files_of_earlier_versions_load(array, tmp_path, guard, now):
    """They have `guard_silent_classes` in the place of `silent_classes`."""
    fitted = cs.SoftDawidSkene(silent_classes=now, max_iter=2).fit(array)
    fitted.save(tmp_path / "new.npz")
    name, parameters, learned = saving.read(tmp_path / "new.npz")
    for added in ("silent_classes", "optimizer_moments", "init_rows"):
        del parameters[added]
    saving.write(tmp_path / "old.npz", name, parameters | {"guard_silent_classes": guard}, learned)
    loaded = cs.load(tmp_path / "old.npz")
    assert loaded.get_params() == fitted.get_params()
    np.testing.assert_array_equal(loaded.predict_proba(array), fitted.predict_proba(array))


def test_init_ties_first_counts_labels_as_given():
    """What "first" starts from is what labels of the first of the tied classes start from."""
    array = np.array([[[0.4, 0.4, 0.2], [0.1, 0.45, 0.45], [0.8, 0.1, 0.1]]] * 2)
    moved = array + 1e-4 * np.array([1, 0, -1])  # no ties: the first of each pair is ahead
    options = {"max_iter": 1, "learning_rate": 0, "weight_decay": 0, "averaging": 0}
    first, decided = (
        cs.SoftDawidSkene(init_ties=ties, **options).fit(rows).concentration_
        for ties, rows in (("first", array), ("split", moved))
    )
    np.testing.assert_allclose(first, decided, atol=1e-12)
    split = cs.SoftDawidSkene(**options).fit(array).concentration_
    assert np.abs(split - first).max() > 0.01
