"""The table of answers: against a slow reference, and each reason for a second look alone."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.data.tables.told import FUSED
from consilience.insight.answers import LEAD


def slow(p, posterior, accuracy):
    """Every column, item by item; a member's votes are counted in Python."""
    rows = p.to_array()
    for item, row in enumerate(np.asarray(posterior)):
        said = [own[item] for own in rows]
        voted = {}
        for member, own in enumerate(said):
            if not np.isnan(own).any() and (own == own.max()).sum() == 1:
                voted[member] = int(own.argmax())
        answer, n_answers = int(row.argmax()), sum(not np.isnan(own).any() for own in said)
        votes = [list(voted.values()).count(k) for k in range(p.n_classes)]
        others = max(count for k, count in enumerate(votes) if k != answer)
        by_side = [[accuracy[m] for m, k in voted.items() if (k == answer) == same] for same in (False, True)]
        against, with_it = (max(side, default=0) for side in by_side)
        reasons = {
            "outvoted expert": against >= with_it + LEAD,
            "contested": others >= votes[answer] and others > 0,
            "unsure": row.max() < 0.8,
            "": True,
        }
        review = next(reason for reason, holds in reasons.items() if holds)
        yield p.classes[answer], float(row.max()), n_answers, votes[answer] / max(n_answers, 1), review


def panel(rng, n_items=300):
    """An expert, two that are poor, one that guesses; some answers missing, some undecided."""
    truth = rng.integers(3, size=n_items)
    rows = np.stack([rng.dirichlet(np.ones(3), n_items) + own * np.eye(3)[truth] for own in (4, 0.4, 0.4, 0)])
    rows[:, :, :] /= rows.sum(axis=2, keepdims=True)
    rows[1, ::7] = np.nan
    rows[2, ::5] = [0.5, 0.5, 0]
    return cs.Predictions(rows, members=["best", "b", "c", "d"], classes=["cat", "dog", "fox"]), truth


@pytest.mark.parametrize("method", [cs.Consensus(), cs.MajorityVote(), cs.Average()])
def test_every_column_is_what_a_slow_count_gives(rng, method):
    p, _ = panel(rng)
    model = method.fit(p)
    table = cs.answers(p, aggregator=model)
    accuracy = cs.diagnose(p, aggregator=model).members["estimated accuracy"]
    expected = list(zip(*slow(p, model.predict_proba(p), accuracy), strict=True))
    assert table.columns == ["item", *FUSED] and table["item"] == p.items
    for name, values in zip(FUSED, expected, strict=True):
        same = pytest.approx(list(values)) if name in ("confidence", "agreement") else list(values)
        assert table[name] == same, name
    assert isinstance(method, cs.Consensus) or "contested" in table["review"]


def test_an_expert_whom_the_votes_overrule(rng):
    p, truth = panel(rng)
    table = cs.answers(p, aggregator=cs.MajorityVote())
    wrong = np.array(table["answer"]) != np.array(p.classes)[truth]
    outvoted = np.array(table["review"]) == "outvoted expert"
    assert outvoted.sum() >= 5 and wrong[outvoted].mean() > 0.9
    alike = cs.Predictions.from_labels([[0, 1] * 20, [0, 1] * 20, [0, 1] * 19 + [1, 0]])
    assert "outvoted expert" not in cs.answers(alike)["review"]  # nobody is better than others


def test_a_tie_is_contested_and_two_against_one_is_not():
    two = cs.Predictions.from_labels([[0, 0, 1] * 4, [0, 1, 1] * 4])
    table = cs.answers(two, aggregator=cs.MajorityVote())
    assert table["review"] == ["", "contested", ""] * 4 and table["agreement"] == [1, 0.5, 1] * 4
    three = cs.Predictions.from_labels([[0, 0, 1] * 4, [0, 1, 1] * 4, [0, 1, 1] * 4])
    assert "contested" not in cs.answers(three, aggregator=cs.MajorityVote())["review"]


def test_a_known_label_is_the_answer_and_needs_no_look():
    p = cs.Predictions.from_labels([[0, 1, 0, 1] * 5, [1, 0, 1, 0] * 5], classes=["no", "yes"])
    known = {0: "yes", 1: "yes"}
    table = cs.answers(p, known)
    assert table["answer"][:2] == ["yes", "yes"] and table["review"][:2] == ["", ""]
    assert all(table["review"][2:])


