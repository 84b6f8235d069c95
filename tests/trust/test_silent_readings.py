"""Tables and arrays that were once read wrongly without a word: each is read rightly now, or refused."""

import json
import unicodedata

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.data.tables.told import Told
from consilience.files import read_sources

RNG = np.random.default_rng(1)
ITEMS, WORKERS, CLASSES = [f"q{place}" for place in range(12)], ["ann", "bob", "cyd"], ["cat", "dog", "owl"]
SHARES = RNG.dirichlet(np.ones(3), size=(12, 3)).round(4)
SHARES[..., 2] = (1 - SHARES[..., :2].sum(axis=2)).round(4)


def tidy():
    return pd.DataFrame(
        [
            (item, worker, label, SHARES[i, w, k])
            for i, item in enumerate(ITEMS)
            for w, worker in enumerate(WORKERS)
            for k, label in enumerate(CLASSES)
        ],
        columns=["task", "worker", "label", "prob"],
    )


def votes(**columns):
    """A long table of votes of three members."""
    rows = [
        (item, worker, CLASSES[int(SHARES[i, w].argmax())])
        for i, item in enumerate(ITEMS)
        for w, worker in enumerate(WORKERS)
    ]
    return pd.DataFrame(rows, columns=["task", "worker", "label"]).assign(**columns)


def wide(**columns):
    said = np.array(CLASSES)[SHARES.argmax(axis=2)]
    return pd.DataFrame({"id": ITEMS} | dict(zip(WORKERS, said.T, strict=True)) | columns)


@pytest.fixture(params=["frame", "csv", "parquet", "command line"])
def read(request, tmp_path):
    """Read a table by each door."""

    def by_door(frame, **told):
        if request.param == "frame":
            return cs.Predictions.from_frame(frame, **told)
        path = tmp_path / f"table.{'parquet' if request.param == 'parquet' else 'csv'}"
        if request.param == "parquet":
            frame.to_parquet(path, index=False)
        else:
            frame.to_csv(path, index=False)
        if request.param == "command line":
            return read_sources([str(path)], told=Told(**told)).predictions
        return cs.read_predictions(path, **told)

    return by_door


def refused(match):
    return pytest.raises(cs.InvalidPredictions, match=match)


# ---- 1, 2: long tables of probabilities -------------------------------------------------------------------------


def test_a_row_for_each_class_is_read(read):
    panel = read(tidy())
    assert panel.is_soft.all() and panel.classes == CLASSES
    np.testing.assert_allclose(panel.to_array(), SHARES.transpose(1, 0, 2), atol=1e-12)


@pytest.mark.parametrize(
    "damage",
    [
        lambda frame: frame.drop(index=[5]),
        lambda frame: frame.iloc[:-1],
        lambda frame: frame.assign(prob=frame["prob"].round(1)),
        lambda frame: frame[frame["prob"].groupby([frame["task"], frame["worker"]]).rank() > 1],
    ],
    ids=["a row lost", "cut", "rounded", "the top two"],
)
def test_probabilities_that_lost_something_are_no_votes(read, damage):
    with refused("probabilities must sum to 1 over classes; .*'prob'"):
        read(damage(tidy()))


def test_several_labels_of_one_item_beside_ids_are_votes(read):
    several = tidy().drop(columns="prob").drop(index=[5]).assign(annotation_id=range(900, 1007))
    assert not read(several).is_soft.any()


def test_rounded_probabilities_are_rescaled_if_told(read):
    rounded = tidy().assign(prob=tidy()["prob"].round(1))
    np.testing.assert_allclose(read(rounded, normalize=True).to_array(), SHARES.transpose(1, 0, 2), atol=0.15)
    with refused("must sum to 1"):
        read(rounded.drop(index=[5]), normalize=True)


