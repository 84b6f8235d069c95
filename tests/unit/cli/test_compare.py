"""`consilience compare` on a screen, and what it learns from."""

import json

import numpy as np
import pytest

import consilience as cs


@pytest.mark.parametrize("options", [[], ["--labels", "truth.npy"]])
def test_compare_fits_a_narrow_screen(run, arrays, options):
    code, out, _ = run("compare", *arrays, *options)
    assert code == 0 and "…" not in out and max(len(line) for line in out.splitlines()) <= 80
    members = ("best member: good", "median member: fair") if options else ()
    for name in ("BayesianClassifierCombination", *members):
        assert sum(name in line for line in out.splitlines()) == 1  # on one line


def test_a_long_name_is_told_below_the_table(run, arrays, tmp_path):
    (tmp_path / "good.npy").rename(tmp_path / "wide-resnet-50-2-imagenet21k.npy")
    code, out, _ = run("compare", "wide-resnet-50-2-imagenet21k.npy", *arrays[1:], "--labels", "truth.npy")
    assert code == 0 and "best member: wide-resnet-50-2-imagenet21k" in out.splitlines()
    assert max(len(line) for line in out.splitlines()) <= 80


def test_known_labels_teach_and_are_not_scored(run, arrays):
    truth = np.load("truth.npy")
    known = np.where(np.arange(200) < 60, truth, -1)
    np.save("known.npy", known)
    code, out, _ = run("compare", *arrays, "--labels", "truth.npy", "--known", "known.npy", "--json")
    rows = json.loads(out)
    expected = cs.compare(cs.Predictions([np.load(name) for name in arrays]), truth, known=known)
    assert code == 0 and [row["method"] for row in rows] == expected["method"]
    assert [row["accuracy"] for row in rows] == expected["accuracy"]
    code, _, err = run("compare", *arrays, "--labels", "truth.npy", "--known", "truth.npy")
    assert code == 2 and "known must leave out some items to compare on; it has all 200" in err
