"""Names are text, whatever values happen to occur; what is not clear is refused, never guessed."""

import csv
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files import read_labels, read_posterior, read_sources
from consilience.system import machine as memory
from written import write_fitted

N_ITEMS = 60
CLASSES = ["1", "2", "3+"]


@pytest.fixture
def panel():
    """Three good members whose classes read partly like numbers, and a fourth who never says `3+`; the truth."""
    rng = np.random.default_rng(0)
    truth = rng.choice(CLASSES, size=N_ITEMS, p=[0.4, 0.4, 0.2])
    said = {
        name: np.where(rng.random(N_ITEMS) < 0.9, truth, rng.choice(CLASSES, size=N_ITEMS)) for name in ("a", "b", "c")
    }
    return said | {"d": np.where(truth == "3+", "2", truth)}, truth


@pytest.fixture
def wide(run, panel, tmp_path):
    """The panel as a wide table, items in no order, in the folder where commands run."""
    said, truth = panel
    order = np.random.default_rng(1).permutation(N_ITEMS)
    frame = pd.DataFrame({"item": [f"t{i}" for i in order]} | {name: labels[order] for name, labels in said.items()})
    frame.to_csv(tmp_path / "wide.csv", index=False)
    return run, dict(zip([f"t{i}" for i in range(N_ITEMS)], truth, strict=True))


def labels_csv(path, labels):
    pd.DataFrame({"item": list(labels), "label": list(labels.values())}).to_csv(path, index=False)


def score(out):
    return json.loads(out)["scores"]["Consensus"]["accuracy"]


# ---- one reading ------------------------------------------------------------------------------------------


def test_labels_that_read_like_numbers_are_names(wide):
    run, truth = wide
    labels_csv("few.csv", {item: label for item, label in truth.items() if label != "3+"})
    code, out, _ = run("aggregate", "wide.csv", "--labels", "few.csv", "--json")
    assert code == 0 and score(out) > 0.9
    labels_csv("known.csv", {f"t{i}": truth[f"t{i}"] for i in range(30) if truth[f"t{i}"] != "3+"})
    labels_csv("all.csv", truth)
    code, out, err = run("aggregate", "wide.csv", "--known", "known.csv", "--labels", "all.csv", "--json")
    assert code == 0, err
    assert score(out) > 0.85


def test_a_member_who_never_says_a_class_says_the_others(wide):
    predictions = read_sources(["wide.csv"]).predictions
    assert predictions.classes == CLASSES
    assert (cs.diagnose(predictions).agreement > 0.6).all()


@pytest.mark.parametrize(
    "labels", [[1, 2, -1, 3], np.array([1, 2, -1, 3]), [1.0, 2.0, np.nan, 3.0], ["1", "2", None, "3"]]
)
@pytest.mark.parametrize("classes", [["1", "2", "3"], [1, 2, 3], np.array([1, 2, 3])])
def test_numbers_are_names_where_classes_have_names(classes, labels):
    p = cs.Predictions(np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 4)), classes=classes)
    posterior = cs.DawidSkene().fit(p, labels).posterior_
    assert posterior.argmax(axis=1)[[0, 1, 3]].tolist() == [0, 1, 2]


def test_positions_are_refused_where_classes_have_names():
    p = cs.Predictions(np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 4)), classes=["cat", "dog"])
    with pytest.raises(cs.InvalidPredictions, match="the classes have names, so give names instead of positions"):
        cs.DawidSkene().fit(p, [0, 1, 1, 0])
    with pytest.raises(cs.InvalidPredictions, match="instead of positions"):
        cs.evaluate(cs.Average().fit(p).posterior_, [0, 1, 1, 0], classes=p.classes)


def test_answers_are_names_where_some_class_is_a_whole_number():
    p = cs.Predictions.from_labels([[1, 2, 2], [2, -1, 1]], classes=[1, 2, 3])
    assert p.to_array().argmax(axis=2).tolist() == [[0, 1, 1], [1, 0, 0]] and np.isnan(p.to_array()[1, 1]).all()
    q = cs.Predictions.from_answers([0, 1], [0, 0], ["2", "1"], classes=["1", "2", "3+"])
    assert q.to_array().argmax(axis=2).tolist() == [[1, 0]]
    codes = cs.Predictions.from_labels([[0, 1, 1]], classes=["cat", "dog"])
    assert codes.to_array().argmax(axis=2).tolist() == [[0, 1, 1]]


