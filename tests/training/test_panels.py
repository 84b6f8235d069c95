"""Panels to learn from: the same again, kept once, and never those of held-out families."""

import numpy as np
import pytest

from benchmarks.quality.families import SIDES
from benchmarks.quality.panel import AS_IT_IS, keep
from benchmarks.quality.prepare import Entry
from consilience.aggregators.consensus.learned.experts import MOST_CANDIDATES, PAIR_FEATURES
from panels_of_quality import hard, soft
from training import panels
from training.features import Features, features_of
from training.panels import (
    LEAST_ITEMS,
    MOST_ITEMS,
    Job,
    drawn_jobs,
    exam_jobs,
    generated_jobs,
    own_exams,
    own_jobs,
    panel_of,
    read_exam,
    read_lessons,
    read_own,
    store,
    store_all,
)

HELD_OUT = [family for family, side in SIDES.items() if side == "held-out"]


@pytest.fixture
def entries(tmp_path):
    """Two tuning families; the files of held-out ones are not there, so that opening one fails."""
    found = [Entry(tmp_path / f"{family}.npz", family, AS_IT_IS) for family in HELD_OUT]
    for name, family, kind in [
        ("one", "tables", AS_IT_IS),
        ("two", "tables", AS_IT_IS),
        ("one~rare~0", "tables", "rare"),
        ("one~rare~1", "tables", "rare"),
        ("three", "judges", AS_IT_IS),
    ]:
        keep(soft(len(found), n_items=50, name=name, family=family, kind=kind), tmp_path)
        found.append(Entry(tmp_path / f"{name}.npz", family, kind))
    return found


def test_held_out_families_are_never_opened(entries):
    assert len(HELD_OUT) == 7
    jobs = [*drawn_jobs(entries, 4), *exam_jobs(entries)]
    assert {panel_of(job).family for job in jobs} == {"tables", "judges"}


def test_every_family_is_drawn_as_often(entries):
    jobs = drawn_jobs(entries, 4)
    assert [job.name for job in jobs] == [
        f"{family} {number}" for family in ("tables", "judges") for number in range(4)
    ]
    assert [job.path.stem for job in jobs] == ["one", "two", "one", "two", *["three"] * 4]
    assert [job.is_altered for job in jobs] == [False, False, True, True, False, True, True, True]


def test_exams_are_panels_as_they_are_and_first_draws(entries):
    assert [job.name for job in exam_jobs(entries)] == ["one", "two", "one~rare~0", "three"]
    assert [job.name for job in exam_jobs(entries, ["rare"])] == ["one~rare~0"]


def test_the_same_job_gives_the_same_panel(entries):
    for job in (generated_jobs(2)[1], drawn_jobs(entries, 4)[3]):
        first, again = panel_of(job), panel_of(job)
        np.testing.assert_array_equal(first.votes, again.votes)
        np.testing.assert_array_equal(first.truth, again.truth)


def test_most_generated_panels_are_altered():
    is_altered = [job.is_altered for job in generated_jobs(1000)]
    assert 0.75 < np.mean(is_altered) < 0.85
    assert [job.is_altered for job in generated_jobs(10)] == is_altered[:10]


def test_panels_of_very_many_classes_are_cut(tmp_path, monkeypatch):
    monkeypatch.setattr(panels, "MOST_WORK", 1)
    keep(soft(n_items=500, name="large"), tmp_path)
    assert panel_of(Job("large", 0, tmp_path / "large.npz", is_altered=False)).n_items == MOST_ITEMS


def test_a_lesson_has_true_candidates_only(tmp_path):
    panel = soft(n_items=300, n_classes=60, name="sixty")
    keep(panel, tmp_path)
    store(Job("sixty", 0, tmp_path / "sixty.npz", is_altered=False), tmp_path / "lesson.npz")
    (lesson,) = read_lessons([tmp_path / "lesson.npz"])
    assert lesson.family == "tables"
    assert lesson.features.pair.shape == (MOST_ITEMS, MOST_CANDIDATES, len(PAIR_FEATURES))
    assert lesson.features.candidates.shape == (MOST_ITEMS, MOST_CANDIDATES)
    assert lesson.truth.shape == (MOST_ITEMS,) and lesson.truth.min() >= 0
    np.testing.assert_allclose(lesson.shares, np.bincount(panel.truth, minlength=60) / 300)
    # The first member of these panels is always right, and 90 % sure: the true candidate is probable to the average.
    average = lesson.features.pair[:, :, PAIR_FEATURES.index("average")]
    assert (np.take_along_axis(average, lesson.truth[:, None], 1) > 0.1).mean() > 0.8


