"""A bar appears where it is wanted, when its time has come, and says how far the work is."""

from contextlib import suppress

import pytest

from consilience.system import machine as module
from consilience.system.machine import Progress, show_progress


def test_reports_are_discarded_where_no_bar_is_shown(capsys):
    with show_progress("nothing", 3, is_shown=False) as progress:
        progress.expect(3)
        progress.begin("a part")
        progress.finish()
    Progress().finish()
    assert capsys.readouterr() == ("", "")


def test_the_bar_counts(capsys):
    with suppress(KeyboardInterrupt), show_progress("cells", is_shown=True) as progress:
        progress.expect(2)
        progress.expect(1)
        progress.begin("the second cell")
        progress.finish()
        progress.finish()
        raise KeyboardInterrupt
    shown = capsys.readouterr()
    assert "the second cell" in shown.err and "2/3" in shown.err and shown.out == ""


def test_the_bar_of_finished_work_is_full(capsys):
    with show_progress("fit", 5, is_shown=True) as progress:
        progress.begin("the last step needed")
        progress.finish()
    progress.finish()  # nothing is drawn any more
    shown = capsys.readouterr().err
    assert "fit" in shown and "1/1" in shown and "2/" not in shown


def test_the_bar_appears_at_the_first_report_after_its_time(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with show_progress("slow", 2, is_shown=True, after=5.0) as progress:
        progress.finish()
        now[0] += 4.9
        progress.begin("not yet")
        assert not progress._bar.live.is_started
        now[0] += 0.1
        progress.finish()
        assert progress._bar.live.is_started
    assert "2/2" in capsys.readouterr().err


def test_work_that_is_quick_shows_nothing(capsys):
    with show_progress("quick", 1, is_shown=True, after=60.0) as progress:
        progress.finish()
    assert capsys.readouterr().err == ""


def test_an_error_in_the_work_comes_through_and_ends_the_bar():
    shown = []

    def work():
        with show_progress("work", 2, is_shown=True) as progress:
            shown.append(progress._bar)
            progress.finish()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    assert not shown[0].live.is_started and shown[0].disable


def test_a_sentence_stays_above_the_bar(capsys):
    with show_progress("cells", is_shown=True) as progress:
        progress.say("Predictions take 135 GB.")
    assert "Predictions take 135 GB.\n" in capsys.readouterr().err
    Progress().say("nobody reads this")
    assert capsys.readouterr() == ("", "")