def test_versions_are_two_names_in_every_table(run, tmp_path):
    long = "item,worker,label\n" + "".join(
        f"{item},{worker},{label}\n"
        for worker in "abc"
        for item, label in (("1.1", "1.1"), ("1.10", "1.10"), ("2", "1.1"))
    )
    (tmp_path / "long.csv").write_text(long, encoding="utf-8")
    (tmp_path / "wide.csv").write_text(
        "item,a,b,c\n1.1,1.1,1.1,1.1\n1.10,1.10,1.10,1.10\n2,1.1,1.1,1.1\n", encoding="utf-8"
    )
    for name in ("long.csv", "wide.csv"):
        p = read_sources([name]).predictions
        assert (p.items, p.classes) == (["1.1", "1.10", "2"], ["1.1", "1.10"])
    labels_csv("y.csv", {"1.1": "1.1", "1.10": "1.10"})
    code, out, _ = run("aggregate", "wide.csv", "--labels", "y.csv", "--json")
    assert code == 0 and score(out) == 1


def test_gaps_that_made_floats_of_whole_numbers(tmp_path):
    """pandas writes 1.0 where a column has a gap, and 1 where it has none."""
    frame = pd.DataFrame({"item": range(6), "a": [1, 2, 1, 2, 1, 3], "b": [1, 2, None, 2, 1, 3]})
    frame.to_csv(tmp_path / "gap.csv", index=False)
    frame.to_parquet(tmp_path / "gap.parquet")
    for name in ("gap.csv", "gap.parquet"):
        assert read_sources([str(tmp_path / name)]).predictions.classes == ["1", "2", "3"]
    long = frame.melt("item", var_name="worker", value_name="label").rename(columns={"item": "task"})
    p = cs.Predictions.from_frame(long)
    assert p.classes == [1, 2, 3] and cs.MajorityVote().fit_predict(p).tolist() == [1, 2, 1, 2, 1, 3]


def test_two_spellings_in_one_column_are_refused(tmp_path):
    answers = {"task": ["2", "2.0"], "worker": ["a", "a"], "label": ["x", "y"]}
    with pytest.raises(cs.InvalidPredictions, match="column 'task' must spell a name in one way; got '2' and '2.0'"):
        cs.Predictions.from_frame(pd.DataFrame(answers))
    (tmp_path / "w.csv").write_text("item,a,b\n1,2,2\n2,2.0,3\n", encoding="utf-8")
    with pytest.raises(cs.InvalidPredictions, match="column 'a' must spell a name in one way"):
        read_sources([str(tmp_path / "w.csv")])


def test_infinite_numbers_are_no_surprise(tmp_path):
    frame = pd.DataFrame({"item": ["a", "b"] * 2, "worker": list("uuvv"), "label": ["inf", "1e3", "inf", "inf"]})
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_sources([str(tmp_path / "t.parquet")]).predictions.classes == ["1e3", "inf"]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_kind_of_a_column_does_not_matter(library):
    texts = {"task": ["1", "2", "10"], "worker": ["a", "a", "a"], "label": ["2", "1", "1"]}
    numbers = texts | {"task": [1, 2, 10], "label": [2, 1, 1]}
    one, two = (cs.Predictions.from_frame(library(columns)) for columns in (texts, numbers))
    assert (one.items, one.classes) == (["1", "2", "10"], ["1", "2"])
    assert (two.items, two.classes) == ([1, 2, 10], [1, 2])
    model = cs.DawidSkene().fit(one)
    np.testing.assert_array_equal(model.predict_proba(two), model.posterior_)


def test_integer_names_of_columns():
    frame = pd.DataFrame(np.eye(2)).assign(task=[0, 1], worker="a")
    p = cs.Predictions.from_frame(frame)
    assert p.classes == [0, 1] and p.to_array()[0].tolist() == [[1, 0], [0, 1]]
    assert cs.Predictions.from_frame(pd.DataFrame(np.eye(2))).to_array().tolist() == [[[1, 0], [0, 1]]]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz"])
@pytest.mark.parametrize(
    "classes", [["gpt-4", "gpt-4.1"], ["1.1", "1.10"], ["NA", "nan"], ["-1", "=1+1"], ["'=1", "'"]]
)
def test_every_class_comes_back_from_every_format(tmp_path, suffix, classes):
    rows = np.array([[[0.75, 0.25], [0.125, 0.875], [0.5, 0.5]]])
    items = ["NA", "", "1.10"]
    model = cs.Average().fit(cs.Predictions(rows, items=items, classes=classes))
    write_fitted(tmp_path / f"p{suffix}", model)
    back = read_posterior(str(tmp_path / f"p{suffix}")).predictions
    assert (back.items, back.classes) == (items, classes)
    np.testing.assert_array_equal(back.to_array(), rows)


