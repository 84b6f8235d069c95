"""Panels made here: from scikit-learn's tables and digits, which need no files."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality.families import side_of
from benchmarks.quality.sources.tables import table_panels


def test_tables_give_unequal_members_that_noise_makes_worse():
    panels = list(table_panels())
    assert len({panel.name for panel in panels}) == 9 and {panel.family for panel in panels} == {"tables"}
    rates = {panel.name: (panel.votes == panel.truth).mean(axis=1) for panel in panels}
    for table in ("cancer", "wine", "iris"):
        assert rates[f"{table}_noise-0"].mean() > rates[f"{table}_noise-2"].mean() > 1 / 3
    for panel in panels:
        np.testing.assert_allclose(panel.probabilities.sum(axis=2), 1, atol=1e-6)
        assert rates[panel.name].max() - rates[panel.name].min() > 0.01


torch = pytest.importorskip("torch")

from benchmarks.quality.sources import images, members
from benchmarks.quality.sources.ensembles import DATA, KINDS, Made, catalog, ensemble, make, needed, network_panels


def digits(**changes):
    quick = tuple(replace(member, epochs=2) for member in ensemble("digits", "mixed")[:3])
    return replace(Made("digits", "mixed", "noise-1", 100, quick), **changes)


def test_names_tell_panels_and_members_apart():
    made = catalog()
    assert len({one.name for one in made}) == len(made)
    everyone = {member for one in made for member in one.members}
    assert len({member.name for member in everyone}) == len(everyone)
    assert all(side_of(one.data) in {"tuning", "held-out"} for one in made)


def test_every_data_set_has_every_kind_of_ensemble():
    counts = Counter((one.data, one.kind) for one in catalog())
    assert all(counts[data, kind] == 2 for data in DATA for kind in KINDS)
    assert {len(one.members) for one in catalog()} >= {2, 20}


def test_panels_without_their_data_are_not_made(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("benchmarks.quality.sources.ensembles.make", lambda made, *_: made)
    made = list(network_panels(["mnist"], tmp_path, tmp_path, asked.append))
    assert {one.data for one in made} == {"mnist", "digits"} and len(asked) == len(made)
    assert all("notmnist" not in needed(one) for one in made)
    more = list(network_panels(["mnist", "notmnist"], tmp_path, tmp_path, asked.append))
    assert any(one.view.startswith("foreign") for one in set(more) - set(made))


def test_a_member_is_asked_once(tmp_path, monkeypatch):
    first = make(digits(), tmp_path, tmp_path)
    assert first.probabilities.shape == (3, 100, 10)
    np.testing.assert_allclose(first.probabilities.sum(axis=2), 1, atol=1e-5)
    assert (first.votes[1] == first.truth).mean() > 0.5
    members.trained.cache_clear()
    monkeypatch.setattr(members, "trained", None)  # nobody is asked again
    np.testing.assert_array_equal(make(digits(), tmp_path, tmp_path).probabilities, first.probabilities)


def test_pairs_have_a_hundred_classes(tmp_path):
    panel = make(digits(n_digits=2, n_items=150), tmp_path, tmp_path)
    assert panel.probabilities.shape == (3, 150, 100) and panel.n_classes == 100
    np.testing.assert_allclose(panel.probabilities.sum(axis=2), 1, atol=1e-5)
    assert (panel.votes[1] == panel.truth).mean() > 0.3


def test_partial_ensembles_leave_no_item_unanswered(tmp_path):
    panel = make(digits(kind="partial"), tmp_path, tmp_path)
    assert 0.2 < (panel.votes < 0).mean() < 0.6
    assert (panel.votes >= 0).any(axis=0).all()


def test_nobody_is_asked_what_it_was_taught(tmp_path):
    taught, asked = (
        {pixels.tobytes() for pixels in read("digits", tmp_path).pixels}
        for read in (images.training_images, images.test_images)
    )
    assert not taught & asked


def test_a_view_is_the_same_whoever_looks(tmp_path):
    first, again = (images.viewed("digits", "noise-2", 50, tmp_path) for _ in range(2))
    np.testing.assert_array_equal(first.pixels, again.pixels)


def test_flaws_are_taught(tmp_path):
    good = ensemble("digits", "mixed")[0]
    labels = members.taught(good, tmp_path)[1]
    permuted = members.taught(replace(good, flaw="permuted"), tmp_path)[1]
    assert len({*zip(labels.tolist(), permuted.tolist(), strict=True)}) == 10
    assert (labels != permuted).any()
    lacking = members.taught(replace(good, flaw="lacks-1"), tmp_path)[1]
    assert np.isin(lacking, [3, 4, 5]).mean() < 0.1


@pytest.mark.parametrize("family", list(images.SHIFTS))
def test_shifts_keep_shapes_and_change_images(family):
    pixels = np.random.default_rng(0).random((5, 1, 28, 28), dtype=np.float32)
    shifted = images.SHIFTS[family](pixels, images.LEVELS[family]["mnist"][1], np.random.default_rng(1))
    assert shifted.shape == pixels.shape
    assert not np.allclose(shifted, pixels)
