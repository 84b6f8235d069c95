"""What once went another way by one door than by another."""

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.files import read_sources

from simulate import softmax_members


def test_two_texts_stay_two_names():
    frame = pd.DataFrame({"task": ["2", "2.0", "3"] * 2, "worker": list("aaabbb"), "label": list("xyxyyx")})
    with pytest.raises(cs.InvalidPredictions, match="'2.0'"):  # or three items
        cs.Predictions.from_frame(frame)


def test_a_class_called_inf(tmp_path):
    frame = pd.DataFrame({"item": list("xyzxyz"), "member": list("aaabbb"), "label": ["inf", "1e3"] * 3})
    frame.to_parquet(tmp_path / "long.parquet", index=False)
    assert sorted(read_sources([str(tmp_path / "long.parquet")]).predictions.classes) == ["1e3", "inf"]


def test_consensus_learns_the_same_from_labels_in_any_order(rng):
    array, truth = softmax_members(rng, [2, 1, 1, 0.5], n_items=60, n_classes=3)
    known = np.where(np.arange(60) < 30, truth, -1)
    order = rng.permutation(60)
    one = cs.Consensus().fit(array, known).posterior_
    other = cs.Consensus().fit(array[:, order], known[order]).posterior_
    np.testing.assert_allclose(other, one[order], rtol=0, atol=1e-11)
