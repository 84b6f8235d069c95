"""Saved models that somebody changed are refused, or answer with probabilities."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience.system.errors import InvalidPredictions

from trust.forgeries import forged, panel, run


def test_none_of_many_answers_without_probabilities():
    n_forged, n_refused, wrong = run(1, share=0.02)
    assert n_forged > 200 and n_refused > 100
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["confusion_", "member_weights_", "class_prior_", "member_credibility_"])
@pytest.mark.parametrize("how", ["zeros", "twice", "half", "one NaN", "one negative"])
def test_a_changed_table_is_refused_by_name(tmp_path, name, how):
    rng = np.random.default_rng(0)
    cs.Consensus().fit(panel(rng)).save(tmp_path / "model.npz")
    (contents,) = (found for what, found in forged(tmp_path / "model.npz", rng) if what == f"{name}: {how}")
    np.savez(tmp_path / "forged.npz", **contents)
    with pytest.raises(
        InvalidPredictions, match=f"forged.npz is not a file that this version of consilience saves: '{name}' "
    ):
        cs.load(tmp_path / "forged.npz")


def test_what_is_told_of_silence_is_refused_by_name(tmp_path):
    """Each number is a rate; together they are not what a fit finds."""
    votes = np.full((4, 120), -1)
    for member in range(4):
        votes[member, member::4] = member % 3
    cs.DawidSkene(missing="informative").fit(cs.Predictions.from_labels(votes, 3)).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        contents = dict(archive)
    contents["silence_.answering"] = np.zeros_like(contents["silence_.answering"])
    np.savez(tmp_path / "model.npz", **contents)
    with pytest.raises(InvalidPredictions, match="'silence_' must have rates between 0 and 1"):
        cs.load(tmp_path / "model.npz")


def test_agreement_beyond_what_was_counted_is_refused_by_name(tmp_path):
    cs.Consensus().fit(panel(np.random.default_rng(0))).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        contents = dict(archive)
    for name in ("agreement_.products", "agreement_.confidences", "agreement_.totals"):
        np.savez(tmp_path / "forged.npz", **contents | {name: 1e6 * contents[name]})
        with pytest.raises(InvalidPredictions, match="'agreement_' must be of probabilities"):
            cs.load(tmp_path / "forged.npz")
    header = json.loads(contents["header"].tobytes())
    header["learned"]["statistics_.n_items"] = 0
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(tmp_path / "forged.npz", **contents | {"header": text})
    with pytest.raises(InvalidPredictions, match="'statistics_' must be of at least one item"):
        cs.load(tmp_path / "forged.npz")


@pytest.mark.parametrize(
    ("model", "name", "reason"),
    [
        (
            cs.BayesianClassifierCombination(),
            "parameters_.confusion",
            "'parameters_.confusion' has numbers below 1e-12",
        ),
        (cs.BayesianClassifierCombination(), "parameters_.classes", "'parameters_.classes' has numbers below 1e-12"),
        (cs.Consensus(), "statistics_.answer_counts", "'statistics_' must be of at least one answer"),
        (cs.Consensus(), "survey_.totals", "'survey_' must be of at least one item"),
        (cs.Consensus(), "vote_agreement_.totals", "'vote_agreement_' must be of probabilities"),
    ],
)
def test_sums_of_next_to_nothing_are_refused_by_name(tmp_path, model, name, reason):
    """Their logarithms and quotients are not finite: the answer was NaN, or NumPy warned."""
    model.fit(panel(np.random.default_rng(0))).save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        contents = dict(archive)
    np.savez(tmp_path / "forged.npz", **contents | {name: np.full_like(contents[name], 1e-308)})
    with pytest.raises(InvalidPredictions, match=reason):
        cs.load(tmp_path / "forged.npz")


@pytest.mark.parametrize("total", [0.955, 1.045])
@pytest.mark.parametrize("method", [cs.Average, cs.Consensus])
def test_what_was_fitted_to_rounded_rows_is_loaded(tmp_path, method, total):
    """Rows of many classes may miss 1 by 0.05; their sums did not count as those of probabilities."""
    rows = total * np.random.default_rng(0).dirichlet(np.full(1000, 0.01), size=(3, 12))
    fitted = method().fit(rows, np.where(np.arange(12) < 4, rows[0].argmax(axis=1), -1))
    fitted.save(tmp_path / "model.npz")
    np.testing.assert_array_equal(cs.load(tmp_path / "model.npz").posterior_, fitted.posterior_)