@pytest.mark.parametrize(
    "scale",
    [
        lambda shares: (100 * shares).round(1),
        lambda shares: (100 * shares).round(1).astype(str) + "%",
        np.log,
        lambda shares: (10 * shares).round().astype(int),
    ],
    ids=["per cent", "per cent signs", "logarithms", "counts"],
)
def test_numbers_of_another_scale_that_lost_a_row_are_no_votes(read, scale):
    frame = tidy().assign(prob=scale(tidy()["prob"] + 1e-9)).drop(index=[5])
    with refused(r"most have several in 'label'.*leave \['prob'\] out of the table if the labels are votes"):
        read(frame)
    assert not read(frame.drop(columns="prob")).is_soft.any()


def test_an_unlabelled_row_gives_its_probability_to_nobody(read):
    frame = tidy()
    frame.loc[4, "label"] = None
    with refused("must name the class of each probability|must sum to 1"):
        read(frame)


def test_votes_of_members_who_answer_twice_stay_votes(read):
    twice = pd.concat([votes(), votes().iloc[:3].assign(label="owl")])
    assert not read(twice).is_soft.any()


# ---- 3: which axis is which -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 8), (30, 12), (12, 10), (9, 3), (8, 8)])
def test_the_order_of_axes_is_asked_for(tmp_path, shape):
    labels = RNG.integers(3, size=shape)
    np.save(tmp_path / "votes.npy", labels)
    with refused("may be .members, items. or .items, members.: add :members-first or :items-first"):
        cs.read_predictions(tmp_path / "votes.npy")
    turned = cs.read_predictions(f"{tmp_path / 'votes.npy'}:items-first")
    assert (turned.n_items, turned.n_members) == shape
    assert cs.read_predictions(f"{tmp_path / 'votes.npy'}:members-first").n_members == shape[0]


def test_names_and_sizes_tell_the_order_of_axes(tmp_path):
    labels = RNG.integers(3, size=(60, 8))
    np.savez(tmp_path / "named.npz", votes=labels, items=np.arange(60))
    assert cs.read_predictions(tmp_path / "named.npz").n_members == 8
    np.save(tmp_path / "wide.npy", labels.T)
    assert cs.read_predictions(tmp_path / "wide.npy").n_members == 8
    np.save(tmp_path / "tall.npy", labels)
    assert cs.read_predictions(tmp_path / "tall.npy", items=range(100, 160)).n_items == 60


def test_a_block_of_items_members_classes(tmp_path):
    block = RNG.dirichlet(np.ones(3), size=(899, 6))
    np.save(tmp_path / "block.npy", block)
    with refused("899 × 6 × 3 may be"):
        cs.read_predictions(tmp_path / "block.npy")
    assert cs.read_predictions(f"{tmp_path / 'block.npy'}:items-first").n_members == 6
    with refused("899 members on 6 items"):
        cs.Predictions(block)
    assert cs.Predictions(block, members=range(899)).n_members == 899


# ---- 4: the truth is no member ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gt", "groundtruth", "y_test", "correct_answer", "adjudicated", "gold_label"])
def test_the_truth_is_left_out(read, name):
    assert read(wide(**{name: ["cat", "dog", "owl"] * 4})).members == WORKERS


@pytest.mark.parametrize(
    "name",
    [
        "actual",
        "correct",
        "final_label",
        "majority",
        "expert",
        "consensus",
        "key",
        "verified",
        "labels",
        "adjudication",
    ],
)
def test_what_may_be_the_truth_is_asked_for(read, name):
    frame = wide(**{name: ["cat", "dog", "owl"] * 4})
    with refused(rf"\['{name}'\] may be either"):
        read(frame)
    assert read(frame, member="ann,bob,cyd").members == WORKERS


def test_a_file_called_truth_is_no_member(tmp_path):
    for name in ("vit", "cnn", "truth"):
        np.save(tmp_path / f"{name}.npy", RNG.dirichlet(np.ones(3), size=9) if name != "truth" else np.arange(9) % 3)
    with refused("truth.npy is called as true labels are"):
        cs.read_predictions(sorted(tmp_path.glob("*.npy")))


# ---- 5: lists ---------------------------------------------------------------------------------------------------


def records(tmp_path, rows):
    (tmp_path / "r.json").write_text(json.dumps(rows), encoding="utf-8")
    return tmp_path / "r.json"


