"""The scale of numbers is recognised for each file, and can be said."""

import numpy as np
import pytest

import consilience as cs
from consilience.data.tables.numbers import as_probabilities, named_scale, scale_of
from consilience.files import read_sources

ROWS = np.random.default_rng(0).dirichlet(np.ones(3), size=50)


@pytest.mark.parametrize(
    ("rows", "scale"),
    [
        (ROWS, "probabilities"),
        (ROWS.astype(np.float16), "probabilities"),
        (np.where(np.arange(50)[:, None] < 5, np.nan, ROWS), "probabilities"),
        (np.vstack([ROWS, [[-0.2, 0.6, 0.6]]]), "probabilities"),  # one wrong row, which the check names
        (100 * ROWS, "per cent"),
        (np.round(100 * ROWS, 1), "per cent"),
        (np.log(ROWS), "logits"),
        (np.log(ROWS) - np.log(ROWS).mean(axis=1, keepdims=True), "logits"),
        (np.where(ROWS < 0.2, -np.inf, np.log(ROWS)), "logits"),
        (np.round(7 * ROWS), "counts"),
        (ROWS * 2, None),
        (np.log(ROWS) + 50, None),
        (1 / (1 + np.exp(-3 * ROWS)), None),  # independent sigmoids
        (np.full((3, 2), np.nan), None),
    ],
)
def test_scales(rows, scale):
    assert scale_of(rows) == scale


@pytest.mark.parametrize(
    ("rows", "scale"), [(np.log(ROWS) + 3, "logits"), (100 * ROWS, "per cent"), (7 * ROWS, "counts")]
)
def test_every_scale_becomes_probabilities(rows, scale):
    np.testing.assert_allclose(as_probabilities(rows, scale), ROWS, atol=1e-12)


def test_names_tell_scales():
    names = ["test_logits", "logprobs", "probs", "vit"]
    assert [named_scale(name) for name in names] == ["logits", "logits", "probabilities", None]


def save(folder, **arrays):
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return [str(folder / f"{name}.npy") for name in arrays]


def test_files_on_different_scales(tmp_path):
    source = read_sources(save(tmp_path, a=ROWS, b=np.log(ROWS) + 1, c=100 * ROWS))
    np.testing.assert_allclose(source.predictions.to_array(), [ROWS] * 3, atol=1e-12)
    assert [line.split(", ")[1].split(" (")[0] for line in source.found] == ["probabilities", "logits", "per cent"]


def test_a_word_after_the_name_says_the_scale(tmp_path):
    a, b = save(tmp_path, a=ROWS, b=np.log(ROWS) + 50)
    with pytest.raises(cs.InvalidPredictions, match=r"b\.npy: probabilities must be from 0 to 1"):
        read_sources([a, b])
    np.testing.assert_allclose(read_sources([a, f"{b}:logits"]).predictions.to_array()[1], ROWS, atol=1e-12)
    with pytest.raises(cs.InvalidPredictions, match="logits must not be probabilities already"):
        read_sources([a, b], logits=True)
    both = read_sources([f"{a}:probabilities", b], logits=True).predictions
    np.testing.assert_allclose(both.to_array(), [ROWS] * 2, atol=1e-12)


def test_an_entry_of_an_archive_comes_before_a_scale(tmp_path):
    np.savez(tmp_path / "p.npz", logits=np.log(ROWS), other=ROWS[::-1])
    np.testing.assert_allclose(read_sources([f"{tmp_path}/p.npz:logits"]).predictions.to_array()[0], ROWS)
    told = read_sources([f"{tmp_path}/p.npz:other:probabilities"]).predictions
    np.testing.assert_array_equal(told.to_array()[0], ROWS[::-1])


def test_logits_that_may_be_the_wrong_way_round_are_refused(tmp_path):
    (path,) = save(tmp_path, a=np.log(ROWS).T)
    with pytest.raises(cs.InvalidPredictions, match="or the wrong way round: add :logits"):
        read_sources([path])
    assert read_sources([f"{path}:logits"]).predictions.n_classes == 50


@pytest.mark.parametrize("scale", ["", ":counts", ":labels"])
def test_three_dimensions_of_whole_numbers(tmp_path, scale):
    (path,) = save(tmp_path, runs=np.stack([np.round(40 * ROWS)] * 2).astype(int))
    if scale == ":counts":
        rows = np.round(40 * ROWS)
        read = read_sources([path + scale]).predictions.to_array()
        np.testing.assert_allclose(read[0], rows / rows.sum(axis=1, keepdims=True), atol=1e-12)
    else:
        message = r"labels must be an array \(members, items\)" if scale else "whole numbers: say normalize"
        with pytest.raises(cs.InvalidPredictions, match=message):
            read_sources([path + scale])
    (path,) = save(tmp_path, onehot=np.eye(3, dtype=int)[None, [0, 1, 2, 1]])
    assert read_sources([path]).predictions.n_classes == 3
