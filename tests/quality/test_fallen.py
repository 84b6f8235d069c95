"""Whether a warning that the fused answer has become worse is right."""

from pathlib import Path

from benchmarks.quality.fallen import Seen, pairs, row, views_of


def test_rows_count_warnings_and_causes():
    some = [
        (Seen(0.95, 0.9), Seen(0.8, 0.6)),  # warned of, rightly
        (Seen(0.95, 0.9), Seen(0.8, 0.88)),  # warned of, wrongly
        (Seen(0.95, 0.9), Seen(0.94, 0.5)),  # not found
        (Seen(0.95, 0.9), Seen(0.95, 0.9)),
    ]
    assert row("made-up", some, 0.1).split() == ["made-up", "0.10", "4", "2", "0.50", "2", "0.50"]


def test_every_shift_is_looked_at_and_clean_images_again():
    views = dict(views_of("digits"))
    assert {"rotation-1", "rotation-2", "noise-1", "noise-2", "clean"} == set(views)
    assert views["clean"] != views["noise-1"]


def test_members_look_at_the_reference_first(tmp_path):
    then, now = next(pairs("digits", Path(tmp_path), Path(tmp_path)))
    assert then.true > now.true - 0.05 and 0 < now.estimated < 1