@pytest.mark.parametrize("make", [soft, hard], ids=["probabilities", "votes"])
def test_a_lesson_is_in_half_precision_and_its_traits_are_not(tmp_path, make):
    panel = make(n_items=50, name="short")
    keep(panel, tmp_path)
    store(Job("short", 0, tmp_path / "short.npz", is_altered=False), tmp_path / "lesson.npz")
    (lesson,) = read_lessons([tmp_path / "lesson.npz"])
    expected = features_of(panel)
    short = ("pair", "item", "own", "said")
    for name in Features._fields[:-1]:
        stored, exact = getattr(lesson.features, name), getattr(expected, name)
        assert stored.dtype == (np.float16 if name in short else np.int32 if exact.dtype.kind == "i" else np.float32)
        np.testing.assert_allclose(stored, exact, rtol=2e-3 if name in short else 1e-5, atol=2e-3, err_msg=name)
    assert not lesson.features.average.size  # which training does not need


def test_an_item_whose_truth_is_no_candidate_is_kept_and_never_drawn(tmp_path):
    panel = hard(n_items=100, n_classes=60, name="sixty")
    panel.labels[:] = (panel.truth + 1) % 60  # nobody is ever right
    keep(panel, tmp_path)
    store(Job("sixty", 0, tmp_path / "sixty.npz", is_altered=False), tmp_path / "lesson.npz")
    (lesson,) = read_lessons([tmp_path / "lesson.npz"])
    candidates, is_drawn = lesson.features.candidates, lesson.truth >= 0
    assert is_drawn.any() and not is_drawn.all()
    np.testing.assert_array_equal(candidates[is_drawn, lesson.truth[is_drawn]], panel.truth[is_drawn])
    assert not (candidates[~is_drawn] == panel.truth[~is_drawn, None]).any()


def test_lessons_with_too_few_items_are_left_out(tmp_path):
    keep(soft(n_items=LEAST_ITEMS - 1, name="tiny"), tmp_path)
    store(Job("tiny", 0, tmp_path / "tiny.npz", is_altered=False), tmp_path / "lesson.npz")
    assert read_lessons([tmp_path / "lesson.npz"]) == []


def test_an_exam_has_all_items_whose_truth_is_known(tmp_path, entries):
    store(exam_jobs(entries)[0], tmp_path / "exam.npz")
    exam = read_exam(tmp_path / "exam.npz")
    assert exam.features.pair.shape == (50, 4, len(PAIR_FEATURES))
    assert exam.features.average.shape == (50, 4) and len(exam.truth) == 50
    np.testing.assert_allclose(exam.shares, np.bincount(exam.truth, minlength=4) / 50)
    assert set(exam.rows) == {"average"}
    assert exam.rows["average"]["family"] == "tables"


def test_what_is_kept_is_not_made_again(tmp_path, monkeypatch):
    names = []
    jobs = generated_jobs(3)
    first = store_all(jobs[:2], tmp_path / "kept", 1, names.append)
    monkeypatch.setattr(panels, "panel_of", lambda job: pytest.fail(f"{job.name} is made again"))
    assert store_all(jobs[:2], tmp_path / "kept", 1, names.append) == first
    assert sorted(names) == ["generated 0", "generated 0", "generated 1", "generated 1"]
    with pytest.raises(pytest.fail.Exception):
        store_all(jobs, tmp_path / "kept", 1, names.append)


# ---- the user's own ---------------------------------------------------------------------------------------


@pytest.fixture
def own(tmp_path):
    """A folder with a panel of probabilities and one of labels."""
    panel = soft(n_items=30)
    np.savez(tmp_path / "march.npz", truth=panel.truth, probabilities=panel.probabilities)
    np.savez(tmp_path / "april.npz", truth=panel.truth, labels=panel.votes, family="spring")
    return tmp_path


def test_own_panels_are_drawn_and_examined(own):
    jobs = own_jobs(own, 3)
    assert [job.name.split()[1::2] for job in jobs] == [[name, str(n)] for name in ("april", "march") for n in range(3)]
    np.savez(own / "march.npz", truth=np.arange(30) % 4, labels=np.zeros((2, 30), int))
    assert {job.name for job in own_jobs(own, 3)} & {job.name for job in jobs[3:]} == set()  # another panel, made anew
    assert {panel_of(job).family for job in jobs} == {"own spring", "own march"}
    assert [panel_of(job).n_items for job in own_exams(own)] == [30, 30]
    assert own_exams(None) == []


def test_an_own_panel_is_read_as_it_is(own):
    panel = read_own(own / "march.npz")
    assert (panel.n_members, panel.n_items, panel.n_classes, panel.family) == (6, 30, 4, "own march")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"truth": np.zeros(9, int)}, "must hold truth and either probabilities or labels; it holds truth"),
        ({"truth": np.zeros(9, int), "labels": np.zeros((2, 8), int)}, "one truth for each item; got"),
        ({"truth": np.full(9, -1), "labels": np.zeros((2, 9), int)}, "5 true classes or more"),
    ],
    ids=["no answers", "sizes", "no truth"],
)
def test_other_files_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "odd.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        own_jobs(tmp_path, 1)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must hold \.npz files"):
        own_jobs(tmp_path, 1)
