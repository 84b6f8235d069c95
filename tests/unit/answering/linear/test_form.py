"""A linear rule for torch: its numbers, and the half of the answer that counts."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from consilience.answering.linear import LinearRule
from consilience.answering.rule import Names
from consilience.answering.torch_module import Fusion
from consilience.data.predictions import Predictions
from consilience.maths.em import Scores
from exports import DOUBLE, N_CLASSES, N_MEMBERS, awkward_items

NAMES = Names("Own", list(range(N_MEMBERS)), list(range(N_CLASSES)))


@pytest.fixture
def scores(rng):
    return Scores(
        rng.normal(size=N_CLASSES),
        rng.normal(size=(N_MEMBERS, N_CLASSES, N_CLASSES)),
        rng.normal(size=(N_MEMBERS, N_CLASSES)),
    )


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("log_floor", [None, 1e-6])
def test_answers_as_the_rule(rng, scores, weight, log_floor):
    weights = rng.uniform(0.5, 2, size=N_MEMBERS)
    rule = LinearRule(weights, np.zeros(N_MEMBERS, bool), weight, scores, log_floor=log_floor)
    new = awkward_items(rng, np.float64)
    found = Fusion(rule, NAMES, dtype=torch.float64)(torch.tensor(new)).numpy()
    np.testing.assert_allclose(found, rule.posterior(Predictions(new)), atol=DOUBLE)


def test_only_what_is_needed_becomes_a_buffer(scores):
    plain = LinearRule(np.ones(N_MEMBERS), np.zeros(N_MEMBERS, bool), 0.0, scores)
    assert set(plain.form().numbers) == {"weight", "member_weights", "log_floor"}
    assert plain.form().numbers["log_floor"] == -np.inf
    scored = LinearRule(np.ones(N_MEMBERS), np.zeros(N_MEMBERS, bool), 0.5, scores, log_floor=1e-10)
    assert set(scored.form().numbers) > {"table", "bias", "log_prior"}
    assert scored.form().numbers["log_floor"] == pytest.approx(np.log(1e-10))  # half precision has no 1e-10
