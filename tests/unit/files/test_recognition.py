"""Files of every format are understood, and what is not understood is said in one sentence."""

import os
import re

import numpy as np
import pytest

import consilience as cs
from consilience.data.labels import NamedLabels, known_labels
from consilience.data.tables.told import Told
from consilience.files import read_labels, read_posterior, read_sources
from consilience.files.recognition import read_names
from consilience.system.tables import Table

ARRAY = np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 5))


def soft(*sources, **options):
    source = read_sources([str(path) for path in sources], **options)
    return source.predictions, source.found


def save(path, **arrays):
    np.savez(path, **arrays)
    return path


def text(path, content):
    path.write_text(content, encoding="utf-8")
    return path


# ---- arrays -----------------------------------------------------------------------------------------------


def test_one_array_for_all_members(tmp_path):
    np.save(tmp_path / "all.npy", ARRAY)
    predictions, found = soft(tmp_path / "all.npy")
    np.testing.assert_array_equal(predictions.to_array(), ARRAY)
    assert "NumPy array" in found[0] and "(members, items, classes)" in found[0]


def test_one_file_per_member_is_named_after_it(tmp_path):
    for name, rows in zip(("vit", "resnet"), ARRAY, strict=True):
        np.save(tmp_path / f"{name}.npy", rows)
    predictions, _ = soft(tmp_path / "vit.npy", tmp_path / "resnet.npy")
    assert predictions.members == ["vit", "resnet"]
    np.testing.assert_array_equal(predictions.to_array(), ARRAY)


def test_an_archive_names_members_by_its_keys_and_axes_by_theirs(tmp_path):
    path = save(tmp_path / "p.npz", a=ARRAY[0], b=ARRAY[1], classes=np.array(["x", "y", "z"]), items=np.arange(10, 15))
    predictions, _ = soft(path)
    assert (predictions.members, predictions.classes, predictions.items) == (
        ["a", "b"],
        ["x", "y", "z"],
        ["10", "11", "12", "13", "14"],
    )


def test_a_key_picks_one_of_several(tmp_path):
    path = save(tmp_path / "p.npz", clean=ARRAY, noisy=ARRAY[::-1])
    predictions, _ = soft(f"{path}:noisy")
    np.testing.assert_array_equal(predictions.to_array(), ARRAY[::-1])
    with pytest.raises(cs.InvalidPredictions, match=r"holds \['clean', 'noisy'\]; pick one as p\.npz:clean"):
        soft(path)
    with pytest.raises(cs.InvalidPredictions, match=r"must hold 'other'; it holds \['clean', 'noisy'\]"):
        soft(f"{path}:other")


@pytest.mark.parametrize("name", ["logits", "probabilities"])
def test_logits_are_recognised_by_name_or_told(tmp_path, name):
    path = save(tmp_path / "p.npz", **{name: np.log(ARRAY) + 1})
    if name == "logits":
        predictions, found = soft(path)
        assert "logits" in found[0]
    else:
        with pytest.raises(cs.InvalidPredictions, match="Logits go through"):
            soft(path)
        predictions, _ = soft(path, logits=True)
    np.testing.assert_allclose(predictions.to_array(), ARRAY, atol=1e-12)


def test_a_list_of_answers_in_an_archive(tmp_path):
    path = save(tmp_path / "c.npz", **{"rte/item": [0, 0, 1], "rte/worker": [0, 1, 1], "rte/label": [1, 1, 0]})
    predictions, found = soft(f"{path}:rte")
    assert (predictions.n_members, predictions.n_items, predictions.n_classes) == (2, 2, 2)
    assert "3 answers" in found[0]


def test_hard_labels_as_an_array(tmp_path):
    np.save(tmp_path / "labels.npy", np.array([[0, 1, 2], [0, 1, -1]]))
    predictions, _ = soft(tmp_path / "labels.npy")
    assert predictions.n_classes == 3 and predictions.hard is not None and len(predictions.hard.items) == 5


