"""Files that could be read in two ways: the right one is taken, or a sentence says what to add. Never the wrong one."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files import read_labels, read_sources

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def same_numbers(monkeypatch):
    """Draw the same numbers whichever tests ran before."""
    monkeypatch.setitem(globals(), "RNG", np.random.default_rng(0))


@pytest.fixture
def written(tmp_path):
    """A file with this text or this array in it; its path."""

    def write(name, content):
        path = tmp_path / name
        if isinstance(content, str):
            path.write_text(content, encoding="utf-8")
        elif isinstance(content, dict):
            np.savez(path, **content)
        else:
            np.save(path, content)
        return str(path)

    return write


def read(*paths, **told):
    return read_sources(list(paths), told=Told(**told)).predictions


def lines(header, *rows):
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


# ---- which column names the items -------------------------------------------------------------------------


def test_two_columns_of_ids(written):
    """Labels were matched by `id`, though the predictions are about `question_id`."""
    truth = written("truth.csv", lines("id,question_id,gold", (0, 2, "a"), (1, 0, "b"), (2, 1, "a")))
    with pytest.raises(cs.InvalidPredictions, match="'id' and 'question_id' may: say item='id'"):
        read_labels(truth)
    assert read_labels(truth, told=Told(item="question_id")).labels.items == ["2", "0", "1"]
    member = written("m.csv", lines("id,question_id,a,b", (0, 2, 0.5, 0.5), (1, 0, 0.2, 0.8), (2, 1, 0.1, 0.9)))
    with pytest.raises(cs.InvalidPredictions, match="'id' and 'question_id' may"):
        read(member)
    assert read(written("m.csv", lines("id,item_id,a,b", (0, 0, 0.5, 0.5), (1, 1, 0.2, 0.8)))).classes == ["a", "b"]


def test_a_class_with_the_name_of_a_column_of_items(written):
    rows = [(f"q{place}", *row) for place, row in enumerate([(0.1, 0.9), (0.5, 0.5), (0.9, 0.1)])]
    panel = read(written("m.csv", lines("id,item,other", *rows)), classes=("item", "other"))
    assert (panel.items, panel.classes) == (["q0", "q1", "q2"], ["item", "other"])


@pytest.mark.parametrize("name", ["question", "text", "image", "index"])
def test_logits_are_no_names_of_items(written, name):
    logits = np.random.default_rng(0).normal(size=(12, 3)).round(4) - 1  # nothing else is negative
    panel = read(written("m.csv", lines(f"{name},answerable,other", *logits)))
    assert (panel.n_items, panel.n_classes) == (12, 3) and name in panel.classes


def test_versions_are_names_of_items(written):
    panel = read(written("m.csv", lines("item,a,b", ("1.1", 0.5, 0.5), ("1.10", 0.2, 0.8), ("2.0", 0.1, 0.9))))
    assert panel.items == ["1.1", "1.10", "2.0"]


@pytest.mark.parametrize("name", ["patient_id", "url", "sku"])
@pytest.mark.parametrize("header", ["cat,dog", "label"])
def test_a_column_of_ids_without_a_usual_name(written, name, header):
    """It was left out, and files in another order were matched by their rows."""
    answers = {"cat,dog": ["0.9,0.1", "0.2,0.8", "0.6,0.4"], "label": ["cat", "dog", "cat"]}[header]
    rows = [(f"p{place}", answer) for place, answer in enumerate(answers)]
    paths = [
        written(f"{member}.csv", lines(f"{name},{header}", *rows[::step])) for member, step in (("a", 1), ("b", -1))
    ]
    with pytest.raises(
        cs.InvalidPredictions, match=rf"b?.csv: .* '{name}', .*: say item='{name}' \(p0, p1\) if it does"
    ):
        read(*paths)
    panel = read(*paths, item=name)
    assert panel.items == ["p0", "p1", "p2"]
    np.testing.assert_array_equal(*panel.to_array())
    truth = written("t.csv", lines(f"{name},label", *((f"p{place}", "cat") for place in (2, 0, 1))))
    with pytest.raises(cs.InvalidPredictions, match=f"say item='{name}' "):
        read_labels(truth)
    assert read_labels(truth, told=Told(item=name)).labels.items == ["p2", "p0", "p1"]


def test_columns_that_name_no_items(written):
    rows = [(place + 1, f"a note of {place}", share, 1 - share) for place, share in enumerate((0.25, 0.5, 0.75))]
    paths = [written(f"{member}.csv", lines("n,remark,cat,dog", *rows)) for member in "ab"]
    assert read(*paths).n_items == 3
    assert (
        read_labels(written("t.csv", lines("n,remark,label", *((*row[:2], "cat") for row in rows)))).labels[0] == "cat"
    )


# ---- which columns are the classes ------------------------------------------------------------------------


def test_a_column_of_confidence_is_no_class(written):
    """It is the largest probability, so it sums to 1 with the other class."""
    rows = [(f"q{place}", p, round(1 - p, 2), p) for place, p in enumerate((0.9, 0.8, 0.7, 0.95))]
    assert read(written("m.csv", lines("item,cat,dog,confidence", *rows))).classes == ["cat", "dog"]
    path = written("n.csv", lines("item,cat,dog,best", *rows))
    with pytest.raises(cs.InvalidPredictions, match=r"\['cat', 'dog'\] do, and \['dog', 'best'\] do: name the classes"):
        read(path)
    assert read(path, classes=("cat", "dog")).classes == ["cat", "dog"]


@pytest.mark.parametrize("sizes", [(2, 2), (3, 3), (2, 3), (3, 2)])
def test_the_probabilities_of_two_members_in_one_table(written, sizes):
    """One of them was read, the other was not."""
    rows = np.concatenate([RNG.dirichlet(np.ones(size), 20) for size in sizes], axis=1)
    names = [f"{member}_{k}" for member, size in zip(("vit", "cnn"), sizes, strict=True) for k in range(size)]
    path = written("m.csv", lines(f"item,{','.join(names)}", *((f"q{i}", *row) for i, row in enumerate(rows))))
    with pytest.raises(cs.InvalidPredictions, match="classes=, or give each member a table of its own"):
        read(path)
    assert read(path, classes=tuple(names[: sizes[0]])).classes == names[: sizes[0]]


@pytest.mark.parametrize("n_others", [5, 45, 300])
@pytest.mark.parametrize("is_first", [True, False])
def test_classes_beside_many_other_numbers(written, n_others, is_first):
    """Beside 43 other columns, all of them were classes."""
    shares, others = RNG.dirichlet(np.ones(3), 30).round(6), RNG.normal(size=(30, n_others)).round(3)
    parts = [("cat,dog,owl", shares), (",".join(f"f{place}" for place in range(n_others)), others)]
    names, numbers = zip(*(parts if is_first else parts[::-1]), strict=True)
    header, rows = ",".join(["item", *names]), np.concatenate(numbers, axis=1)
    panel = read(written("m.csv", lines(header, *((f"q{i}", *row) for i, row in enumerate(rows)))))
    assert panel.classes == ["cat", "dog", "owl"]
    np.testing.assert_array_equal(panel.to_array()[0], shares)


def test_many_columns_are_read_in_little_memory(written):
    """The pairs of columns were listed: 8,000 columns of logits took 3 GB."""
    import tracemalloc

    path = written("m.csv", lines(",".join(f"c{k}" for k in range(4000)), *RNG.normal(size=(3, 4000)).round(3)))
    tracemalloc.start()
    with pytest.raises(cs.InvalidPredictions, match="add :logits"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e8


# ---- what the numbers are ---------------------------------------------------------------------------------


def test_rows_of_zeros_with_one_one(written):
    one_hot = np.eye(3, dtype=int)[RNG.integers(3, size=20)]
    path = written("m.npy", one_hot)
    with pytest.raises(cs.InvalidPredictions, match="20 such rows: add :labels or :probabilities"):
        read(path)
    np.testing.assert_array_equal(read(f"{path}:probabilities").to_array()[0], one_hot)
    assert read(written("v.npy", np.array([[0, 1, 0, 0, 0], [1, 0, 0, 0, 0]]))).n_members == 2


def test_separators_of_thousands(written):
    rows = [('"1,234"', '"2,345"', 12), ('"3,456"', 17, '"1,001"')]
    with pytest.raises(cs.InvalidPredictions, match=r"'1,001' may mean 1001 or 1\.001: write it without the comma"):
        read(written("m.csv", lines("a,b,c", *rows)), normalize=True)
    commas = [('"0,250"', '"0,750"'), ('"1,000"', '"0,000"')]
    assert read(written("m.csv", lines("a,b", *commas))).to_array()[0].tolist() == [[0.25, 0.75], [1, 0]]


def test_spaces_before_numbers(written):
    """They were labels, and each class a member."""
    panel = read(written("m.csv", "item,cat,dog\nq0, 0.9, 0.1\nq1, 0.9, 0.1\nq2, 0.1, 0.9\n"))
    assert panel.to_array()[0].tolist() == [[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]]


@pytest.mark.parametrize("first", ["1.0,0.0", "0.25,0.75", "7,0.25,0.75"])
def test_a_table_without_a_header(written, first):
    rows = [first.split(",")] * 3
    with pytest.raises(cs.InvalidPredictions, match="names of its columns in its first row; it has numbers"):
        read(written("m.csv", lines(first, *rows)))


def test_classes_that_are_called_by_floats(written):
    assert read(written("m.csv", lines("0.0,1.0", (0.5, 0.5), (0.25, 0.75)))).n_items == 2


def test_a_row_for_each_item_member_and_class(written):
    """Each member seemed to vote for every class."""
    shares = RNG.dirichlet(np.ones(3), size=(2, 12))
    rows = [
        (f"q{i}", member, label, shares[m, i, k])
        for m, member in enumerate(["ann", "bob"])
        for i in range(12)
        for k, label in enumerate(["cat", "dog", "owl"])
    ]
    shuffled = [rows[place] for place in RNG.permutation(len(rows))]
    panel = read(written("m.csv", lines("item,model,class,probability", *shuffled)))
    order = [panel.items.index(f"q{i}") for i in range(12)]
    np.testing.assert_array_equal(panel.to_array()[:, order], shares)
    scores = [(*row[:3], np.log(row[3])) for row in shuffled]
    with pytest.raises(cs.InvalidPredictions, match="each of them has every label in 'class' once"):
        read(written("m.csv", lines("item,model,class,probability", *scores)))


def test_minus_one_among_votes(written):
    """Labelling functions write it where they abstain; reviews are -1, 0 or 1."""
    votes = np.where(RNG.random((3, 30)) < 0.4, -1, RNG.integers(2, size=(3, 30)))
    votes[0] = np.maximum(votes[0], 0)
    expected = np.where(votes[:, :, None] < 0, np.nan, np.eye(2)[votes])
    wide = lines("item,a,b,c", *((f"q{i:02}", *votes[:, i]) for i in range(30)))
    long = lines("item,member,label", *((f"q{i:02}", "abc"[m], votes[m, i]) for i in range(30) for m in range(3)))
    for text in (wide, long):
        path = written("votes.csv", text)
        with pytest.raises(
            cs.InvalidPredictions, match=r"beside 0, 1 it may be no answer or a class: say classes=\['0', '1'\]"
        ):
            read(path)
        np.testing.assert_array_equal(read(path, classes=("0", "1")).to_array(), expected)
        assert read(path, classes=("-1", "0", "1")).to_array().shape == (3, 30, 3)
    two = lines("item,a,b", *((f"q{i}", 2 * votes[0, i] - 1, 2 * votes[0, i] - 1) for i in range(30)))
    assert read(written("two.csv", two)).classes == ["-1", "1"]


@pytest.mark.parametrize("name", ["item", "id", "question_id", "items"])
def test_an_archive_names_the_items_of_labels(written, name):
    labels = read_labels(written("truth.npz", {"labels": np.array([1, 0]), name: np.array(["q2", "q1"])})).labels
    assert (labels.items, list(labels.labels)) == (["q2", "q1"], [1, 0])
    with pytest.raises(cs.InvalidPredictions, match=f"got 2 in 'labels' and 1 in '{name}'"):
        read_labels(written("truth.npz", {"labels": np.array([1, 0]), name: np.array(["q2"])}))


def test_an_archive_with_two_arrays_of_items(written):
    arrays = {"labels": np.array([1, 0]), "id": np.array([7, 8]), "question_id": np.array([8, 7])}
    with pytest.raises(
        cs.InvalidPredictions, match=r"one array must name the items of labels; \['id', 'question_id'\]"
    ):
        read_labels(written("truth.npz", arrays))
    counted = read_labels(written("truth.npz", {"labels": np.array([1, 0]), "index": np.array([0, 1])})).labels
    assert counted.tolist() == [1, 0]


# ---- frames, which are read as files are --------------------------------------------------------------------


def refusal(read_it):
    with pytest.raises(cs.InvalidPredictions) as caught:
        read_it()
    return str(caught.value)


WIDE = pd.DataFrame(
    {"id": ["q0", "q1", "q2"], "gpt": ["y", "n", "y"], "claude": ["n", "n", "y"], "label": ["y", "y", "n"]}
)
LONG = pd.DataFrame(
    {
        "task": ["i0", "i0", "i1", "i1"],
        "worker": ["u", "v", "u", "v"],
        "prediction": ["cat", "dog", "dog", "dog"],
        "label": ["cat", "cat", "dog", "dog"],
    }
)


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (WIDE, "'label' stands beside ['gpt', 'claude']: say label='label'"),
        (LONG, "one column must hold the label; 'label' and 'prediction' may: say label='label'"),
        (LONG.rename(columns={"task": "image_id", "worker": "model"}), "'label' and 'prediction' may"),
        (
            pd.DataFrame({"task": [0, 0, 1, 1], "worker": list("uvuv"), "label": [0.5, 0.25, 0.5, 0.125]}),
            "labels must be names or whole numbers; column 'label' holds",
        ),
    ],
)
def test_a_frame_is_refused_as_its_file_is(written, frame, reason):
    """The truth in a column `label` was taken for the answer of every member."""
    path = written("f.csv", frame.to_csv(index=False))
    said = refusal(lambda: cs.Predictions.from_frame(frame))
    assert reason in said
    assert refusal(lambda: read(path)).removeprefix(f"{path}: ") == said


def test_a_frame_is_read_as_the_refusal_says():
    assert cs.Predictions.from_frame(WIDE, label="label").members == ["label"]
    assert cs.Predictions.from_frame(WIDE, member="gpt,claude").members == ["gpt", "claude"]
    said, true = (cs.Predictions.from_frame(LONG, label=name).to_array()[:, 0] for name in ("prediction", "label"))
    assert (said.tolist(), true.tolist()) == ([[1, 0], [0, 1]], [[1, 0], [1, 0]])
    shares = pd.DataFrame({"task": [0, 0, 1, 1], "worker": list("uvuv"), "label": [0.5, 0.25, 0.5, 0.125]})
    assert cs.Predictions.from_frame(shares, label="label").n_classes == 3
    assert cs.Predictions.from_frame(shares.assign(label=0.5, id=0.5)).classes == ["label", "id"]


@pytest.mark.parametrize("word", ["", "NA", "N/A", "NaN", "null"])
def test_words_for_missing_answers_in_frames(written, word):
    long = pd.DataFrame({"task": list("aabb"), "worker": list("uvuv"), "label": ["y", word, "n", "y"]})
    wide = pd.DataFrame({"id": list("ab"), "u": ["y", "n"], "v": [word, "y"]})
    for frame in (long, wide):
        panel = cs.Predictions.from_frame(frame)
        assert panel.classes == ["n", "y"] and np.isnan(panel.to_array()[1, 0]).all()
        np.testing.assert_array_equal(panel.to_array(), read(written("f.csv", frame.to_csv(index=False))).to_array())
        kept = cs.Predictions.from_frame(frame, classes=["y", "n", word])
        assert kept.to_array()[1, 0].tolist() == [0, 0, 1]
    labels = pd.DataFrame({"item": list("ab"), "label": [word, "n"]})
    assert cs.MajorityVote().fit(panel, labels).posterior_[1].tolist() == [1, 0]


def test_members_called_like_the_truth():
    """They were left out without a word."""
    frame = WIDE.drop(columns="label").assign(**{"true-north-7b": ["y", "y", "n"]})
    with pytest.raises(cs.InvalidPredictions, match=r"\['true-north-7b'\] may be either: list the members, as in"):
        cs.Predictions.from_frame(frame)
    assert cs.Predictions.from_frame(frame, member="gpt,claude,true-north-7b").n_members == 3
    for name in ("gold", "true_label", "target", "Expected Answer", "reference_class_id"):
        true = frame.rename(columns={"true-north-7b": name})
        assert cs.Predictions.from_frame(true).members == ["gpt", "claude"]


def test_a_column_of_categories_beside_the_members():
    """It became the only member."""
    frame = WIDE.drop(columns="label").assign(category=["p", "q", "p"])
    with pytest.raises(cs.InvalidPredictions, match=r"'category' stands beside \['gpt', 'claude'\]: say label="):
        cs.Predictions.from_frame(frame)
    assert cs.Predictions.from_frame(frame, label="category").members == ["category"]
    assert cs.Predictions.from_frame(frame, member="gpt,claude").members == ["gpt", "claude"]
    assert cs.Predictions.from_frame(frame.drop(columns="claude")).members == ["category"]


def test_a_class_called_like_items_in_a_frame_of_per_cent():
    shares = pd.DataFrame({"comment": [50.5, 20.0, 10.0], "news": [40.0, 30.0, 15.0], "spam": [9.5, 50.0, 75.0]})
    panel = cs.Predictions({"x": shares, "y": shares}, normalize=True)
    assert panel.classes == ["comment", "news", "spam"] and not panel.axes.items.is_named


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cs.Predictions.from_frame(pd.DataFrame()),
            "frame must have rows of answers; it has none, in 0 columns",
        ),
        (lambda: cs.Predictions.from_frame(WIDE[["id", "gpt", "claude"]], classes="yn"), "got 'yn'"),
        (lambda: cs.Predictions.from_frame(WIDE[["id", "gpt", "claude"]], classes={"y", "n"}), "got a set"),
        (lambda: cs.Predictions.from_logits({"x": WIDE}), "logits must be arrays .* got frames or scores with names"),
    ],
)
def test_what_is_no_frame_of_answers(call, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        call()


# ---- what can be written ----------------------------------------------------------------------------------


@pytest.mark.parametrize("part", ["\\ud800", "\\u0000"])
@pytest.mark.parametrize("column", ["item", "member", "label"])
def test_names_that_no_file_gives_back(written, part, column):
    records = []
    for place in range(12):
        record = {"item": f"q{place}", "member": "uvw"[place % 3], "label": "xy"[place % 2]}
        record[column] += part if place % 2 else ""
        records.append("{" + ",".join(f'"{name}": "{value}"' for name, value in record.items()) + "}")
    path = written("p.jsonl", "\n".join(records))
    kind = {"label": "class"}.get(column, column)
    with pytest.raises(cs.InvalidPredictions, match=rf"p\.jsonl: names must have whole characters .* got the {kind} '"):
        read(path)


def test_members_with_the_names_of_classes(written):
    """The classes of a saved model are known, and members may be called as they are."""
    votes = lines(
        "item,yes,no,maybe", ("q0", "yes", "no", "yes"), ("q1", "no", "no", "yes"), ("q2", "yes", "yes", "no")
    )
    panel = read(written("votes.csv", votes), classes=("no", "yes"))
    assert (panel.members, panel.classes) == (["yes", "no", "maybe"], ["no", "yes"])