# ---- one alignment ----------------------------------------------------------------------------------------


@pytest.fixture
def framed(panel):
    """The panel as a frame whose items sort otherwise than they stand; labels in the order of the frame."""
    said, truth = panel
    items = np.random.default_rng(2).permutation(1000)[:N_ITEMS]
    frame = pd.concat(pd.DataFrame({"task": items, "worker": m, "label": labels}) for m, labels in said.items())
    return cs.Predictions.from_frame(frame), pd.Series(truth, index=items)


def test_a_series_is_matched_by_its_index(framed):
    p, truth = framed
    model = cs.MajorityVote().fit(p)
    by_place = cs.evaluate(model.posterior_, truth[p.items].to_numpy(), classes=p.classes)["accuracy"].value
    assert by_place > 0.9
    for frame in (model.posterior_frame(), model.posterior_frame().sample(frac=1, random_state=0)):
        assert cs.evaluate(frame, truth)["accuracy"].value == by_place
        assert cs.metrics.accuracy(frame, truth.to_dict()) == by_place
        numbers, labels = frame.to_numpy(), truth[frame.index].tolist()
        assert cs.evaluate(numbers, labels, classes=list(frame.columns))["accuracy"].value == by_place
    for library in ("polars", "pyarrow"):
        assert cs.metrics.accuracy(model.posterior_frame(library), truth.to_dict()) == by_place
    assert max(cs.compare(p, truth)["accuracy"]) >= by_place


def test_columns_of_a_frame_name_the_classes(framed):
    p, truth = framed
    frame = cs.MajorityVote().fit(p).posterior_frame()
    turned = frame[frame.columns[::-1]]
    assert cs.metrics.brier_score(turned, truth) == pytest.approx(cs.metrics.brier_score(frame, truth))
    with pytest.raises(cs.InvalidPredictions, match="classes must be the columns of the posterior"):
        cs.evaluate(turned, truth, classes=p.classes)


@pytest.mark.parametrize("as_list", [list, np.asarray, lambda truth: pl.Series(list(truth))])
def test_a_list_is_refused_where_nobody_chose_the_order(framed, as_list):
    p, truth = framed
    labels, message = as_list(truth), "labels must name their items"
    posterior = cs.MajorityVote().fit(p).posterior_frame()
    for use in (
        lambda: cs.evaluate(posterior, labels),
        lambda: cs.metrics.accuracy(posterior, labels),
        lambda: cs.compare(p, labels),
        lambda: cs.Consensus().fit(p, labels),
        lambda: cs.value_of_labels(p, labels),
        lambda: cs.suggest(p, labels, n=3),
        lambda: cs.DawidSkene().fit(p).partial_fit(p, labels),
        lambda: cs.compare(p.take(slice(20)), labels[:20]),
        lambda: cs.compare(cs.Predictions.concatenate([p]), labels),
        lambda: cs.Consensus().fit(p, np.full((N_ITEMS, 3), 1 / 3)),
    ):
        with pytest.raises(cs.InvalidPredictions, match=message):
            use()


def test_a_list_is_taken_where_the_user_chose_the_order():
    rows = np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 3))
    p = cs.Predictions(rows, items=["z", "a", "m"], classes=["cat", "dog"])
    posterior = cs.DawidSkene().fit(p, ["cat", None, "dog"]).posterior_
    assert posterior.argmax(axis=1)[[0, 2]].tolist() == [0, 1]


@pytest.mark.parametrize("method", [cs.DawidSkene, cs.BayesianClassifierCombination, cs.SoftDawidSkene])
def test_a_class_prior_that_names_classes_in_another_order(method):
    p = cs.Predictions(np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 8)), classes=["a", "b", "c"])
    prior = pd.Series([0.8, 0.1, 0.1], index=["a", "b", "c"])
    expected = method(class_prior=[0.8, 0.1, 0.1]).fit(p).posterior_
    for good in (prior, prior.reset_index(drop=True)):
        np.testing.assert_array_equal(method(class_prior=good).fit(p).posterior_, expected)
    with pytest.raises(cs.InvalidPredictions, match="class_prior must be in the order of the classes"):
        method(class_prior=prior[["c", "a", "b"]]).fit(p)


