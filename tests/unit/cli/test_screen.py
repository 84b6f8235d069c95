"""What is printed: names without control characters, JSON without NaN, the best score in bold."""

import json

import numpy as np
import pytest
from rich.console import Console

from consilience.cli import screen
from consilience.metrics.scores import METRICS
from consilience.system.tables import Table


@pytest.mark.parametrize(
    ("text", "shown"), [("cat\x1b[2J", "cat\\x1b[2J"), ("a\nb", "a\\nb"), ("\u202egod", "\\u202egod")]
)
def test_control_characters_are_spelled_out(text, shown):
    assert screen.visible(text) == shown
    assert screen.visible("Łódź 猫") == "Łódź 猫"


def test_markup_in_names_is_text(capsys):
    screen.print_table(Table({"member": ["[bold]x[/bold]"], "n": [3]}), "[red]names[/red]")
    out = capsys.readouterr().out
    assert "[bold]x[/bold]" in out and "[red]names[/red]" in out


def test_json_has_plain_numbers_and_no_nan(capsys):
    value = {
        1: np.float32(0.5),
        "n": np.int64(3),
        "none": float("nan"),
        "inf": [np.inf],
        "name": "\x9b[2J",
        "other": {2},
    }
    screen.print_json(value)
    out = capsys.readouterr().out
    assert json.loads(out) == {"1": 0.5, "n": 3, "none": None, "inf": [None], "name": "\x9b[2J", "other": "{2}"}
    assert "\x9b" not in out


@pytest.mark.parametrize(
    ("name", "better", "expected"),
    [
        ("accuracy", None, 0.9),
        ("nll", None, 0.2),
        ("seconds", None, None),
        ("15°", "higher", 0.9),
        ("15°", "lower", 0.2),
    ],
)
def test_the_best_of_a_column(name, better, expected):
    assert screen._best(name, [0.2, float("nan"), 0.9], better) == expected
    assert screen._best(name, [0.2], better) is None


def summary(**changes):
    member = {
        "member": "a",
        "coverage": 1.0,
        "estimated accuracy": 0.5,
        "from": 0.25,
        "to": 0.75,
        "agreement": 0.75,
        "kappa": 0.0,
        "influence": 0.5,
        "dissents": 0,
        "dissents won": np.nan,
        "confuses most": "",
    }
    other = member | {
        "member": "b",
        "estimated accuracy": 0.75,
        "to": 0.875,
        "agreement": 0.5,
        "kappa": 0.25,
        "dissents": 4,
        "dissents won": 0.25,
    }
    return {
        "method": "Average",
        "n_members": 2,
        "n_items": 1000,
        "n_classes": 3,
        "verdict": ["They cannot be told apart.", "Agreement beyond chance: 0.25."],
        "members": [member, other],
        "answers": {"fused answer": {"estimated accuracy": 0.8, "from": 0.5, "to": 0.9}},
        "disagreement": [{"members": ["a", "b"], "agreement": 0.5, "kappa": -0.125}],
        "alike": [{"members": ["a", "b"], "agreement": 0.5, "kappa": 0.625}],
        "changed": {"count": 0, "share": 0.0, "ties": 0, "surest": []},
        "confusions counted": False,
        "known labels": 0,
        "repeated": {"members": 0, "items": 0},
        "warnings": ["look"],
        "hint": None,
    } | changes


def test_a_summary_lists_first_who_is_estimated_to_be_right_most_often(capsys):
    screen.print_summary(summary())
    out = capsys.readouterr().out
    assert "Average of 2 members on 1,000 items and 3 classes\nThey cannot be told apart.\n" in out
    assert "Agreement beyond chance: 0.25.\n" in out
    assert "80%" not in out  # what the fused answer believes of itself
    assert out.index("75% (25% to 88%)") < out.index("50% (25% to 75%)")
    assert "* estimated without labels, with the interval" in out
    assert "Least agreement beyond chance, Cohen's kappa: a and b -0.12 (50% the same)" in out
    assert "Most agreement beyond chance, Cohen's kappa: a and b 0.62 (50% the same)" in out
    assert "No item is answered differently from plain averaging." in out and "! look" in out


def test_a_pair_is_listed_once(capsys):
    pair = {"members": ["a", "b"], "agreement": 0.5, "kappa": 0.25}
    screen.print_summary(summary(disagreement=[pair], alike=[pair]))
    assert capsys.readouterr().out.count("a and b") == 1


