"""A fitted aggregator as a torch module. This file imports torch at its top: import it only where torch is wanted."""

from __future__ import annotations

from typing import Any, final

import torch
from array_api_compat import torch as xp
from torch import nn

from consilience.answering.rule import AbstractRule, Names, given_rows

Tensor = Any  # torch is not followed by the type checker


@final
class Fusion(nn.Module):  # type: ignore[misc]  # torch is not followed by the type checker
    """Probabilities or logits (members, batch, classes) in, the posterior (batch, classes) out.

    What was learned is in buffers: it moves with `.to(device)`, is saved with `state_dict()`, and is not trained.
    Gradients flow to what comes in, except through members whose answers count as votes. A row of NaN
    is a missing prediction; an item that nobody answers gets NaN. It is computed in single precision at least, whatever
    the precision of the buffers and of autocast, and given back in the precision of what came in. Nothing is checked
    but the shape.

    Attributes
    ----------
    members, classes : names, in the order of the axes
    """

    def __init__(self, rule: AbstractRule, names: Names, *, logits: bool = False, dtype: Any = None) -> None:
        super().__init__()
        self._aggregator, self.members, self.classes = names
        self.logits = logits
        self._have_votes = rule.have_votes
        self.register_buffer("is_label", torch.tensor(rule.is_label)[:, None, None])
        form = rule.form()
        if dtype is None:
            dtype = torch.float64 if form.needs_double else torch.get_default_dtype()
        self._numbers, self._answer = list(form.numbers), form.answer
        for name, values in form.numbers.items():
            self.register_buffer(name, torch.tensor(values, dtype=dtype))

    def forward(self, predictions: Tensor) -> Tensor:
        """The posterior (batch, classes)."""
        if not isinstance(predictions, torch.Tensor):
            raise TypeError(f"predictions must be a tensor; got a {type(predictions).__name__}")
        n_members, n_classes, shape = len(self.members), len(self.classes), tuple(predictions.shape)
        if len(shape) != 3 or (shape[0], shape[2]) != (n_members, n_classes):
            raise ValueError(f"predictions must be ({n_members} members, batch, {n_classes} classes); got {shape}")
        with torch.autocast(predictions.device.type, enabled=False):
            numbers = {name: getattr(self, name) for name in self._numbers}
            buffers = next(iter(numbers.values())).dtype
            dtype = torch.promote_types(predictions.dtype, torch.promote_types(buffers, torch.float32))
            given = predictions.to(dtype)
            is_missing = given.isnan().any(dim=2, keepdim=True)
            filled, is_answer = given.masked_fill(is_missing, 0), (~is_missing).to(dtype)
            rows = given_rows(xp, filled, is_answer, self.is_label, have_votes=self._have_votes, logits=self.logits)
            # Buffers may be narrower than what is computed in.
            posterior = self._answer({name: number.to(dtype) for name, number in numbers.items()}, rows)
            is_silent = is_missing.all(dim=0)
            # Integers, such as one-hot rows, cannot hold probabilities.
            answer = predictions.dtype if predictions.is_floating_point() else dtype
            return posterior.masked_fill(is_silent, torch.nan).to(answer)

    def extra_repr(self) -> str:
        """Whose rule it is, and the sizes."""
        kind = "logits" if self.logits else "probabilities"
        return f"{self._aggregator}, {len(self.members)} members × batch × {len(self.classes)} classes of {kind}"
