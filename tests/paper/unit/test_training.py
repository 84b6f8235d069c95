"""Training that a kill does not change."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from paper import training
from paper.datasets import Images
from paper.examples import Examples
from paper.recipes import Recipe
from paper.training import train_member

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


def without_dropout():
    return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64, 4))


def test_batches_that_are_made_ahead_train_the_same_network(data, tmp_path, monkeypatch):
    usual = train_member(without_dropout, data, RECIPE, seed=3, path=tmp_path / "usual.pt")
    used = []
    monkeypatch.setattr(training, "_fed", lambda batches, _: used.append(1) or training.made_ahead(batches))
    ahead = train_member(without_dropout, data, RECIPE, seed=3, path=tmp_path / "ahead.pt")
    assert len(used) == RECIPE.epochs
    torch.testing.assert_close(ahead.state_dict(), usual.state_dict(), rtol=0, atol=0)


def test_batches_are_made_ahead_for_other_devices_than_the_processor():
    batches = iter([("images", "labels")])
    assert training._fed(batches, torch.device("cpu")) is batches
    fed = training._fed(batches, torch.device("cuda"))
    assert fed is not batches and list(fed) == [("images", "labels")]


def test_mixed_precision_multiplies_in_sixteen_bits(data, tmp_path):
    seen = []

    def make():
        network = without_dropout()
        network[1].register_forward_hook(lambda _, __, out: seen.append(out.dtype))
        return network

    mixed = train_member(make, data, RECIPE, seed=3, path=tmp_path / "mixed.pt", mixed=True)
    single = train_member(make, data, RECIPE, seed=3, path=tmp_path / "single.pt")
    assert set(seen[: len(seen) // 2]) == {torch.bfloat16} and set(seen[len(seen) // 2 :]) == {torch.float32}
    assert all(weight.dtype == torch.float32 for weight in mixed.state_dict().values())
    said = training.predict(mixed, data, mixed=True)
    assert seen[-1] == torch.bfloat16 and said.dtype == torch.float32
    torch.testing.assert_close(said.sum(dim=1), torch.ones(len(data)))
    torch.testing.assert_close(said, training.predict(single, data), rtol=0, atol=0.05)
