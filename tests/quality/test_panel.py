import numpy as np
import pytest

from benchmarks.quality.panel import AS_IT_IS, Panel, answered, keep, read, read_all, take
from panels_of_quality import hard, soft


def test_votes_are_the_most_probable_classes_the_first_of_a_tie():
    rows = np.array([[[0.2, 0.8], [0.5, 0.5], [np.nan, np.nan]]])
    panel = Panel("a", "tables", AS_IT_IS, np.zeros(3, int), 2, probabilities=rows)
    assert panel.votes.tolist() == [[1, 0, -1]]
    assert (panel.n_members, panel.n_items) == (1, 3)


def test_predictions_are_what_a_user_would_bring():
    assert hard().predictions.hard is not None
    assert soft().predictions.hard is None
    assert soft().predictions.n_items == 400


def test_take_keeps_answers_beside_their_truth():
    panel = soft()
    items, members = np.array([7, 3]), np.array([2, 0])
    some = take(panel, items, members)
    np.testing.assert_array_equal(some.truth, panel.truth[items])
    np.testing.assert_array_equal(some.probabilities[1, 0], panel.probabilities[0, 7])


def test_items_and_members_without_an_answer_are_dropped():
    panel = Panel("a", "tables", AS_IT_IS, np.arange(3), 3, labels=np.array([[0, -1, 2], [-1, -1, -1]]))
    some = answered(panel)
    assert some.truth.tolist() == [0, 2] and some.labels.tolist() == [[0, 2]]


@pytest.mark.parametrize("make", [soft, hard])
def test_a_kept_panel_is_read_as_it_was(make, tmp_path):
    panel = make(name="one", family="judges", kind="rare")
    keep(panel, tmp_path)
    again = read(tmp_path / "one.npz")
    assert (again.name, again.family, again.kind, again.n_classes) == ("one", "judges", "rare", 4)
    np.testing.assert_array_equal(again.truth, panel.truth)
    np.testing.assert_array_equal(again.votes, panel.votes)
    if panel.labels is None:
        np.testing.assert_allclose(again.probabilities, panel.probabilities, rtol=1e-6)


def test_panels_are_read_by_kind(tmp_path):
    for name, kind in (("b", AS_IT_IS), ("a", AS_IT_IS), ("c", "rare")):
        keep(hard(name=name, kind=kind), tmp_path)
    assert [panel.name for panel in read_all(tmp_path, AS_IT_IS)] == ["a", "b"]
