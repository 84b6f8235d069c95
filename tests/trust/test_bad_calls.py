"""Wrong arguments of every public function: each ends in one sentence, and leaves what was given as it was."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import consilience as cs
from consilience import metrics, plots
from consilience.metrics import ood
from consilience.report import write_report

from trust.sentences import assert_one_sentence

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(0)
BLOCK = RNG.dirichlet(np.ones(3), size=(4, 10))  # members, items, classes
TRUTH = RNG.integers(3, size=10)
ROWS = BLOCK[0]
PAIR = np.array([[[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.3, 0.7], [1.0, 0.0]]])
TWO_CLASSES = BLOCK[:, :, :2] / BLOCK[:, :, :2].sum(axis=2, keepdims=True)
P = cs.Predictions
FITTED = cs.DawidSkene(max_iter=3, tol=None).fit(BLOCK)
NAMED = cs.DawidSkene(max_iter=3, tol=None).fit(P(BLOCK, members=list("abcd"), classes=list("xyz")))
LONG = {"task": [0, 0, 1, 1], "worker": ["a", "b", "a", "b"], "label": ["x", "y", "y", "y"]}
TABLE = cs.compare(BLOCK, aggregators=[cs.Average()])
DIAGNOSIS = cs.diagnose(BLOCK, aggregator=FITTED)
HANDED_OVER = {"BLOCK": BLOCK, "TRUTH": TRUTH, "PAIR": PAIR, "TWO_CLASSES": TWO_CLASSES}


def frame(**changes):
    return pd.DataFrame({**LONG, **changes})


def with_value(value):
    array = PAIR.copy()
    array[1, 2, 0] = value
    return array


def torch_tensor(make):
    torch = pytest.importorskip("torch")
    return make(torch)


def tree(n=1):
    return [(f"t{place}", DecisionTreeClassifier()) for place in range(n)]


def models(net, n_batches=2):
    torch = pytest.importorskip("torch")
    return P.from_models({"net": net}, [torch.zeros(2, 3)] * n_batches, verbose=False)


# what is called; the argument its refusal names, what was expected, what came
PREDICTIONS = {
    "nothing": (lambda: P(None), "probabilities", "(members, items, classes)", "got a NoneType"),
    "an empty list": (lambda: P([]), "probabilities", "(members, items, classes)", "got 1 dimensions"),
    "an empty mapping": (lambda: P({}), "probabilities", "(members, items, classes)", "got 1 dimensions"),
    "a number": (lambda: P(0.5), "probabilities", "(members, items, classes)", "got 0 dimensions"),
    "a set": (lambda: P({0.5}), "probabilities", "must be an array", "got a set"),
    "a generator": (lambda: P(row for row in PAIR), "probabilities", "must be an array", "got a generator"),
    "two axes": (lambda: P(ROWS), "probabilities", "(members, items, classes)", "got 2 dimensions"),
    "four axes": (lambda: P(PAIR[None]), "probabilities", "(members, items, classes)", "got 4 dimensions"),
    "classes first": (lambda: P(np.moveaxis(PAIR, 2, 0)), "probabilities", "sum to 1", "The first axis does"),
    "classes before items": (lambda: P(PAIR.swapaxes(1, 2)), "probabilities", "sum to 1", "The second axis does"),
    "a square transposed": (lambda: P(BLOCK[:, :3].swapaxes(1, 2)), "probabilities", "sum to 1", "second axis does"),
    "no member": (lambda: P(np.zeros((0, 2, 3))), "predictions", "at least 1 member", "got 0"),
    "no item": (lambda: P(np.zeros((2, 0, 3))), "predictions", "at least 1 item", "got 0"),
    "no class": (lambda: P(np.zeros((2, 3, 0))), "predictions", "at least 2 classes", "got 0"),
    "one class": (lambda: P(np.ones((2, 3, 1))), "predictions", "at least 2 classes", "got 1"),
    "a sum off": (lambda: P(with_value(0.9)), "probabilities", "sum to 1", "item 2 of member 1 sums to 0.9"),
    "negative": (lambda: P(with_value(-1.0)), "probabilities", "from 0 to 1", "item 2 of member 1 has -1"),
    "logits": (lambda: P(np.log(PAIR + 0.1)), "probabilities", "from 0 to 1", "has -1.609"),
    "positive logits": (lambda: P(5 + PAIR), "probabilities", "from 0 to 1", "has 5.9"),
    "infinite": (lambda: P(with_value(INF)), "probabilities", "from 0 to 1", "has inf"),
    "infinite below": (lambda: P(with_value(-INF)), "probabilities", "from 0 to 1", "has -inf"),
    "both infinities": (lambda: P([[[INF, -INF]]]), "probabilities", "from 0 to 1", "has -inf"),
    "NaN in part of a row": (lambda: P(with_value(NAN)), "missing prediction", "NaN for every class", "NaN for 1 of 2"),
    "nobody answers": (lambda: P([[[0.5, 0.5], [NAN, NAN]]]), "item", "at least one member", "item 1 has none"),
    "huge": (lambda: P([[[1e308, 1e308]]]), "probabilities", "from 0 to 1", "has 1e+308"),
    "half precision overflown": (
        lambda: P(np.array([[[70_000.0, 1.0]]]).astype(np.float32).clip(max=65504).astype(np.float16) * np.float16(1)),
        "probabilities",
        "from 0 to 1",
        "has 65504",
    ),
    "half precision infinite": (lambda: P(np.float16([[[INF, 0]]])), "probabilities", "from 0 to 1", "has inf"),
    "counts": (lambda: P(np.array([[[2, 1]]])), "probabilities", "from 0 to 1", "normalize=True"),
    "bytes of colours": (lambda: P(np.full((1, 1, 2), 255, np.uint8)), "probabilities", "from 0 to 1", "has 255"),
    "two trues": (lambda: P(np.array([[[True, True]]])), "probabilities", "sum to 1", "sums to 2"),
    "complex": (lambda: P(PAIR + 0j), "probabilities", "real numbers", "got complex128"),
    "text": (lambda: P([[["a", "b"]]]), "probabilities", "real numbers", "got <U1"),
    "numbers as text": (lambda: P(PAIR.astype(str)), "probabilities", "real numbers", "got <U32"),
    "objects": (lambda: P(PAIR.astype(object)), "probabilities", "real numbers", "got object"),
    "None inside": (lambda: P([[[None, 1.0]]]), "probabilities", "real numbers", "got object values"),
    "dates": (lambda: P(PAIR.astype("datetime64[s]")), "probabilities", "real numbers", "got datetime64"),
    "records": (lambda: P(np.zeros((1, 1, 2), [("a", "f8")])), "probabilities", "real numbers", "got [('a'"),
    "bytes": (lambda: P(b"abc"), "probabilities", "real numbers", "got |S3"),
    "ragged": (lambda: P([[[0.5, 0.5]], [[1.0]]]), "probabilities", "(members, items, classes)", "ragged lists"),
    "a data frame": (lambda: P(pd.DataFrame(ROWS)), "probabilities", "array", "got a data frame"),
    "sparse": (lambda: P([sparse.csr_array(PAIR[0])]), "probabilities", "dense array", "sparse csr_array"),
    "one sparse": (lambda: P(sparse.coo_matrix(ROWS)), "probabilities", "dense array", "sparse coo_matrix"),
    "a sparse tensor": (
        lambda: P(torch_tensor(lambda torch: torch.tensor(PAIR).to_sparse())),
        "probabilities",
        "dense array",
        "sparse Tensor",
    ),
    "a tensor without values": (
        lambda: P(torch_tensor(lambda torch: torch.zeros(2, 3, 2, device="meta"))),
        "probabilities",
        "array with values",
        "'meta'",
    ),
    "a complex tensor": (
        lambda: P(torch_tensor(lambda torch: torch.tensor([[[1j, 0]]]))),
        "probabilities",
        "real numbers",
        "got torch.complex64",
    ),
    "part of a row masked": (
        lambda: P(np.ma.array(PAIR, mask=PAIR == 0.9)),
        "missing prediction",
        "NaN for every class",
        "NaN for 1 of 2",
    ),
    "masked text": (lambda: P(np.ma.array([[["a", "b"]]])), "probabilities", "real numbers", "got <U1"),
    "members of unequal shape": (lambda: P([PAIR[0], PAIR[1][:2]]), "member", "shape of the first, (3, 2)", "(2, 2)"),
    "a flat member": (lambda: P([PAIR[0][0]]), "member", "(items, classes)", "member 0 has (2,)"),
    "a member that is nothing": (lambda: P([PAIR[0], None]), "probabilities", "an array", "got a NoneType"),
    "too few names": (lambda: P(PAIR, members=["a"]), "members", "each of the 2", "got 1 names"),
    "names twice": (lambda: P(PAIR, items=["a", "b", "a"]), "items", "distinct names", "got 'a' more than once"),
    "names equal as numbers": (
        lambda: P(PAIR, classes=[1, 1.0]),
        "classes",
        "distinct names",
        "got 1 and 1.0, which are one",
    ),
    "names that are lists": (lambda: P(PAIR, classes=[["a"], ["b"]]), "classes", "hashable", "got [['a'], ['b']]"),
    "names in a string": (lambda: P(PAIR, classes="ab"), "classes", "a list", "got 'ab'"),
    "a number of names": (lambda: P(PAIR, members=2), "members", "list of names", "got 2"),
    "counts that are negative": (lambda: P([[[3.0, -4.0]]], normalize=True), "probabilities", "from 0 to 1", "has -4"),
    "counts of nothing": (lambda: P([[[0.0, 0.0]]], normalize=True), "probabilities", "sum to 1", "sums to 0"),
    "infinite counts": (lambda: P([[[INF, 1.0]]], normalize=True), "probabilities", "from 0 to 1", "has inf"),
    "logits: probabilities": (lambda: P.from_logits(PAIR), "logits", "not be probabilities already", "sums to 1"),
    "logits: infinite": (lambda: P.from_logits([[[INF, 0.0]]]), "logits", "finite largest value", "has inf"),
    "logits: all -inf": (lambda: P.from_logits([[[-INF, -INF]]]), "logits", "finite largest value", "has -inf"),
    "logits: half overflown": (
        lambda: P.from_logits(np.float16([[[INF, 1]]])),
        "logits",
        "finite largest value",
        "has inf",
    ),
    "logits: NaN in part": (lambda: P.from_logits([[[NAN, 0.0]]]), "prediction", "NaN for every class", "NaN for 1"),
    "logits: no class": (lambda: P.from_logits(np.zeros((2, 3, 0))), "predictions", "at least 2 classes", "got 0"),
    "logits: complex": (lambda: P.from_logits(PAIR * 3j), "probabilities", "real numbers", "got complex128"),
    "labels: names": (lambda: P.from_labels([["cat"]]), "labels", "integers", "got <U3"),
    "labels: floats": (lambda: P.from_labels([[0.0, 1.0]]), "labels", "integers", "got float64"),
    "labels: probabilities": (lambda: P.from_labels(PAIR), "labels", "integers", "got float64"),
    "labels: truth values": (lambda: P.from_labels([[True, False]]), "labels", "integers", "got bool"),
    "labels: nothing": (lambda: P.from_labels(None), "labels", "array", "got a NoneType"),
    "labels: ragged": (lambda: P.from_labels([[0, 1], [0]]), "labels", "array", "ragged lists"),
    "labels: flat": (lambda: P.from_labels([0, 1]), "labels", "(members, items)", "got 1 dimensions"),
    "labels: sparse": (lambda: P.from_labels(sparse.csr_matrix([[0, 1]])), "labels", "dense", "sparse csr_matrix"),
    "labels: a frame": (lambda: P.from_labels(pd.DataFrame({"a": [0]})), "labels", "array", "got a data frame"),
    "labels: out of range": (lambda: P.from_labels([[0, 5]], 3), "labels", "from 0 to 2", "item 1 of member 0 has 5"),
    "labels: below": (lambda: P.from_labels([[0, -2]], 3), "labels", "from 0 to 2", "has -2"),
    "labels: beyond 64 bits": (
        lambda: P.from_labels(np.array([[2**63]], np.uint64)),
        "labels",
        "integers up to",
        "got 9223372036854775808",
    ),
    "labels: absurd": (lambda: P.from_labels([[10**9, 0]]), "labels", "positions of classes", "got 1000000000"),
    "labels: one class": (lambda: P.from_labels([[0, 0]]), "predictions", "at least 2 classes", "got 1"),
    "labels: nobody answers": (lambda: P.from_labels([[0, -1, 1]]), "item", "at least one member", "item 1 has none"),
    "n_classes: text": (lambda: P.from_labels([[0, 1]], "2"), "n_classes", "whole number of at least 2", "got '2'"),
    "n_classes: a fraction": (lambda: P.from_labels([[0, 1]], 2.5), "n_classes", "whole number", "got 2.5"),
    "n_classes: negative": (lambda: P.from_labels([[0, 1]], -1), "n_classes", "at least 2", "got -1"),
    "n_classes: zero": (lambda: P.from_answers([0], [0], [1], n_classes=0), "n_classes", "at least 2", "got 0"),
    "n_classes: not theirs": (
        lambda: P.from_answers([0], [0], probabilities=[[0.5, 0.5]], n_classes=3),
        "n_classes",
        "2 of the probabilities",
        "got 3",
    ),
    "answers: fractions": (lambda: P.from_answers([0.5], [0], [0]), "item", "integers", "got float64"),
    "answers: names": (lambda: P.from_answers(["a"], ["b"], ["c"]), "item", "integers", "got <U1"),
    "answers: unequal": (lambda: P.from_answers([0], [0, 1], [0]), "item and member", "same length", "(1,) and (2,)"),
    "answers: both": (
        lambda: P.from_answers([0], [0], [0], probabilities=[[0.5, 0.5]]),
        "answer",
        "either a label or probabilities",
        "got both",
    ),
    "answers: a table of labels": (
        lambda: P.from_answers([0, 1], [0, 0], [[0, 1], [1, 0]]),
        "label",
        "flat list",
        "got (2, 2)",
    ),
    "answers: too few labels": (lambda: P.from_answers([0, 1], [0, 0], [0]), "label", "each of the 2", "got (1,)"),
    "answers: a negative item": (lambda: P.from_answers([-1], [0], [1]), "item", "positions from 0", "got -1"),
    "answers: an absurd item": (lambda: P.from_answers([2**60], [0], [1]), "item", "positions 0, 1, 2", "got 115292"),
    "answers: an absurd member": (lambda: P.from_answers([0], [10**12], [1]), "member", "positions 0, 1", "got 1000"),
    "answers: beyond the names": (
        lambda: P.from_answers([0, 2], [0, 0], [0, 1], items=["a", "b"]),
        "item",
        "from 0 to 1",
        "got 2",
    ),
    "answers: flat probabilities": (
        lambda: P.from_answers([0], [0], probabilities=[0.5]),
        "probabilities",
        "(answers, classes)",
        "got (1,)",
    ),
    "answers: none": (lambda: P.from_answers([], [], []), "predictions", "at least 1 member", "got 0"),
    "frame: nothing": (lambda: P.from_frame(None), "frame", "a data frame", "got NoneType"),
    "frame: a mapping": (lambda: P.from_frame(LONG), "frame", "a data frame", "got dict"),
    "frame: empty": (lambda: P.from_frame(frame().iloc[:0]), "frame", "rows of answers", "in 3 columns"),
    "frame: a number as column": (lambda: P.from_frame(frame(), member=3), "member", "name of a column", "got 3"),
    "frame: a list as column": (
        lambda: P.from_frame(frame(), item=["task"]),
        "item",
        "name of a column",
        "got ['task']",
    ),
    "frame: counts themselves": (lambda: P.from_frame(frame(), counts=[1, 2]), "counts", "name a column", "got [1, 2]"),
    "frame: no item column": (lambda: P.from_frame(frame(), item="q"), "column", "expected the column 'q'", "'task'"),
    "frame: one column for two": (
        lambda: P.from_frame(frame(), item="task", member="task"),
        "item and member",
        "different columns",
        "got 'task'",
    ),
    "frame: a column twice": (
        lambda: P.from_frame(pd.concat([frame(), frame()[["label"]]], axis=1)),
        "frame",
        "different names",
        "got 'label' twice",
    ),
    "frame: an item missing": (
        lambda: P.from_frame(frame(task=[0, None, 1, 1])),
        "column 'task'",
        "no missing values",
        "row 1 is missing",
    ),
    "frame: items that are lists": (
        lambda: P.from_frame(frame(task=[[0], [0], [1], [1]])),
        "column 'task'",
        "text or numbers",
        "row 0 holds [0]",
    ),
    "frame: labels that are lists": (
        lambda: P.from_frame(frame(label=[["x", "y"], ["y"], ["y"], ["y"]])),
        "column 'label'",
        "text or numbers",
        "row 0 holds ['x', 'y']",
    ),
    "frame: a label beyond the classes": (
        lambda: P.from_frame(frame(), classes=["x", "z"]),
        "column 'label'",
        "classes ['x', 'z']",
        "got 'y'",
    ),
    "frame: classes twice": (lambda: P.from_frame(frame(), classes=["x", "y", "y"]), "classes", "distinct", "got 'y'"),
    "frame: all the same label": (lambda: P.from_frame(frame(label="x")), "predictions", "at least 2 classes", "got 1"),
    "frame: text for probabilities": (
        lambda: P.from_frame(frame(x=list("abcd"), y=0.5).drop(columns="label")),
        "label=",
        "numbers for each class",
        "it has ['task', 'worker', 'x', 'y']",
    ),
    "frame: one probability": (
        lambda: P.from_frame(frame(x=0.5).drop(columns="label")),
        "positive='NAME'",
        "numbers for each class",
        "it has ['task', 'worker', 'x']",
    ),
    "frame: sums off": (
        lambda: P.from_frame(frame(x=0.5, y=0.4).drop(columns="label")),
        "probabilities",
        "sum to 1",
        "item 0 of member 'a' sums to 0.9",
    ),
    "models: nothing": (lambda: P.from_models(None, []), "models", "a list or a mapping", "got None"),
    "models: none": (lambda: P.from_models([], []), "models", "at least one model", "got none"),
    "models: no loader": (lambda: P.from_models([abs], None), "loader", "batches", "got None"),
    "models: an empty loader": (lambda: models(abs, 0), "loader", "at least one batch", "got none"),
    "models: an empty batch": (lambda: P.from_models([abs], [()]), "loader", "at least one part", "got an empty one"),
    "models: an activation": (
        lambda: P.from_models([abs], [[1]], activation="relu"),
        "activation",
        "'softmax'",
        "'relu'",
    ),
    "models: NaN": (
        lambda: models(lambda x: x * NAN),
        "outputs",
        "must be numbers",
        "item 0 of 'net' is",
    ),
    "models: three axes": (
        lambda: models(lambda x: x[None]),
        "each model",
        "(batch, classes)",
        "(1, 2, 3)",
    ),
    "models: text": (lambda: models(lambda _: "yes"), "each model", "a tensor", "gives str"),
    "models: probabilities": (
        lambda: models(lambda x: x.softmax(1)),
        "models",
        "not give probabilities",
        "sums to 1",
    ),
    "concatenate: none": (lambda: P.concatenate([]), "concatenate", "at least one part", "got none"),
    "concatenate: nothing": (lambda: P.concatenate(None), "parts", "list of predictions", "got NoneType"),
    "concatenate: no list": (lambda: P.concatenate(P(PAIR)), "parts", "list of predictions", "got Predictions"),
    "concatenate: a name twice": (
        lambda: P.concatenate([P(PAIR, members=["a", "b"]), P(PAIR, members=["a", "c"])]),
        "members",
        "distinct names",
        "got 'a'",
    ),
    "concatenate: other classes": (
        lambda: P.concatenate([PAIR, BLOCK[:, :3]]),
        "classes",
        "the same in all",
        "[0, 1, 2]",
    ),
    "take: beyond": (lambda: P(PAIR).take([7]), "items", "positions from 0 to 2", "got [7]"),
    "take: fractions": (lambda: P(PAIR).take([0.5]), "items", "positions", "got [0.5]"),
    "take: a short mask": (lambda: P(PAIR).take([True]), "items", "a mask", "got [True]"),
    "take: nothing": (lambda: P(PAIR).take([]), "items", "at least 1 item", "got []"),
    "take: a table": (lambda: P(PAIR).take([[0, 1]]), "items", "a slice, positions", "got [[0, 1]]"),
    "chunks: of none": (lambda: list(P(PAIR).chunks(0)), "size", "at least 1", "got 0"),
    "chunks: of a fraction": (lambda: list(P(PAIR).chunks(0.5)), "size", "an integer", "got 0.5"),
}
AGGREGATORS = {
    "fit: nothing": (lambda: cs.Consensus().fit(None), "probabilities", "(members, items, classes)", "got a NoneType"),
    "labels: too few": (lambda: cs.Consensus().fit(BLOCK, [0]), "labels", "each of the 10 items", "got 1"),
    "labels: out of range": (lambda: cs.Average().fit(BLOCK, [3] * 10), "labels", "[0, 1, 2]", "item 0 has 3"),
    "labels: below": (lambda: cs.Average().fit(BLOCK, [-2] * 10), "labels", "-1 where unknown", "item 0 has -2"),
    "labels: fractions": (lambda: cs.Average().fit(BLOCK, [0.5] * 10), "labels", "[0, 1, 2]", "item 0 has 0.5"),
    "labels: other names": (lambda: cs.Average().fit(BLOCK, ["cat"] * 10), "labels", "[0, 1, 2]", "has 'cat'"),
    "labels: one-hot": (lambda: cs.Average().fit(BLOCK, np.eye(3)[TRUTH]), "labels", "a flat list", "shape (10, 3)"),
    "labels: a number": (lambda: cs.Average().fit(BLOCK, 1), "labels", "each of the 10 items", "got a int"),
    "labels: an array of no axis": (lambda: cs.Average().fit(BLOCK, np.array(1)), "labels", "each of", "a ndarray"),
    "labels: a string": (lambda: cs.Average().fit(BLOCK, "0120120120"), "labels", "each of the 10", "got a str"),
    "labels: bytes": (lambda: cs.Average().fit(BLOCK, b"0120120120"), "labels", "each of the 10", "got a bytes"),
    "labels: a set": (lambda: cs.Average().fit(BLOCK[:, :3], {0, 1, 2}), "labels", "each of the 3", "got a set"),
    "labels: a frame": (lambda: cs.Average().fit(BLOCK, pd.DataFrame(ROWS)), "labels", "certain", "probabilities of"),
    "labels: sparse": (lambda: cs.Average().fit(BLOCK, sparse.csr_array(TRUTH)), "labels", "dense", "sparse csr"),
    "labels: of no item": (lambda: cs.Average().fit(BLOCK, {77: 1}), "item", "one of the 10 items", "got 77"),
    "not fitted": (lambda: cs.Consensus().predict_proba(BLOCK), "Consensus", "call fit first", "not fitted"),
    "not fitted, saved": (lambda: cs.Consensus().save("x"), "Consensus", "call fit first", "not fitted"),
    "not fitted, exported": (lambda: cs.Consensus().to_onnx("x"), "Consensus", "call fit first", "not fitted"),
    "predict: a class too few": (lambda: FITTED.predict(TWO_CLASSES), "predictions", "3 classes of the fit", "got 2"),
    "predict: unscaled and a class too few": (
        lambda: FITTED.predict(BLOCK[:, :, :2]),
        "predictions",
        "3 classes of the fit",
        "got 2",
    ),
    "predict: a member too few": (lambda: FITTED.predict(BLOCK[:3]), "predictions", "4 members of the fit", "got 3"),
    "predict: a list of too few": (lambda: FITTED.predict(list(BLOCK[:3])), "predictions", "4 members", "got 3"),
    "predict: an unknown member": (
        lambda: NAMED.predict(P(BLOCK, members=list("abcq"))),
        "member",
        "one of ['a', 'b', 'c', 'd']",
        "got 'q'",
    ),
    "predict: an unknown class": (
        lambda: NAMED.predict(P(BLOCK, classes=list("xyw"))),
        "class",
        "one of ['x', 'y', 'z']",
        "got 'w'",
    ),
    "predict: two axes": (lambda: FITTED.predict(ROWS), "probabilities", "(members, items, classes)", "2 dimensions"),
    "stream: a class too few": (
        lambda: cs.DawidSkene(tol=None, max_iter=2).partial_fit(BLOCK).partial_fit(BLOCK[:, :, :2]),
        "predictions",
        "3 classes of the fit",
        "got 2",
    ),
    "stream: twice the classes": (
        lambda: cs.Consensus().partial_fit(BLOCK).partial_fit(np.concatenate([BLOCK, BLOCK], axis=2)),
        "predictions",
        "3 classes of the fit",
        "got 6",
    ),
    "stream: a member too many": (
        lambda: cs.Average().partial_fit(BLOCK).partial_fit(np.concatenate([BLOCK, BLOCK[:1]])),
        "predictions",
        "4 members of the fit",
        "got 5",
    ),
    "a kind of mean": (lambda: cs.Average(kind="harmonic").fit(BLOCK), "kind", "'arithmetic'", "got 'harmonic'"),
    "weights of others": (lambda: cs.Average(weights=[1, 2]).fit(BLOCK), "weights", "each of the 4", "got [1, 2]"),
    "negative weights": (lambda: cs.Average(weights=[1, 1, 1, -1]).fit(BLOCK), "weights", "positive", "-1]"),
    "weights that are words": (lambda: cs.Average(weights="abcd").fit(BLOCK), "weights", "positive", "got 'abcd'"),
    "a geometric mean of labels": (
        lambda: cs.Average(kind="geometric").fit(P.from_labels([[0, 1]])),
        "geometric mean",
        "needs probabilities",
        "give labels",
    ),
    "no iterations": (lambda: cs.DawidSkene(max_iter=0).fit(BLOCK), "max_iter", "at least 1", "got 0"),
    "half an iteration": (lambda: cs.DawidSkene(max_iter=0.5).fit(BLOCK), "max_iter", "an integer", "got 0.5"),
    "iterations as text": (lambda: cs.DawidSkene(max_iter="9").fit(BLOCK), "max_iter", "an integer", "got '9'"),
    "a tolerance below 0": (lambda: cs.DawidSkene(tol=-1).fit(BLOCK), "tol", "at least 0", "got -1"),
    "a tolerance of NaN": (lambda: cs.DawidSkene(tol=NAN).fit(BLOCK), "tol", "a number", "got nan"),
    "a noise above a half": (lambda: cs.Consensus(label_noise=2).fit(BLOCK), "label_noise", "from 0 to 0.5", "got 2"),
    "forgetting above 1": (lambda: cs.DawidSkene(forgetting=2).fit(BLOCK), "forgetting", "from 0 to 1", "got 2"),
    "chunks of 0": (lambda: cs.DawidSkene(chunk_size=0).fit(BLOCK), "chunk_size", "at least 1", "got 0"),
    "negative smoothing": (lambda: cs.DawidSkene(smoothing=-1).fit(BLOCK), "smoothing", "at least 0", "got -1"),
    "a prior of others": (lambda: cs.DawidSkene(class_prior=[1.0]).fit(BLOCK), "class_prior", "3 classes", "got [1.0]"),
    "a prior below 0": (
        lambda: cs.DawidSkene(class_prior=[1.5, -0.25, -0.25]).fit(BLOCK),
        "class_prior",
        "positive and sum to 1",
        "-0.25",
    ),
    "a prior of words": (
        lambda: cs.DawidSkene(class_prior=list("abc")).fit(BLOCK),
        "class_prior",
        "probabilities",
        "'a'",
    ),
    "a class called None": (
        lambda: cs.Predictions(BLOCK, classes=["a", None, "c"]),
        "classes",
        "must not be called None or NaN",
        "unknown labels",
    ),
    "a class called NaN": (
        lambda: cs.Predictions(BLOCK, classes=[0.0, 1.0, np.nan]),
        "classes",
        "must not be called None or NaN",
        "unknown labels",
    ),
    "a prior of others, BCC": (
        lambda: cs.BayesianClassifierCombination(class_prior=[1.0]).fit(BLOCK),
        "class_prior",
        "3 classes",
        "got [1.0]",
    ),
    "a ragged prior": (lambda: cs.DawidSkene(class_prior=[[1], [1, 2]]).fit(BLOCK), "class_prior", "'uniform'", "[[1]"),
    "a prior by a name": (
        lambda: cs.DawidSkene(class_prior="flat").fit(BLOCK),
        "class_prior",
        "'uniform'",
        "got 'flat'",
    ),
    "pseudo-counts of 0": (
        lambda: cs.BayesianClassifierCombination(diagonal_prior=0).fit(BLOCK),
        "diagonal_prior",
        "at least 1e-12",
        "got 0",
    ),
    "averaging above 1": (lambda: cs.SoftDawidSkene(averaging=2).fit(BLOCK), "averaging", "from 0 to 1", "got 2"),
    "a schedule from 5 on": (
        lambda: cs.SoftDawidSkene(averaging={5: 0.1}).fit(BLOCK),
        "averaging",
        "from iteration 0 on",
        "got {5: 0.1}",
    ),
    "a solver": (lambda: cs.SoftDawidSkene(solver="sgd").fit(BLOCK), "solver", "'adamw' or 'exact'", "got 'sgd'"),
    "a floor of 0": (lambda: cs.SoftDawidSkene(floor=0).fit(BLOCK), "floor", "from 1e-30 to 0.1", "got 0"),
    "a paper": (lambda: cs.SoftDawidSkene.paper("svhn"), "name", "['mnist'", "got 'svhn'"),
    "a frame's library": (lambda: FITTED.posterior_frame("spark"), "library", "'pandas'", "got 'spark'"),
    "an orientation": (lambda: FITTED.confusion_frame(orientation="up"), "orientation", "'true_by_", "got 'up'"),
    "a path that is none": (lambda: FITTED.save(None), "path", "text or a path", "got None"),
    "to load nothing": (lambda: cs.load(None), "path", "text or a path", "got None"),
    "to load a number": (lambda: cs.load(3.5), "path", "text or a path", "got 3.5"),
    "a module's input": (
        lambda: FITTED.to_torch()(torch_tensor(lambda torch: torch.zeros(2, 2, 3))),
        "predictions",
        "(4 members, batch, 3 classes)",
        "got (2, 2, 3)",
    ),
    "check: a word": (lambda: cs.checks.check_aggregator("x"), "aggregator", "such as Consensus()", "got str"),
    "ensemble: none": (lambda: cs.EnsembleClassifier([]).fit(ROWS, TRUTH), "estimators", "pairs", "got []"),
    "ensemble: words": (lambda: cs.EnsembleClassifier(["a"]).fit(ROWS, TRUTH), "estimators", "pairs", "without a name"),
    "ensemble: no y": (lambda: cs.EnsembleClassifier(tree()).fit(ROWS), "y", "requires y", "y is None"),
    "ensemble: one class": (
        lambda: cs.EnsembleClassifier(tree()).fit(ROWS, np.zeros(10)),
        "y",
        "more than one class",
        "got [0.0]",
    ),
    "ensemble: an aggregator": (
        lambda: cs.EnsembleClassifier(tree(), "x").fit(ROWS, TRUTH),
        "aggregator",
        "such as Consensus()",
        "got 'x'",
    ),
}
SCORES = {
    "labels: too few": (lambda: cs.evaluate(ROWS, [0, 1]), "labels", "each of the 10 items", "got 2"),
    "labels: all unknown": (lambda: cs.evaluate(ROWS, [-1] * 10), "labels", "known for at least one", "all are -1"),
    "labels: out of range": (lambda: cs.evaluate(ROWS, [5] * 10), "labels", "[0, 1, 2]", "item 0 has 5"),
    "labels: fractions": (lambda: cs.evaluate(ROWS, TRUTH + 0.5), "labels", "[0, 1, 2]", ".5"),
    "labels: names": (lambda: cs.evaluate(ROWS, ["a"] * 10), "labels", "[0, 1, 2]", "has 'a'"),
    "labels: nothing": (lambda: cs.evaluate(ROWS, None), "labels", "known for at least one", "got None"),
    "labels: a number": (lambda: cs.evaluate(ROWS, 1), "labels", "each of the 10 items", "got a int"),
    "labels: ragged": (lambda: cs.evaluate(ROWS, [[0], [1, 2]]), "labels", "each of the 10 items", "got 2"),
    "labels: unknown to a metric": (lambda: metrics.nll(ROWS, [-1] * 10), "labels", "every item", "item 0 is not"),
    "posterior: three axes": (lambda: cs.evaluate(BLOCK, TRUTH), "posterior", "(items, classes)", "(4, 10, 3)"),
    "posterior: logits": (lambda: cs.evaluate(np.log(ROWS), TRUTH), "posterior", "sum to 1", "least value of -"),
    "posterior: transposed": (lambda: cs.evaluate(ROWS[:3].T, [0, 1, 2]), "posterior", "sum to 1", "sums to"),
    "posterior: NaN": (lambda: cs.evaluate(ROWS * NAN, TRUTH), "posterior", "sum to 1", "nan"),
    "posterior: infinite": (lambda: cs.evaluate(ROWS + INF, TRUTH), "posterior", "sum to 1", "sums to inf"),
    "posterior: huge": (lambda: cs.evaluate(ROWS + 1e308, TRUTH), "posterior", "sum to 1", "sums to inf"),
    "posterior: empty": (
        lambda: cs.evaluate(np.zeros((0, 3)), np.zeros(0, int)),
        "posterior",
        "(items, classes)",
        "(0, 3)",
    ),
    "posterior: nothing": (lambda: cs.evaluate(None, TRUTH), "posterior", "an array", "got a NoneType"),
    "posterior: predictions": (lambda: cs.evaluate(P(BLOCK), TRUTH), "posterior", "an array", "got a Predictions"),
    "posterior: ragged": (lambda: cs.evaluate([[0.5, 0.5], [1.0]], [0, 1]), "posterior", "an array", "ragged lists"),
    "posterior: sparse": (lambda: cs.evaluate(sparse.csr_array(ROWS), TRUTH), "posterior", "dense", "sparse csr_array"),
    "posterior: masked": (
        lambda: cs.evaluate(np.ma.array(ROWS, mask=ROWS > 0.5), TRUTH),
        "posterior",
        "sum to 1",
        "nan",
    ),
    "classes: too few": (
        lambda: cs.evaluate(ROWS, ["a"] * 10, classes=list("ab")),
        "classes",
        "each of the 3",
        "2 names",
    ),
    "classes: an unknown label": (
        lambda: cs.evaluate(ROWS, ["q"] * 10, classes=list("abc")),
        "labels",
        "['a', 'b', 'c']",
        "item 0 has 'q'",
    ),
    "level: above 1": (lambda: cs.evaluate(ROWS, TRUTH, level=95), "level", "from 0 to 1", "got 95"),
    "level: a word": (lambda: cs.evaluate(ROWS, TRUTH, level="x"), "level", "a number", "got 'x'"),
    "n_bins: none": (lambda: cs.evaluate(ROWS, TRUTH, n_bins=0), "n_bins", "at least 1", "got 0"),
    "n_bins: a fraction": (
        lambda: cs.metrics.reliability_curve(ROWS, TRUTH, n_bins=2.5),
        "n_bins",
        "an integer",
        "got 2.5",
    ),
    "n_bootstrap: below 0": (lambda: cs.evaluate(ROWS, TRUTH, n_bootstrap=-1), "n_bootstrap", "at least 0", "got -1"),
    "seed: a word": (lambda: cs.evaluate(ROWS, TRUTH, seed="x"), "seed", "an integer", "got 'x'"),
    "strategy": (
        lambda: metrics.calibration_error(ROWS, TRUTH, strategy="x"),
        "strategy",
        "'uniform' or 'quantile'",
        "got 'x'",
    ),
    "ood: a score": (lambda: ood.uncertainty(ROWS, score="x"), "score", "'max_probability'", "got 'x'"),
    "ood: three axes": (lambda: ood.auroc(BLOCK, BLOCK), "own", "(items, classes)", "(4, 10, 3)"),
    "ood: empty": (lambda: ood.aupr([0.1], []), "foreign", "finite scores", "shape (0,)"),
    "ood: NaN": (lambda: ood.auroc([NAN], [0.1]), "own", "finite scores", "float64 of shape (1,)"),
    "ood: a rate of 0": (lambda: ood.fpr_at_tpr([0.1], [0.2], tpr=0), "tpr", "above 0", "got 0"),
    "ood: ragged": (lambda: ood.auroc([[1], [1, 2]], [0.1]), "own", "an array", "ragged lists"),
    "compare: nothing": (lambda: cs.compare(None), "probabilities", "(members, items, classes)", "got a NoneType"),
    "compare: labels": (lambda: cs.compare(BLOCK, [1]), "labels", "each of the 10 items", "got 1"),
    "compare: no method": (lambda: cs.compare(BLOCK, aggregators=[]), "aggregators", "at least one", "got none"),
    "compare: words": (lambda: cs.compare(BLOCK, aggregators=["x"]), "aggregators", "such as Consensus()", "got str"),
    "compare: no list": (
        lambda: cs.compare(BLOCK, aggregators=cs.Average()),
        "aggregators",
        "a list or a mapping",
        "got Average",
    ),
    "diagnose: a word": (lambda: cs.diagnose(BLOCK, aggregator="x"), "aggregator", "such as Consensus()", "got str"),
    "diagnose: a class": (
        lambda: cs.diagnose(BLOCK, aggregator=cs.Average),
        "aggregator",
        "such as Consensus()",
        "class Average",
    ),
    "explain: exchanged": (
        lambda: cs.explain(BLOCK, 0, aggregator=BLOCK),
        "aggregator",
        "such as Consensus()",
        "got ndarray",
    ),
    "explain: an unknown item": (
        lambda: cs.explain(BLOCK, 99, aggregator=FITTED),
        "item",
        "one of the 10 items",
        "got 99",
    ),
    "explain: a list": (lambda: cs.explain(BLOCK, [0], aggregator=FITTED), "item", "one of the 10 items", "got [0]"),
    "explain: an unknown class": (
        lambda: cs.explain(BLOCK, 0, against=9, aggregator=FITTED),
        "against",
        "[0, 1, 2]",
        "got 9",
    ),
    "report: a title": (lambda: write_report("r.html", BLOCK, title=3), "title", "must be text", "got 3"),
    "report: no items": (lambda: write_report("r.html", BLOCK, most_items=0), "most_items", "at least 1", "got 0"),
    "report: a word": (
        lambda: write_report("r.html", BLOCK, aggregator="x"),
        "aggregator",
        "such as Consensus()",
        "got str",
    ),
    "report: labels": (lambda: write_report("r.html", BLOCK, labels=[0]), "labels", "each of the 10 items", "got 1"),
    "plot: a word": (lambda: plots.plot_confusion("x"), "confusion", "a fitted aggregator", "got a str"),
    "plot: an unknown member": (lambda: plots.plot_confusion(FITTED, ["q"]), "members", "['0', '1'", "got 'q'"),
    "plot: unequal tables": (
        lambda: plots.plot_confusion({"a": np.eye(2), "b": np.eye(3)}),
        "tables",
        "of the same classes",
        "'b' is float64 of shape (3, 3)",
    ),
    "plot: a row": (lambda: plots.plot_confusion({"a": np.ones(3)}), "tables", "(true, predicted)", "shape (3,)"),
    "plot: no mapping": (lambda: plots.plot_reliability(ROWS, TRUTH), "posteriors", "map names", "got a ndarray"),
    "plot: no diagnosis": (lambda: plots.plot_agreement(FITTED), "diagnosis", "what `diagnose` gives", "a DawidSkene"),
    "plot: a kind": (lambda: plots.plot_agreement(DIAGNOSIS, kind="x"), "kind", "'agreement'", "got 'x'"),
    "plot: no tables": (lambda: plots.plot_comparison({}), "tables", "map levels of shift", "an empty dict"),
    "plot: no table": (lambda: plots.plot_comparison({0: 3}), "tables", "what `compare` gives", "at 0 is a int"),
    "plot: no metric": (lambda: plots.plot_comparison({0: TABLE}, "nope"), "metric", "column of every", "'nope'"),
}


@pytest.fixture(autouse=True)
def _nothing_is_written(tmp_path, monkeypatch):
    """Neither to what was handed over nor to the disk."""
    monkeypatch.chdir(tmp_path)
    before = {name: array.copy() for name, array in HANDED_OVER.items()}
    yield
    for name, array in HANDED_OVER.items():
        np.testing.assert_array_equal(array, before[name], err_msg=f"{name} was changed")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("call", "argument", "expected", "got"),
    [
        pytest.param(*case, id=f"{kind}: {name}")
        for kind, table in (("predictions", PREDICTIONS), ("aggregators", AGGREGATORS), ("scores", SCORES))
        for name, case in table.items()
    ],
)
def test_one_sentence(call, argument, expected, got):
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert_one_sentence(str(caught.value), argument, expected, got)


@pytest.mark.parametrize(
    ("message", "part"),
    [("labels must be 3; got 4\nsecond line", "4"), ("labels must be 3", "got 4"), ("x" * 1000 + " labels 3 4", "4")],
)
def test_the_assertion_can_fail(message, part):
    with pytest.raises(AssertionError):
        assert_one_sentence(message, "labels", "3", part)
