"""The network as torch trains it; `exported` gives the weights that the library answers with.

Items have different numbers of candidate classes, so a batch has one row for each item and candidate, one below the
other. Before training, the scores are the average's logarithms: the answer is the average.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from consilience.aggregators.consensus.learned.experts import (
    CLASS_TRAITS,
    FEATURE_NAMES,
    MEMBER_TRAITS,
    N_LOGS,
    N_SHARES,
    PAIR_FEATURES,
    PANEL_TRAITS,
)
from consilience.aggregators.consensus.learned.network import MOST_DEVIATIONS, MOST_LEARNED, N_SMALL
from consilience.aggregators.consensus.learned.network import Network as Weights

if TYPE_CHECKING:
    from training.fit import Batch

HIDDEN = 64

AVERAGE = FEATURE_NAMES.index("item and class: average")
"""Where the average stands, which all answers are compared with."""

MIXED = [*range(N_LOGS), *range(len(PAIR_FEATURES), len(PAIR_FEATURES) + N_SHARES)]
"""The features that are mixed as they are: logarithms of the experts and of the classes' shares."""

IS_TRAIT = torch.tensor([name.startswith(("class", "panel")) for name in FEATURE_NAMES])
"""The features of classes and of the panel."""

LEAST = 1e-9


class Network(nn.Module):
    """Called with a batch of items; see `consilience.aggregators.consensus.learned.network` for what it computes."""

    mean: Tensor
    deviation: Tensor
    member_mean: Tensor
    member_deviation: Tensor

    def __init__(self, n_hidden: int = HIDDEN, *, has_members: bool = True) -> None:
        super().__init__()
        self.has_members = has_members
        for name, size in (("", len(FEATURE_NAMES)), ("member_", len(MEMBER_TRAITS))):
            self.register_buffer(f"{name}mean", torch.zeros(size))
            self.register_buffer(f"{name}deviation", torch.ones(size))
        self.first = nn.Linear(len(FEATURE_NAMES), n_hidden)
        self.second = nn.Linear(2 * n_hidden, n_hidden)
        self.last = nn.Linear(n_hidden, 2)
        self.mixture = nn.Linear(len(MIXED), 1, bias=False)
        self.panel_first = nn.Linear(len(PANEL_TRAITS), N_SMALL)
        self.panel_last = nn.Linear(N_SMALL, len(MIXED) + 1, bias=False)
        self.member_first = nn.Linear(len(MEMBER_TRAITS) + len(PANEL_TRAITS), N_SMALL)
        self.member_last = nn.Linear(N_SMALL, 2)
        for layer in (self.last, self.mixture, self.panel_last, self.member_last):
            for parameter in layer.parameters():
                nn.init.zeros_(parameter)
        with torch.no_grad():
            self.mixture.weight[0, 0] = 1  # of the average's logarithm

    def standardize(self, batch: Batch, *, left_out: tuple[str, ...] = ()) -> None:
        """Learn the scale of the features from some items; those left out count as their mean."""
        for name, values in (("", batch.values), ("member_", batch.members)):
            self.get_buffer(f"{name}mean").copy_(values.mean(dim=0))
            self.get_buffer(f"{name}deviation").copy_(values.std(dim=0) + 1e-3)
        for name in left_out:
            self.deviation[FEATURE_NAMES.index(name)] = torch.inf

    @property
    def uses_mixed(self) -> Tensor:
        """Which of the features that are mixed are not left out, as 1 and 0 (mixed,)."""
        return torch.isfinite(self.deviation[MIXED]).float()

    @property
    def uses_evidence(self) -> Tensor:
        """Of the members' evidence, 1 for logarithms, and 1 for votes unless the combination is left out."""
        return torch.stack([torch.tensor(1.0), self.uses_mixed[PAIR_FEATURES.index("log combination")]])

    def forward(self, batch: Batch) -> Tensor:
        """Logarithms of probabilities (rows,); those of an item sum to what the average gives its candidates."""
        values, item, n_items = batch.values, batch.item, int(batch.item[-1]) + 1
        scaled = (values - self.mean) / self.deviation
        clamped = scaled.clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
        hidden = torch.relu(self.first(torch.where(IS_TRAIT, clamped, scaled)))
        among = _mean(hidden, item, n_items)
        of_itself, of_mean = self.second.weight.chunk(2, dim=1)
        deep = torch.relu(hidden @ of_itself.T + (among @ of_mean.T + self.second.bias)[item])
        found = self.last(deep)
        # The traits of the panel are the same in all its rows.
        first_rows = torch.searchsorted(item, torch.arange(n_items))
        panels = clamped[first_rows][:, -len(PANEL_TRAITS) :]  # (items, panel features)
        added = self.panel_last(torch.relu(self.panel_first(panels)))
        coefficients = (self.mixture.weight + added[:, :-1]) * self.uses_mixed
        mixed = (coefficients[item] * values[:, MIXED]).sum(dim=1)
        scores = found[:, 0] + mixed + self._evidence(batch)
        opening = _mean(found[:, 1:], item, n_items)[:, 0] + added[:, -1]
        gate = MOST_LEARNED * torch.sigmoid(opening + 1)[item]
        average = values[:, AVERAGE]
        mass = torch.zeros(n_items).index_add(0, item, average)[item]
        return torch.log(gate * mass * softmax(scores, item, n_items) + (1 - gate) * average + LEAST)

    def _evidence(self, batch: Batch) -> Tensor:
        """The members' evidence (rows,)."""
        rows = torch.zeros(len(batch.values))
        if not self.has_members:
            return rows
        scale = slice(-len(PANEL_TRAITS), None)
        panels = ((batch.panels - self.mean[scale]) / self.deviation[scale])[batch.member_panel]
        members = (batch.members - self.member_mean) / self.member_deviation
        traits = torch.cat([members, panels], dim=1).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
        powers = self.member_last(torch.relu(self.member_first(traits))) * self.uses_evidence
        shrunk = torch.exp(-batch.panels[:, PANEL_TRAITS.index("log answers an item")])[batch.member_panel]
        powers = (powers * shrunk[:, None])[batch.entry_member]
        return rows.index_add(0, batch.entry_row, (powers * batch.evidence).sum(dim=1))