def test_weights_that_name_members_in_another_order():
    p = cs.Predictions(np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 8)), members=["good", "bad"])
    weights = pd.Series([0.9, 0.1], index=["good", "bad"])
    np.testing.assert_array_equal(
        cs.Average(weights=weights).fit(p).posterior_, cs.Average(weights=[0.9, 0.1]).fit(p).posterior_
    )
    with pytest.raises(cs.InvalidPredictions, match=r"weights must be in the order of the members .*'good'.*index is"):
        cs.Average(weights=weights[::-1]).fit(p)


def test_an_index_that_no_item_has():
    rows = np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 4))
    truth = pd.Series([0, 1, 1, 0])
    expected = cs.DawidSkene().fit(rows, truth).posterior_
    np.testing.assert_array_equal(cs.DawidSkene().fit(rows, truth.to_numpy()).posterior_, expected)
    for index in ([3, 1, 0, 2], [10, 11, 12, 13]):
        for use in (cs.DawidSkene().fit, cs.compare, lambda p, y: cs.evaluate(p[0], y)):
            with pytest.raises(cs.InvalidPredictions, match="labels must have an index that the items have"):
                use(rows, truth.set_axis(index))
    some = cs.DawidSkene().fit(rows, pd.Series({3: 1, 1: 0})).posterior_
    assert some.argmax(axis=1)[[1, 3]].tolist() == [0, 1]


def test_a_repeated_index():
    rows = np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 4))
    with pytest.raises(cs.InvalidPredictions, match="labels must give an item one label; item 0 has 0 and 1"):
        cs.DawidSkene().fit(rows, pd.Series([0, 1, 1], index=[0, 0, 1]))
    twice = pd.Series([1, 1, 0], index=[2, 2, 3])
    once = cs.DawidSkene().fit(rows, {2: 1, 3: 0}).posterior_
    np.testing.assert_array_equal(cs.DawidSkene().fit(rows, twice).posterior_, once)


@pytest.mark.parametrize("axis", ["members", "items", "classes"])
def test_sets_name_nothing(axis):
    with pytest.raises(
        cs.InvalidPredictions, match=f"{axis} must be a list of names, in the order of the axis; got a set"
    ):
        cs.Predictions(np.full((2, 2, 2), 0.5), **{axis: {"a", "b"}})
    keys = dict.fromkeys(["b", "a"]).keys()  # these have an order
    assert getattr(cs.Predictions(np.full((2, 2, 2), 0.5), **{axis: keys}), axis) == ["b", "a"]


def test_rows_of_a_frame_name_the_items_of_an_ensemble():
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB

    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(80, 2)), columns=["u", "v"], index=rng.permutation(80))
    y = pd.Series(np.where(features["u"] > 0, "yes", "no"), index=features.index)
    ensemble = cs.EnsembleClassifier([("lr", LogisticRegression()), ("nb", GaussianNB())], cv=2).fit(features, y)
    ensemble.fit_aggregator(features, y.sample(frac=1, random_state=0))
    expected = cs.EnsembleClassifier([("lr", LogisticRegression()), ("nb", GaussianNB())], cv=2).fit(features, y)
    expected.fit_aggregator(features, y.tolist())
    np.testing.assert_allclose(ensemble.predict_proba(features), expected.predict_proba(features), atol=1e-12)
    plain = features.to_numpy()
    ensemble = cs.EnsembleClassifier([("lr", LogisticRegression()), ("nb", GaussianNB())], cv=2).fit(plain, y)
    with pytest.raises(cs.InvalidPredictions, match="an index that the items have"):
        ensemble.fit_aggregator(plain, y)


@pytest.mark.parametrize("command", [["evaluate"], ["aggregate"], ["compare"], ["report"]], ids=lambda words: words[0])
def test_commands_refuse_labels_in_an_order_of_their_own(wide, command):
    run, truth = wide
    np.save("t.npy", np.array(list(truth.values())))
    run("aggregate", "wide.csv", "-o", "posterior.csv")
    run("aggregate", "wide.csv", "-o", "posterior.npz")
    files = ["posterior.csv", "posterior.npz"] if command == ["evaluate"] else ["wide.csv"]
    for file in files:
        code, _, err = run(*command, file, "--labels", "t.npy")
        assert code == 2 and "labels must name their items" in " ".join(err.split())
    labels_csv("t.csv", truth)
    assert all(run(*command, file, "--labels", "t.csv")[0] == 0 for file in files)


# ---- one place that writes --------------------------------------------------------------------------------