def test_a_list_of_one_label_is_that_label(tmp_path):
    rows = votes().to_dict("records")
    for wrap in (lambda label: [label], lambda label: json.dumps([label]), lambda label: str([label])):
        wrapped = [row | {"label": wrap(row["label"])} for row in rows]
        assert cs.read_predictions(records(tmp_path, wrapped)).classes == CLASSES
        assert cs.Predictions.from_frame(wrapped).classes == CLASSES
        assert cs.Predictions.from_frame(pd.DataFrame(wrapped)).classes == CLASSES


def test_lists_of_several_labels_are_refused(tmp_path):
    rows = votes().to_dict("records")
    for wrap in (
        lambda label: [label, "x"],
        lambda label: json.dumps([label, "x"]),
        lambda label: {"choice": label, "n": [1]},
    ):
        wrapped = [row | {"label": wrap(row["label"])} for row in rows]
        for door in (
            lambda rows=wrapped: cs.read_predictions(records(tmp_path, rows)),
            lambda rows=wrapped: cs.Predictions.from_frame(rows),
        ):
            with refused("label"):
                door()


def test_records_that_are_written_as_text_are_refused(read):
    for text in ("{'choice': '%s'}", '{"choice": "%s"}', "('%s', 1)"):
        with refused("must hold one label for each answer; it holds lists or records"):
            read(votes().assign(label=lambda frame, text=text: [text % label for label in frame["label"]]))


def test_some_lists_of_one_label_are_that_label(read):
    some = votes()
    some["label"] = [f"['{label}']" if place % 3 else label for place, label in enumerate(some["label"])]
    assert read(some).classes == CLASSES


def test_answers_that_are_intervals_are_labels(read):
    answers = votes().replace({"label": {"cat": "[0, 1]", "dog": "(3, 4)"}})
    assert read(answers).classes == ["(3, 4)", "[0, 1]", "owl"]
    quoted = votes().replace({"label": {"cat": "['cat', 'dog']"}})
    with refused("must hold one label for each answer"):
        read(quoted)
    told = ["['cat', 'dog']", "dog", "owl"]
    assert read(quoted, classes=told).classes == told


def test_scores_from_the_best_to_the_worst_have_no_classes(tmp_path):
    rows = [{"id": item, "scores": sorted(SHARES[i, 0].tolist())[::-1]} for i, item in enumerate(ITEMS)]
    for door in (
        lambda **told: cs.read_predictions(records(tmp_path, rows), **told),
        lambda **told: frame_of(rows, told),
    ):
        with refused("'scores' all fall from the first to the last.*say classes="):
            door()
        assert door(classes=CLASSES).classes == CLASSES


def frame_of(rows, told):
    return cs.Predictions.from_frame(rows, **told)


def test_scores_are_matched_with_the_labels_beside_them(tmp_path):
    """What a zero-shot pipeline leaves: labels from the best to the worst, and their scores."""
    rows = []
    for i, item in enumerate(ITEMS):
        order = np.argsort(-SHARES[i, 0]).tolist()
        rows.append(
            {"id": item, "labels": [CLASSES[k] for k in order], "scores": [float(SHARES[i, 0, k]) for k in order]}
        )
    for panel in (cs.read_predictions(records(tmp_path, rows)), cs.Predictions.from_frame(rows)):
        assert panel.classes == CLASSES
        np.testing.assert_allclose(panel.to_array()[0], SHARES[:, 0], atol=1e-12)


def test_marks_of_a_tool_are_no_labels(read):
    marked = votes()
    marked["label"] = [f"[{'PASS' if place % 2 else 'FAIL'}] {label}" for place, label in enumerate(marked["label"])]
    for frame in (marked, marked.assign(label=[*marked["label"][:9], *votes()["label"][9:]])):
        with refused("a tool's mark"):
            read(frame)


# ---- 6: who judges ----------------------------------------------------------------------------------------------


