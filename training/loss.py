"""The loss of a batch of panels, relative to averaging: losing hurts more than winning pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from benchmarks.quality.scores import ADDED
from training.network import LEAST, softmax

if TYPE_CHECKING:
    from training.fit import Batch

BRIER = 2.0
"""What the logarithm of the Brier scores' ratio weighs beside that of the NLLs'."""

LOSING, WORST = 3.0, 0.1
"""What the squares of ratios above averaging weigh, and the mean of a batch's worst panels."""

POINTS, SHARPNESS = 30.0, 10.0
"""What the square of lost accuracy weighs among these squares, and the power that makes answers nearly choices."""

WORST_SHARE = 1 / 8


class Ratios(NamedTuple):
    """Logarithms of NLL and Brier score over averaging's, (panels,) each; below zero is better. And lost accuracy."""

    nll: Tensor
    brier: Tensor
    lost: Tensor  # averaging's share of right answers minus the own, both of answers that are nearly choices

    @property
    def both(self) -> Tensor:
        """Both together, (panels,): zero where the answer is the average."""
        return self.nll + BRIER * self.brier


def ratios(logs: Tensor, average: Tensor, batch: Batch) -> Ratios:
    """How the answers to the items of some panels score against averaging; `logs` and `average` are (rows,)."""
    n_panels, n_items = int(batch.panel.max()) + 1, len(batch.true)
    is_true = torch.zeros(len(logs)).index_fill(0, batch.true, 1.0)

    def mean(scores: Tensor) -> Tensor:
        sums = torch.zeros(n_panels).index_add(0, batch.panel, scores)
        return sums / torch.bincount(batch.panel, minlength=n_panels)

    def brier(rows: Tensor) -> Tensor:
        return torch.zeros(n_items).index_add(0, batch.item, (rows - is_true) ** 2)

    def right(logs: Tensor) -> Tensor:
        return softmax(SHARPNESS * logs, batch.item, n_items)[batch.true]

    def ratio(own: Tensor, averages: Tensor, metric: str) -> Tensor:
        return torch.log((mean(own) + ADDED[metric]) / (mean(averages) + ADDED[metric]))

    log_average = torch.log(average.clamp_min(LEAST))
    return Ratios(
        nll=ratio(-logs[batch.true], -log_average[batch.true], "nll"),
        brier=ratio(brier(logs.exp()), brier(average), "brier"),
        lost=mean(right(log_average) - right(logs)),
    )


def loss(found: Ratios, risk: float = 1.0) -> Tensor:
    """The mean over panels, and `risk` times what is lost: squares of losses, and the worst panels."""
    lost = torch.relu(found.nll) ** 2 + BRIER * torch.relu(found.brier) ** 2 + POINTS * torch.relu(found.lost) ** 2
    n_worst = max(1, round(WORST_SHARE * len(found.both)))
    worst = found.both.topk(n_worst).values.mean()
    return found.both.mean() + risk * (LOSING * lost.mean() + WORST * worst)
