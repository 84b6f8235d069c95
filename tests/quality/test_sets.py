from collections import Counter
from hashlib import sha256
from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("torch")

from benchmarks.quality import shared
from benchmarks.quality.images import LEVELS, SHIFTS
from benchmarks.quality.sets import DATA, FRESH_VIEWS, HELD_OUT_VIEWS, KINDS, PARTS, TUNING_VIEWS, catalog

FIRST_PARTS = PARTS[:2]


def test_the_split_is_what_it_was():
    # A set that moved from one part to the other would have been seen in tuning: all names, parts in them, are pinned.
    names = [made.name for made in catalog()]
    assert len(set(names)) == len(names)
    assert Counter(made.part for made in catalog()) == {"tuning": 76, "held-out": 34, "fresh": 36}
    names = [made.name for made in catalog() if made.part != "fresh" and made.kind != "trained"]
    assert sha256(" ".join(sorted(names)).encode()).hexdigest()[:16] == "314949f736bec76c"


def test_a_third_of_each_data_set_and_kind_is_held_out():
    parts = Counter((made.data, made.kind, made.part) for made in catalog())
    for data in DATA:
        for kind in KINDS:
            assert parts[data, kind, "tuning"] == 2 * parts[data, kind, "held-out"] == 2


def test_every_group_and_family_of_views_is_in_both_parts():
    for described in (lambda made: made.group, lambda made: made.n_digits):
        tuning, held_out = ({described(made) for made in catalog() if made.part == part} for part in FIRST_PARTS)
        assert tuning == held_out
    families = {part: {made.view.split("-")[0] for made in catalog() if made.part == part} for part in PARTS}
    assert families["held-out"] - families["tuning"] == {"translation", "impulse", "occlusion", "brightness"}
    assert families["tuning"] - families["held-out"] == {"pixelation"}


def test_all_views_are_used():
    for part, views in zip(PARTS, (TUNING_VIEWS, HELD_OUT_VIEWS, FRESH_VIEWS), strict=True):
        assert set(views) <= {made.view for made in catalog() if made.part == part}


def test_parts_share_no_member():
    members = {part: {m for made in catalog() if made.part == part for m in made.members} for part in PARTS}
    for first, second in combinations(PARTS, 2):
        assert not {member.seed for member in members[first]} & {member.seed for member in members[second]}
    for part in PARTS:
        assert {member.part for member in members[part]} == {part}


def test_ensembles_have_2_to_20_members_and_sets_tens_to_ten_thousand_items():
    sizes = {len(made.members) for made in catalog()}
    assert min(sizes) == 2 and max(sizes) == 20
    items = {made.n_items for made in catalog()}
    assert min(items) == 60 and max(items) == 10_000


def test_names_of_members_tell_them_apart():
    members = {member for made in catalog() for member in made.members}
    assert len({member.name for member in members}) == len(members)


def test_parts_of_shared_predictions_are_apart():
    subjects = np.array([*shared.SUBJECTS["tuning"], *shared.SUBJECTS["held-out"], "anatomy", "law", "physics"])
    tuning, held_out = (set(shared._subjects_of(part, subjects)) for part in FIRST_PARTS)
    assert not tuning & held_out
    assert tuning | held_out == set(subjects)
    for ranges in (shared.PROMPTS, shared.RESNET_ITEMS):
        assert ranges["tuning"].stop == ranges["held-out"].start
    assert set(shared.CROWDS.values()) == set(FIRST_PARTS)


def test_thinned_crowds_keep_so_many_answers_of_each_item():
    rng = np.random.default_rng(0)
    answers = np.eye(3)[rng.integers(3, size=(9, 40))]
    answers[rng.random((9, 40)) < 0.3] = np.nan
    thinned = shared._thinned(answers, 3)
    n_before, n_after = (np.sum(~np.isnan(array[:, :, 0]), axis=0) for array in (answers, thinned))
    assert (n_after == np.minimum(n_before, 3)).all()


@pytest.mark.parametrize("family", ["rotation", "noise", "impulse", "blur", "contrast", "pixelation", "translation"])
def test_shifts_keep_shapes_and_change_images(family):
    pixels = np.random.default_rng(0).random((5, 1, 28, 28), dtype=np.float32)
    shifted = SHIFTS[family](pixels, LEVELS[family]["mnist"][1], np.random.default_rng(1))
    assert shifted.shape == pixels.shape
    assert not np.allclose(shifted, pixels)
