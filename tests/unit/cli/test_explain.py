"""`consilience explain` finds items and classes by how their names read."""

import json

import numpy as np

import consilience as cs


def test_names_that_are_not_there(run, arrays):
    for option, text in (("--item", "nine"), ("--against", "cat")):
        code, _, err = run("explain", *arrays, "--item", 3, option, text)
        assert code == 2 and f"{option} must be one of 0, 1, 2" in " ".join(err.split()) and text in err


def test_machines_get_the_explanation_too(run, arrays):
    code, out, _ = run("explain", *arrays, "--item", 3, "--against", 2, "-m", "majority-vote", "--json")
    predictions = cs.Predictions({name[:-4]: np.load(name) for name in arrays})
    why = cs.explain(predictions, 3, against=2, aggregator=cs.MajorityVote().fit(predictions))
    told = json.loads(out)
    assert code == 0 and (told["item"], told["winner"], told["runner_up"]) == (3, why.winner, 2)
    assert told["log_odds"] == why.log_odds
    expected = why.to_table().rows()
    assert told["members"][0] == expected[0] | {"influence": None} and told["members"][1:] == expected[1:]