def test_a_summary_lists_changed_items_and_scores(capsys):
    row = {
        "item": "i7",
        "average": {"class": "cat", "probability": 0.5},
        "consensus": {"class": "dog", "probability": 0.625},
        "tipped by": {"member": "b", "log-odds": 1.5},
    }
    scores = {"Average": dict.fromkeys(METRICS, 0.125)}
    by_shares = row | {"tipped by": {"member": None, "log-odds": 1.5}}
    changed = {"count": 12, "share": 0.012, "ties": 3, "surest": [row, by_shares]}
    screen.print_summary(summary(changed=changed, scores=scores))
    out = capsys.readouterr().out
    assert "12 items (1.2%) are answered differently from plain averaging, 3 of them ties" in out
    assert "the class shares (odds × 4.5)" in out
    assert "cat 0.50" in out and "dog 0.62" in out and "b (odds × 4.5)" in out
    assert "Scored on the labels" in out and "0.1250" in out


def test_measured_accuracies_are_called_so(capsys):
    parts = summary()
    members = [row | {"measured": True} for row in parts["members"]]
    answers = {"fused answer": parts["answers"]["fused answer"] | {"measured": True}}
    screen.print_summary(summary(members=members, answers=answers))
    out = capsys.readouterr().out
    assert "right: measured on the labels" in out and "* estimated" not in out
    members[0]["measured"] = False
    screen.print_summary(summary(members=members, answers=answers))
    out = capsys.readouterr().out
    assert "50% (25% to 75%)*" in out and "* estimated without labels" in out


def crowd(n_members, **changes):
    member = summary()["members"][0]
    rows = [
        member | {"member": f"w{place}", "estimated accuracy": 0.9 - place / 1000, "answers": 50}
        for place in range(n_members)
    ]
    return [row | changes for row in rows]


def test_of_many_members_the_first_and_the_last_are_listed(capsys):
    screen.print_summary(summary(members=crowd(35)))
    out = capsys.readouterr().out
    listed = [place for place in range(35) if f" w{place} " in out]
    assert listed == [*range(10), *range(30, 35)]
    assert "20 more members are in between: --json and --report list them." in " ".join(out.split())
    screen.print_summary(summary(members=crowd(20)))
    out = capsys.readouterr().out
    assert all(f" w{place} " in out for place in range(20)) and "in between" not in out


def test_members_without_answers_are_counted_and_not_listed(capsys):
    silent = crowd(20, coverage=0.0, **{"estimated accuracy": np.nan, "from": np.nan, "to": np.nan})
    screen.print_summary(summary(members=[*summary()["members"], *silent]))
    out = capsys.readouterr().out
    assert "20 of 22 members answered no item here." in out and "w3" not in out and "unknown" not in out


def test_a_member_with_few_answers_has_an_interval_and_no_accuracy(capsys):
    few = crowd(1, coverage=0.001, **{"estimated accuracy": np.nan, "answers": 1})
    screen.print_summary(summary(members=[*summary()["members"], *few]))
    out = capsys.readouterr().out
    line = next(line for line in out.splitlines() if " w0 " in line)
    assert "25% to 75%" in line and "(" not in line and "<1%" in line
    screen.print_summary(summary(members=[*crowd(30), *few]))
    out = " ".join(capsys.readouterr().out.split())
    assert "1 of 31 members gave fewer than 5 answers; --json has their intervals." in out


def test_a_narrow_terminal_shows_every_cell(capsys, monkeypatch):
    monkeypatch.setattr(screen, "out", Console(width=20))
    screen.print_table(Table({"method": ["Average", "Consensus"], "accuracy": [0.5, 0.75], "changed": [0.125, 0.25]}))
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("Consensus", "0.7500", "0.1250", "accuracy"))


def test_a_member_with_a_warning_is_marked_in_the_table(capsys):
    first, second = summary()["members"]
    screen.print_summary(summary(members=[first, second | {"warned": True}]))
    out = capsys.readouterr().out
    assert "│ b !" in out and "│ a  " in out and "! there is a warning about this member, below." in out


@pytest.mark.parametrize(("counted", "how"), [(True, "counted on the labelled items"), (False, "estimated without")])
def test_confusions_are_said_to_be_counted_where_they_are(capsys, counted, how):
    screen.print_summary(summary(**{"confusions counted": counted}))
    assert f"how often of that class; {how}" in " ".join(capsys.readouterr().out.split())


def test_items_that_members_answer_more_than_once_are_counted(capsys):
    screen.print_summary(summary(repeated={"members": 2, "items": 600}))
    told = " ".join(capsys.readouterr().out.split())
    assert "! 2 members answer items more than once (600 items), and each answer counts." in told
    assert "name it too: --item-column question_id+candidate" in told


def test_the_report_is_said_to_list_members_only_as_far_as_it_does(capsys):
    member = summary()["members"][0]
    for n_members, where in ((400, "--json and --report list them."), (600, "--json lists them.")):
        screen.print_summary(summary(members=[member | {"member": f"w{place}"} for place in range(n_members)]))
        assert where in " ".join(capsys.readouterr().out.split())
