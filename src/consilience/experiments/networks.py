"""The networks of the paper's appendix E, written out; parameters are named as torchvision names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Callable


def mnist_network() -> nn.Module:
    """The paper's network for MNIST: two convolutions, two linear layers."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
        nn.Flatten(),
        nn.Linear(9216, 128),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Linear(128, 10),
    )


# ---- ResNets as torchvision has them ----------------------------------------------------------------------


class Conv3x3(nn.Conv2d):
    """A 3 × 3 convolution, padded by 1 and without a bias, that spends nothing on padding where images are tiny.

    On 2 × 2 pixels only four of nine taps meet the image, on one pixel one of nine: the last two stages of a ResNet-18
    on 32 × 32 images. A linear layer of those taps is the same function, and a training step takes half the time.
    """

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__(n_in, n_out, 3, stride, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """The convolution of x."""
        size = x.shape[2]
        if size > 2 or x.shape[3] != size:
            return super().forward(x)
        # Of each output pixel along an axis: the taps that meet the image.
        meet = [slice(1 - at, 1 - at + size) for at in range(0, size, self.stride[0])]
        taps = torch.stack([self.weight[:, :, rows, columns].flatten(1) for rows in meet for columns in meet], dim=1)
        return nn.functional.linear(x.flatten(1), taps.flatten(0, 1)).unflatten(1, (-1, len(meet), len(meet)))


class BasicBlock(nn.Module):
    """Two 3 × 3 convolutions and a shortcut."""

    expansion = 1

    def __init__(self, n_in: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = Conv3x3(n_in, width, stride)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = Conv3x3(width, width, 1)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _shortcut(n_in, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Residual plus shortcut."""
        residual = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(residual + (x if self.downsample is None else self.downsample(x)))


class Bottleneck(nn.Module):
    """1 × 1, 3 × 3 (which has the stride), 1 × 1, and a shortcut."""

    expansion = 4

    def __init__(self, n_in: int, width: int, stride: int) -> None:
        super().__init__()
        n_out = width * self.expansion
        self.conv1 = nn.Conv2d(n_in, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = Conv3x3(width, width, stride)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, n_out, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(n_out)
        self.downsample = _shortcut(n_in, n_out, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Residual plus shortcut."""
        inner = torch.relu(self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x))))))
        return torch.relu(self.bn3(self.conv3(inner)) + (x if self.downsample is None else self.downsample(x)))


def _shortcut(n_in: int, n_out: int, stride: int) -> nn.Module | None:
    if stride == 1 and n_in == n_out:
        return None
    return nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))


class ResNet(nn.Module):
    """A stem of stride 4, four stages of blocks, the mean over the image, a linear layer."""

    def __init__(self, block: type[BasicBlock | Bottleneck], depths: tuple[int, ...], n_classes: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        n_in = 64
        for stage, depth in enumerate(depths, start=1):
            width = 64 * 2 ** (stage - 1)
            blocks: list[nn.Module] = []
            for place in range(depth):
                blocks.append(block(n_in, width, 2 if place == 0 and stage > 1 else 1))
                n_in = width * block.expansion
            self.add_module(f"layer{stage}", nn.Sequential(*blocks))
        self.n_stages = len(depths)
        self.fc = nn.Linear(n_in, n_classes)
        _initialize(self)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.maxpool(torch.relu(self.bn1(self.conv1(x))))
        for stage in range(1, self.n_stages + 1):
            x = self.get_submodule(f"layer{stage}")(x)
        logits: Tensor = self.fc(x.mean(dim=(2, 3)))
        return logits


def resnet18(n_classes: int) -> nn.Module:
    """Torchvision's ResNet-18."""
    return ResNet(BasicBlock, (2, 2, 2, 2), n_classes)


def resnet50(n_classes: int) -> nn.Module:
    """Torchvision's ResNet-50."""
    return ResNet(Bottleneck, (3, 4, 6, 3), n_classes)


# ---- WideResNet -------------------------------------------------------------------------------------------


class WideBlock(nn.Module):
    """Normalization first, two 3 × 3 convolutions, a shortcut (Zagoruyko and Komodakis 2016)."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(n_in)
        self.conv1 = Conv3x3(n_in, n_out, stride)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.conv2 = Conv3x3(n_out, n_out, 1)
        is_same = stride == 1 and n_in == n_out
        self.shortcut = None if is_same else nn.Conv2d(n_in, n_out, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Residual plus shortcut."""
        first = torch.relu(self.bn1(x))
        residual: Tensor = self.conv2(torch.relu(self.bn2(self.conv1(first))))
        return residual + (x if self.shortcut is None else self.shortcut(first))


def wide_resnet(n_classes: int, depth: int = 28, widen: int = 10) -> nn.Module:
    """WideResNet, 28-10 as in the paper."""
    n_blocks = (depth - 4) // 6
    layers: list[nn.Module] = [Conv3x3(3, 16, 1)]
    n_in = 16
    for stage, width in enumerate((16 * widen, 32 * widen, 64 * widen)):
        for place in range(n_blocks):
            layers.append(WideBlock(n_in, width, 2 if place == 0 and stage > 0 else 1))
            n_in = width
    head = [nn.BatchNorm2d(n_in), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(n_in, n_classes)]
    network = nn.Sequential(*layers, *head)
    _initialize(network)
    return network


def _initialize(network: nn.Module) -> None:
    """Convolutions as He et al. (2015), which is torchvision's choice."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "mnist": mnist_network,
    "resnet18-10": lambda: resnet18(10),
    "wide-resnet-28-10": lambda: wide_resnet(100),
    "resnet50-1000": lambda: resnet50(1000),
}
