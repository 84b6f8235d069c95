"""Weights that others published become members."""

import pytest

torch = pytest.importorskip("torch")

from paper import networks
from paper.errors import CannotReproduce
from paper.members import get_member, member_path
from paper.published import take_members
from paper.scales import Scale, Scales
from paper.shifts import Condition
from paper.store import Store


def test_published_weights_become_members(tmp_path):
    network = networks.mnist_network()
    wrapped = {f"module.{name}": value for name, value in network.state_dict().items()}
    torch.save({"state_dict": wrapped, "epoch": 3}, tmp_path / "b.pth.tar")
    torch.save(network.state_dict(), tmp_path / "a.pt")
    take_members("mnist", tmp_path, tmp_path / "work", Scale(n_members=2))
    for seed in (0, 1):
        kept = torch.load(member_path(tmp_path / "work", "mnist", Scale(), seed), weights_only=True)
        torch.testing.assert_close(kept["0.weight"], network.state_dict()["0.weight"])
    with pytest.raises(CannotReproduce, match="must hold 3 files of weights; it has 2"):
        take_members("mnist", tmp_path, tmp_path / "work", Scale(n_members=3))
    with pytest.raises(CannotReproduce, match="leave out --epochs"):
        take_members("mnist", tmp_path, tmp_path / "work", Scale(epochs=3))
    with pytest.raises(CannotReproduce, match="must hold the weights of cifar10's network"):
        take_members("cifar10", tmp_path, tmp_path / "work", Scale(n_members=2))


def test_parameters_are_checked_by_name_before_any_is_kept(tmp_path):
    good = networks.mnist_network().state_dict()
    torch.save(good, tmp_path / "a.pt")
    renamed = {"first.weight" if name == "0.weight" else name: value for name, value in good.items()}
    torch.save(renamed, tmp_path / "b.pt")
    with pytest.raises(CannotReproduce, match=r"b\.pt .* mnist's network; .* lacks 0\.weight, and has first\.weight"):
        take_members("mnist", tmp_path, tmp_path / "work", Scale(n_members=2))
    assert not (tmp_path / "work").exists()


def test_networks_of_several_depths(tmp_path):
    """As they are published: trained in parallel, the last layer called `linear`, no batches counted."""
    for depth in (20, 32):
        whole = networks.padded_resnet(10, depth).state_dict()
        state = {name: value for name, value in whole.items() if not name.endswith("num_batches_tracked")}
        assert len(state) < len(whole)
        wrapped = {f"module.{name.replace('fc.', 'linear.')}": value for name, value in state.items()}
        torch.save({"state_dict": wrapped, "best_prec1": 92.6}, tmp_path / f"resnet{depth}-0123abcd.th")
    scale, data = Scale(n_members=2), tmp_path / "data"
    take_members("cifar10-published", tmp_path, tmp_path / "work", scale)
    sizes = [len(get_member("cifar10-published", seed, data, tmp_path / "work", scale).layer1) for seed in (0, 1)]
    assert sizes == [3, 5]
    described = Store(data, tmp_path / "work", Scales(scale)).described(Condition("cifar10-published"))
    assert described == "published weights, 2 members, all test images"
