"""Titles name the paper's figure where the figure is that one, and say what is shown."""

import pytest

from paper.figure_titles import title_of


@pytest.mark.parametrize(
    ("place", "title"),
    [
        (("mnist-rotation", "mnist", "rotation"), "Figure 2 of the paper: MNIST, rotated"),
        (("cifar10-c", "cifar10", "fog"), "Like figure 3 of the paper: CIFAR-10, fog"),
        (("ood", "cifar10", "svhn"), "Figure 6b of the paper: CIFAR-10, foreign items of SVHN"),
        (("averaging", "mnist", "rotation-30"), "Appendix D of the paper: MNIST, rotated by 30°"),
        (("averaging", "cifar10", "gaussian_noise-3"), "Appendix D of the paper: CIFAR-10, gaussian noise, severity 3"),
        (("another", "mine", "clean"), "mine, clean"),
    ],
)
def test_titles(place, title):
    assert title_of(*place) == title
