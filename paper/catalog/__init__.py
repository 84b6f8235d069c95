"""The paper's experiments, by name."""

from paper.catalog import (
    averaging,
    confusion,
    cost,
    example,
    grids,
    online,
    out_of_distribution,
    printed,
    readings,
    witness,
)
from paper.catalog.run import Experiment

ALL = ("mnist", "cifar10", "cifar100", "imagenet")
SMALL_RESNETS = ("cifar10-resnet20", "cifar10-published")

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "mnist-rotation",
            "figures 1 and 2",
            ("mnist",),
            grids.mnist_rotation,
            also_write=confusion.draw_confusion,
        ),
        Experiment("cifar10-c", "figure 3, appendix J.1", ("cifar10",), grids.corruptions),
        *(
            Experiment(name, "section 6.2, other networks", (name,), grids.clean_and_corrupted)
            for name in SMALL_RESNETS
        ),
        Experiment("cifar10-resnets", "section 6.2, published networks", (), witness.cells),
        Experiment("cifar100-c", "figure 4, appendix J.2", ("cifar100",), grids.corruptions),
        Experiment("imagenet-c", "figure 5, appendix J.3", ("imagenet",), grids.corruptions),
        Experiment(
            "ood",
            "figure 6",
            ("mnist", "fashion-mnist", "cifar10", "cifar100"),
            out_of_distribution.cells,
            SMALL_RESNETS,
            axis="share of foreign items",
        ),
        Experiment("explain", "appendix C", ("mnist",), example.cells, has_pe=False, also_write=example.write_example),
        Experiment(
            "averaging",
            "appendix D",
            ALL,
            averaging.cells,
            SMALL_RESNETS,
            has_pe=False,
            axis="α, the weight of a new estimate",
            log_axis=True,
            as_drawn=averaging.by_weight,
        ),
        Experiment("online", "appendix F", ALL, online.cells, SMALL_RESNETS, has_pe=False),
        Experiment("clean", "appendix G", ALL, grids.clean, SMALL_RESNETS),
        Experiment("ensemble-size", "appendix H", ALL, grids.ensemble_size, SMALL_RESNETS),
        Experiment("cost", "appendix I", ALL, cost.cells, SMALL_RESNETS),
        Experiment(
            "readings",
            "what the text leaves open",
            ("mnist",),
            readings.cells,
            ("fashion-mnist", *SMALL_RESNETS),
            has_pe=False,
            as_drawn=lambda _: [],
        ),
        Experiment("printed", "the paper's own tables", (), printed.cells, also_write=printed.write_printed),
    )
}
