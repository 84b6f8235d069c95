import csv
import json

import numpy as np
import pytest

pytest.importorskip("torch")

import consilience as cs
from benchmarks.quality.__main__ import score, to_predictions
from benchmarks.quality.methods import METHODS, YARDSTICK, mixture, named
from benchmarks.quality.scores import METRICS, changes, gains, interval, item_weights, scores
from benchmarks.quality.store import Set, read_sets, write, write_index
from benchmarks.quality.table import Result, by_group, contest, overview, text, write_csv, write_json


def drawn(seed, n_items=400, n_members=3, sharpness=2.0):
    """Predictions of members that are mostly right, and the truth."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(4, size=n_items)
    logits = rng.standard_normal((n_members, n_items, 4))
    logits[:, np.arange(n_items), labels] += sharpness
    array = np.exp(logits)
    return (array / array.sum(axis=2, keepdims=True)).astype(np.float32), labels


def test_scores_are_those_of_the_package():
    array, labels = drawn(0)
    posterior = array.mean(axis=0)
    ours = scores(posterior, labels, item_weights(len(labels), 0))[0]
    theirs = cs.evaluate(posterior, labels, n_bootstrap=0)
    np.testing.assert_allclose(ours, [estimate.value for estimate in theirs.values()], rtol=1e-12)


def test_a_draw_scores_as_the_items_it_repeats():
    array, labels = drawn(1, n_items=50)
    posterior, weights = array.mean(axis=0), item_weights(50, 3)
    for draw in (1, 2, 3):
        items = np.repeat(np.arange(50), weights[draw].astype(int))
        alone = scores(posterior[items], labels[items], item_weights(50, 0))[0]
        together = scores(posterior, labels, weights)[draw]
        np.testing.assert_allclose(together[:4], alone[:4], rtol=1e-9)


def test_intervals_hold_the_truth_as_often_as_they_say():
    # The true change is that of very many items; 95 % of 200 intervals, less four standard errors (.06), hold it.
    array, labels = drawn(2, n_items=40_000)
    first, second = array.mean(axis=0), array[0]
    truth = changes(*(scores(posterior, labels, item_weights(len(labels), 1)) for posterior in (first, second)))[0]
    covered = np.zeros(3)
    for seed in range(200):
        items = slice(200 * seed, 200 * seed + 200)
        weights = item_weights(200, 200, seed)
        change = changes(*(scores(posterior[items], labels[items], weights) for posterior in (first, second)))
        low, high = np.quantile(change[1:, :3], [0.025, 0.975], axis=0)
        covered += (low <= truth[:3]) & (truth[:3] <= high)
    assert (covered / 200 >= 0.95 - 0.062).all(), covered
    assert (covered / 200 < 1).all(), covered  # intervals that always hold it are too wide to say anything


def test_less_than_the_margin_is_a_tie():
    yardstick = np.array([[0.8, 1.0, 0.5, 0.10, 0.10]])
    within = np.array([[0.8019, 1.019, 0.5 / 1.019, 0.104, 0.096]])
    beyond = np.array([[0.8021, 0.979, 0.5 * 1.021, 0.094, 0.106]])
    assert (np.abs(gains(change_of(within, yardstick))) < 1).all()
    gain = gains(change_of(beyond, yardstick))
    assert (gain > 1).tolist() == [[True, True, False, True, False]]
    assert (gain < -1).tolist() == [[False, False, True, False, True]]


def change_of(those, yardstick):
    return changes(those.repeat(2, axis=0), yardstick.repeat(2, axis=0))[:1]


def test_an_interval_is_in_points_and_factors():
    change = changes(np.array([[0.9, 2.0, 0.5, 0.1, 0.1]] * 3), np.array([[0.8, 1.0, 0.5, 0.1, 0.1]] * 3))
    assert interval(change, METRICS.index("accuracy")) == pytest.approx((10, 10, 10))
    assert interval(change, METRICS.index("nll")) == pytest.approx((2, 2, 2))


def sets():
    groups = ("clean", "shifted", "shifted")
    return [Set(f"set{seed}", group, "tuning", *drawn(seed, n_items=60)) for seed, group in enumerate(groups)]


def test_tables_say_who_won_and_where_it_was_worst():
    methods = {YARDSTICK: METHODS[YARDSTICK], "same": METHODS[YARDSTICK], "first": lambda p: p.to_array()[0]}
    results = [score(one, methods, 50) for one in sets()]
    table = contest(results, "accuracy")
    assert table["method"] == ["same", "first"]
    assert table["tied"][0] == 3 and table["change"][0] == 0 and table["surely lost"][0] == 0
    assert table["lost"][1] == 3 and table["worst"][1] <= table["change"][1] < 0
    assert table["where"][1] in {"set0", "set1", "set2"}
    assert by_group(results, "nll").columns == ["method", "clean (1)", "shifted (2)", "all but clean (2)"]
    assert len(overview(results)) == 3
    assert "3 sets (tuning)" in text(results, "tuning")


def test_files_hold_a_row_per_set_and_method(tmp_path):
    methods = {name: METHODS[name] for name in (YARDSTICK, "majority")}
    results = [score(one, methods, 20) for one in sets()]
    write_csv(results, tmp_path / "rows.csv")
    write_json(results, tmp_path / "all.json")
    with (tmp_path / "rows.csv").open(encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    assert len(written) == 6
    assert float(written[1]["nll low"]) <= float(written[1]["nll change"]) <= float(written[1]["nll high"])
    assert len(json.loads((tmp_path / "all.json").read_text())["sets"]) == 6


@pytest.mark.parametrize("name", list(METHODS))
def test_methods_answer_soft_hard_and_missing(name):
    array, _ = drawn(3, n_items=80)
    hard = np.eye(4, dtype=np.float32)[array.argmax(axis=2)]
    for some in (array, hard):
        holes = some.copy()
        holes[1:, ::3] = np.nan
        for kind in (some, holes):
            posterior = METHODS[name](to_predictions(kind))
            assert posterior.shape == (80, 4)
            np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-5)


def test_the_mixture_translates_votes():
    array, _ = drawn(6, n_items=40)
    array[0, 3] = np.nan
    predictions = to_predictions(array)
    learned = cs.DawidSkene().fit(predictions)
    expected = 0.4 * cs.Average().fit(predictions).posterior_ + 0.2 * learned.posterior_
    for item in range(40):
        said = [member for member in range(3) if not np.isnan(array[member, item, 0])]
        for member in said:
            joint = learned.class_prior_ * learned.confusion_[member, :, array[member, item].argmax()]
            expected[item] += 0.4 * joint / joint.sum() / len(said)
    np.testing.assert_allclose(mixture(predictions), expected, atol=1e-6)


def test_one_hot_rows_are_labels():
    hard = np.eye(2)[[[0, 1], [1, 1]]]
    hard[0, 1] = np.nan
    assert to_predictions(hard).hard is not None
    assert to_predictions(np.full((1, 2, 2), 0.5)).hard is None


def test_methods_never_see_labels():
    seen = []
    array, labels = drawn(4, n_items=30)
    labels[:10] = -1
    result = score(Set("x", "clean", "tuning", array, labels), {YARDSTICK: lambda p: seen.append(p) or array[0]}, 5)
    assert isinstance(result, Result) and isinstance(seen[0], cs.Predictions)
    assert seen[0].n_items == 30  # the unlabelled ones too
    np.testing.assert_allclose(result.scores[YARDSTICK][0, 0], (array[0, 10:].argmax(axis=1) == labels[10:]).mean())


def test_methods_by_module_and_function():
    assert named("benchmarks.quality.methods:mixture") is mixture
    with pytest.raises(ValueError, match="module:function or one of average"):
        named("averge")


def test_only_the_asked_part_is_read(tmp_path):
    array, labels = drawn(5, n_items=10)
    for part in ("tuning", "held-out"):
        write(Set(f"a_{part}", "clean", part, array, labels), tmp_path)
    entries = [Set(f"a_{part}", "clean", part, array, labels).entry() for part in ("tuning", "held-out")]
    write_index(entries, tmp_path / "sets.json")
    assert [one.part for one in read_sets(tmp_path)] == ["tuning"]
    assert [one.part for one in read_sets(tmp_path, "held-out")] == ["held-out"]
    assert len(list(read_sets(tmp_path, "all"))) == 2
    (tmp_path / "a_held-out.npz").unlink()
    np.testing.assert_array_equal(next(read_sets(tmp_path)).predictions, array)
