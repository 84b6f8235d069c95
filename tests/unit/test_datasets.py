"""The panels of the package are what their pages say, and the recipe makes them again."""

import numpy as np
import pytest

import consilience as cs
from training import datasets as recipe


def test_digits_are_even_or_uneven():
    even, uneven = (np.bincount(cs.datasets.shifted_digits(uneven=asked).labels) for asked in (False, True))
    assert even.sum() == 899 and even.max() - even.min() <= 5
    assert uneven.tolist() == [89, 63, 45, 31, 22, 16, 11, 8, 6, 4]
    with pytest.raises(ValueError, match="angle must be one of 0, 15, 30, 45; got 20"):
        cs.datasets.shifted_digits(20)


def test_even_shares_help_where_they_are_true_and_harm_where_they_are_not():
    gains = {}
    for angle, uneven in ((30, False), (0, True)):
        p, labels = cs.datasets.shifted_digits(angle, uneven=uneven)
        blind, told = (cs.Consensus(class_shares=shares).fit(p) for shares in (None, "even"))
        gains[uneven] = cs.metrics.accuracy(told.posterior_, labels) - cs.metrics.accuracy(blind.posterior_, labels)
    assert gains[False] > 0.05 and gains[True] < -0.03


def test_rules_abstain_and_two_are_copies():
    p, labels = cs.datasets.tumour_rules()
    votes = dict(zip(p.members, p.to_array(), strict=True))
    assert 0.3 < np.isnan(p.to_array()).mean() < 0.7
    for name in recipe.COPIED:
        np.testing.assert_array_equal(votes[name], votes[f"{name}, copied"])
    assert set(labels) == set(p.classes)


def test_eights_are_rare():
    p, labels = cs.datasets.rare_eights()
    assert (p.n_members, p.n_items) == (5, len(labels))
    assert 0.02 < (labels == "eight").mean() < 0.03


@pytest.mark.parametrize("make", [recipe.shifted_digits, recipe.tumour_rules, recipe.rare_eights])
def test_the_recipe_makes_the_panel_again(make):
    """Other versions of scikit-learn draw other trees, so a few answers may differ."""
    made = make()
    with np.load(recipe.FOLDER / f"{make.__name__}.npz", allow_pickle=False) as kept:
        assert set(kept) == set(made)
        for name in kept:
            if kept[name].ndim == 3:
                same = kept[name].argmax(axis=2) == made[name].argmax(axis=2)
            else:
                same = kept[name] == made[name]
            assert np.mean(same) > 0.97, name
