import numpy as np
import pytest

import consilience as cs
from benchmarks.quality.methods import METHODS, PEERS, VOTE, average, mixture, named
from panels_of_quality import hard, soft


@pytest.mark.parametrize("name", list(METHODS))
@pytest.mark.parametrize("make", [soft, hard])
def test_methods_answer_all_items(name, make):
    for missing in (0, 0.4):
        panel = make(n_items=80, missing=missing)
        posterior = named(name)(panel)
        assert posterior.shape == (80, 4)
        np.testing.assert_allclose(posterior.sum(axis=1), 1, atol=1e-5)
        assert (posterior.argmax(axis=1) == panel.truth).mean() > 0.7


def test_a_vote_counts_less_than_one():
    panel = hard(n_items=40, missing=0)
    shares = (panel.votes[:, :, None] == np.arange(4)).mean(axis=0)
    np.testing.assert_allclose(average(panel), VOTE * shares + (1 - VOTE) / 4, atol=1e-9)
    np.testing.assert_allclose(METHODS["geometric"](panel), average(panel))
    panel = soft(n_items=40, missing=0)
    np.testing.assert_allclose(average(panel), panel.probabilities.mean(axis=0), atol=1e-9)


def test_the_mixture_translates_votes():
    panel = soft(seed=6, n_items=40)
    learned = cs.DawidSkene().fit(panel.predictions)
    expected = 0.4 * average(panel) + 0.2 * learned.posterior_
    for item in range(40):
        said = [member for member in range(panel.n_members) if panel.votes[member, item] >= 0]
        for member in said:
            joint = learned.class_prior_ * learned.confusion_[member, :, panel.votes[member, item]]
            expected[item] += 0.4 * joint / joint.sum() / len(said)
    np.testing.assert_allclose(mixture(panel), expected, atol=1e-6)


def test_methods_by_name_or_by_module_and_function():
    assert named("benchmarks.quality.methods:mixture") is mixture
    assert not set(PEERS) & set(METHODS)
    with pytest.raises(ValueError, match="module:function or one of average"):
        named("averge")