@pytest.mark.parametrize("scale", ["counts", "probabilities", "logits"])
def test_whole_numbers_are_on_the_scale_that_the_user_says(tmp_path, scale):
    votes = np.array([[3, 0], [1, 2], [0, 3]])
    rows = {"counts": votes, "probabilities": np.eye(2, dtype=int)[[0, 1, 1]], "logits": votes - 2}[scale]
    expected = {"counts": votes / 3, "probabilities": rows, "logits": np.exp(rows) / np.exp(rows).sum(1)[:, None]}
    np.save(tmp_path / "m.npy", rows)
    predictions, _ = soft(f"{tmp_path / 'm.npy'}:{scale}")
    np.testing.assert_allclose(predictions.to_array()[0], expected[scale])
    if scale == "counts":
        predictions, _ = soft(tmp_path / "m.npy", told=Told(normalize=True))
        np.testing.assert_allclose(predictions.to_array()[0], expected[scale])


def test_labels_have_two_axes(tmp_path):
    np.save(tmp_path / "all.npy", ARRAY)
    with pytest.raises(cs.InvalidPredictions, match=r"labels must be an array \(members, items\)"):
        soft(f"{tmp_path / 'all.npy'}:labels")


def test_an_entry_called_logits_is_picked(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    path, logits = tmp_path / "m.safetensors", np.random.default_rng(0).normal(size=(9, 3))
    safetensors.save_file({"logits": logits, "features": np.ones((9, 5))}, path)
    predictions, found = soft(f"{path}:logits")
    assert predictions.n_classes == 3 and "logits" in found[0]


def test_safetensors(tmp_path):
    numpy = pytest.importorskip("safetensors.numpy")
    numpy.save_file({"a": ARRAY[0].copy(), "b": ARRAY[1].copy()}, tmp_path / "p.safetensors")
    predictions, _ = soft(tmp_path / "p.safetensors")
    np.testing.assert_array_equal(predictions.to_array(), ARRAY)
    (tmp_path / "bad.safetensors").write_bytes(b"\xff" * 40)
    with pytest.raises(cs.InvalidPredictions, match="must be a safetensors file"):
        soft(tmp_path / "bad.safetensors")


# ---- tables -----------------------------------------------------------------------------------------------


def test_a_long_table_of_labels(tmp_path):
    path = text(tmp_path / "a.csv", "task,worker,label\nt1,ann,cat\nt1,bob,dog\nt2,ann,dog\n")
    predictions, found = soft(path)
    assert (predictions.members, predictions.items, predictions.classes) == (
        ["ann", "bob"],
        ["t1", "t2"],
        ["cat", "dog"],
    )
    assert "items in 'task', members in 'worker', labels in 'label'" in found[0]


def test_a_long_table_of_peoples_labels_and_models_probabilities(tmp_path):
    path = text(
        tmp_path / "a.csv", "item,member,label,cat,dog\n1,ann,cat,,\n2,ann,dog,,\n1,vit,,0.9,0.1\n2,vit,,0.25,0.75\n"
    )
    predictions, found = soft(path)
    assert predictions.members == ["ann", "vit"] and predictions.is_soft.tolist() == [False, True]
    np.testing.assert_array_equal(predictions.to_array()[1], [[0.9, 0.1], [0.25, 0.75]])
    assert "labels in 'label' of 1, probabilities of ['cat', 'dog'] of 1" in found[0]


def test_one_members_probabilities(tmp_path):
    path = text(tmp_path / "vit.csv", "id,cat,dog\n007,0.9,0.1\n008,0.25,0.75\n")
    predictions, _ = soft(path)
    assert (predictions.members, predictions.items, predictions.classes) == (["vit"], ["007", "008"], ["cat", "dog"])


def test_a_wide_table_of_labels(tmp_path):
    path = text(tmp_path / "w.tsv", "item\tann\tbob\n1\tyes\tno\n2\t\tyes\n")
    predictions, _ = soft(path)
    assert (predictions.members, predictions.classes) == (["ann", "bob"], ["no", "yes"])
    assert predictions.hard is not None and len(predictions.hard.items) == 3


def test_whole_numbers_are_labels_unless_they_are_one_hot(tmp_path):
    rows = "".join(f"{i},{i % 2},{1 - i % 2}\n" for i in range(10))
    for content in (rows, "1,0.0,1.0\n2,1.0,0.0\n3,1.0,0.0\n"):
        one_hot, _ = soft(text(tmp_path / "net.csv", f"item,cat,dog\n{content}"))
        assert (one_hot.members, one_hot.classes) == (["net"], ["cat", "dog"])
    with pytest.raises(cs.InvalidPredictions, match="rows of 0 with one 1 may be labels by several members or one"):
        soft(text(tmp_path / "few.csv", "item,cat,dog\n1,0,1\n2,1,0\n3,1,0\n"))
    labels, _ = soft(text(tmp_path / "two.csv", "item,ann,bob\n1,0,1\n2,1,1\n3,1,0\n"))
    assert (labels.members, labels.classes) == (["ann", "bob"], ["0", "1"])


def test_names_are_not_numbers(tmp_path):
    long_ids = "".join(f"12345678901234567{i:02},ann,x\n12345678901234567{i:02},bob,y\n" for i in range(8))
    predictions, _ = soft(text(tmp_path / "a.csv", f"id,worker,label\n{long_ids}"))
    assert predictions.n_items == 8
    predictions, _ = soft(text(tmp_path / "b.csv", "item,worker,label\n1.1,1e2,x\n1.10,100,y\n"))
    assert predictions.items == ["1.1", "1.10"] and predictions.members == ["100", "1e2"]


def test_classes_that_are_whole_numbers_are_so_in_headers_too(tmp_path):
    wide = text(tmp_path / "net.csv", "item,1,2,3\n5,0.2,0.3,0.5\n6,0.8,0.1,0.1\n")
    people = text(tmp_path / "people.csv", "item,worker,label\n5,ann,3\n6,ann,1\n")
    predictions, _ = soft(people, wide)
    assert sorted(predictions.classes) == ["1", "2", "3"]
    back = read_posterior(str(wide)).predictions
    truth = read_labels(str(text(tmp_path / "y.csv", "item,label\n6,1\n5,3\n"))).labels
    assert known_labels(truth, back.axes).tolist() == [2, 0]


def test_wide_tables_of_labels_keep_their_order(tmp_path):
    predictions, _ = soft(text(tmp_path / "w.csv", "item,ann,bob\nz,yes,no\na,yes,yes\n"))
    assert predictions.items == ["z", "a"]


def test_columns_can_be_named(tmp_path):
    path = text(tmp_path / "a.csv", "q,who,said\n1,ann,x\n1,bob,y\n2,ann,y\n")
    predictions, _ = soft(path, told=Told("q", "who", "said"))
    assert predictions.n_members == 2
    with pytest.raises(cs.InvalidPredictions, match="expected the column 'nope'"):
        soft(path, told=Told("nope"))


def test_parquet(tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    frame = Table({"item": [1, 1, 2], "judge": ["a", "b", "a"], "answer": ["x", "x", "y"]}).to_frame("pyarrow")
    pq.write_table(frame, tmp_path / "a.parquet")
    predictions, _ = soft(tmp_path / "a.parquet")
    assert predictions.members == ["a", "b"]
    (tmp_path / "bad.parquet").write_bytes(b"PAR1nonsense")
    with pytest.raises(cs.InvalidPredictions, match="must be a Parquet table"):
        soft(tmp_path / "bad.parquet")


def test_people_beside_a_network(tmp_path):
    people = text(tmp_path / "people.csv", "item,worker,label\n0,ann,1\n1,ann,0\n4,bob,2\n")
    np.save(tmp_path / "net.npy", ARRAY[0])
    predictions, _ = soft(people, tmp_path / "net.npy")
    assert predictions.members == ["ann", "bob", "net"] and predictions.n_items == 5


# ---- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", "must end in one of .npy .npz"),
        ("a.npy", b"", "must be a NumPy array"),
        ("a.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8'", "must be a NumPy array"),
        ("a.npz", b"PK\x03\x04junk", "must be a NumPy archive"),
        ("a.csv", b"", "it is empty"),
        ("a.csv", b"item,worker,label\n", "at least one row"),
        ("a.csv", b"item,worker,label\n1,2,3,4\n", "3 values in each row; row 2 has 4"),
        ("a.csv", b"a,a\n1,2\n", "got 'a' twice"),
        ("a.csv", b"item,worker,label\n\xff\xfe,2,3\n", "in UTF-8"),
        ("a.csv", b"worker,label\n1,2\n", "needs a column of items"),
        ("a.csv", b"item,score\n1,0.93\n2,0.11\n", "labels must be names or whole numbers"),
    ],
)
def test_one_sentence_says_what_is_wrong(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(cs.InvalidPredictions, match=re.escape(message)):
        soft(tmp_path / name)


def test_files_that_do_not_fit_together(tmp_path):
    np.save(tmp_path / "a.npy", ARRAY[0])
    np.save(tmp_path / "b.npy", ARRAY[0][:4])
    with pytest.raises(cs.InvalidPredictions, match=r"the same items.*a\.npy has 5.*b\.npy has 4"):
        soft(tmp_path / "a.npy", tmp_path / "b.npy")


# ---- labels and posteriors --------------------------------------------------------------------------------


def test_contradicting_labels_are_refused(tmp_path):
    labels = read_labels(str(text(tmp_path / "y.csv", "item,label\na,x\na,x\na,y\n"))).labels
    axes = cs.Predictions.from_labels([[0, 1]], items=["a", "b"], classes=["x", "y"]).axes
    with pytest.raises(cs.InvalidPredictions, match="item 'a' has 'x' and 'y'"):
        known_labels(labels, axes)


def test_labels(tmp_path):
    np.save(tmp_path / "y.npy", np.array([0, 1, 2]))
    assert read_labels(str(tmp_path / "y.npy")).labels.tolist() == [0, 1, 2]
    path = save(tmp_path / "p.npz", probabilities=ARRAY, labels=np.array([0, 1, 2, 0, 1]), other=np.arange(3))
    assert read_labels(str(path)).labels.tolist() == [0, 1, 2, 0, 1]
    assert read_labels(str(text(tmp_path / "y.csv", "task,gold\nt2,dog\nt1,\n"))).labels == NamedLabels(
        ["t2", "t1"], ["dog", None]
    )
    assert read_labels(str(text(tmp_path / "z.csv", "truth\n1\n0\n"))).labels == ["1", "0"]
    both = text(tmp_path / "both.csv", "id,label,gold_label\na,cat,dog\nb,dog,dog\n")
    assert read_labels(str(both)).labels == NamedLabels(["a", "b"], ["dog", "dog"])
    items = np.array(["a", "b", "c"])
    assert read_labels(str(save(tmp_path / "n.npz", y=np.array([2, 0, 1]), items=items))).labels[:2] == (
        list(items),
        [2, 0, 1],
    )
    with pytest.raises(cs.InvalidPredictions, match="must hold one array of labels"):
        read_labels(str(save(tmp_path / "q.npz", a=np.arange(3), b=np.arange(3))))


def test_names_as_bytes(tmp_path):
    names = np.array([f"klass {place}".encode() for place in range(ARRAY.shape[2])])
    predictions, _ = soft(save(tmp_path / "n.npz", probabilities=ARRAY, classes=names))
    assert predictions.classes == [f"klass {place}" for place in range(ARRAY.shape[2])]


# ---- what stands beside the answers -----------------------------------------------------------------------


def rows(*columns):
    return "\n".join(",".join(map(str, row)) for row in zip(*columns, strict=True)) + "\n"


IDS, VOTES = [f"i{place}" for place in range(12)], ["x", "y"] * 6


def test_probabilities_come_before_the_label_beside_them(tmp_path):
    """It may be the best class, or the true one, which nobody said."""
    shares = np.linspace(0.05, 0.95, 12).round(3)
    wide = text(tmp_path / "net.csv", "id,cat,dog,label\n" + rows(IDS, shares, (1 - shares).round(3), [0, 1] * 6))
    predictions, found = soft(wide)
    assert predictions.classes == ["cat", "dog"] and "not read: ['label']" in found[0]
    header = "item,model,label,cat,dog\n"
    long = text(tmp_path / "long.csv", header + rows(IDS[:6] * 2, ["a"] * 6 + ["b"] * 6, VOTES, shares, 1 - shares))
    predictions, found = soft(long)
    assert predictions.members == ["a", "b"] and predictions.is_soft.all() and "not read: ['label']" in found[0]


def test_true_labels_are_no_member(tmp_path):
    table = text(tmp_path / "w.csv", "id,gold,ann,bob\n" + rows(IDS, VOTES, VOTES, VOTES[::-1]))
    predictions, found = soft(table)
    assert predictions.members == ["ann", "bob"] and "not read: ['gold']" in found[0]
    labelled = text(tmp_path / "l.csv", "id,label,ann,bob\n" + rows(IDS, VOTES, VOTES, VOTES[::-1]))
    with pytest.raises(cs.InvalidPredictions, match="say label='label', or member='ann,bob' for the others"):
        soft(labelled)
    assert soft(labelled, told=Told(member="ann,bob"))[0].members == ["ann", "bob"]
    assert soft(labelled, told=Told(label="label"))[0].members == ["l"]


def test_columns_named_like_the_labels_may_be_scores(tmp_path):
    scores = np.linspace(3, 9, 12)
    table = text(tmp_path / "net.csv", "id,prediction,x,y\n" + rows(IDS, VOTES, scores, 12 - scores))
    with pytest.raises(cs.InvalidPredictions, match=r"say classes=\['x', 'y'\] to read those, or label='prediction'"):
        soft(table)


def test_columns_that_share_no_label_are_refused(tmp_path):
    table = text(tmp_path / "w.csv", "what,who,said\n" + rows(list("abcd") * 3, list("ttttuuuuvvvv"), VOTES))
    with pytest.raises(cs.InvalidPredictions, match="columns of labels must have labels in common"):
        soft(table)


def test_names_can_be_given_to_files_without(tmp_path):
    np.save(tmp_path / "net.npy", ARRAY[0])
    table = text(tmp_path / "vit.csv", "filename,x,y,z\n" + rows(IDS[:5], *ARRAY[1].T.tolist()))
    with pytest.raises(cs.InvalidPredictions, match="all files must name their items, or none.*say items="):
        soft(table, tmp_path / "net.npy")
    with pytest.raises(cs.InvalidPredictions, match=r"say classes=\['x', 'y', 'z'\] to name those of"):
        soft(table, tmp_path / "net.npy", told=Told(items=tuple(IDS[:5])))
    named = Told(items=tuple(IDS[:5]), classes=("z", "y", "x"))
    predictions, _ = soft(table, tmp_path / "net.npy", told=named)
    assert (predictions.items, predictions.classes) == (IDS[:5], ["z", "y", "x"])
    np.testing.assert_allclose(predictions.to_array(), [ARRAY[1][:, ::-1], ARRAY[0]], atol=1e-12)
    for wrong, message in (
        (Told(items=("a",)), "items= must name each"),
        (Told(classes=("a",)), "classes= must"),
    ):
        with pytest.raises(cs.InvalidPredictions, match=message):
            soft(tmp_path / "net.npy", told=wrong)


def test_items_are_judged_over_all_files(tmp_path):
    gaps = ARRAY.copy()
    gaps[0, :2], gaps[1, 3] = np.nan, np.nan
    for name, array in zip("ab", gaps, strict=True):
        np.save(tmp_path / f"{name}.npy", array)
    np.testing.assert_array_equal(soft(tmp_path / "a.npy", tmp_path / "b.npy")[0].to_array(), gaps)
    people = text(tmp_path / "people.csv", "item,worker,label\n0,ann,1\n1,ann,\n3,ann,0\n")
    assert soft(people, tmp_path / "b.npy")[0].n_items == 5
    with pytest.raises(cs.InvalidPredictions, match=r"a\.npy: each item needs an answer.*item 0 has none"):
        soft(tmp_path / "a.npy")


def test_labels_say_how_they_were_understood(tmp_path):
    source = str(text(tmp_path / "y.csv", ",qid,label\n0,226,x\n1,412,\n"))
    labels, found, _ = read_labels(source)
    assert labels == NamedLabels(["226", "412"], ["x", None])
    assert found == f"{source}: CSV table, 1 label in 'label', items in 'qid'"
    assert read_labels(str(text(tmp_path / "z.csv", "truth\nNA\n\n"))).found.endswith(
        "0 labels in 'truth', in the order of the items"
    )


def test_labels_without_a_header_are_refused(tmp_path):
    with pytest.raises(cs.InvalidPredictions, match="must have a header; its first line, '0', is a label itself"):
        read_labels(str(text(tmp_path / "y.csv", "0\n0\n4\n")))


def test_probabilities_in_a_table_of_labels_are_refused(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"q{place},{rng.choice(['x', 'y'])},{rng.choice(['x', 'y'])},{rng.random():.4f}" for place in range(40)]
    table = text(tmp_path / "wide.csv", "\n".join(["id,ann,bob,prob-judge", *rows]))
    with pytest.raises(cs.InvalidPredictions, match="'prob-judge' holds numbers .* member='ann,bob'"):
        read_sources([str(table)])
    assert read_sources([str(table)], told=Told(member="ann,bob")).predictions.members == ["ann", "bob"]
    measured = text(tmp_path / "measured.csv", "\n".join(["id,ann,bob,mean confidence", *rows]))
    assert read_sources([str(measured)]).predictions.members == ["ann", "bob"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_a_pipe_is_no_list_of_names(tmp_path):
    """It never ended."""
    os.mkfifo(tmp_path / "names.txt")
    with pytest.raises(cs.InvalidPredictions, match="is a pipe or a device; expected a file"):
        read_names(str(tmp_path / "names.txt"))


def test_a_list_of_names(tmp_path):
    (tmp_path / "names.txt").write_bytes("\ufeffa\r\nb\u2028c\n\nd".encode())
    assert read_names(str(tmp_path / "names.txt")) == ["a", "b\u2028c", "d"]


def test_a_file_that_lacks_items_of_the_others_says_so(tmp_path):
    rows = [f"q{i},{p},{1 - p}" for i, p in enumerate((0.25, 0.5, 0.75, 1.0))]
    for name, kept in (("vit", rows), ("cnn", rows[:2] + rows[3:])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["item,cat,dog", *kept]) + "\n")
    read = read_sources([str(tmp_path / f"{name}.csv") for name in ("vit", "cnn")])
    assert read.predictions.n_items == 4
    assert "it lacks" not in read.found[0]
    assert "cnn.csv" in read.found[1] and read.found[1].endswith("lacks 1 of the 4 items of all files, such as 'q2'")
    assert "it lacks" not in read_sources([str(tmp_path / "cnn.csv")]).found[0]
