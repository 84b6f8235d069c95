"""A corrected rule for torch. This file imports torch at its top: import it only where torch is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import torch

from consilience.aggregators.consensus.labels.corrected import ANSWER_FLOOR, FLOOR
from consilience.answering.torch_module import TorchForm, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from consilience.aggregators.consensus.labels.corrected import Correction
    from consilience.answering.torch_module import Tensor, TorchRows


def corrected_form(form: TorchForm, correction: Correction) -> TorchForm:
    """Another form's answers, corrected by what labels taught."""
    numbers = {
        "sharpness": correction.sharpness,
        "correction_bias": correction.bias,
        "correction_table": correction.table(),
    }
    return TorchForm(form.numbers | numbers, _CorrectedAnswer(form.answer))


@final
@dataclass(frozen=True)
class _CorrectedAnswer:
    before: Callable[[Mapping[str, Tensor], TorchRows], Tensor]

    def __call__(self, numbers: Mapping[str, Tensor], rows: TorchRows) -> Tensor:
        logs = side_by_side(rows.probabilities.clamp(min=FLOOR).log(), rows.is_answer)
        floored = self.before(numbers, rows).clamp(min=ANSWER_FLOOR).log()
        scores = numbers["sharpness"] * floored + logs @ numbers["correction_table"] + numbers["correction_bias"]
        return torch.softmax(scores, dim=1)
