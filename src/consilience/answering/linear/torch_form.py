"""A linear rule for torch. This file imports torch at its top: import it only where torch is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import torch

from consilience.answering.torch_module import TorchForm, side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consilience.answering.linear.rule import LinearRule
    from consilience.answering.torch_module import Tensor, TorchRows


def linear_form(rule: LinearRule) -> TorchForm:
    """The numbers of a linear rule, and how they answer."""
    layer = rule.layer()
    numbers: dict[str, Any] = {
        "weight": rule.weight,
        "member_weights": rule.member_weights[:, None, None],
        "log_floor": -np.inf if rule.log_floor is None else np.log(rule.log_floor),  # half precision has no 1e-10
    }
    if layer is not None:
        numbers |= {"table": layer.table, "bias": layer.bias, "log_prior": layer.log_prior}
    answer = _LinearAnswer(
        has_scores=layer is not None,
        has_average=layer is None or rule.weight < 1,
        takes_logs=rule.log_floor is not None,
        averages_logs=rule.averages_logs,
    )
    return TorchForm(numbers, answer)


@final
@dataclass(frozen=True, kw_only=True)
class _LinearAnswer:
    has_scores: bool
    has_average: bool
    takes_logs: bool
    averages_logs: bool

    def __call__(self, numbers: Mapping[str, Tensor], rows: TorchRows) -> Tensor:
        """(1 - weight) · average + weight · softmax(scores), or the half of it that counts."""
        features = self._features(numbers, rows)
        pooled = features if self.averages_logs else rows.probabilities
        average = _average(numbers, pooled, rows.is_answer) if self.has_average else 0
        if not self.has_scores:
            return torch.softmax(average, dim=1) if self.averages_logs else average
        scores = side_by_side(features, rows.is_answer) @ numbers["table"]
        scores = scores + rows.is_answer[:, :, 0].T @ numbers["bias"] + numbers["log_prior"]
        return (1 - numbers["weight"]) * average + numbers["weight"] * torch.softmax(scores, dim=1)

    def _features(self, numbers: Mapping[str, Tensor], rows: TorchRows) -> Tensor:
        """What scores are linear in: floored logarithms, or without a floor the probabilities; votes are one-hot."""
        if not self.takes_logs:
            return rows.probabilities
        log_floor = numbers["log_floor"]
        if rows.are_logits:
            logs = torch.maximum(torch.log_softmax(rows.given, dim=2), log_floor)
        else:
            # Floored before the logarithm, whose gradient at zero is infinite.
            logs = torch.maximum(rows.given, log_floor.exp()).log()
        return logs if rows.votes is None else torch.where(rows.is_label, rows.votes, logs)


def _average(numbers: Mapping[str, Tensor], rows: Tensor, is_answer: Tensor) -> Tensor:
    """The mean of the rows of each item, weighed among those who answered; even if nobody votes."""
    weights = numbers["member_weights"] * is_answer
    behind = weights.sum(dim=0)
    is_silent = behind == 0
    return ((weights * rows).sum(dim=0) + is_silent.to(behind)) / torch.where(is_silent, rows.shape[2], behind)
