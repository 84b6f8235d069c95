"""Odd inputs that are right: each gives what the plain one gives, and is left as it was."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import consilience as cs
from consilience.files import read_labels, read_sources

BLOCK = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 8))
HALVES = np.random.default_rng(1).multinomial(64, np.ones(3) / 3, size=(3, 8)) / 64  # exact in half precision
P = cs.Predictions
LABELS = np.random.default_rng(2).integers(3, size=(3, 8))


def read_only():
    array = BLOCK.copy()
    array.flags.writeable = False
    return array


def masked():
    mask = np.zeros(BLOCK.shape, dtype=bool)
    mask[1, 2] = True
    return np.ma.array(np.where(mask, 99.0, BLOCK), mask=mask)


def missing():
    array = BLOCK.copy()
    array[1, 2] = np.nan
    return array


def torch_tensor(make):
    return make(pytest.importorskip("torch"))


ARRAYS = {
    "read-only": (read_only, BLOCK),
    "Fortran order": (lambda: np.asfortranarray(BLOCK), BLOCK),
    "a view": (lambda: np.repeat(BLOCK, 2, axis=1)[:, ::2], BLOCK),
    "lists": (BLOCK.tolist, BLOCK),
    "a list of arrays": (lambda: list(BLOCK), BLOCK),
    "a list of arrays and lists": (lambda: [BLOCK[0], BLOCK[1].tolist(), BLOCK[2]], BLOCK),
    "a tuple": (lambda: tuple(BLOCK), BLOCK),
    "big-endian": (lambda: BLOCK.astype(">f8"), BLOCK),
    "long doubles": (lambda: BLOCK.astype(np.longdouble), BLOCK),
    "single and double": (lambda: [HALVES[0].astype(np.float32), HALVES[1], HALVES[2]], HALVES),
    "half precision": (lambda: HALVES.astype(np.float16), HALVES),
    "integers": (lambda: np.eye(3, dtype=int)[LABELS], np.eye(3)[LABELS]),
    "truth values": (lambda: np.eye(3, dtype=bool)[LABELS], np.eye(3)[LABELS]),
    "masked rows": (masked, missing()),
    "a tensor": (lambda: torch_tensor(lambda torch: torch.tensor(BLOCK)), BLOCK),
    "a tensor with gradients": (lambda: torch_tensor(lambda torch: torch.tensor(BLOCK, requires_grad=True)), BLOCK),
    "a tensor and an array": (lambda: [BLOCK[0], torch_tensor(lambda torch: torch.tensor(BLOCK[1])), BLOCK[2]], BLOCK),
    "subnormals": (lambda: np.array([[[1.0, 5e-324, 0.0]]]), np.array([[[1.0, 0.0, 0.0]]])),
    "a sum within a thousandth": (lambda: [[[0.5, 0.4995, 0.0]]], np.array([[[0.5, 0.4995, 0.0]]])),
}
COUNTS = {
    "huge": np.full((1, 2, 3), 1e308),
    "subnormal": np.full((1, 2, 3), 5e-324),
    "half precision that overflows": np.full((1, 2, 3), 60_000, dtype=np.float16),
    "integers": np.full((1, 2, 3), 7),
}


def values(array):
    return np.array(array.detach().numpy() if hasattr(array, "detach") else array)


@pytest.mark.parametrize(("make", "plain"), ARRAYS.values(), ids=ARRAYS)
def test_arrays(make, plain):
    given = make()
    before = None if isinstance(given, list | tuple) else values(given)
    np.testing.assert_allclose(P(given).to_array(), plain, atol=1e-300)
    expected = cs.Consensus().fit_predict_proba(plain)
    is_double = all(values(member.rows).dtype.itemsize == 8 for member in P(given).soft)
    answer = values(cs.Consensus().fit_predict_proba(given))
    np.testing.assert_allclose(answer, expected, rtol=0, atol=1e-15 if is_double else 1e-5)
    if before is not None:
        np.testing.assert_array_equal(values(given), before)


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_counts_of_any_size_are_rescaled(counts):
    np.testing.assert_allclose(P(counts, normalize=True).to_array(), 1 / 3, rtol=1e-6)


@pytest.mark.parametrize(
    ("logits", "expected"),
    [([1e308, -1e308], [1, 0]), ([-np.inf, 0.0], [0, 1]), ([-1e308, -1e308], [0.5, 0.5]), ([5e-324, 0.0], [0.5, 0.5])],
)
def test_logits_of_any_size(logits, expected):
    np.testing.assert_array_equal(P.from_logits([[logits]]).to_array()[0, 0], expected)


LABEL_FORMS = {
    "unsigned bytes": lambda: LABELS.astype(np.uint8),
    "64 bits unsigned": lambda: LABELS.astype(np.uint64),
    "lists": LABELS.tolist,
    "a tensor": lambda: torch_tensor(lambda torch: torch.tensor(LABELS)),
    "masked": lambda: np.ma.array(LABELS, mask=np.zeros_like(LABELS)),
}


@pytest.mark.parametrize("make", LABEL_FORMS.values(), ids=LABEL_FORMS)
def test_labels(make):
    np.testing.assert_array_equal(P.from_labels(make(), 3).to_array(), P.from_labels(LABELS, 3).to_array())


def test_masked_labels_are_missing():
    mask = np.zeros_like(LABELS, dtype=bool)
    mask[1, 2] = True
    plain = P.from_labels(np.where(mask, -1, LABELS), 3)
    np.testing.assert_array_equal(P.from_labels(np.ma.array(LABELS, mask=mask), 3).to_array(), plain.to_array())


TRUTH = np.array([0, 1, 2, -1, -1, 2, 1, 0])
TRUTHS = {
    "a list": TRUTH.tolist,
    "floats": lambda: TRUTH.astype(float),
    "NaN where unknown": lambda: np.where(TRUTH < 0, np.nan, TRUTH),
    "None where unknown": lambda: [None if label < 0 else int(label) for label in TRUTH],
    "masked where unknown": lambda: np.ma.array(np.abs(TRUTH), mask=TRUTH < 0),
    "a series": lambda: pd.Series(TRUTH),
    "a series of some items, in another order": lambda: pd.Series(TRUTH)[TRUTH >= 0].sample(frac=1, random_state=0),
    "by item": lambda: {item: int(label) for item, label in enumerate(TRUTH) if label >= 0},
}


@pytest.mark.parametrize("make", TRUTHS.values(), ids=TRUTHS)
def test_known_labels(make):
    expected = cs.DawidSkene(tol=None, max_iter=5).fit(BLOCK, TRUTH).posterior_
    np.testing.assert_array_equal(cs.DawidSkene(tol=None, max_iter=5).fit(BLOCK, make()).posterior_, expected)


def long_frame():
    member, item = (places.ravel() for places in np.indices((3, 8)))
    return pd.DataFrame({"task": item, "worker": member, "label": LABELS.ravel()})


FRAMES = {
    "shuffled rows": lambda: long_frame().sample(frac=1, random_state=0),
    "an index that means nothing": lambda: long_frame().set_index(pd.Index(range(100, 124))),
    "columns in another order": lambda: long_frame()[["label", "worker", "task"]],
    "another column": lambda: long_frame().assign(seconds=1.5),
    "categories": lambda: long_frame().astype("category"),
    "nullable integers": lambda: long_frame().convert_dtypes(),
    "polars": lambda: pl.DataFrame(long_frame().to_dict("list")),
    "missing answers": lambda: pd.concat([long_frame(), pd.DataFrame({"task": [0], "worker": [1], "label": [None]})]),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
@pytest.mark.filterwarnings("ignore:The behavior of DataFrame concatenation:FutureWarning")
def test_frames(make):
    frame = make()
    plain = P.from_frame(long_frame())
    np.testing.assert_array_equal(P.from_frame(frame).to_array(), plain.to_array())


def test_a_repeated_row_counts_twice():
    frame = long_frame()
    twice = P.from_frame(pd.concat([frame, frame]))
    np.testing.assert_array_equal(twice.to_array(), P.from_frame(frame).to_array())
    assert len(twice.hard.items) == 2 * len(frame)


# ---- files ------------------------------------------------------------------------------------------------

NAMED = pd.DataFrame(BLOCK[0], columns=["cat", "dog", "owl"], index=pd.Index([f"i{n}" for n in range(8)], name="item"))
WIDE_FILES = {
    "an index without a name": lambda path: NAMED.rename_axis(None).to_csv(path),
    "an index that counts": lambda path: NAMED.reset_index().to_csv(path),
    "an index written twice": lambda path: NAMED.reset_index().rename_axis("Unnamed: 0").to_csv(path),
    "a byte-order mark": lambda path: NAMED.to_csv(path, encoding="utf-8-sig"),
    "Windows lines": lambda path: NAMED.to_csv(path, lineterminator="\r\n"),
    "old Mac lines": lambda path: NAMED.to_csv(path, lineterminator="\r"),
    "everything in quotes": lambda path: NAMED.to_csv(path, quoting=1),
    "exponents": lambda path: NAMED.to_csv(path, float_format="%.17e"),
}


@pytest.mark.parametrize("write", WIDE_FILES.values(), ids=WIDE_FILES)
def test_tables_of_probabilities(tmp_path, write):
    write(tmp_path / "net.csv")
    read = read_sources([str(tmp_path / "net.csv")]).predictions
    assert (read.items, read.classes) == (NAMED.index.tolist(), ["cat", "dog", "owl"])
    np.testing.assert_allclose(read.to_array()[0], BLOCK[0], rtol=1e-15)


@pytest.mark.parametrize("classes", [["user", "model", "system"], ["image", "task", "id"], ["label", "class", "Item"]])
@pytest.mark.parametrize("with_items", [True, False])
def test_classes_may_be_called_like_columns(tmp_path, classes, with_items):
    NAMED.set_axis(classes, axis=1).to_csv(tmp_path / "net.csv", index=with_items)
    read = read_sources([str(tmp_path / "net.csv")]).predictions
    assert read.classes == classes and read.members == ["net"]
    np.testing.assert_allclose(read.to_array()[0], BLOCK[0], rtol=1e-15)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_long_table_with_an_index(tmp_path, suffix):
    frame = pd.DataFrame(
        {"item": [0, 0, 1, 1], "member": list("abab"), "cat": [0.1, 0.2, 0.3, 0.4]}, index=[3, 1, 0, 2]
    )
    frame["dog"] = 1 - frame["cat"]
    getattr(frame, f"to_{suffix}")(tmp_path / f"long.{suffix}")
    read = read_sources([str(tmp_path / f"long.{suffix}")]).predictions
    assert (read.members, read.classes) == (["a", "b"], ["cat", "dog"])


def test_labels_with_an_index(tmp_path):
    pd.Series([2, 0, 1], name="label").to_csv(tmp_path / "y.csv")
    assert read_labels(str(tmp_path / "y.csv")).labels[:2] == (["0", "1", "2"], ["2", "0", "1"])


def test_flat_files_of_labels_of_which_some_lack_a_class(tmp_path):
    rows = np.array([[0, 1, 2, 0], [0, 1, 1, 0], [1, 1, 1, 1]])
    for place, row in enumerate(rows):
        np.save(tmp_path / f"{place}.npy", row)
    read = read_sources([str(tmp_path / f"{place}.npy") for place in range(3)]).predictions
    np.testing.assert_array_equal(read.to_array(), P.from_labels(rows, 3).to_array())
