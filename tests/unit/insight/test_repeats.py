"""Members who answer items several times, against pairs counted one by one."""

import json
from itertools import combinations

import numpy as np
import pytest

import consilience as cs
from consilience.insight.agreement import Repeats


@pytest.fixture
def answers(rng):
    item, member = rng.integers(30, size=400), rng.integers(4, size=400)
    return np.append(item, np.arange(30)), np.append(member, np.full(30, 4)), rng.integers(3, size=430)


def test_pairs_are_those_counted_one_by_one(answers):
    item, member, label = answers
    found = Repeats.of(cs.Predictions.from_answers(item, member, label).hard, 5)
    for who in range(5):
        own = [label[(item == place) & (member == who)] for place in range(30)]
        pairs = [pair for given in own for pair in combinations(given, 2)]
        swapped = [given for given in own if sorted(given) == [0, 1]]
        assert found.pairs[who] == len(pairs)
        assert found.same[who] == sum(a == b for a, b in pairs)
        assert found.swapped[who] == len(swapped)
        assert found.first[who] == sum(a < b for a, b in swapped)


def test_members_report_shows_consistency_and_bias_for_the_first_answer(rng):
    truth = rng.integers(2, size=200)
    steady = np.where(rng.random(200) < 0.9, truth, 1 - truth)
    is_sure = rng.random(200) < 0.7
    orders = [np.where(is_sure, truth, 0), np.where(is_sure, truth, 1)]  # takes the first where it is not sure
    labels = [steady, truth, *orders]
    item, member = np.tile(np.arange(200), 4), np.repeat([0, 1, 2, 2], 200)
    panel = cs.Predictions.from_answers(item, member, np.concatenate(labels))
    assert "first" not in cs.diagnose(panel).members.columns  # nobody said that options were swapped
    panel.both_orders = True
    rows = cs.diagnose(panel).members
    assert rows["pairs"] == [0, 0, 200]
    assert rows["consistency"][2] == pytest.approx(is_sure.mean())
    assert np.isnan(rows["consistency"][:2]).all()
    assert rows["first"][2] == 1
    assert rows["first from"][2] > 0.9


def test_nothing_is_shown_where_nobody_answers_twice(rng):
    rows = cs.diagnose(cs.Predictions.from_labels(rng.integers(2, size=(3, 50)), 2)).members
    assert not {"consistency", "pairs", "first"} & set(rows.columns)


def test_both_orders_of_mt_bench_show_the_bias_and_ties_do_not(tmp_path):
    verdicts = [("model_1", "model_2")] * 3 + [("model_2", "model_1"), ("tie", "model_2"), ("tie", "model_1")]
    head = {"model_1": "a", "model_2": "b", "judge": ["gpt", "pair"], "turn": 1}
    records = [
        {**head, "question_id": place, "g1_winner": one, "g2_winner": two} for place, (one, two) in enumerate(verdicts)
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    with pytest.warns(UserWarning, match="one member"):
        read = cs.read_predictions(path)
    assert read.both_orders and cs.diagnose(read).members["first"] == [0.75]
    found = Repeats.of(read.hard, 1)
    assert (found.pairs[0], found.same[0], found.swapped[0], found.first[0]) == (6, 0, 4, 3)
