"""The loss of a batch of panels, relative to averaging: losing hurts more than winning pays."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from benchmarks.quality.scores import ADDED
from training.network import LEAST

BRIER = 2.0
"""What the logarithm of the Brier scores' ratio weighs beside that of the NLLs'."""

LOSING, WORST = 3.0, 0.1
"""What the squares of ratios above averaging weigh, and the mean of a batch's worst panels."""

WORST_SHARE = 1 / 8


class Ratios(NamedTuple):
    """Logarithms of NLL and Brier score over averaging's, (panels,) each; below zero is better."""

    nll: Tensor
    brier: Tensor

    @property
    def both(self) -> Tensor:
        """Both together, (panels,): zero where the answer is the average."""
        return self.nll + BRIER * self.brier


def ratios(logs: Tensor, average: Tensor, truth: Tensor, panel: Tensor) -> Ratios:
    """How the answers of some panels score against averaging.

    `logs` and `average` are (items, candidates), `truth` and `panel` (items,): the true candidate of each item, and
    the number of the panel it belongs to.
    """
    n_panels = int(panel.max()) + 1

    def mean(scores: Tensor) -> Tensor:
        sums = torch.zeros(n_panels).index_add(0, panel, scores)
        return sums / torch.bincount(panel, minlength=n_panels)

    def ratio(own: Tensor, averages: Tensor, metric: str) -> Tensor:
        return torch.log((mean(own) + ADDED[metric]) / (mean(averages) + ADDED[metric]))

    true = torch.nn.functional.one_hot(truth, logs.shape[1])
    log_average = torch.log(average.clamp_min(LEAST))
    return Ratios(
        ratio(-(logs * true).sum(dim=1), -(log_average * true).sum(dim=1), "nll"),
        ratio(((logs.exp() - true) ** 2).sum(dim=1), ((average - true) ** 2).sum(dim=1), "brier"),
    )


def loss(found: Ratios, risk: float = 1.0) -> Tensor:
    """The mean over panels, and `risk` times what is lost: squares of losses, and the worst panels."""
    lost = torch.relu(found.nll) ** 2 + BRIER * torch.relu(found.brier) ** 2
    n_worst = max(1, round(WORST_SHARE * len(found.both)))
    worst = found.both.topk(n_worst).values.mean()
    return found.both.mean() + risk * (LOSING * lost.mean() + WORST * worst)
