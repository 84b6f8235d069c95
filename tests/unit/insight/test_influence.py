"""One notion of influence: the number of a member's row is the mean of what explanations say."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.insight.explanation import FEWEST_EXPLAINED, MOST_EXPLAINED, explained_items
from consilience.report.page import report_payload

from simulate import softmax_members


@pytest.fixture
def panel(rng):
    array, _ = softmax_members(rng, [3, 2, 1, 0.1], n_items=90, n_classes=3)
    return cs.Predictions(array, members=["good", "fair", "poor", "blind"])


@pytest.mark.parametrize("method", [cs.Consensus(), cs.Average(), cs.DawidSkene()], ids=lambda m: type(m).__name__)
def test_the_shares_of_explanations_sum_up_to_the_number_of_the_row(panel, method):
    fitted = method.fit(panel)
    found = cs.diagnose(panel, aggregator=fitted).members["influence"]
    places = explained_items(panel)
    shares = [cs.explain(panel, int(place), aggregator=fitted).influence for place in places]
    np.testing.assert_allclose(found, np.mean(shares, axis=0), atol=1e-9)
    assert sum(found) == pytest.approx(1)


def test_an_explanation_shows_the_share_of_each_term(panel):
    why = cs.explain(panel, 0, aggregator=cs.Consensus().fit(panel))
    np.testing.assert_allclose(why.influence, np.abs(why.by_member) / np.abs(why.by_member).sum())
    rows = {row["member"]: row for row in why.to_table().rows()}
    for member, share in zip(panel.members, why.influence, strict=True):
        assert rows[member]["influence"] == pytest.approx(share)


def test_every_door_shows_the_same_number(panel, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place, name in enumerate(panel.members):
        np.save(f"{name}.npy", panel.to_array()[place])
    found = cs.diagnose(panel).members["influence"]
    rows = sorted(report_payload(panel, most_items=1)["members"]["rows"], key=lambda row: row["member"])
    np.testing.assert_allclose([row["influence"] for row in rows], found, atol=1e-4)  # the page is rounded
    _, out, _ = run("aggregate", *(f"{name}.npy" for name in panel.members), "--json")
    told = json.loads(out)["members"]
    np.testing.assert_allclose([row["influence"] for row in told], found, atol=1e-9)
    assert not any("weight" in row for row in told)


def test_who_guesses_blindly_moves_the_answers_least(panel):
    found = dict(zip(panel.members, cs.diagnose(panel).members["influence"], strict=True))
    assert min(found, key=found.get) == "blind"


def test_fewer_items_are_explained_where_each_costs_more(rng):
    few = cs.Predictions(rng.dirichlet(np.ones(3), size=(2, 7)))
    many = cs.Predictions(rng.dirichlet(np.ones(2), size=(2, 1000)))
    costly = cs.Predictions(rng.dirichlet(np.ones(40), size=(20, 100)))
    assert explained_items(few).tolist() == list(range(7))
    assert len(explained_items(many)) == MOST_EXPLAINED and explained_items(many)[-1] == 999
    assert len(explained_items(costly)) == FEWEST_EXPLAINED
