"""Figure 1: confusion matrices that labels tell."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper.catalog import confusion


def test_true_confusion_matrices():
    array = np.eye(3, dtype=np.float32)[[[0, 1, 1, 0]]]
    found = confusion.true_confusion(array, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found[0, :2], [[0.5, 0.5, 0], [0.5, 0.5, 0]])
    assert np.isnan(found[0, 2]).all()
