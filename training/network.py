"""The network: from features of each class of an item to probabilities, the same for every class.

A class's score is a linear mixture of the experts' logarithms plus what a small network adds; the network sees the
class itself and the mean over the classes of the item. A gate for each item then mixes the softmax of the scores with
the average. Before training, the scores are the average's logarithms: the answer is the average.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from training.features import GROUPS, NAMES, Features

N_EXPERTS = len(GROUPS["experts"])  # the first features
AVERAGE, LOG_AVERAGE = NAMES.index("experts: average"), NAMES.index("experts: log average")

HIDDEN = 64

MOST_DEVIATIONS = 5.0
"""Features are clamped to so many standard deviations of those in training: beyond, nothing was learned."""

MOST_LEARNED = 0.98
"""The largest share of the learned answer; the average has the rest, so that no class is ruled out."""

LEAST = 1e-9


class Network(nn.Module):
    """Called with features (items, candidates, features) and which candidates are there, (items, candidates)."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, n_hidden: int = HIDDEN) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(len(NAMES)))
        self.register_buffer("deviation", torch.ones(len(NAMES)))
        self.first = nn.Linear(len(NAMES), n_hidden)
        self.second = nn.Linear(2 * n_hidden, n_hidden)
        self.last = nn.Linear(n_hidden, 2)
        self.mixture = nn.Linear(N_EXPERTS, 1, bias=False)
        for weights in (self.last.weight, self.last.bias, self.mixture.weight):
            nn.init.zeros_(weights)
        with torch.no_grad():
            self.mixture.weight[0, LOG_AVERAGE] = 1

    def standardize(self, values: Tensor, *, left_out: tuple[str, ...] = ()) -> None:
        """Learn the scale of the features (rows, features); those left out count as their mean."""
        self.mean.copy_(values.mean(dim=0))
        self.deviation.copy_(values.std(dim=0) + 1e-3)
        for name in left_out:
            self.deviation[NAMES.index(name)] = torch.inf

    def forward(self, values: Tensor, is_there: Tensor) -> Tensor:
        """Logarithms of probabilities (items, candidates); they sum to what the average gives the candidates."""
        scaled = ((values - self.mean) / self.deviation).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
        hidden = nn.functional.gelu(self.first(scaled))
        among = _mean(hidden, is_there).expand_as(hidden)
        found = self.last(nn.functional.gelu(self.second(torch.cat([hidden, among], dim=2))))
        scores = found[..., 0] + self.mixture(values[..., :N_EXPERTS])[..., 0]
        learned = torch.softmax(scores.masked_fill(~is_there, -torch.inf), dim=1)
        gate = MOST_LEARNED * torch.sigmoid(_mean(found[..., 1:], is_there)[:, 0] + 1)
        average = values[..., AVERAGE] * is_there
        mixed = gate * learned * average.sum(dim=1, keepdim=True) + (1 - gate) * average
        return torch.log(mixed.clamp_min(LEAST))


def _mean(rows: Tensor, is_there: Tensor) -> Tensor:
    """The mean over the candidates that are there: (items, 1, numbers)."""
    there = is_there[:, :, None].to(rows.dtype)
    return (rows * there).sum(dim=1, keepdim=True) / there.sum(dim=1, keepdim=True)


def answer(networks: list[Network], features: Features) -> np.ndarray:
    """The mean of some networks' answers (items, classes); classes that are no candidates keep their average."""
    values = torch.from_numpy(features.values.astype(np.float32))
    is_there = torch.ones(values.shape[:2], dtype=torch.bool)
    with torch.no_grad():
        rows = torch.stack([network(values, is_there).exp() for network in networks]).mean(dim=0).double().numpy()
    posterior = features.average.astype(np.float64)
    np.put_along_axis(posterior, features.candidates.astype(np.int64), rows, axis=1)
    return posterior / posterior.sum(axis=1, keepdims=True)
