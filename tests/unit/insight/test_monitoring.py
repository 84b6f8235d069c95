import pickle
import subprocess
import sys

import numpy as np
import pytest

import consilience as cs
from consilience.insight.monitoring import FIRST_WINDOWS
from consilience.report.stream import page

from simulate import softmax_members

MEMBERS = ["vit", "cnn", "mlp"]


def stream(rng, n_items=700, changes_at=None, members=MEMBERS):
    """Three members; what they know falls to a third at an item."""
    skills = np.array([3.0, 2.5, 2.0])
    n_before = n_items if changes_at is None else changes_at
    parts = [softmax_members(rng, skills, n_before, 3), softmax_members(rng, skills / 3, n_items - n_before, 3)]
    array = np.concatenate([part for part, _ in parts], axis=1)
    truth = np.concatenate([labels for _, labels in parts])
    return cs.Predictions(array, members=members), truth


def test_a_change_is_found_where_it_happens_and_told(rng):
    p, _ = stream(rng, changes_at=600)
    found = cs.monitor(p, window=50)
    windows = found.windows
    assert len(windows) == 14 and windows["reference"] == [True] * FIRST_WINDOWS + [False] * 9
    assert windows["alarm"][12:] == [True, True]
    sentence = found.alarms[-1]
    assert (
        "13; in the last of them: members agree less with each other" in sentence
        and "Next: label some 50 of these items" in sentence
    )
    assert sentence in repr(found)
    assert np.mean(windows["accuracy"][12:]) < np.mean(windows["accuracy"][:12])
    assert (np.array(windows["from"]) <= windows["accuracy"]).all()
    assert (np.array(windows["to"]) >= windows["accuracy"]).all()


def test_batches_are_the_windows_of_one_panel(rng):
    p, truth = stream(rng, n_items=420, changes_at=360)
    cut = cs.monitor(p, window=60, labels=truth, reference=2)
    parts = [slice(start, start + 60) for start in range(0, 420, 60)]
    batches = cs.monitor((p.take(part) for part in parts), labels=[truth[part] for part in parts], reference=2)
    assert cut.windows.rows()[2:] == batches.windows.rows()[2:]
    assert cut.members.to_dict() == batches.members.to_dict() and cut.alarms == batches.alarms


def test_the_order_of_members_does_not_matter(rng):
    p, _ = stream(rng, n_items=300, changes_at=240)
    turned = cs.Predictions(p.to_array()[::-1], members=p.members[::-1])
    one, other = cs.monitor(p, window=60, reference=2), cs.monitor(turned, window=60, reference=2)
    assert one.windows["p-value"][2:] == other.windows["p-value"][2:]
    np.testing.assert_allclose(one.windows["accuracy"], other.windows["accuracy"], atol=1e-6)
    # A batch may have its members in another order: they are matched by name.
    mixed = cs.monitor([p.take(slice(0, 240)), turned.take(slice(240, 300))], reference=1)
    np.testing.assert_allclose(mixed.members["accuracy"][3:], one.members["accuracy"][-3:], atol=1e-6)


def test_labels_measure_and_change_no_alarm(rng):
    p, truth = stream(rng, n_items=300, changes_at=240)
    known = np.where(rng.random(300) < 0.5, truth, -1)
    found, without = cs.monitor(p, window=60, reference=3, labels=known), cs.monitor(p, window=60, reference=3)
    assert all(found.windows["measured"]) and not any(without.windows["measured"])
    assert found.windows["p-value"][3:] == without.windows["p-value"][3:]
    answers = p.to_array().argmax(axis=2)
    truly = [(answers[m, k : k + 60] == truth[k : k + 60]).mean() for k in range(0, 300, 60) for m in range(3)]
    np.testing.assert_allclose(found.members["accuracy"], truly, atol=0.2)
    assert "measured accuracies" in found.alarms[-1] and "label some 50" in without.alarms[-1]


