"""`consilience explain` finds items and classes by how their names read."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.cli.explain import _named


def test_names_may_be_numbers():
    assert _named("3", [1, 3, "3"], "--item") == 3
    assert _named("cat", ["dog", "cat"], "--against") == "cat"
    with pytest.raises(ValueError, match="--item must be one of 0, 1, 2, 3, 4, …; got 'nine'"):
        _named("nine", list(range(9)), "--item")


def test_machines_get_the_explanation_too(run, arrays):
    code, out, _ = run("explain", *arrays, "--item", 3, "--against", 2, "-m", "majority-vote", "--json")
    predictions = cs.Predictions({name[:-4]: np.load(name) for name in arrays})
    why = cs.explain(cs.MajorityVote().fit(predictions), predictions, 3, against=2)
    told = json.loads(out)
    assert code == 0 and (told["item"], told["winner"], told["runner_up"]) == (3, why.winner, 2)
    assert told["log_odds"] == why.log_odds
    assert told["members"] == why.to_table().rows()
