"""A fitted aggregator as a torch module. This file alone imports torch at its top: import it where torch is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np
import torch
from torch import nn

from consilience.answering.correction import ANSWER_FLOOR, FLOOR

if TYPE_CHECKING:
    from consilience.answering.frozen import FrozenRule


@final
class Fusion(nn.Module):  # type: ignore[misc]  # torch is not followed by the type checker
    """Probabilities or logits (members, batch, classes) in, the posterior (batch, classes) out.

    What was learned is in buffers: it moves with `.to(device)`, is saved with `state_dict()`, and is not trained.
    Gradients flow to what comes in, except through members of whom only the most probable class counts. A row of NaN
    is a missing prediction; an item that nobody answers gets NaN. It is computed in single precision at least, whatever
    the precision of the buffers and of autocast, and given back in the precision of what came in. Nothing is checked
    but the shape.

    Attributes
    ----------
    members, classes : names, in the order of the axes
    """

    def __init__(self, rule: FrozenRule, *, logits: bool = False, dtype: Any = None) -> None:
        super().__init__()
        self.members, self.classes, self.logits = rule.members, rule.classes, logits
        self._aggregator, self._averages_logs = rule.aggregator, rule.averages_logs
        self._is_soft, self._is_hard = not rule.is_label.all(), bool(rule.is_label.any())
        self._takes_logs = rule.floor is not None
        layer = rule.layer()
        self._has_scores, self._has_average = layer is not None, layer is None or rule.weight < 1
        self.register_buffer("is_label", torch.tensor(rule.is_label)[:, None, None])
        numbers = {
            "weight": rule.weight,
            "member_weights": rule.member_weights[:, None, None],
            "log_floor": -np.inf if rule.floor is None else np.log(rule.floor),  # half precision has no 1e-10
        }
        if layer is not None:
            numbers |= {"table": layer.table, "bias": layer.bias, "log_prior": layer.log_prior}
        self._is_corrected = rule.correction is not None
        if rule.correction is not None:
            numbers |= {
                "sharpness": rule.correction.sharpness,
                "correction_bias": rule.correction.bias,
                "correction_table": rule.correction_table(),
            }
        if dtype is None:
            dtype = torch.float64 if layer is not None and layer.needs_double else torch.get_default_dtype()
        for name, values in numbers.items():
            self.register_buffer(name, torch.tensor(values, dtype=dtype))

    def forward(self, predictions: Any) -> Any:
        """The posterior (batch, classes)."""
        self._check_shape(predictions)
        with torch.autocast(predictions.device.type, enabled=False):
            dtype = torch.promote_types(predictions.dtype, torch.promote_types(self.weight.dtype, torch.float32))
            given = predictions.to(dtype)
            is_missing = given.isnan().any(dim=2, keepdim=True)
            posterior = self._posterior(given.masked_fill(is_missing, 0), (~is_missing).to(dtype))
            is_silent = is_missing.all(dim=0)
            # Integers, such as one-hot rows, have no room for probabilities.
            answer = predictions.dtype if predictions.is_floating_point() else dtype
            return posterior.masked_fill(is_silent, torch.nan).to(answer)

    def extra_repr(self) -> str:
        """Whose rule it is, and the sizes."""
        kind = "logits" if self.logits else "probabilities"
        return f"{self._aggregator}, {len(self.members)} members × batch × {len(self.classes)} classes of {kind}"

    def _check_shape(self, predictions: Any) -> None:
        shape = tuple(predictions.shape)
        if len(shape) != 3 or (shape[0], shape[2]) != (len(self.members), len(self.classes)):
            raise ValueError(
                f"predictions must be ({len(self.members)} members, batch, {len(self.classes)} classes); got {shape}"
            )

    def _posterior(self, given: Any, is_answer: Any) -> Any:
        """The rule, for rows without NaN and flags (members, batch, 1) of those that count."""
        probabilities, logs = self._read(given)
        posterior = self._mixed(probabilities, logs, is_answer)
        return self._corrected(posterior, probabilities, is_answer) if self._is_corrected else posterior

    def _corrected(self, posterior: Any, probabilities: Any, is_answer: Any) -> Any:
        """What labels taught, on top."""
        logs = probabilities.clamp(min=FLOOR).log()
        sharpness, bias, table = (
            self._number(part, posterior) for part in (self.sharpness, self.correction_bias, self.correction_table)
        )
        features = (logs * is_answer).transpose(0, 1).flatten(start_dim=1)
        return torch.softmax(sharpness * posterior.clamp(min=ANSWER_FLOOR).log() + features @ table + bias, dim=1)

    def _mixed(self, probabilities: Any, logs: Any, is_answer: Any) -> Any:
        """(1 - weight) · average + weight · softmax(scores), or the half of it that counts."""
        pooled = self._average(logs if self._averages_logs else probabilities, is_answer) if self._has_average else 0
        if not self._has_scores:
            return torch.softmax(pooled, dim=1) if self._averages_logs else pooled
        weight = self._number(self.weight, probabilities)
        return (1 - weight) * pooled + weight * torch.softmax(self._scores(logs, is_answer), dim=1)

    def _read(self, given: Any) -> tuple[Any, Any]:
        """Each row as probabilities and as logarithms; where only the most probable class counts, one-hot in both."""
        if not self._is_hard:
            return self._read_soft(given)
        votes = nn.functional.one_hot(given.argmax(dim=2), len(self.classes)).to(given.dtype)
        if not self._is_soft:
            return votes, votes
        probabilities, logs = self._read_soft(given)
        return torch.where(self.is_label, votes, probabilities), torch.where(self.is_label, votes, logs)

    def _read_soft(self, given: Any) -> tuple[Any, Any]:
        """Probabilities, and what scores are linear in: their floored logarithms, or where no floor is, themselves."""
        if not self._takes_logs:
            probabilities = torch.softmax(given, dim=2) if self.logits else given
            return probabilities, probabilities
        log_floor = self._number(self.log_floor, given)
        if self.logits:
            logs = torch.log_softmax(given, dim=2)
            return logs.exp(), torch.maximum(logs, log_floor)
        # Floored before the logarithm, whose gradient at zero is infinite.
        return given, torch.maximum(given, log_floor.exp()).log()

    def _average(self, rows: Any, is_answer: Any) -> Any:
        """The mean of the rows of each item, weighed among those who answered."""
        weights = self._number(self.member_weights, rows) * is_answer
        return (weights * rows).sum(dim=0) / weights.sum(dim=0)

    def _scores(self, rows: Any, is_answer: Any) -> Any:
        """The linear layer (batch, classes)."""
        features = (rows * is_answer).transpose(0, 1).flatten(start_dim=1)
        table, bias, log_prior = (self._number(part, rows) for part in (self.table, self.bias, self.log_prior))
        return features @ table + is_answer[:, :, 0].T @ bias + log_prior

    @staticmethod
    def _number(buffer: Any, example: Any) -> Any:
        """A buffer in the precision that is computed in, which may be wider than its own."""
        return buffer.to(example.dtype)
