"""The learned rule in torch: the experts on tensors, then the same network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import torch

from consilience.aggregators.consensus.learned.experts import VOTE, Opinions, soft_logs
from consilience.aggregators.consensus.learned.network import Prepared, answer
from consilience.answering.torch_module import TorchForm, side_by_side
from consilience.data.answers import is_largest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consilience.aggregators.consensus.learned.rule import LearnedRule
    from consilience.answering.torch_module import Tensor, TorchRows


def learned_form(rule: LearnedRule) -> TorchForm:
    """The numbers of a learned rule, and how they answer."""
    experts, translation, n_networks = rule.weighed, rule.experts.translation, len(rule.weighed.powers)
    numbers = {f"network_{name}": value for name, value in rule.prepared._asdict().items()}
    numbers |= {
        "member_weights": experts.member_weights[:, None, None],
        "is_hard": experts.is_hard.astype(np.float64)[:, None, None],
        "translation_table": translation.weights.transpose(0, 2, 1).reshape(-1, len(translation.log_prior)),
        "translation_bias": translation.bias,
        "translation_prior": translation.log_prior,
        "combination_table": experts.of_votes,
        "combination_prior": experts.combination.log_prior,
        "powers": experts.powers.reshape(n_networks, -1, 1, 1, 2),
    }
    return TorchForm(numbers, _LearnedAnswer())


@final
@dataclass(frozen=True)
class _LearnedAnswer:
    def __call__(self, numbers: Mapping[str, Tensor], rows: TorchRows) -> Tensor:
        prepared = Prepared(*(numbers[f"network_{name}"] for name in Prepared._fields))
        return answer(prepared, _opinions(numbers, rows))


def _opinions(numbers: Mapping[str, Tensor], rows: TorchRows) -> Opinions:
    """What the experts say (batch, classes); votes have no gradient."""
    said, is_answer = rows.probabilities * rows.is_answer, rows.is_answer
    n_classes = said.shape[2]
    is_top = is_largest(said).to(said.dtype)
    has_voted = is_answer * (is_top.sum(dim=2, keepdim=True) == 1)
    votes = (is_top * has_voted).detach()
    soft = said - (1 - VOTE) * numbers["is_hard"] * (said - is_answer / n_classes)
    weights = numbers["member_weights"] * is_answer
    n_answers, n_votes = is_answer.sum(dim=0), has_voted.sum(dim=0)
    own = soft_logs(said, n_classes) * is_answer
    table = numbers["combination_table"]
    evidence = [
        (powers[..., 0] * own).sum(dim=0) + side_by_side(votes, powers[..., 1].expand_as(is_answer)) @ table
        for powers in numbers["powers"]
    ]
    even = torch.full_like(said[0], 1 / n_classes)
    return Opinions(
        average=soft.sum(dim=0) / n_answers,
        weighted=(weights * soft).sum(dim=0) / weights.sum(dim=0),
        translation=_translation(numbers, said, is_answer),
        combination=torch.log_softmax(side_by_side(votes, is_answer) @ table + numbers["combination_prior"], dim=1),
        votes=torch.where(n_votes > 0, votes.sum(dim=0) / n_votes.clamp(min=1), even),
        evidence=torch.cat(evidence, dim=1),
        n_answers=n_answers,
        n_votes=n_votes,
    )


def _translation(numbers: Mapping[str, Tensor], rows: Tensor, counts: Tensor) -> Tensor:
    scores = side_by_side(rows, counts) @ numbers["translation_table"]
    scores = scores + counts[:, :, 0].T @ numbers["translation_bias"] + numbers["translation_prior"]
    return torch.log_softmax(scores, dim=1)
