from dataclasses import replace

import numpy as np
import pytest

from benchmarks.quality.draws import KINDS, LEAST_ITEMS, draws, only_classes
from benchmarks.quality.panel import Panel
from panels_of_quality import hard, soft


def drawn_by_kind(panel):
    found = {}
    for one in draws(panel):
        found.setdefault(one.kind, []).append(one)
    return found


@pytest.fixture(scope="module", params=["soft", "hard"])
def found(request):
    """A panel whose first member is always right, and all draws from it."""
    panel = {"soft": soft, "hard": hard}[request.param](family="judges")
    return panel, drawn_by_kind(panel)


def test_every_kind_is_drawn_as_often_as_it_says(found):
    panel, kinds = found
    expected = {name: kind.n_draws for name, kind in KINDS.items() if panel.labels is None or name != "votes"}
    assert {name: len(some) for name, some in kinds.items()} == expected


def test_draws_keep_the_family_and_have_names_of_their_own(found):
    panel, kinds = found
    everything = [one for some in kinds.values() for one in some]
    assert {one.family for one in everything} == {panel.family}
    assert len({one.name for one in everything}) == len(everything)
    assert all(one.name.startswith(f"{panel.name}~") for one in everything)


def test_every_item_has_an_answer_and_every_member_gives_one(found):
    for some in found[1].values():
        for one in some:
            assert (one.votes >= 0).any(axis=0).all() and (one.votes >= 0).any(axis=1).all()
            assert one.votes.shape == (one.n_members, one.n_items) and one.votes.max() < one.n_classes


def test_truth_stays_beside_the_answers(found):
    # The oracle is right wherever it answers; it is the first member, but where members were drawn.
    for name, some in found[1].items():
        for one in some:
            if name not in {"members drawn", "some classes"}:
                said = one.votes[0] >= 0
                np.testing.assert_array_equal(one.votes[0, said], one.truth[said])
            assert (one.truth >= 0).all()


def test_the_same_name_gives_the_same_draws(found):
    panel, kinds = found
    again = drawn_by_kind(panel)
    other = drawn_by_kind(replace(panel, name="another"))
    for name, some in kinds.items():
        for one, same in zip(some, again[name], strict=True):
            np.testing.assert_array_equal(one.votes, same.votes)
            np.testing.assert_array_equal(one.truth, same.truth)
    assert not np.array_equal(kinds["10 items"][0].truth, other["10 items"][0].truth)


def test_rare_is_rare(found):
    for one in found[1]["rare"]:
        assert one.n_classes == 2
        assert (one.truth == 1).sum() >= 3 and (one.truth == 1).mean() < 0.22


def test_uneven_has_two_classes_or_more(found):
    for one in found[1]["uneven"]:
        assert len(np.unique(one.truth)) >= 2 and one.n_items >= LEAST_ITEMS


def test_few_answers_are_three_at_most(found):
    for one in found[1]["few answers"]:
        assert (one.votes >= 0).sum(axis=0).max() == 3


def test_votes_are_votes():
    panel = soft()
    (one,) = drawn_by_kind(panel)["votes"]
    assert one.probabilities is None
    np.testing.assert_array_equal(one.labels, panel.votes)


def test_numbers_of_items_are_as_named(found):
    for n_items in (10, 30, 100):
        assert {one.n_items for one in found[1][f"{n_items} items"]} == {n_items}


def test_members_are_added_or_drawn(found):
    panel, kinds = found
    added = {"copies": 2, "useless": 1, "adversarial": 1, "many members": 40 - panel.n_members}
    for name, n_more in added.items():
        for one in kinds[name]:
            assert one.n_members == panel.n_members + n_more
            np.testing.assert_array_equal(one.votes[: panel.n_members], panel.votes)
    (one,) = kinds["copies"]
    np.testing.assert_array_equal(one.votes[-1], one.votes[-2])
    assert all(2 <= one.n_members <= 5 for one in kinds["members drawn"])


def test_an_adversary_never_says_what_its_source_says(found):
    (one,) = found[1]["adversarial"]
    shifts = [np.unique((one.votes[-1] - row)[(row >= 0) & (one.votes[-1] >= 0)] % 4) for row in one.votes[:-1]]
    assert any(len(shift) == 1 and shift[0] != 0 for shift in shifts)


def test_large_panels_are_cut_and_members_left_without_items_are_no_trouble():
    # 1,900 items without truth are dropped first, and with them 30 members who answer nothing else.
    truth = np.concatenate([np.arange(1000) % 3, np.full(1900, -1)])
    labels = np.full((40, 2900), -1)
    labels[:10, :1000] = truth[:1000]
    labels[10:, 1000:] = 0
    panel = Panel("crowd", "crowds", "as it is", truth, 3, labels=labels)
    for one in draws(panel):
        assert one.n_items <= 1000 and (one.truth >= 0).all(), one.name


def test_who_finds_none_of_the_classes_probable_says_nothing():
    rows = np.array([[[1.0, 0, 0], [0, 0.2, 0.6]], [[0, 0.5, 0.5], [0.5, 0.5, 0]]])
    panel = Panel("a", "tables", "as it is", np.array([2, 1]), 3, probabilities=rows)
    two = only_classes(panel, np.array([2, 1]))
    np.testing.assert_allclose(two.probabilities[:, 0], [[np.nan, np.nan], [0.5, 0.5]])
    np.testing.assert_allclose(two.probabilities[:, 1], [[0.75, 0.25], [0, 1]])
    assert two.truth.tolist() == [0, 1]


def test_panels_without_sense_for_a_kind_have_no_draw_of_it():
    kinds = drawn_by_kind(hard(n_members=3, n_classes=2, n_items=60))
    assert not {"votes", "some classes", "few answers", "members drawn", "100 items"} & set(kinds)
