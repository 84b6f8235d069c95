"""Of a large ensemble a report shows the most telling members, classes and items."""

import numpy as np

from consilience.insight.analysis import most_confused
from consilience.report.items import (
    answers_to,
    first_of_each,
    items_to_show,
    members_to_show,
)


def test_members_shown_are_the_busiest_the_best_and_the_worst():
    n_answers = np.array([100, 5, 30, 40, 50, 60, 25, 22, 90])
    accuracy = np.array([0.5, 1.0, 0.9, 0.1, 0.6, 0.6, 0.8, np.nan, 0.5])
    assert members_to_show(n_answers, accuracy, 3).tolist() == [0, 2, 3]
    assert 1 not in members_to_show(n_answers, accuracy, 6)  # five right answers are luck
    assert members_to_show(n_answers, accuracy, 9).tolist() == list(range(9))


def test_the_largest_cells_off_the_diagonal():
    mistakes = np.zeros((50, 50))
    mistakes[7, 31], mistakes[31, 7], mistakes[12, 40] = 9, 5, 7
    np.fill_diagonal(mistakes, 100)
    assert most_confused(mistakes, 5) == [(7, 31, 9 / 109, 9), (12, 40, 7 / 107, 7), (31, 7, 5 / 105, 5)]


def test_rankings_take_turns():
    rankings = [np.array([3, 1, 2]), np.array([3, 0]), np.array([], dtype=int)]
    assert first_of_each(rankings, 9) == {3: 0, 1: 0, 0: 1, 2: 0}
    assert list(first_of_each(rankings, 2)) == [3, 1]
    assert first_of_each(rankings, 0) == {}


def test_changed_items_leave_room_for_uncertain_and_disputed_ones():
    """Ten items of two classes: the average answers the first five otherwise; item 9 is disputed, item 5 uncertain."""
    unknown = np.full(10, -1)
    first = np.array([0.9, 0.8, 0.7, 0.95, 0.6, 0.51, 0.7, 0.8, 0.9, 0.99])
    consensus = answers_to(np.column_stack([first, 1 - first]), unknown)
    plain = np.where(np.arange(10) < 5, 0.4, 0.6)
    average = answers_to(np.column_stack([plain, 1 - plain]), unknown)
    against = np.where(np.arange(10) == 9, 0.5, 0.1)
    shown = items_to_show(consensus, consensus.chosen != average.chosen, against, 5)
    assert [*shown] == [3, 0, 1, 5, 9]  # 60 % of five, the most decided first
    assert [*shown.values()] == ["changed"] * 3 + ["uncertain", "disputed"]
    everything = items_to_show(consensus, consensus.chosen != average.chosen, against, 50)
    assert sorted(everything) == list(range(10)) and [*everything.values()].count("changed") == 5