def _mean(rows: Tensor, item: Tensor, n_items: int) -> Tensor:
    """The mean over the candidates of each item (items, numbers)."""
    sums = torch.zeros(n_items, rows.shape[1]).index_add(0, item, rows)
    return sums / torch.bincount(item, minlength=n_items)[:, None]


def softmax(scores: Tensor, item: Tensor, n_items: int) -> Tensor:
    """Over the candidates of each item (rows,)."""
    largest = torch.full((n_items,), -torch.inf).scatter_reduce(0, item, scores.detach(), "amax")
    exponentials = torch.exp(scores - largest[item])
    return exponentials / torch.zeros(n_items).index_add(0, item, exponentials)[item]


def exported(networks: Sequence[Network], panel_ranges: tuple[np.ndarray, np.ndarray]) -> Weights:
    """The weights of some networks for the library, with the range of the panels' traits in training.

    All networks saw the same lessons, so that their features have one scale. A feature that was left out counts as
    its mean: its weights are zero.
    """
    deviation = networks[0].deviation.double().numpy()
    is_used = np.isfinite(deviation)
    of_panel = is_used[-len(PANEL_TRAITS) :]
    of_mixed, of_evidence = networks[0].uses_mixed.double().numpy(), networks[0].uses_evidence.double().numpy()
    of_member = np.concatenate([np.ones(len(MEMBER_TRAITS), dtype=bool), of_panel])

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
        mixture=stacked("mixture.weight")[:, 0] * of_mixed,
        panel_first=stacked("panel_first.weight").transpose(0, 2, 1) * of_panel[None, :, None],
        panel_bias=stacked("panel_first.bias"),
        panel_last=stacked("panel_last.weight").transpose(0, 2, 1) * np.append(of_mixed, 1),
        member_mean=networks[0].member_mean.double().numpy(),
        member_deviation=networks[0].member_deviation.double().numpy(),
        member_first=stacked("member_first.weight").transpose(0, 2, 1) * of_member[None, :, None],
        member_bias=stacked("member_first.bias"),
        member_last=stacked("member_last.weight").transpose(0, 2, 1) * of_evidence,
        member_last_bias=stacked("member_last.bias") * of_evidence,
    )


assert FEATURE_NAMES[len(PAIR_FEATURES)] == f"class: {CLASS_TRAITS[0]}"  # noqa: S101 - `MIXED` and `exported` count on the order
assert FEATURE_NAMES[-1] == f"panel: {PANEL_TRAITS[-1]}"  # noqa: S101
