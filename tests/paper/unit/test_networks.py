"""The architectures have as many parameters as those they are named for."""

import pytest

torch = pytest.importorskip("torch")

from paper import networks


@pytest.mark.parametrize(
    ("make", "n_parameters", "size"),
    [
        (networks.mnist_network, 1_199_882, (1, 28, 28)),
        (lambda: networks.resnet18(1000), 11_689_512, (3, 64, 64)),  # torchvision's count
        (lambda: networks.resnet20(10), 272_474, (3, 32, 32)),  # .27 million, as He et al. have it
        (lambda: networks.padded_resnet(10, 56), 853_018, (3, 32, 32)),  # .85 million, as He et al. have it
        (lambda: networks.resnet50(1000), 25_557_032, (3, 64, 64)),  # torchvision's count
        (lambda: networks.wide_resnet(100), 36_546_980, (3, 32, 32)),  # 36.5 million, and biases of convolutions
    ],
    ids=["mnist", "resnet18", "resnet20", "resnet56", "resnet50", "wide-resnet-28-10"],
)
def test_architectures(make, n_parameters, size):
    network = make().eval()
    assert sum(parameter.numel() for parameter in network.parameters()) == n_parameters
    with torch.inference_mode():
        assert network(torch.zeros(1, *size)).ndim == 2


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_conv3x3_is_a_padded_convolution(stride, size):
    ours = networks.Conv3x3(4, 5, stride)
    x = torch.randn(7, 4, size, size, requires_grad=True)
    theirs = torch.nn.functional.conv2d(x, ours.weight, stride=stride, padding=1)
    torch.testing.assert_close(ours(x), theirs)
    gradients = [torch.autograd.grad((y**2).sum(), (x, ours.weight)) for y in (ours(x), theirs)]
    torch.testing.assert_close(*gradients)


def test_padding_halves_the_image_and_adds_channels_of_zeros():
    x = torch.arange(2.0 * 16).reshape(1, 2, 4, 4)
    out = networks.Padding(2)(x)
    assert out.shape == (1, 4, 2, 2)
    torch.testing.assert_close(out[:, 1:3], x[:, :, ::2, ::2])
    assert not out[:, [0, 3]].any()


def test_a_padded_network_has_no_weights_in_its_shortcuts():
    assert not any("downsample" in name for name in networks.padded_resnet(10, 20).state_dict())
    assert any("downsample" in name for name in networks.resnet20(10).state_dict())
