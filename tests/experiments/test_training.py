"""Members: the architectures, and training that a kill does not change."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from consilience.experiments import networks, training
from consilience.experiments.training import Recipe, rotate_and_flip, train_member

RECIPE = Recipe(3, 16, "sgd", 0.05, 0.9, 1e-4, (2,), "rotate-flip")


def tiny():
    return torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(3 * 64, 8), torch.nn.Dropout(0.2), torch.nn.Linear(8, 4)
    )


@pytest.fixture
def data():
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(4, (80,), generator=generator)
    return torch.randn(80, 3, 8, 8, generator=generator) + labels[:, None, None, None], labels


@pytest.mark.parametrize(
    ("make", "n_parameters", "size"),
    [
        (networks.mnist_network, 1_199_882, (1, 28, 28)),
        (lambda: networks.resnet18(1000), 11_689_512, (3, 64, 64)),  # torchvision's count
        (lambda: networks.resnet50(1000), 25_557_032, (3, 64, 64)),  # torchvision's count
        (lambda: networks.wide_resnet(100), 36_536_884, (3, 32, 32)),  # Zagoruyko and Komodakis: 36.5 million
    ],
    ids=["mnist", "resnet18", "resnet50", "wide-resnet-28-10"],
)
def test_architectures(make, n_parameters, size):
    network = make().eval()
    assert sum(parameter.numel() for parameter in network.parameters()) == n_parameters
    with torch.inference_mode():
        assert network(torch.zeros(1, *size)).ndim == 2


def test_an_interrupted_training_ends_like_one_that_was_not(data, tmp_path):
    whole = train_member(tiny, *data, RECIPE, seed=3, path=tmp_path / "whole.pt")

    class KilledError(Exception):
        pass

    def kill(epoch, _):
        if epoch == 1:
            raise KilledError

    with pytest.raises(KilledError):
        train_member(tiny, *data, RECIPE, seed=3, path=tmp_path / "cut.pt", on_epoch=kill)
    assert (tmp_path / "cut.checkpoint").exists() and not (tmp_path / "cut.pt").exists()
    cut = train_member(tiny, *data, RECIPE, seed=3, path=tmp_path / "cut.pt")
    for name, value in whole.state_dict().items():
        torch.testing.assert_close(cut.state_dict()[name], value, rtol=0, atol=0)
    assert not (tmp_path / "cut.checkpoint").exists()


def test_a_trained_member_is_read_not_trained(data, tmp_path):
    first = train_member(tiny, *data, RECIPE, seed=0, path=tmp_path / "m.pt")
    again = train_member(
        tiny, *data, RECIPE, seed=0, path=tmp_path / "m.pt", on_epoch=lambda *_: pytest.fail("trained")
    )
    torch.testing.assert_close(training.predict(first, data[0]), training.predict(again, data[0]))
    other = train_member(tiny, *data, RECIPE, seed=1, path=tmp_path / "other.pt")
    assert not torch.allclose(training.predict(first, data[0]), training.predict(other, data[0]))


def test_augmentation_turns_and_mirrors():
    torch.manual_seed(0)
    image = torch.zeros(200, 1, 33, 33)
    image[:, :, 16, 26] = 1  # ten pixels right of the middle
    made = rotate_and_flip(image)
    where = np.array(np.nonzero(made.numpy()[:, 0]))
    distance = np.hypot(where[1] - 16, where[2] - 16)
    assert np.all(np.abs(distance - 10) < 1.0)
    assert 0.3 < (where[2] < 16).mean() < 0.7  # mirrored every other time
    torch.testing.assert_close(rotate_and_flip(torch.ones(4, 3, 8, 8), 0.0), torch.ones(4, 3, 8, 8))


def test_recipes_scale_with_their_milestones():
    scaled = training.RECIPES["cifar10"].scaled_to(10)
    assert (scaled.epochs, scaled.milestones, scaled.batch_size) == (10, (5, 8), 128)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_conv3x3_is_a_padded_convolution(stride, size):
    ours = networks.Conv3x3(4, 5, stride)
    x = torch.randn(7, 4, size, size, requires_grad=True)
    theirs = torch.nn.functional.conv2d(x, ours.weight, stride=stride, padding=1)
    torch.testing.assert_close(ours(x), theirs)
    gradients = [torch.autograd.grad((y**2).sum(), (x, ours.weight)) for y in (ours(x), theirs)]
    torch.testing.assert_close(*gradients)
