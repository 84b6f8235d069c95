"""Members: the architectures, and training that a kill does not change."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import consilience as cs
from consilience.experiments import networks, training
from consilience.experiments.augmentation import crop_and_flip, rotate_and_flip
from consilience.experiments.datasets import Images
from consilience.experiments.examples import Examples
from consilience.experiments.laplace import fit_laplace, jacobian_bytes, predict_laplace, why_not
from consilience.experiments.members import member_path
from consilience.experiments.published import take_members
from consilience.experiments.recipes import RECIPES, Recipe
from consilience.experiments.scales import Scale, read_scales
from consilience.experiments.tasks import TASKS
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


@pytest.mark.parametrize(
    ("make", "n_parameters", "size"),
    [
        (networks.mnist_network, 1_199_882, (1, 28, 28)),
        (lambda: networks.resnet18(1000), 11_689_512, (3, 64, 64)),  # torchvision's count
        (lambda: networks.resnet50(1000), 25_557_032, (3, 64, 64)),  # torchvision's count
        (lambda: networks.wide_resnet(100), 36_546_980, (3, 32, 32)),  # 36.5 million, and biases of convolutions
    ],
    ids=["mnist", "resnet18", "resnet50", "wide-resnet-28-10"],
)
def test_architectures(make, n_parameters, size):
    network = make().eval()
    assert sum(parameter.numel() for parameter in network.parameters()) == n_parameters
    with torch.inference_mode():
        assert network(torch.zeros(1, *size)).ndim == 2


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
    scaled = RECIPES["cifar10"].scaled_to(10)
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


def test_rates_that_fall_linearly():
    shares = [RECIPES["cifar100"].share_of_learning_rate(epoch) for epoch in (0, 149, 150, 210, 270, 299)]
    np.testing.assert_allclose(shares, [1, 1, 1, 0.505, 0.01, 0.01], atol=1e-12)


def test_crops_move_and_mirror():
    torch.manual_seed(0)
    image = torch.zeros(300, 1, 9, 9)
    image[:, :, 4, 6] = 1
    where = np.array(np.nonzero(crop_and_flip(image, 2).numpy()[:, 0]))
    assert where.shape[1] == 300
    assert set(where[1]) == {2, 3, 4, 5, 6} and set(where[2]) == set(range(9))
    torch.testing.assert_close(crop_and_flip(torch.ones(3, 2, 5, 5), 0), torch.ones(3, 2, 5, 5))


def test_augmentation_comes_before_normalization(data):
    torch.manual_seed(0)
    black = Examples(Images(np.ones((64, 1, 9, 9), np.float32), np.zeros(64, np.int64)), (0.5,), (0.25,))
    assert set(black.batch(torch.arange(64), "crop-flip").unique().tolist()) == {-2.0, 2.0}  # black and white


# ---- scales -----------------------------------------------------------------------------------------------


def test_scales_differ_by_task():
    options = {"epochs": ["2", "cifar10=10"], "n_members": ["cifar10=6"], "n_items": ["50"], "subset": []}
    scales = read_scales(TASKS, options)
    assert scales.of("cifar10") == Scale(10, None, 6, 50) and scales.of("mnist") == Scale(2, None, 9, 50)
    assert scales.of("cifar10").folder("cifar10") == "cifar10-10-epochs"
    assert Scale().folder("mnist") == "mnist-all-epochs" and str(Scale(1)) == "1 epoch, 9 members, all test images"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("nope=3", "must name one of the tasks mnist.*got 'nope'"),
        ("x", "positive whole number"),
        ("mnist=0", "got '0'"),
    ],
)
def test_scales_that_are_none(value, message):
    with pytest.raises(cs.InvalidPredictions, match=message):
        read_scales(TASKS, {"epochs": [value]})


# ---- published weights ------------------------------------------------------------------------------------


def test_published_weights_become_members(tmp_path):
    network = networks.mnist_network()
    wrapped = {f"module.{name}": value for name, value in network.state_dict().items()}
    torch.save({"state_dict": wrapped, "epoch": 3}, tmp_path / "b.pth.tar")
    torch.save(network.state_dict(), tmp_path / "a.pt")
    take_members("mnist", tmp_path, tmp_path / "work", Scale(n_members=2))
    for seed in (0, 1):
        kept = torch.load(member_path(tmp_path / "work", "mnist", Scale(), seed), weights_only=True)
        torch.testing.assert_close(kept["0.weight"], network.state_dict()["0.weight"])
    with pytest.raises(cs.InvalidPredictions, match="must hold 3 files of weights; it has 2"):
        take_members("mnist", tmp_path, tmp_path / "work", Scale(n_members=3))
    with pytest.raises(cs.InvalidPredictions, match="leave out --epochs"):
        take_members("mnist", tmp_path, tmp_path / "work", Scale(epochs=3))
    with pytest.raises(cs.InvalidPredictions, match="must hold the weights of cifar10's network"):
        take_members("cifar10", tmp_path, tmp_path / "work", Scale(n_members=2))


# ---- Laplace ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")  # the library's
def test_the_last_layer_alone_gives_the_approximation_of_the_network(data):
    library = pytest.importorskip("laplace")
    torch.manual_seed(0)
    network = tiny().eval()
    ours = fit_laplace(network, data)
    whole = library.Laplace(network, "classification", subset_of_weights="last_layer", hessian_structure="kron")
    pairs = torch.utils.data.TensorDataset(data.batch(torch.arange(80)), data.labels)
    whole.fit(torch.utils.data.DataLoader(pairs, batch_size=80))
    whole.optimize_prior_precision(pred_type="glm", method="marglik")
    generator = torch.Generator().manual_seed(3)
    options = {"pred_type": "glm", "n_samples": 100, "generator": generator}
    theirs = whole.predictive_samples(data.batch(torch.arange(80)), **options).detach().mean(dim=0)
    torch.testing.assert_close(predict_laplace(ours, data, seed=3), theirs, rtol=1e-4, atol=1e-5)


def test_where_probabilistic_ensembling_does_not_fit():
    assert why_not(10, 128) is None and why_not(100, 640) is None
    assert "977 GiB for the paper's batch of 128" in why_not(1000, 2048)  # the paper says so too
    assert jacobian_bytes(10, 128) == 4 * 10 * 1290
