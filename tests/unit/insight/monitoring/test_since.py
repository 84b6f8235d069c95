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
