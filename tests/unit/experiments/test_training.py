"""Training that a kill does not change."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from consilience.experiments import training
from consilience.experiments.datasets import Images
from consilience.experiments.examples import Examples
from consilience.experiments.recipes import Recipe
from consilience.experiments.training import train_member

RECIPE = Recipe(3, 16, "sgd", 0.05, 0.9, 1e-4, (2,), augment="rotate-flip")


def tiny():
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(3 * 64, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 4)
    )


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    labels = rng.integers(4, size=80)
    images = rng.normal(size=(80, 3, 8, 8)) + labels[:, None, None, None]
    return Examples(Images(images.astype(np.float32), labels), (0.5,), (2.0,))


def test_an_interrupted_training_ends_like_one_that_was_not(data, tmp_path):
    whole = train_member(tiny, data, RECIPE, seed=3, path=tmp_path / "whole.pt")

    class KilledError(Exception):
        pass

    def kill(epoch, _):
        if epoch == 1:
            raise KilledError

    with pytest.raises(KilledError):
        train_member(tiny, data, RECIPE, seed=3, path=tmp_path / "cut.pt", on_epoch=kill)
    assert (tmp_path / "cut.checkpoint").exists() and not (tmp_path / "cut.pt").exists()
    cut = train_member(tiny, data, RECIPE, seed=3, path=tmp_path / "cut.pt")
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(cut.state_dict()[name], value, rtol=0, atol=0)
    assert not (tmp_path / "cut.checkpoint").exists()


def test_a_trained_member_is_read_not_trained(data, tmp_path):
    first = train_member(tiny, data, RECIPE, seed=0, path=tmp_path / "m.pt")
    again = train_member(tiny, data, RECIPE, seed=0, path=tmp_path / "m.pt", on_epoch=lambda *_: pytest.fail("trained"))
    torch.testing.assert_close(training.predict(first, data), training.predict(again, data))
    other = train_member(tiny, data, RECIPE, seed=1, path=tmp_path / "other.pt")
    assert not torch.allclose(training.predict(first, data), training.predict(other, data))