def test_suggest_never_replaces_what_it_reads(wide):
    run, _ = wide
    before = Path("wide.csv").read_bytes()
    code, _, err = run("suggest", "wide.csv", "-o", "wide.csv")
    assert code == 2 and "each output must be a file of its own" in " ".join(err.split())
    assert Path("wide.csv").read_bytes() == before


def test_an_archive_named_with_its_key_is_not_replaced(run):
    np.savez("p.npz", rows=np.random.default_rng(0).dirichlet(np.ones(2), size=(3, 5)))
    before = Path("p.npz").read_bytes()
    code, _, err = run("aggregate", "p.npz:rows", "-o", "p.npz")
    assert code == 2 and "each output must be a file of its own" in " ".join(err.split())
    assert Path("p.npz").read_bytes() == before


def test_suggestions_hold_no_formulas_and_can_be_given_back(run):
    names = ["=HYPERLINK(1)", "'=x", "NA", ""]
    items = [f"={n}" for n in range(30)]
    rows = np.random.default_rng(0).dirichlet(np.full(4, 0.3), size=(3, 30))
    np.savez("p.npz", p=rows, classes=np.array(names), items=np.array(items))
    known = dict(zip(items[:8], names * 2, strict=True))
    with Path("known.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["item", "label"], *((f"'{i}", f"'{c}") for i, c in known.items())])
    assert run("suggest", "p.npz", "--known", "known.csv", "-n", 3, "-o", "fill.csv")[0] == 0
    with Path("fill.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-"))]
    back = read_labels("fill.csv").labels
    given = {item: label for item, label in zip(back.items, back.labels, strict=True) if label is not None}
    assert given == known
    assert run("aggregate", "p.npz", "--known", "fill.csv")[0] == 0


def test_names_of_files_are_shown_escaped(run, arrays):
    code, out, _ = run("suggest", *arrays, "-n", 3, "-o", "x\x1b[31m.csv")
    assert code == 0 and "\x1b" not in out and "Wrote x\\x1b[31m.csv" in out


