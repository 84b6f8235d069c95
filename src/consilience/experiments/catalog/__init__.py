"""The paper's experiments, by name."""

from consilience.experiments.catalog.confusion import draw_confusion
from consilience.experiments.catalog.cost import cost
from consilience.experiments.catalog.example import example, write_example
from consilience.experiments.catalog.grids import clean, corruptions, ensemble_size, mnist_rotation
from consilience.experiments.catalog.online import online
from consilience.experiments.catalog.out_of_distribution import out_of_distribution
from consilience.experiments.catalog.run import Experiment

ALL = ("mnist", "cifar10", "cifar100", "imagenet")
DEGREES = "rotation in degrees"

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "mnist-rotation", "figures 1 and 2", ("mnist",), mnist_rotation, axis=DEGREES, also_write=draw_confusion
        ),
        Experiment("cifar10-c", "figure 3, appendix J.1", ("cifar10",), corruptions),
        Experiment("cifar100-c", "figure 4, appendix J.2", ("cifar100",), corruptions),
        Experiment("imagenet-c", "figure 5, appendix J.3", ("imagenet",), corruptions),
        Experiment(
            "ood",
            "figure 6",
            ("mnist", "fashion-mnist", "cifar10", "cifar100"),
            out_of_distribution,
            axis="share of foreign items",
        ),
        Experiment("explain", "appendix C", ("mnist",), example, axis=DEGREES, also_write=write_example),
        Experiment("online", "appendix F", ALL, online),
        Experiment("clean", "appendix G", ALL, clean),
        Experiment("ensemble-size", "appendix H", ALL, ensemble_size),
        Experiment("cost", "appendix I", ALL, cost),
    )
}