def test_a_reference_that_is_given_is_the_first_row(rng):
    p, _ = stream(rng, n_items=400, changes_at=300)
    found = cs.monitor([p.take(slice(200, 300)), p.take(slice(300, 400))], reference=p.take(slice(0, 200)))
    assert found.windows["window"] == ["reference", 0, 1]
    assert found.windows["alarm"] == [False, False, True]
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)


def test_a_short_rest_belongs_to_the_last_window(rng):
    p, _ = stream(rng, n_items=124)
    assert cs.monitor(p, window=50, reference=1).windows["items"] == [50, 74]
    assert cs.monitor(p, window=40, reference=1).windows["items"] == [40, 40, 44]
    assert cs.monitor(p, window=48, reference=1).windows["items"] == [48, 48, 28]


def test_the_page_needs_nothing_and_escapes_names(rng, tmp_path):
    p, _ = stream(rng, n_items=200, members=["<script>alert(1)</script>", "b", "c"])
    found = cs.monitor(p, window=50, reference=1)
    text = found.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<script" not in text and "&lt;script&gt;" in text and "http://" not in text and "https://" not in text
    assert "default-src 'none'" in text and text.count("<polygon") == 1 + 3
    assert "no alarm" in text or "Next:" in text


def test_a_pickled_one_is_drawn_in_another_process(rng, tmp_path):
    p, _ = stream(rng, n_items=200)
    found = cs.monitor(p, window=50, reference=1)
    (tmp_path / "found").write_bytes(pickle.dumps(found))
    code = "import pickle, sys; found = pickle.load(sys.stdin.buffer); found.to_html('page.html'); print(found.svg())"
    with (tmp_path / "found").open("rb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdin=file, cwd=tmp_path, capture_output=True, check=True)
    assert done.stdout.decode().strip() == found.svg()
    assert found.svg() in (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: cs.monitor(p, window=5000), "window must be at most the stream's 200 items; got 5000"),
        (lambda p: cs.monitor(p, window=5), "window must be an integer of at least 10; got 5"),
        (lambda p: cs.monitor(p, window=50, false_alarms=1.5), "false_alarms must be a number from 0.0001.*got 1.5"),
        (lambda p: cs.monitor(p, window=50, false_alarms=0), "false_alarms must be a number from 0.0001.*got 0"),
        (lambda p: cs.monitor(p, window=100), "more windows than the 5 of the reference; got 2"),
        (lambda p: cs.monitor(p, window=50, reference=0), "reference must be an integer of at least 1; got 0"),
        (lambda _: cs.monitor([]), "the stream must have at least one batch; got none"),
        (cs.monitor, "one panel needs window=.*got a Predictions"),
        (lambda _: cs.monitor(3), "must be an iterable of batches.*got a int"),
        (lambda p: cs.monitor([p, cs.Predictions(p.to_array(), members=list("xyz"))]), "batch 1 must have .*'x'"),
        (lambda p: cs.monitor([p.take(slice(0, 5))]), "batch 0 must have at least 10 items; got 5"),
        (lambda p: cs.monitor([p, p], labels=[[-1] * 200], reference=1), "labels must have an entry for each batch"),
        (lambda p: cs.monitor(p, window=50, reference=p.to_array()[:2]), "the reference must have the members"),
    ],
)  # fmt: skip
def test_bad_input_is_told_in_a_sentence(rng, call, sentence):
    p, _ = stream(rng, n_items=200)
    with pytest.raises(ValueError, match=sentence):
        call(p)


def test_the_page_of_members_who_give_labels_has_no_line_of_confidence_and_no_raw_truth_values():
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    labels = np.where(rng.random((4, 600)) < 0.85, truth, 1 - truth)
    found = cs.monitor(cs.Predictions.from_labels(labels, 2), window=100)
    html = page(found)
    assert ">agreement</tspan>" in html and ">confidence</tspan>" not in html
    assert "<td>True</td>" not in html and "<td>False</td>" not in html and "<td>yes</td>" in html
    assert found.told()[-1].endswith("Where nothing changes, at most one window in 100 is a false alarm")
