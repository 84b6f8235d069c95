"""Progress of an experiment whose output goes to a file."""

import paper.progress as module
from paper.progress import shown_or_logged


def test_a_log_gets_a_line_now_and_then(monkeypatch):
    now, lines = [0.0], []
    monkeypatch.setattr(module, "monotonic", lambda: now[0])
    with shown_or_logged("cells", is_shown=False, write=lines.append) as progress:
        progress.expect(4)
        progress.begin("the first")
        assert not lines  # short work leaves no trace
        for now[0] in (10.0, 31.0, 40.0, 62.0):
            progress.finish()
    assert [line.split(" ", 1)[1] for line in lines] == ["2/4 the first\n", "4/4 the first\n"]


def test_a_sentence_is_logged_at_once():
    lines = []
    with shown_or_logged("cells", is_shown=False, write=lines.append) as progress:
        progress.say("Predictions take 135 GB.")
    assert len(lines) == 1 and lines[0].endswith(" Predictions take 135 GB.\n")
