"""The numbers that the network sees, in NumPy and in torch."""

import math

import numpy as np
import pytest
import torch

from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    FEATURE_NAMES,
    ITEM_FEATURES,
    LOWEST_LOG,
    MEMBER_TRAITS,
    MOST_CANDIDATES,
    N_LOGS,
    N_SHARES,
    PAIR_FEATURES,
    Opinions,
    candidates,
    chosen,
    entropy,
    item_features,
    pair_features,
    ranking,
)

CLASSES = 40


@pytest.fixture
def opinions(rng):
    rows = [rng.dirichlet(np.full(CLASSES, 0.3), size=6) for _ in range(5)]
    logs = [np.log(some + 1e-300) for some in rows[2:4]]
    return Opinions(*rows[:2], *logs, rows[4], rng.normal(size=(6, CLASSES)), *np.full((2, 6, 1), 3.0))


def in_torch(opinions):
    return Opinions(*(torch.tensor(part) for part in opinions))


def narrow(opinions, n_classes):
    return Opinions(*(part[:, :n_classes] for part in opinions))


def test_names_are_unique_and_logarithms_come_first():
    assert len(set(FEATURE_NAMES)) == len(FEATURE_NAMES)
    assert all(name.startswith("log ") for name in PAIR_FEATURES[:N_LOGS])
    assert not any(name.startswith("log ") for name in PAIR_FEATURES[N_LOGS:])
    assert CLASS_TRAITS[N_SHARES - 2 : N_SHARES] == ("stated share", "stated against average")
    assert all("share" in name for name in CLASS_TRAITS[: N_SHARES - 2])
    assert not any("share" in name for name in CLASS_TRAITS[N_SHARES:])
    assert len(set(MEMBER_TRAITS)) == len(MEMBER_TRAITS)


def test_all_classes_are_candidates_where_they_are_few(opinions):
    assert candidates(narrow(opinions, MOST_CANDIDATES)) is None
    assert candidates(narrow(opinions, MOST_CANDIDATES + 1)).shape == (6, MOST_CANDIDATES)


def test_candidates_are_those_that_some_expert_finds_probable(opinions):
    places = candidates(opinions)
    assert (np.diff(places, axis=1) > 0).all()
    experts = [
        opinions.average,
        opinions.weighted,
        np.exp(opinions.translation),
        opinions.votes,
    ]
    best = np.max(experts, axis=0)
    for row, chosen_places in zip(best, places, strict=True):
        others = np.delete(row, chosen_places)
        assert row[chosen_places].min() >= 0.98 * others.max()  # translation decides among equals
    np.testing.assert_array_equal(candidates(in_torch(opinions)).numpy(), places)


def test_translation_tells_equals_apart(rng):
    """Hard members find most classes equally improbable."""
    even, scores = np.full((1, CLASSES), 1 / CLASSES), rng.normal(size=(1, CLASSES)) - 60
    tied = Opinions(even, even, scores, scores, even, np.empty((1, 0)), *np.ones((2, 1, 1)))
    expected = np.sort(np.argsort(-scores[0])[:MOST_CANDIDATES])
    np.testing.assert_array_equal(candidates(tied)[0], expected)
    assert len(set(ranking(tied)[0])) == CLASSES


def test_pair_features_are_what_their_names_say(opinions):
    places = candidates(opinions)
    found = pair_features(opinions, places)
    assert found.shape == (6, MOST_CANDIDATES, len(PAIR_FEATURES))
    assert found[:, :, :N_LOGS].min() >= LOWEST_LOG and found[:, :, :N_LOGS].max() <= 0
    by_name = dict(zip(PAIR_FEATURES, np.moveaxis(found, 2, 0), strict=True))
    np.testing.assert_array_equal(by_name["average"], np.take_along_axis(opinions.average, places, axis=1))
    np.testing.assert_allclose(by_name["log average"], np.maximum(np.log(np.maximum(by_name["average"], 1e-9)), -12))
    for name in ("translation", "combination"):
        np.testing.assert_allclose(np.exp(by_name[f"log {name}"]), by_name[name])
        logs = chosen(getattr(opinions, name), places)
        np.testing.assert_allclose(by_name[f"log {name}"], np.maximum(logs, LOWEST_LOG))
    np.testing.assert_array_equal(by_name["share of votes"], chosen(opinions.votes, places))
    np.testing.assert_allclose(pair_features(in_torch(opinions), torch.tensor(places)).numpy(), found)


def test_item_features_by_hand():
    average = np.array([[0.6, 0.3, 0.1]])
    one = Opinions(*[average] * 4, np.array([[0.75, 0.25, 0]]), np.empty((1, 0)), *np.full((2, 1, 1), 4.0))
    found = dict(zip(ITEM_FEATURES, item_features(one)[0], strict=True))
    assert found["top"] == 0.6 and found["margin"] == pytest.approx(0.3)
    assert found["largest share of votes"] == 0.75 and found["log answers"] == pytest.approx(math.log(4) / 3)
    by_hand = -(0.6 * math.log(0.6) + 0.3 * math.log(0.3) + 0.1 * math.log(0.1)) / math.log(3)
    assert found["entropy"] == pytest.approx(by_hand)
    np.testing.assert_allclose(item_features(in_torch(one)).numpy(), item_features(one))


def test_entropy_goes_from_sure_to_even():
    np.testing.assert_allclose(entropy(np.array([[1.0, 0, 0, 0], [0.25] * 4])), [0, 1], atol=1e-12)
