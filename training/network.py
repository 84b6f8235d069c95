"""The network as torch trains it; `exported` gives the weights that the library answers with.

Items have different numbers of candidate classes, so a batch has one row for each item and candidate, one below the
other. Before training, the scores are the average's logarithms: the answer is the average.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from consilience.answering.learned.features import CLASS, N_LOGS, N_SHARES, NAMES, PAIR, PANEL
from consilience.answering.learned.network import MOST_DEVIATIONS, MOST_LEARNED
from consilience.answering.learned.network import Network as Weights
from training.features import AVERAGE, Features

HIDDEN = 32

MIXED = [*range(N_LOGS), *range(len(PAIR), len(PAIR) + N_SHARES)]
"""The features that are mixed as they are: logarithms of the experts and of the classes' shares."""

IS_TRAIT = torch.tensor([name.startswith(("class", "panel")) for name in NAMES])
"""The features of classes and of the panel."""

LEAST = 1e-9


class Network(nn.Module):
    """Called with features (rows, features), the number of the item of each row, and the number of items."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, n_hidden: int = HIDDEN) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(len(NAMES)))
        self.register_buffer("deviation", torch.ones(len(NAMES)))
        self.first = nn.Linear(len(NAMES), n_hidden)
        self.second = nn.Linear(2 * n_hidden, n_hidden)
        self.last = nn.Linear(n_hidden, 2)
        self.mixture = nn.Linear(len(MIXED), 1, bias=False)
        for weights in (self.last.weight, self.last.bias, self.mixture.weight):
            nn.init.zeros_(weights)
        with torch.no_grad():
            self.mixture.weight[0, 0] = 1  # of the average's logarithm

    def standardize(self, values: Tensor, *, left_out: tuple[str, ...] = ()) -> None:
        """Learn the scale of the features (rows, features); those left out count as their mean."""
        self.mean.copy_(values.mean(dim=0))
        self.deviation.copy_(values.std(dim=0) + 1e-3)
        for name in left_out:
            self.deviation[NAMES.index(name)] = torch.inf

    def forward(self, values: Tensor, item: Tensor, n_items: int) -> Tensor:
        """Logarithms of probabilities (rows,); those of an item sum to what the average gives its candidates."""
        scaled = (values - self.mean) / self.deviation
        clamped = scaled.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
        hidden = torch.relu(self.first(torch.where(IS_TRAIT, clamped, scaled)))
        among = _mean(hidden, item, n_items)
        of_itself, of_mean = self.second.weight.chunk(2, dim=1)
        deep = torch.relu(hidden @ of_itself.T + (among @ of_mean.T + self.second.bias)[item])
        found = self.last(deep)
        scores = found[:, 0] + self.mixture(values[:, MIXED])[:, 0]
        gate = MOST_LEARNED * torch.sigmoid(_mean(found[:, 1:], item, n_items)[:, 0] + 1)[item]
        average = values[:, AVERAGE]
        mass = torch.zeros(n_items).index_add(0, item, average)[item]
        mixed = gate * mass * _softmax(scores, item, n_items) + (1 - gate) * average
        return torch.log(mixed + LEAST)


def _mean(rows: Tensor, item: Tensor, n_items: int) -> Tensor:
    """The mean over the candidates of each item (items, numbers)."""
    sums = torch.zeros(n_items, rows.shape[1]).index_add(0, item, rows)
    return sums / torch.bincount(item, minlength=n_items)[:, None]


def _softmax(scores: Tensor, item: Tensor, n_items: int) -> Tensor:
    largest = torch.full((n_items,), -torch.inf).scatter_reduce(0, item, scores.detach(), "amax")
    exponentials = torch.exp(scores - largest[item])
    return exponentials / torch.zeros(n_items).index_add(0, item, exponentials)[item]


def answer(networks: Sequence[Network], features: Features) -> np.ndarray:
    """The mean of some networks' answers (items, classes); classes that are no candidates keep their average."""
    n_items, n_candidates, n_features = features.values.shape
    values = torch.from_numpy(features.values.reshape(-1, n_features).astype(np.float32))
    item = torch.arange(n_items).repeat_interleave(n_candidates)
    with torch.no_grad():
        rows = torch.stack([network(values, item, n_items).exp() for network in networks]).mean(dim=0)
    posterior = features.average.astype(np.float64)
    found = rows.double().numpy().reshape(n_items, n_candidates)
    np.put_along_axis(posterior, features.candidates.astype(np.int64), found, axis=1)
    return posterior / posterior.sum(axis=1, keepdims=True)


def exported(networks: Sequence[Network], panel_ranges: tuple[np.ndarray, np.ndarray]) -> Weights:
    """The weights of some networks for the library, with the range of the panels' traits in training.

    All networks saw the same lessons, so that their features have one scale. A feature that was left out counts as
    its mean: its weights are zero.
    """
    deviation = networks[0].deviation.double().numpy()
    is_used = np.isfinite(deviation)

    def stacked(name: str) -> np.ndarray:
        return np.stack([network.get_parameter(name).detach().double().numpy() for network in networks])

    return Weights(
        mean=networks[0].mean.double().numpy(),
        deviation=np.where(is_used, deviation, 1.0),
        lowest=panel_ranges[0],
        highest=panel_ranges[1],
        first=stacked("first.weight").transpose(0, 2, 1) * is_used[None, :, None],
        first_bias=stacked("first.bias"),
        second=stacked("second.weight").transpose(0, 2, 1),
        second_bias=stacked("second.bias"),
        last=stacked("last.weight").transpose(0, 2, 1),
        last_bias=stacked("last.bias"),
        mixture=stacked("mixture.weight")[:, 0],
    )


assert NAMES[len(PAIR)] == f"class: {CLASS[0]}"  # noqa: S101 - `MIXED` and `exported` count on the order
assert NAMES[-1] == f"panel: {PANEL[-1]}"  # noqa: S101
