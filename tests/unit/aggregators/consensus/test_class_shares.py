"""Known class shares: what they are read from, the weights that follow, and what the answers become."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize

import consilience as cs
from consilience.aggregators.consensus import class_shares as module
from consilience.aggregators.consensus.class_shares import (
    EVEN_WORTH,
    MANY,
    MOST_WEIGHT,
    RIDGE,
    SHARE_TOLERANCE,
    ClassShares,
    Reweighting,
    matched,
    read_shares,
    reweighted,
)
from consilience.aggregators.consensus.consensus import plain_rule
from consilience.aggregators.consensus.label_free_fit import OF_CLASSES, Survey

from simulate import named, softmax_members

SHARES = np.array([0.7, 0.2, 0.1])
KNOWN = ClassShares(SHARES, MANY)


def answers_of(rng, n_items, shares=SHARES):
    """Answers that are right but for the class prior, which they take to be even."""
    truth = rng.choice(len(shares), size=n_items, p=shares)
    logits = 2 * np.eye(len(shares))[truth] + np.sqrt(2) * rng.normal(size=(n_items, len(shares)))
    rows = np.exp(logits)  # p(logits | class) ∝ exp(logit of the class)
    return rows / rows.sum(axis=1, keepdims=True), truth


def weighted(answers, log_weights):
    rows = answers * np.exp(log_weights)
    return rows / rows.sum(axis=1, keepdims=True)


# ---- the weights ------------------------------------------------------------------------------------------


def test_weights_undo_a_wrong_prior(rng):
    answers, truth = answers_of(rng, 20_000)
    found = matched(answers, KNOWN).log_weights
    expected = np.log(SHARES)
    np.testing.assert_allclose(
        found - found.mean(), expected - expected.mean(), atol=0.35
    )  # `SHARE_TOLERANCE` holds back
    before, after = (cs.metrics.nll(rows, truth) for rows in (answers, weighted(answers, found)))
    assert after < before


def test_the_mean_answer_comes_near_the_shares(rng):
    answers, _ = answers_of(rng, 2000)
    far = np.abs(answers.mean(axis=0) - SHARES).max()
    near = np.abs(weighted(answers, matched(answers, KNOWN).log_weights).mean(axis=0) - SHARES).max()
    assert far > 0.1 and near < far / 3


def test_the_weights_minimize_what_is_said(rng):
    answers, _ = answers_of(rng, 50)

    def loss(log_weights):
        total = sum(np.log(row @ np.exp(log_weights)) for row in answers)
        total += 50 * (SHARE_TOLERANCE / 2 * SHARES @ log_weights**2 - SHARES @ log_weights)
        return total + RIDGE / 2 * np.sum(log_weights**2)

    expected = minimize(loss, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(matched(answers, KNOWN).log_weights, expected, atol=1e-5)


def test_few_items_change_little(rng):
    answers, _ = answers_of(rng, 400)
    one, many = (np.ptp(matched(answers[:n], KNOWN).log_weights) for n in (1, 400))
    assert one < 0.15 and many > 1


def test_a_share_of_zero_rules_a_class_out(rng):
    answers, _ = answers_of(rng, 200)
    found = matched(answers, ClassShares(np.array([0.6, 0.4, 0.0]), MANY)).log_weights
    assert found[2] == -MOST_WEIGHT
    assert weighted(answers, found)[:, 2].mean() < 0.01


def test_weights_stay_bounded_where_nobody_names_a_class():
    answers = np.tile([1.0, 0.0], (100_000, 1))
    assert np.abs(matched(answers, ClassShares(np.array([0.5, 0.5]), MANY)).log_weights).max() <= MOST_WEIGHT


def test_classes_and_items_in_another_order(rng):
    answers, _ = answers_of(rng, 300)
    found = matched(answers, KNOWN)
    turned = matched(answers[rng.permutation(300)][:, [2, 0, 1]], ClassShares(SHARES[[2, 0, 1]], MANY))
    np.testing.assert_allclose(turned.log_weights, found.log_weights[[2, 0, 1]], atol=1e-9)
    np.testing.assert_allclose(turned.precision, found.precision[[2, 0, 1]], rtol=1e-9)


def test_a_stream_comes_to_the_weights_of_all_its_items(rng):
    answers, _ = answers_of(rng, 1000)
    whole, found = matched(answers, KNOWN), None
    for start in range(0, 1000, 20):
        found = matched(answers[start : start + 20], KNOWN, found)
    np.testing.assert_allclose(weighted(answers, found.log_weights), weighted(answers, whole.log_weights), atol=0.03)
    np.testing.assert_allclose(found.precision, whole.precision, rtol=0.2)


def test_what_is_forgotten_is_known_less_well():
    before = Reweighting(np.array([0.5, -0.5]), np.array([100.0, 12.0]))
    faded = 0.5 * before
    np.testing.assert_array_equal(faded.log_weights, before.log_weights)
    np.testing.assert_array_equal(faded.precision, [50, RIDGE])  # never less than before the first item


def test_of_many_items_some_suffice(rng, monkeypatch):
    array, _ = softmax_members(rng, [3, 2, 1], n_items=1000, n_classes=3)
    data, rule = cs.Predictions(array), plain_rule(cs.Consensus().fit(array))
    whole = reweighted(rule, data, KNOWN)
    monkeypatch.setattr(module, "MOST_WEIGHED", 3 * 500)
    some = reweighted(rule, data, KNOWN)
    assert some.precision.sum() < 0.6 * whole.precision.sum()
    np.testing.assert_allclose(some.log_weights, whole.log_weights, atol=0.4)


# ---- what counts are worth ---------------------------------------------------------------------------------


def test_few_counts_pull_less_than_many(rng):
    answers, _ = answers_of(rng, 2000)
    far = [
        np.abs(
            weighted(answers, matched(answers, read_shares((n * SHARES).tolist(), [0, 1, 2])).log_weights).mean(0)
            - SHARES
        )
        for n in (20, 200, 2000, 20_000)
    ]
    assert (np.diff([one.max() for one in far]) < 0).all()


def test_very_many_counts_are_shares(rng):
    answers, _ = answers_of(rng, 500)
    many = matched(answers, read_shares((1e9 * SHARES).round().tolist(), [0, 1, 2]))
    np.testing.assert_allclose(many.log_weights, matched(answers, KNOWN).log_weights, atol=1e-6)


def test_even_is_as_many_counts_of_each_class(rng):
    answers, _ = answers_of(rng, 500)
    even, counted = (read_shares(given, [0, 1]) for given in ("even", [EVEN_WORTH / 2] * 2))
    assert even.n_counted == counted.n_counted and even.shares.tolist() == counted.shares.tolist() == [0.5, 0.5]
    assert read_shares("even", [0, 1, 2]).tolerance > KNOWN.tolerance
    assert np.ptp(matched(answers, read_shares("even", [0, 1, 2])).log_weights) > 0


def test_a_class_that_was_not_met_is_not_impossible():
    for counted in (Counter(a=20), pd.Series({"a": 20}), {"a": 20, "b": 0, "c": 0}):
        shares = read_shares(counted, ["a", "b", "c"]).shares
        assert shares[1] == shares[2] > 0.01
    with pytest.raises(ValueError, match=r"must have a count for every class, 0 where none was met; got none for \['b"):
        read_shares({"a": 20}, ["a", "b", "c"])


# ---- what is given ----------------------------------------------------------------------------------------


def test_shares_in_order_and_by_name():
    assert read_shares(None, ["a", "b"]) is None
    for given in ([0.2, 0.8], (0.2, 0.8), np.array([0.2, 0.8]), {"b": 0.8, "a": 0.2}, {"a": 0.2}, {"b": 0.8}):
        found = read_shares(given, ["a", "b"])
        np.testing.assert_allclose(found.shares, [0.2, 0.8])
        assert found.n_counted == MANY


def test_counts_in_order_and_by_name():
    labels = pd.Series(["b"] * 8 + ["a"] * 2)
    for given in ([2, 8], {"b": 8, "a": 2.0}, Counter(labels), labels.value_counts(), np.array([2, 8])):
        found = read_shares(given, ["a", "b"])
        np.testing.assert_allclose(found.shares, [2.5 / 11, 8.5 / 11])
        assert found.n_counted == 10


def test_a_series_is_matched_by_name():
    shares = pd.Series(["dog", "cat", "dog", "dog"]).value_counts(normalize=True)
    assert read_shares(shares, ["cat", "dog"]).shares.tolist() == [0.25, 0.75]
    assert read_shares(pd.Series([0.25, 0.75]), ["cat", "dog"]).shares.tolist() == [0.25, 0.75]
    with pytest.raises(ValueError, match="class_shares must be of the classes"):
        read_shares(shares, ["cat", "owl"])


def test_rounded_shares_are_normalized():
    np.testing.assert_allclose(read_shares([0.33, 0.33, 0.33], [0, 1, 2]).shares, 1 / 3)


def test_classes_that_are_called_by_numbers():
    for given in ({"1": 0.8, "0": 0.2}, {1: 0.8, 0: 0.2}, {1: 0.8}):
        np.testing.assert_allclose(read_shares(given, [0, 1]).shares, [0.2, 0.8])


SUM = "must sum to 1, or be whole numbers that were counted; they sum to"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0.2, 0.7], f"{SUM} 0.9"),
        ([20.5, 80], f"{SUM} 100.5"),
        ({"a": 1.2}, f"{SUM} 1.2"),
        ([1, 0], "must be counts of 2 items or more, or shares below 1; got a single 1"),
        ({"a": 1}, "must be counts of 2 items or more, or shares below 1; got a single 1"),
        ({"a": 0.999}, r"must leave some for a class without a share, or name it with 0; got none for \['b'\]"),
        ([0, 0], "must have a number above 0; got none"),
        (Counter(), "must have a number above 0; got none"),
        ([-0.2, 1.2], "must be at least 0; got -0.2"),
        ([-20, 120], "must be at least 0; got -20"),
        ([np.nan, 1.0], "must be at least 0; got nan"),
        ({"a": np.nan}, "must be at least 0; got nan"),
        ([0.5, np.inf], f"{SUM} inf"),
        ([0.2, 0.3, 0.5], r"must be one number for each of 2 classes; got the shape \(3,\)"),
        (0.5, r"must be one number for each of 2 classes; got the shape \(\)"),
        ("odd", "must be 'even', or numbers, one for each class; got 'odd'"),
        ([[0.5], [0.2, 0.3]], "must be 'even', or numbers, one for each class"),
        ({"a": "many"}, "must be 'even', or numbers, one for each class"),
        ({"a": 0.5, "c": 0.5}, r"must be of the classes \['a', 'b'\]; got 'c'"),
        ({"a": 20, "c": 5}, r"must be of the classes \['a', 'b'\]; got 'c'"),
    ],
)
def test_wrong_shares(given, message):
    with pytest.raises(ValueError, match=f"^class_shares {message}"):
        read_shares(given, ["a", "b"])


def test_only_one_share_may_be_left_out():
    message = r"must have a share for every class, or for all but one; got none for \['b', 'c'\]"
    with pytest.raises(ValueError, match=message):
        read_shares({"a": 0.5}, ["a", "b", "c"])
    with pytest.raises(ValueError, match="must name each class once"):
        read_shares({"1": 0.5, 1: 0.5}, [0, 1])


# ---- labels that contradict -------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [np.array([-1, 1, 0]), np.array([[np.nan] * 2, [0.5, 0.5], [1, 0]])])
def test_a_label_of_a_class_that_was_ruled_out(labels):
    with pytest.raises(
        ValueError, match="class_shares must be above 0 for classes that known labels have; got 0 for 'b'"
    ):
        read_shares([0.995, 0], ["a", "b"]).check_labels(labels, ["a", "b"])


def test_labels_that_shares_make_unlikely():
    labels = np.repeat([0, 1], [90, 10])
    with pytest.warns(UserWarning, match="'a' has the share 50%, and 90% of 100 labels"):
        read_shares([0.5, 0.5], ["a", "b"]).check_labels(labels, ["a", "b"])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("given", "labels"),
    [
        ([0.5, 0.5], [0] * 12),  # the same label 12 times
        ([10, 10], [0] * 90 + [1] * 10),  # few were counted
        ([0.9999, 0.0001], [0] * 19 + [1]),  # one of a rare class
        ([0.9, 0.1], [0] * 9000 + [1] * 1000),
    ],
)
def test_labels_that_may_be(given, labels):
    read_shares(given, ["a", "b"]).check_labels(np.array(labels), ["a", "b"])


# ---- Consensus --------------------------------------------------------------------------------------------


@pytest.fixture
def panel(rng):
    """Members who take two classes to be as frequent as each other, although one is rare."""
    truth = rng.choice(2, size=600, p=[0.95, 0.05])
    logits = 1.2 * np.eye(2)[truth] + rng.normal(size=600)[:, None] * [0.5, -0.5] + rng.normal(size=(4, 600, 2))
    rows = np.exp(logits)
    return cs.Predictions(rows / rows.sum(axis=2, keepdims=True), classes=["usual", "rare"]), truth


GIVEN = {"rare": 0.05, "usual": 0.95}


def test_known_shares_help(panel):
    predictions, truth = panel
    without, known = cs.Consensus().fit(predictions), cs.Consensus(class_shares=GIVEN).fit(predictions)
    assert without.reweighting_ is None
    for metric in (cs.metrics.nll, cs.metrics.brier_score):
        assert metric(known.posterior_, truth) < 0.9 * metric(without.posterior_, truth)
    in_order = cs.Consensus(class_shares=[0.95, 0.05]).fit(predictions)
    np.testing.assert_array_equal(in_order.posterior_, known.posterior_)


def test_one_member_alone_too(panel):
    predictions, truth = panel
    alone = predictions.to_array()[:1]
    known = cs.Consensus(class_shares=[0.95, 0.05]).fit(alone)
    assert cs.metrics.nll(known.posterior_, truth) < cs.metrics.nll(alone[0], truth)
    np.testing.assert_allclose(known.predict_proba(alone), known.posterior_)


def test_labels_correct_what_shares_have_weighted(panel):
    predictions, truth = panel
    labels = np.where(np.arange(600) < 60, truth, -1)
    fitted = cs.Consensus(class_shares=GIVEN).fit(predictions, named(labels, predictions))
    assert fitted.correction_ is not None
    np.testing.assert_array_equal(
        fitted.reweighting_.log_weights, cs.Consensus(class_shares=GIVEN).fit(predictions).reweighting_.log_weights
    )
    np.testing.assert_allclose(fitted.predict_proba(predictions)[60:], fitted.posterior_[60:], atol=1e-12)


def test_saved_and_loaded(panel, tmp_path):
    predictions, _ = panel
    fitted = cs.Consensus(class_shares=GIVEN).fit(predictions)
    fitted.save(tmp_path / "model.npz")
    loaded = cs.load(tmp_path / "model.npz")
    assert loaded.class_shares == GIVEN
    np.testing.assert_array_equal(loaded.predict_proba(predictions), fitted.predict_proba(predictions))
    for one in (fitted, loaded):
        one.partial_fit(predictions)
    np.testing.assert_array_equal(loaded.posterior_, fitted.posterior_)


@pytest.mark.parametrize(
    "given", ["even", {"rare": 5, "usual": 95}, Counter(usual=95), pd.Series({"usual": 95, "rare": 5}), {"rare": 0.05}]
)
def test_all_that_is_given_is_saved(panel, tmp_path, given):
    fitted = cs.Consensus(class_shares=given).fit(panel[0])
    fitted.save(tmp_path / "model.npz")
    loaded = cs.load(tmp_path / "model.npz")
    mine, saved = (read_shares(one.class_shares, ["usual", "rare"]) for one in (fitted, loaded))
    assert mine.n_counted == saved.n_counted and mine.shares.tolist() == saved.shares.tolist()
    for one in (fitted, loaded):
        one.partial_fit(panel[0])
    np.testing.assert_array_equal(loaded.posterior_, fitted.posterior_)


def test_a_series_in_the_order_of_the_classes_is_saved_so(panel, tmp_path):
    cs.Consensus(class_shares=pd.Series([0.95, 0.05])).fit(panel[0]).save(tmp_path / "model.npz")
    assert cs.load(tmp_path / "model.npz").class_shares == [0.95, 0.05]


@pytest.mark.parametrize("damaged", ["odd", [0.5, -0.5], {"usual": 0.5, "rare": 0.7}, [0, 0], 7])
def test_a_file_with_damaged_shares_is_refused(panel, tmp_path, damaged):
    fitted = cs.Consensus(class_shares="even").fit(panel[0])
    fitted.class_shares = damaged
    fitted.save(tmp_path / "model.npz")
    with pytest.raises(cs.InvalidPredictions, match="class_shares must"):
        cs.load(tmp_path / "model.npz")


def combination_of_nothing(fitted):
    by_class = fitted.survey_.by_class.copy()
    by_class[OF_CLASSES.index("combination")] = 0
    fitted.survey_ = Survey(by_class, fitted.survey_.totals)


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (
            lambda fitted: setattr(fitted, "stated_", ClassShares(np.array([0.95, 0.05]), 0.0)),
            "more than 0 counted items",
        ),
        (lambda fitted: setattr(fitted, "stated_", None), "'stated_' and 'reweighting_' must both be there"),
        (lambda fitted: setattr(fitted, "reweighting_", None), "'stated_' and 'reweighting_' must both be there"),
        (combination_of_nothing, "at least one item"),
    ],
)
def test_a_file_whose_parts_do_not_go_together_is_refused(panel, tmp_path, forge, message):
    fitted = cs.Consensus(class_shares=GIVEN).fit(panel[0])
    forge(fitted)
    fitted.save(tmp_path / "model.npz")
    with pytest.raises(cs.InvalidPredictions, match=message):
        cs.load(tmp_path / "model.npz")


def test_a_file_with_shares_of_other_classes_is_refused(panel, tmp_path):
    fitted = cs.Consensus(class_shares=GIVEN).fit(panel[0])
    fitted.class_shares = {"usual": 0.5, "other": 0.5}
    fitted.save(tmp_path / "model.npz")
    with pytest.raises(cs.InvalidPredictions, match="class_shares must be of the classes"):
        cs.load(tmp_path / "model.npz")


@pytest.mark.parametrize("given", [GIVEN, {"usual": 95, "rare": 5}])
def test_a_stream(panel, given):
    predictions, truth = panel
    whole = cs.Consensus(class_shares=given).fit(predictions)
    known, without = cs.Consensus(class_shares=given), cs.Consensus()
    for start in range(0, 600, 30):
        batch = predictions.take(np.arange(start, start + 30))
        known.partial_fit(batch)
        without.partial_fit(batch)
    of_all, of_stream, of_none = (
        cs.metrics.nll(one.predict_proba(predictions), truth) for one in (whole, known, without)
    )
    assert of_stream < 0.9 * of_none
    assert of_stream == pytest.approx(of_all, rel=0.1)


def test_wrong_shares_are_refused_before_anything_is_learned(panel):
    method = cs.Consensus(class_shares=[0.5, 0.6])
    with pytest.raises(ValueError, match="must sum to 1"):
        method.fit(panel[0])
    assert not hasattr(method, "members_")


@pytest.mark.parametrize("n_labels", [0, 60])
def test_the_explanation_adds_up_and_has_the_shares_as_a_term(panel, n_labels):
    predictions, truth = panel
    labels = named(np.where(np.arange(600) < n_labels, truth, -1), predictions) if n_labels else None
    without, known = (cs.Consensus(class_shares=given).fit(predictions, labels) for given in (None, GIVEN))
    before, after = (
        cs.explain(predictions, predictions.items[3], against="rare", aggregator=one) for one in (without, known)
    )
    assert after.prior + after.shares + after.by_member.sum() == pytest.approx(after.log_odds)
    assert sum(after.to_table()["log-odds"]) == pytest.approx(after.log_odds)
    assert after.to_table()["member"][:2] == ["(class prior)", "(class shares)"]
    assert before.shares == 0 and "(class shares)" not in before.to_table()["member"]
    assert after.shares > 0  # the winner is usual
    if not n_labels:
        assert after.shares == pytest.approx(after.log_odds - before.log_odds)
        assert after.prior == before.prior
        np.testing.assert_allclose(after.by_member, before.by_member)


def test_labels_and_shares_that_contradict_each_other(panel):
    predictions, truth = panel
    labels = named(np.where(np.arange(600) < 200, truth, -1), predictions)
    for learn in ("fit", "partial_fit"):
        with pytest.warns(UserWarning, match="class_shares contradict the known labels: 'usual' has the share 50%"):
            getattr(cs.Consensus(class_shares=[0.5, 0.5]), learn)(predictions, labels)
        with pytest.raises(ValueError, match="got 0 for 'rare'"):
            getattr(cs.Consensus(class_shares={"usual": 0.995, "rare": 0}), learn)(predictions, labels)


def test_counts_come_between_nothing_and_shares(panel):
    predictions, _ = panel
    few, many, shares = (
        cs.Consensus(class_shares=given).fit(predictions).posterior_[:, 1].mean()
        for given in ({"usual": 19, "rare": 1}, {"usual": 1900, "rare": 100}, GIVEN)
    )
    assert cs.Consensus().fit(predictions).posterior_[:, 1].mean() > few > many
    assert many == pytest.approx(shares, abs=0.01)


def test_estimated_accuracies_follow(panel):
    predictions, truth = panel
    right = (predictions.to_array().argmax(axis=2) == truth).mean(axis=1)
    errors = [
        np.abs(np.array(cs.diagnose(predictions, class_shares=shares).members["estimated accuracy"]) - right).mean()
        for shares in (None, GIVEN)
    ]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("given", [GIVEN, "even", {"usual": 19, "rare": 1}])
def test_as_a_torch_module(panel, given):
    torch = pytest.importorskip("torch")
    fitted = cs.Consensus(class_shares=given).fit(panel[0])
    array = torch.tensor(panel[0].to_array())
    np.testing.assert_allclose(
        fitted.to_torch(dtype=torch.float64)(array).numpy(), fitted.predict_proba(panel[0]), atol=1e-12
    )


@pytest.mark.parametrize("kind", ["shares", "counts", "even"])
@pytest.mark.parametrize("n_classes", [2, 30])
def test_as_an_onnx_graph(rng, tmp_path, n_classes, kind):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    array, _ = softmax_members(rng, [4, 3, 2], n_items=80, n_classes=n_classes)
    shares = rng.dirichlet(np.ones(n_classes))
    given = {"shares": shares, "counts": rng.multinomial(40, shares), "even": "even"}[kind]
    fitted = cs.Consensus(class_shares=given).fit(array)
    fitted.to_onnx(tmp_path / "rule.onnx")
    session = runtime.InferenceSession(str(tmp_path / "rule.onnx"))
    found = session.run(["posterior"], {"predictions": array.astype(np.float32)})[0]
    np.testing.assert_allclose(found, fitted.predict_proba(array), atol=1e-5)
