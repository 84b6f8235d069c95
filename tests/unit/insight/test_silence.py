"""Members who stop answering are named."""

import json

import numpy as np

import consilience as cs
from consilience.insight.agreement import coverage_of

from simulate import softmax_members


def stream(rng, silent):
    """Three members on 300 items; the second does not answer some of them."""
    array, _ = softmax_members(rng, [3.0, 2.5, 2.0], 300, 3)
    array[1, silent] = np.nan
    return cs.Predictions(array, members=["vit", "cnn", "mlp"])


def test_a_member_who_stops_answering_is_named(rng):
    found = cs.monitor(stream(rng, slice(200, None)), window=20, reference=4)
    (sentence,) = found.silent
    assert sentence.startswith("member 'cnn' answers no item from window 10 on; before, it answered 100%")
    assert f"! {sentence}" in repr(found)
    answered = [row["answered"] for row in found.members.rows() if row["member"] == "cnn"]
    assert answered == [1.0] * 10 + [0.0] * 5


def test_pauses_and_members_who_seldom_answer(rng):
    found = cs.monitor(stream(rng, slice(120, 140)), window=20, reference=4)
    assert found.silent[0].startswith("member 'cnn' answers no item in window 6;")
    seldom = np.flatnonzero(np.arange(300) % 10)  # it answers 2 of 20 items, so that none is no surprise
    assert cs.monitor(stream(rng, np.concatenate([seldom, [200, 210]])), window=20, reference=4).silent == []
    assert cs.monitor(stream(rng, slice(0, 0)), window=20, reference=4).silent == []


def test_shares_count_an_item_once():
    p = cs.Predictions.from_answers([0, 0, 1], [0, 0, 1], [1, 1, 0])
    assert coverage_of(p.hard, p.n_members, p.n_items)["coverage"].tolist() == [0.5, 0.5]


def test_the_command_names_them(run, rng, tmp_path):
    np.save(tmp_path / "members.npy", stream(rng, slice(200, None)).to_array())
    code, out, _ = run("monitor", "members.npy", "--window", "20", "--json")
    assert code == 0 and "member '1' answers no item from window 10 on" in json.loads(out)["silent"][0]
