"""What a figure shows, in words, and which figure of the paper it corresponds to."""

from __future__ import annotations

PAPER_FIGURES = {
    ("mnist-rotation", "mnist", "rotation"): "2",
    ("cifar10-c", "cifar10", "glass_blur"): "3",
    ("cifar100-c", "cifar100", "brightness"): "4",
    ("imagenet-c", "imagenet", "zoom_blur"): "5",
    ("ood", "cifar10", "cifar100"): "6a",
    ("ood", "cifar10", "svhn"): "6b",
    ("ood", "cifar100", "cifar10"): "6c",
    ("ood", "cifar100", "svhn"): "6d",
    ("online", "imagenet", "fog"): "7",
    ("clean", "cifar10", "clean"): "8",
    ("clean", "cifar100", "clean"): "9",
    ("clean", "imagenet", "clean"): "10",
}
"""The numbers that the paper gives to its figures, by experiment, task and shift."""

SIMILAR = {
    "cifar10-c": "Like figure 3",
    "cifar10-resnet20": "Like figure 3",
    "cifar10-published": "Like figure 3",
    "cifar10-resnets": "Like figure 3",
    "cifar100-c": "Like figure 4",
    "imagenet-c": "Like figure 5",
    "ood": "Like figure 6",
    "online": "Like figure 7",
    "clean": "Like figure 8",
    "explain": "Appendix C",
    "averaging": "Appendix D",
}
"""What in the paper other figures belong to."""

DATA_SETS = {
    "mnist": "MNIST",
    "fashion-mnist": "Fashion-MNIST",
    "notmnist": "notMNIST",
    "cifar10": "CIFAR-10",
    "cifar10-resnet20": "CIFAR-10, ResNet-20",
    "cifar10-published": "CIFAR-10, published ResNets",
    "cifar10-resnets": "CIFAR-10, published ResNets",
    "cifar100": "CIFAR-100",
    "imagenet": "ImageNet",
    "svhn": "SVHN",
}


def title_of(experiment: str, task: str, shift: str) -> str:
    """The title of a figure.

    >>> title_of("cifar10-c", "cifar10", "glass_blur")
    'Figure 3 of the paper: CIFAR-10, glass blur'
    >>> title_of("ood", "mnist", "notmnist")
    'Like figure 6 of the paper: MNIST, foreign items of notMNIST'
    """
    shown = f"{DATA_SETS.get(task, task)}, {_in_words(shift)}"
    number = PAPER_FIGURES.get((experiment, task, shift))
    place = f"Figure {number}" if number else SIMILAR.get(experiment)
    return f"{place} of the paper: {shown}" if place else shown


def _in_words(shift: str) -> str:
    if shift in DATA_SETS:
        return f"foreign items of {DATA_SETS[shift]}"
    kind, _, severity = shift.partition("-")
    if kind == "rotation":
        return f"rotated by {severity}°" if severity else "rotated"
    return kind.replace("_", " ") + (f", severity {severity}" if severity else "")
