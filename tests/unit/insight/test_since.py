import numpy as np
import pytest

import consilience as cs

from simulate import softmax_members


def test_what_has_changed_is_told_in_a_line_each(rng):
    old, truth = softmax_members(rng, [3, 2.5, 2], n_items=300, n_classes=3)
    new, _ = softmax_members(rng, [1, 1, 0.5], n_items=200, n_classes=3)
    found = cs.diagnose(new, reference=old, reference_labels=truth)
    since = found.since
    assert since.then.agreement == cs.agreement(old).alpha.value
    assert since.now.confidence == pytest.approx(new.max(axis=2).mean())
    lines = since.lines()
    assert lines[0].startswith("agreement, Krippendorff's alpha: 0.") and lines[0].endswith("changed, p = 0.001")
    assert "mean confidence" in lines[1] and "(changed, " in lines[1]
    assert lines[-1] in repr(found)
    truly = (old.argmax(axis=2) == truth).mean(axis=1)
    np.testing.assert_allclose(since.measured["accuracy"][:3], truly)
    assert since.measured["member"] == ["0", "1", "2", "fused answer"] and all(since.measured["measured"])


def test_estimates_are_not_moved_by_the_reference(rng):
    old, truth = softmax_members(rng, [3, 2.5, 2], n_items=100, n_classes=3)
    new, _ = softmax_members(rng, [1, 1, 0.5], n_items=100, n_classes=3)
    with_reference, alone = cs.diagnose(new, reference=old, reference_labels=truth), cs.diagnose(new)
    assert with_reference.members.rows() == alone.members.rows() and alone.since is None


def test_a_sample_of_the_same_has_not_changed():
    rng = np.random.default_rng(1)
    old, _ = softmax_members(rng, [3, 2.5, 2], n_items=200, n_classes=3)
    new, _ = softmax_members(rng, [3, 2.5, 2], n_items=200, n_classes=3)
    since = cs.diagnose(new, reference=old).since
    assert all("no change to speak of" in line for line in since.lines()) and since.measured is None


def test_labels_of_no_reference_are_refused(rng):
    array, truth = softmax_members(rng, [3, 2], n_items=50, n_classes=3)
    with pytest.raises(ValueError, match="reference_labels need the reference that they belong to"):
        cs.diagnose(array, reference_labels=truth)


def test_a_fused_answer_that_has_become_worse_is_warned_of(rng):
    old, truth = softmax_members(rng, [3, 2.5, 2], n_items=300, n_classes=3)
    new, _ = softmax_members(rng, [1, 1, 0.5], n_items=200, n_classes=3)
    for labels in (None, truth):  # which change nothing of it
        found = cs.diagnose(new, reference=old, reference_labels=labels)
        then, now = found.since.fused
        assert then == pytest.approx(cs.diagnose(old).answers["fused answer"].value)
        assert now == pytest.approx(cs.diagnose(new).answers["fused answer"].value)
        assert found.warnings[-1].startswith("the fused answer is probably right on fewer items than in the reference")
        assert f"right on {now:.0%}, and on {then:.0%} there" in found.warnings[-1] and "label some" in repr(found)


def test_a_fused_answer_as_good_as_before_is_not(rng):
    old, _ = softmax_members(rng, [3, 2.5, 2], n_items=300, n_classes=3)
    new, _ = softmax_members(rng, [3, 2.5, 2], n_items=300, n_classes=3)
    better = cs.diagnose(new, reference=softmax_members(rng, [1, 1, 0.5], n_items=200, n_classes=3)[0])
    for found in (cs.diagnose(new, reference=old), better):
        assert not any("than in the reference" in warning for warning in found.warnings)