def test_members_who_cannot_decide_answer_and_agree_with_nobody():
    p = cs.Predictions([[[0.5, 0.5], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
    table = cs.answers(p, aggregator=cs.Average())
    assert (table["n_answers"], table["agreement"], table["review"]) == ([2, 2], [0, 0], ["unsure"] * 2)


def test_repeated_answers_count_once():
    p = cs.Predictions.from_answers([0, 0, 0, 1, 1], [0, 0, 1, 0, 1], [1, 0, 0, 1, 1], n_classes=2)
    table = cs.answers(p, aggregator=cs.MajorityVote())
    assert table["n_answers"] == [2, 2] and table["agreement"] == [1, 1]


def test_shares_go_with_the_default_alone():
    p = cs.Predictions.from_labels([[0, 1], [0, 0]])
    with pytest.raises(ValueError, match="class_shares"):
        cs.answers(p, aggregator=cs.Consensus(), class_shares="even")


def test_ratings_have_an_expected_one_with_an_interval(rng):
    said = np.clip(rng.integers(1, 6, size=60) + rng.integers(-1, 2, size=(4, 60)), 1, 5)
    p = cs.Predictions.from_labels(said, classes=[1, 2, 3, 4, 5], ordered=True)
    table, model = cs.answers(p), cs.Consensus().fit(p)
    found = cs.metrics.expected_rating(model.posterior_, model.classes_)
    for name, own in zip(("expected", "median", "low", "high"), found, strict=True):
        assert table[f"{name}_rating"] == pytest.approx(own)
    assert "low_rating" not in cs.answers(cs.Predictions.from_labels(said, classes=[1, 2, 3, 4, 5])).columns


def test_a_share_names_the_least_sure_items_alone(rng):
    """Of those that are named anyway; known labels need no review, and take no place."""
    p, truth = panel(rng)
    known = [p.classes[k] if place < 50 else None for place, k in enumerate(truth)]
    whole, some = (cs.answers(p, known, review_share=share) for share in (1, 0.1))
    named = [place for place, reason in enumerate(whole["review"]) if reason]
    least_sure = sorted(named, key=lambda place: whole["confidence"][place])[:30]
    assert len(named) > 30 and min(named) >= 50
    expected = [reason if place in least_sure else "" for place, reason in enumerate(whole["review"])]
    assert some["review"] == expected
    assert not any(cs.answers(p, review_share=0)["review"])
    with pytest.raises(ValueError, match="review_share must be a number from 0 to 1; got 2"):
        cs.answers(p, review_share=2)


@pytest.mark.parametrize(
    ("share", "n_items", "expected"),
    [(0.07, 100, 7), (0.29, 100, 29), (0.1, 300, 30), (0.25, 10, 2), (0.01, 10, 0), (1, 10, 10), (0, 10, 0)],
)
def test_no_more_than_a_share_of_the_items_is_named(share, n_items, expected):
    """All items are contested. For floats 0.07 * 100 is a little more than 7, and 0.29 * 100 a little less than 29."""
    p = cs.Predictions.from_labels([[0] * n_items, [1] * n_items])
    assert sum(reason != "" for reason in cs.answers(p, review_share=share)["review"]) == expected


def test_the_command_line_says_how_many_items_to_review(run, rng, tmp_path):
    p, _ = panel(rng)
    np.savez(tmp_path / "p.npz", probabilities=p.to_array())
    counts = []
    for words in ((), ("--review-share", "0.1")):
        code, out, err = run("aggregate", "p.npz", *words, "-o", "answers.jsonl")
        assert code == 0, err
        rows = [json.loads(line) for line in (tmp_path / "answers.jsonl").read_text().splitlines()]
        named = [row for row in rows if row["review"]]
        said = " ".join(out.split())
        assert f"To review: {len(named)} of 300 items; only labels tell how many are wrong" in said
        assert ("--review-share .1" in said) == (not words)
        counts.append(len(named))
    assert counts[0] > counts[1] == 30
    for words in ((), ("-o", "p.npy"), ("-o", "p.json", "--to", "argilla")):
        code, _, err = run("aggregate", "p.npz", "--review-share", "0.1", *words)
        assert code == 2 and "--review-share needs a place" in err
    code, _, err = run("aggregate", "p.npz", "--review-share", "0.1", "-o", "folder")
    assert code == 2 and "--review-share does not go with a folder" in err
