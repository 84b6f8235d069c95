import numpy as np
import pytest

from consilience.maths.em import Moments, adamw_step

torch = pytest.importorskip("torch")


def test_twenty_steps_are_torchs(rng):
    values = rng.normal(size=(3, 4))
    theirs = torch.tensor(values, requires_grad=True)
    optimizer = torch.optim.AdamW([theirs], lr=0.01, weight_decay=0.1)
    moments = Moments.zero(values.shape)
    for _ in range(20):
        gradient = rng.normal(size=values.shape) * 10 ** rng.uniform(-8, 8)
        theirs.grad = torch.tensor(gradient)
        optimizer.step()
        adamw_step(values, gradient, moments, learning_rate=0.01, weight_decay=0.1)
    np.testing.assert_allclose(values, theirs.detach().numpy(), rtol=1e-12)
