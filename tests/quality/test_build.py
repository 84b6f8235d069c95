"""Sets are made from scikit-learn's digits, which need no files."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.quality import build, members
from benchmarks.quality.images import test_images as images_to_look_at
from benchmarks.quality.images import training_images, viewed
from benchmarks.quality.sets import Made, ensemble
from benchmarks.quality.store import read_sets


def digits(**changes):
    quick = tuple(replace(member, epochs=2) for member in ensemble("digits", "mixed", "tuning")[:3])
    return replace(Made("digits", "mixed", "tuning", "noise-1", 100, quick), **changes)


def test_a_set_is_made_once(tmp_path, monkeypatch):
    first = build._made(digits(), tmp_path, tmp_path)
    assert first.predictions.shape == (3, 100, 10)
    np.testing.assert_allclose(first.predictions.sum(axis=2), 1, atol=1e-5)
    assert (first.predictions[1].argmax(axis=1) == first.labels).mean() > 0.5
    members.trained.cache_clear()
    monkeypatch.setattr(members, "trained", None)  # nobody is asked again
    np.testing.assert_array_equal(build._made(digits(), tmp_path, tmp_path).predictions, first.predictions)


def test_pairs_have_a_hundred_classes(tmp_path):
    one = build._made(digits(n_digits=2, n_items=150), tmp_path, tmp_path)
    assert one.predictions.shape == (3, 150, 100)
    np.testing.assert_allclose(one.predictions.sum(axis=2), 1, atol=1e-5)
    assert (one.predictions[1].argmax(axis=1) == one.labels).mean() > 0.3


def test_partial_ensembles_leave_no_item_unanswered(tmp_path):
    one = build._made(digits(kind="partial"), tmp_path, tmp_path)
    is_missing = np.isnan(one.predictions).all(axis=2)
    assert (is_missing == np.isnan(one.predictions).any(axis=2)).all()
    assert 0.2 < is_missing.mean() < 0.6
    assert not is_missing.all(axis=0).any()


def test_parts_see_other_images(tmp_path):
    seen = [
        {pixels.tobytes() for pixels in read("digits", part, tmp_path).pixels}
        for read in (training_images, images_to_look_at)
        for part in ("tuning", "held-out")
    ]
    assert sum(map(len, seen)) == len(set.union(*seen))


def test_a_view_is_the_same_whoever_looks(tmp_path):
    first, again = (viewed("digits", "tuning", "noise-2", 50, tmp_path) for _ in range(2))
    np.testing.assert_array_equal(first.pixels, again.pixels)


def test_flaws_are_taught(tmp_path):
    good = ensemble("digits", "mixed", "tuning")[0]
    labels = members.taught(good, tmp_path)[1]
    permuted = members.taught(replace(good, flaw="permuted"), tmp_path)[1]
    assert len({*zip(labels.tolist(), permuted.tolist(), strict=True)}) == 10
    assert (labels != permuted).any()
    lacking = members.taught(replace(good, flaw="lacks-1"), tmp_path)[1]
    assert np.isin(lacking, [3, 4, 5]).mean() < 0.1


def test_another_recipe_makes_a_set_anew(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(build, "catalog", lambda: [digits()])
    build.build(tmp_path, None, tmp_path, made.append)
    build.build(tmp_path, None, tmp_path, made.append)
    monkeypatch.setattr(build, "catalog", lambda: [digits(n_items=50)])
    folder = build.build(tmp_path, None, tmp_path, made.append)
    assert made == [digits().name] * 2
    assert [one.predictions.shape[1] for one in read_sets(folder)] == [50]