# ---- what tables say --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (lambda p: f"{p:.4f}".replace(".", ","), "with decimal commas"),
        (lambda p: f"{100 * p:.1f}%", "in per cent"),
        (lambda p: f"{100 * p:.1f}".replace(".", ",") + " %", "in per cent, with decimal commas"),
        (lambda p: f"{100 * p:.0f}", "in per cent"),
        (lambda p: f"{100 * p:.2f}", "in per cent"),
    ],
)
def test_probabilities_in_other_words(tmp_path, written, words):
    rows = np.random.default_rng(0).dirichlet(np.ones(3), size=30)
    cells = [[str(place), *map(written, row)] for place, row in enumerate(rows)]
    with (tmp_path / "net.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["item", "cat", "dog", "owl"], *cells])
    source = read_sources([str(tmp_path / "net.csv")])
    assert source.predictions.classes == ["cat", "dog", "owl"] and words in source.found[0]
    np.testing.assert_allclose(source.predictions.to_array()[0], rows, atol=0.011)
    np.testing.assert_allclose(source.predictions.to_array()[0].sum(axis=1), 1, atol=1e-3)


def test_missing_cells_are_missing(tmp_path):
    (tmp_path / "a.csv").write_text("item,cat,dog\n1,0.9,0.1\n2,NA,NA\n3,0.2,0.8\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("item,cat,dog\n1,0.9,0.1\n2,0.6,0.4\n3,nan,nan\n", encoding="utf-8")
    p = read_sources([str(tmp_path / name) for name in ("a.csv", "b.csv")]).predictions
    assert np.isnan(p.to_array()).all(axis=2).tolist() == [[False, True, False], [False, False, True]]
    (tmp_path / "w.csv").write_text("item,ann,bob\n1,x,y\n2,NA,y\n3,x,x\n", encoding="utf-8")
    source = read_sources([str(tmp_path / "w.csv")])
    assert source.predictions.classes == ["x", "y"] and "1 cells such as NA are missing answers" in source.found[0]


def test_a_word_for_nothing_that_is_a_class_is_no_missing_answer(tmp_path):
    (tmp_path / "w.csv").write_text("item,ann,bob\n1,yes,N/A\n2,N/A,\n3,NA,yes\n", encoding="utf-8")
    (tmp_path / "t.csv").write_text("item,label\n1,N/A\n2,NA\n3,yes\n", encoding="utf-8")
    told = Told(classes=["yes", "N/A"])
    found = read_sources([str(tmp_path / "w.csv")], told=told).found[0]
    assert "1 cells such as NA are missing answers" in found and "1 empty cells are missing answers" in found
    assert "2 labels" in read_labels(str(tmp_path / "t.csv"), told=told).found
    assert "1 label " in read_labels(str(tmp_path / "t.csv")).found


def test_a_first_line_of_values_is_no_header(tmp_path):
    (tmp_path / "w.csv").write_text("q1,w1,cat\nq1,w2,cat\nq2,w1,dog\nq2,w2,dog\n", encoding="utf-8")
    with pytest.raises(cs.InvalidPredictions, match=r"each of \['q1', 'w1', 'cat'\] is a value in its own column"):
        read_sources([str(tmp_path / "w.csv")])
    (tmp_path / "ok.csv").write_text("item,cat,dog\n1,cat,dog\n2,dog,dog\n3,cat,cat\n", encoding="utf-8")
    assert read_sources([str(tmp_path / "ok.csv")]).predictions.members == ["cat", "dog"]


RNG = np.random.default_rng(3)
ABSURD = {
    "votes": (RNG.multinomial(7, [0.5, 0.3, 0.2], size=40), "all rows sum to 7, so they may be counts of votes"),
    "scores": (RNG.integers(10_000, size=(40, 3)), "different ones in 120 answers"),
    "distinct": (np.stack([RNG.permutation(15) for _ in range(10)], axis=1), "nobody gives one twice"),
    "transposed": (RNG.integers(3, size=(3, 60)), "got 60 members on 3 items, so rows and columns may be the wrong"),
    "two ways": ([["0,5", "0.5"]] * 3, "numbers must all be written in one way; got '0,5' and '0.5'"),
    "some per cent": ([["50%", "50"]] * 3, "numbers must all be written in one way; got '50%' and '50'"),
}


@pytest.mark.parametrize("kind", ABSURD)
def test_what_is_absurd_is_refused(tmp_path, kind):
    rows, message = ABSURD[kind]
    pd.DataFrame(rows).add_prefix("c").to_csv(tmp_path / "t.csv", index_label="item")
    with pytest.raises(cs.InvalidPredictions, match=message):
        read_sources([str(tmp_path / "t.csv")])


def test_arrays_the_wrong_way_round(tmp_path):
    for array in (RNG.integers(3, size=(500, 4)), RNG.dirichlet(np.ones(3), size=(500, 4))):
        np.save(tmp_path / "t.npy", array)
        with pytest.raises(cs.InvalidPredictions, match="500 × 4.* may be .*members, items.* or .*items, members"):
            read_sources([str(tmp_path / "t.npy")])


def test_numbers_in_the_column_of_labels(tmp_path):
    frame = pd.DataFrame({"item": range(40), "member": ["a", "b"] * 20, "prediction": RNG.random(40).round(2)})
    frame.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(cs.InvalidPredictions, match="labels must be names or whole numbers; column 'prediction' holds"):
        read_sources([str(tmp_path / "t.csv")])
    told = read_sources([str(tmp_path / "t.csv")], told=Told("item", "member", "prediction")).predictions
    assert told.n_members == 2


# ---- memory -----------------------------------------------------------------------------------------------


def test_a_small_table_of_very_many_labels_is_refused(run, tmp_path):
    rows = "".join(f"{i},{w},label {(i + 7 * w) % 8000}\n" for i in range(8000) for w in range(2))
    (tmp_path / "many.csv").write_text(f"item,worker,label\n{rows}", encoding="utf-8")
    code, _, err = run("aggregate", "many.csv")
    assert code == 2 and "8,000 different ones in 16,000 answers" in " ".join(err.split())


@pytest.mark.parametrize(
    "method", [cs.Average(), cs.MajorityVote(), cs.DawidSkene(), cs.Consensus(), cs.SoftDawidSkene()]
)
def test_a_fit_that_does_not_fit_in_memory_is_refused(monkeypatch, method):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2**30)
    p = cs.Predictions.from_labels(RNG.integers(4000, size=(3, 100)), n_classes=4000)
    match = (
        rf"at most 50% of the memory, 0\.5 GiB; {type(method).__name__} of 3 members × 4,000² classes would take about"
    )
    with pytest.raises(cs.InvalidPredictions, match=match):
        method.fit(p)
    method.fit(cs.Predictions.from_labels(RNG.integers(40, size=(3, 100)), n_classes=40))


def test_the_memory_of_this_machine():
    assert 2**26 < memory.machine_bytes() < 2**60