def test_who_judges_comes_before_what_is_judged(read):
    frame = votes().rename(columns={"worker": "model", "task": "question_id", "label": "verdict"}).assign(judge="gpt")
    with refused("'judge' answers 'question_id' once for each 'model'.*item='question_id.model'.*member='model'"):
        read(frame)
    panel = read(frame, item="question_id+model")
    assert panel.members == ["gpt"] and panel.n_items == 36


def test_one_member_in_all_is_said(run, tmp_path):
    votes(worker="ann").to_csv(tmp_path / "one.csv", index=False)
    code, _, err = run("aggregate", "one.csv", "--method", "average")
    assert code == 0 and "! there is one member in all, 'ann'" in " ".join(err.split())
    with pytest.warns(UserWarning, match="there is one member in all, 'ann'"):
        cs.read_predictions(tmp_path / "one.csv")
    with pytest.warns(UserWarning, match="there is one member in all, 'ann'"):
        cs.Predictions.from_frame(votes(worker="ann"))


# ---- 7: rows of several files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [892, 900])
def test_files_whose_ids_count_are_not_matched_by_row(tmp_path, first):
    for member, start in (("a", 892), ("b", first)):
        shares = RNG.dirichlet(np.ones(2), size=60)
        frame = pd.DataFrame({"PassengerId": range(start, start + 60), "no": shares[:, 0], "yes": shares[:, 1]})
        frame.to_csv(tmp_path / f"{member}.csv", index=False)
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    if first == 892:
        assert cs.read_predictions(paths).n_items == 60
    else:
        with refused(r"'PassengerId', with another value in each row, may: say item='PassengerId' \(892, 893\)"):
            cs.read_predictions(paths)
    assert cs.read_predictions(paths, item="PassengerId").n_items == 60 + first - 892


# ---- 8: names that look alike -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other",
    [unicodedata.normalize("NFD", "café"), "caf\u200bé", "ｃａｆé", "café\ufeff"],
    ids=["NFD", "zero width", "full width", "mark"],
)
@pytest.mark.parametrize("column", ["task", "worker", "label"])
def test_names_that_look_alike_are_refused(read, column, other):
    frame = votes()
    frame.loc[::2, column], frame.loc[1::2, column] = "café", other
    with refused("look the same"):
        read(frame)


@pytest.mark.parametrize(("column", "kind"), [("label", "classes"), ("worker", "members")])
def test_names_that_differ_in_case_and_spaces_are_said(run, tmp_path, column, kind):
    frame = votes()
    name = frame[column][0]
    frame.loc[0, column] = f" {name.title()}"
    with pytest.warns(UserWarning, match=f"the {kind} .*differ only in case"):
        cs.Predictions.from_frame(frame)
    frame.to_csv(tmp_path / "case.csv", index=False)
    with pytest.warns(UserWarning, match=f"the {kind} .*differ only in case"):
        cs.read_predictions(tmp_path / "case.csv")
    _, _, err = run("aggregate", "case.csv", "--method", "average")
    assert f"! the {kind} [" in " ".join(err.split())


def test_labels_are_not_offered_as_items(read):
    with refused(r"needs a column of items.*name it$"):
        read(votes().drop(columns="task"))


def test_true_and_1_are_two_names():
    frame = pd.DataFrame({"task": [True, 1, 2, 2], "worker": list("abab"), "label": list("xyyx")}, dtype=object)
    assert cs.Predictions.from_frame(frame).items == ["True", "1", "2"]


# ---- 9: columns of tools, and what is advised -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["RequesterAnnotation", "Input.label", "GOLDEN:result", "HINT:text"])
def test_what_a_tool_repeats_is_no_answer(read, name):
    assert read(votes(**{name: "batch"})).classes == CLASSES
    other = wide(**{name: ["cat", "dog", "owl"] * 4})
    assert read(other).members == WORKERS


