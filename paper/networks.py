"""The networks of the paper's appendix E, written out; parameters are named as torchvision names them."""

from __future__ import annotations

import torch
from torch import Tensor, nn


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

    def __init__(self, n_in: int, width: int, stride: int, *, pads: bool = False) -> None:
        super().__init__()
        self.conv1 = Conv3x3(n_in, width, stride)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = Conv3x3(width, width, 1)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = Padding(width - n_in) if pads and width > n_in else _shortcut(n_in, width, stride)

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


class Padding(nn.Module):
    """He et al.'s (2016) shortcut to more channels and half the size: every other pixel, channels of zeros added."""

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        self.n_each_side = n_channels // 2

    def forward(self, x: Tensor) -> Tensor:
        """Fewer pixels in more channels."""
        return nn.functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, self.n_each_side, self.n_each_side))


def _shortcut(n_in: int, n_out: int, stride: int) -> nn.Module | None:
    if stride == 1 and n_in == n_out:
        return None
    return nn.Sequential(nn.Conv2d(n_in, n_out, 1, stride, bias=False), nn.BatchNorm2d(n_out))


class ResNet(nn.Module):
    """A stem, stages of blocks, the mean over the image, a linear layer.

    The stem is torchvision's, of 64 channels and stride 4, or for small images a 3 × 3 convolution of stride 1. Where a
    stage begins, the shortcut is torchvision's 1 × 1 convolution, unless basic blocks are to pad by zeros.
    """

    def __init__(
        self,
        block: type[BasicBlock | Bottleneck],
        depths: tuple[int, ...],
        n_classes: int,
        small_stem: int | None = None,
        **of_blocks: bool,
    ) -> None:
        super().__init__()
        n_in = first = 64 if small_stem is None else small_stem
        self.conv1 = nn.Conv2d(3, first, 7, 2, 3, bias=False) if small_stem is None else Conv3x3(3, first, 1)
        self.bn1 = nn.BatchNorm2d(first)
        self.maxpool = nn.MaxPool2d(3, 2, 1) if small_stem is None else nn.Identity()
        for stage, depth in enumerate(depths, start=1):
            width = first * 2 ** (stage - 1)
            blocks: list[nn.Module] = []
            for place in range(depth):
                blocks.append(block(n_in, width, 2 if place == 0 and stage > 1 else 1, **of_blocks))
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


def resnet20(n_classes: int) -> nn.Module:
    """He et al.'s (2016) network for 32 × 32 images: stages of 16, 32 and 64 channels, three blocks each.

    Where a stage begins, the shortcut is a 1 × 1 convolution, as in torchvision's; theirs pads by zeros.
    """
    return ResNet(BasicBlock, (3, 3, 3), n_classes, small_stem=16)


def padded_resnet(n_classes: int, depth: int) -> nn.Module:
    """He et al.'s networks to the letter, of 20, 32, 44, 56 … layers; parameters are named as in `resnet20`."""
    return ResNet(BasicBlock, 3 * ((depth - 2) // 6,), n_classes, small_stem=16, pads=True)


def resnet50(n_classes: int) -> nn.Module:
    """Torchvision's ResNet-50."""
    return ResNet(Bottleneck, (3, 4, 6, 3), n_classes)


# ---- WideResNet -------------------------------------------------------------------------------------------


class WideBlock(nn.Module):
    """Normalization first, two 3 × 3 convolutions (the second has the stride), a shortcut."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(n_in)
        self.conv1 = nn.Conv2d(n_in, n_out, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, stride, padding=1)
        is_same = stride == 1 and n_in == n_out
        self.shortcut = nn.Sequential(*([] if is_same else [nn.Conv2d(n_in, n_out, 1, stride)]))

    def forward(self, x: Tensor) -> Tensor:
        """Residual plus shortcut."""
        residual: Tensor = self.conv2(torch.relu(self.bn2(self.conv1(torch.relu(self.bn1(x))))))
        return residual + self.shortcut(x)


class WideResNet(nn.Module):
    """Zagoruyko and Komodakis's (2016) network, as the members are that Ashukha et al. (2020) published.

    Parameters are named as theirs are. Convolutions have biases, and the shortcut leaves before the normalization: not
    what the original does, but what the paper's weights belong to.
    """

    def __init__(self, n_classes: int, depth: int, widen: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, padding=1)
        n_in = 16
        for stage, width in enumerate((16 * widen, 32 * widen, 64 * widen), start=1):
            strides = [1 if stage == 1 else 2, *[1] * ((depth - 4) // 6 - 1)]
            widths = [n_in, *[width] * (len(strides) - 1)]
            blocks = [WideBlock(before, width, stride) for before, stride in zip(widths, strides, strict=True)]
            self.add_module(f"layer{stage}", nn.Sequential(*blocks))
            n_in = width
        self.bn1 = nn.BatchNorm2d(n_in, momentum=0.9)
        self.linear = nn.Linear(n_in, n_classes)

    def forward(self, x: Tensor) -> Tensor:
        """Logits."""
        x = self.conv1(x)
        for stage in (1, 2, 3):
            x = self.get_submodule(f"layer{stage}")(x)
        logits: Tensor = self.linear(torch.relu(self.bn1(x)).mean(dim=(2, 3)))
        return logits


def wide_resnet(n_classes: int, depth: int = 28, widen: int = 10) -> nn.Module:
    """WideResNet, 28-10 as in the paper."""
    return WideResNet(n_classes, depth, widen)


def _initialize(network: nn.Module) -> None:
    """Convolutions as He et al. (2015), which is torchvision's choice."""
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