def test_short_rows_are_padded(tmp_path):
    lines = ["task,worker,label,note", *(f"{row.task},{row.worker},{row.label}" for row in votes().itertuples())]
    (tmp_path / "short.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert cs.read_predictions(tmp_path / "short.csv").classes == CLASSES
    (tmp_path / "cut.csv").write_text(
        "\n".join([lines[0], *(f"{line}," for line in lines[1:-1]), "q11,cy"]), encoding="utf-8"
    )
    with refused("cut short"):
        cs.read_predictions(tmp_path / "cut.csv")


def test_all_classes_are_offered(read):
    scores = [-1, *range(11)] * 3
    with refused(r"classes=\['0', '1', .*'9', '10'\]|classes=\[0, 1, .*9, 10\]"):
        read(votes(label=scores))


def test_independent_labels_are_several_panels(read):
    shares = RNG.random((12, 3)).round(3)
    frame = pd.DataFrame({"id": ITEMS, "toxic": shares[:, 0], "obscene": shares[:, 1], "threat": shares[:, 2]})
    with refused("several independent labels.*positive='toxic' or positive='obscene' or positive='threat'") as caught:
        read(frame)
    assert "normalize" not in str(caught.value)
    panel = read(frame, positive="toxic")
    assert panel.classes == ["not toxic", "toxic"]
    np.testing.assert_allclose(panel.to_array()[0, :, 1], shares[:, 0], atol=1e-12)


def test_independent_labels_in_an_array(tmp_path):
    np.save(tmp_path / "net.npy", RNG.random((12, 4)))
    with refused("may be several labels.*positive='NAME'") as caught:
        cs.read_predictions(tmp_path / "net.npy")
    assert "normalize" not in str(caught.value)


# ---- 10: what ended in an error of Python, and one class's probability ------------------------------------------


def test_a_probability_of_one_class(read):
    frame = pd.DataFrame({"id": ITEMS, "target": SHARES[:, 0, 0]})
    with refused("positive='NAME'"):
        read(frame)
    panel = read(frame, positive="survived")
    assert (panel.classes, panel.items) == (["not survived", "survived"], ITEMS)
    np.testing.assert_allclose(panel.to_array()[0, :, 1], SHARES[:, 0, 0], atol=1e-12)


def test_a_probability_of_one_class_in_a_long_table(read):
    frame = votes().drop(columns="label").assign(score=SHARES[:, :, 0].ravel())
    panel = read(frame, positive="cat")
    assert panel.members == WORKERS
    np.testing.assert_allclose(panel.to_array()[:, :, 1], SHARES[:, :, 0].T, atol=1e-12)


def test_the_column_of_one_class_among_several(read):
    frame = pd.DataFrame({"id": ITEMS, "toxic": SHARES[:, 0, 0], "spam": SHARES[:, 0, 1] / 2})
    with refused(r"\['toxic', 'spam'\] may: call it so, or name it with label="):
        read(frame, positive="bad")
    np.testing.assert_allclose(read(frame, positive="bad", label="toxic").to_array()[0, :, 1], SHARES[:, 0, 0])
    with refused("must be from 0 to 1; column 'toxic' holds others"):
        read(frame.assign(toxic=7.5), positive="toxic")


def test_what_several_members_say_of_one_class(read):
    frame = pd.DataFrame({"id": ITEMS} | dict(zip(WORKERS, SHARES[..., 0].T, strict=True)))
    with refused("say member='ann,bob,cyd' and positive='NAME'"):
        read(frame)
    with refused("list members, as in member='ann,bob,cyd'"):
        read(frame, positive="cat")
    panel = read(frame, positive="cat", member="ann,bob,cyd")
    assert (panel.members, panel.items, panel.classes) == (WORKERS, ITEMS, ["not cat", "cat"])
    np.testing.assert_allclose(panel.to_array()[:, :, 1], SHARES[..., 0].T, atol=1e-12)


def test_zeros_and_ones_are_labels_of_one_class(read):
    frame = votes().drop(columns="label").assign(toxic=[0, 1, 1] * 12, insult=[1, 0, 0] * 12)
    panel = read(frame, positive="toxic")
    assert not panel.is_soft.any() and panel.to_array()[1, 0].tolist() == [0, 1]


def test_a_sigmoid_in_an_array(tmp_path):
    for shares in (SHARES[:, 0, :1], SHARES[:, 0, 0]):
        np.save(tmp_path / "net.npy", shares)
        with refused("positive='NAME'"):
            cs.read_predictions(tmp_path / "net.npy")
    panel = cs.read_predictions(tmp_path / "net.npy", positive="yes")
    assert (panel.members, panel.classes) == (["net"], ["not yes", "yes"])
    np.testing.assert_allclose(panel.to_array()[0, :, 1], SHARES[:, 0, 0])


def test_lists_in_the_cells_of_a_frame():
    frame = wide().assign(tags=[["a", "b"]] * 12)
    assert cs.Predictions.from_frame(frame).members == WORKERS


# ---- columns without a name --------------------------------------------------------------------------------------


def test_what_a_column_without_a_name_is_read_as_is_said(tmp_path):
    """Such a column named the items, or was left out, without a word."""
    wide().rename(columns={"id": ""}).to_csv(tmp_path / "names.csv", index=False)
    assert "items in the column without a name" in read_sources([str(tmp_path / "names.csv")]).found[0]
    votes().assign(**{"": range(100, 136)}).to_csv(tmp_path / "left.csv", index=False)
    assert "; the column without a name is not read" in read_sources([str(tmp_path / "left.csv")]).found[0]
    wide(**{"": [f"p{place}" for place in range(12)]}).to_csv(tmp_path / "left.csv", index=False)
    assert "; the column without a name is not read" in read_sources([str(tmp_path / "left.csv")]).found[0]
    votes().to_csv(tmp_path / "counts.csv")
    assert "without a name" not in read_sources([str(tmp_path / "counts.csv")]).found[0]


def test_a_member_without_a_name(read):
    """It was taken for an index, and left out."""
    with refused("a column without a name must be an index; '' holds"):
        read(wide(**{"": ["cat", "dog", "owl"] * 4}))


def test_an_index_that_is_left_of_other_rows_names_no_items():
    """The index of a frame from which rows were taken named as many items as there were answers."""
    with refused("needs a column of items"):
        cs.Predictions.from_frame(votes().drop(columns="task").iloc[::2])


def test_a_class_without_a_name(read):
    """Its probabilities were taken for an index."""
    rows = pd.DataFrame(SHARES[:, 0], columns=["cat", "dog", ""]).assign(task=ITEMS, worker="ann")
    with refused("a column without a name must be an index; '' holds"):
        read(rows)


@pytest.mark.parametrize("other", ["index", ""])
def test_an_index_beside_a_class_that_is_called_like_one(other):
    """The index was lost, so that frames in several orders were matched by row."""
    frame = pd.DataFrame(SHARES[:, 0, :2] / SHARES[:, 0, :2].sum(axis=1, keepdims=True), ITEMS, ["cat", other])
    with refused("without a name|a name for each column"):
        cs.Predictions({"ann": frame, "bob": frame.iloc[::-1]})


def test_a_member_without_a_name_who_says_numbers(read):
    """It was taken for an index, and left out."""
    said = {own: [0, 1, 1, 0] * 3 for own in ("ann", "bob")} | {"": [0, 1, 0, 1] * 3}
    with refused("a column without a name must be an index; '' holds"):
        read(pd.DataFrame({"id": ITEMS} | said))


def test_two_spellings_of_an_item_in_json(tmp_path):
    """2 and 2.0 were one item in JSON, where CSV refused them."""
    lines = [{"task": item, "worker": own, "label": "cat"} for item in ("2", "2.0", "x") for own in ("ann", "bob")]
    lines[-1]["label"] = "dog"
    (tmp_path / "votes.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with refused("'task' must spell a name in one way; got '2' and '2.0'"):
        read_sources([str(tmp_path / "votes.jsonl")])


def test_a_turned_array_of_probabilities_is_called_so(tmp_path):
    np.save(tmp_path / "ann.npy", SHARES[:, 0].T)
    np.save(tmp_path / "bob.npy", SHARES[:, 1].T)
    with refused("must be .items, classes.; here columns sum to 1, not rows: turn it"):
        read_sources([str(tmp_path / "ann.npy"), str(tmp_path / "bob.npy")])
