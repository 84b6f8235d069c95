"""A rule computes the posterior of items from the numbers that a fit has learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from consilience.data.answers import is_largest
from consilience.data.predictions import AbstractPredictions, Predictions, example_of
from consilience.passes.reader import ReadChunk, Reader, patterns_of
from consilience.passes.responsibilities import LazyPosterior, dense, settled
from consilience.system.arrays import Array, FloatArray


class Names(NamedTuple):
    """The names that are exported with a rule."""

    aggregator: str
    members: list[Any]
    classes: list[Any]


class Evidence(NamedTuple):
    """What speaks for one class against another, in nats; it adds up to the log-odds exactly."""

    prior: float
    by_probability: FloatArray  # (members, classes): of each probability, or label, a member gave
    # A rule that cannot split a member's answer counts all of it at the class that the member finds most probable.
    normalizer: FloatArray  # (members,): of having answered at all
    shares: float = 0.0  # of class shares that were given
    experts: Mapping[str, float] = {}  # what each alone says, where there are some; no part of the sum


class GivenRows(NamedTuple):
    """What the members said, as tensors of torch or as arrays that an ONNX graph will compute."""

    xp: Any  # their namespace: that of the array API, and torch's softmax, topk, gather, scatter and relu
    given: Array  # (members, batch, classes), zero where missing
    are_logits: bool
    votes: Array | None  # rows of votes, where there are members whose answers count as such (`SoftMember.ballots`)
    is_label: Array  # (members, 1, 1): who these members are
    probabilities: Array  # of those members the votes
    is_answer: Array  # (members, batch, 1): also without the answers that are no vote


def given_rows(
    xp: Any, given: Array, is_answer: Array, is_label: Array, *, have_votes: tuple[bool, bool], logits: bool
) -> GivenRows:
    """What was given, zero where missing; `have_votes` says whether some members give votes, and all do."""
    some_vote, all_vote = have_votes
    probabilities = xp.softmax(given, dim=2) if logits else given
    if not some_vote:
        return GivenRows(xp, given, logits, None, is_label, probabilities, is_answer)
    is_tied = xp.astype(is_largest(probabilities), given.dtype)
    n_tied = xp.sum(is_tied, axis=2, keepdims=True)
    votes, is_undecided = is_tied / n_tied, n_tied >= given.shape[2] - 0.5
    is_answer = is_answer * xp.astype(~(is_label & is_undecided), given.dtype)
    probabilities = votes if all_vote else xp.where(is_label, votes, probabilities)
    return GivenRows(xp, given, logits, votes, is_label, probabilities, is_answer)


def side_by_side(xp: Any, rows: Array, is_answer: Array) -> Array:
    """The rows of all members of an item as one (batch, members × classes), zero where missing."""
    n_members, _, n_classes = rows.shape
    return xp.reshape(xp.permute_dims(rows * is_answer, (1, 0, 2)), (-1, n_members * n_classes))


class RuleForm(NamedTuple):
    """A rule for torch and ONNX: numbers by name, and how they answer (batch, classes), with what both offer."""

    numbers: dict[str, Any]
    answer: Callable[[Mapping[str, Array], GivenRows], Array]
    needs_double: bool = False  # whether single precision would show in the posterior


class Explained(NamedTuple):
    """One item, answered by a rule."""

    log_posterior: FloatArray  # (classes,)
    evidence: Callable[[int, int], Evidence]  # what speaks for the first class against the second


class AbstractRule(ABC):
    """How items are answered. Each kind of rule brings its own explanation, and its own form for torch and ONNX.

    Attributes
    ----------
    is_label : (members,), whether a member's answers count as votes (`SoftMember.ballots`)
    chunk_size : items at a time; None chooses
    """

    is_label: npt.NDArray[np.bool_]
    chunk_size: int | None

    @property
    def have_votes(self) -> tuple[bool, bool]:
        """Whether the answers of some members count as votes, and those of all."""
        return bool(self.is_label.any()), bool(self.is_label.all())

    def posterior(self, predictions: AbstractPredictions) -> Array:
        """The posterior (items, classes)."""
        return self.lazy_posterior(predictions).to_array()

    def lazy_posterior(
        self, predictions: AbstractPredictions, known: Array | None = None, noise: float = 0.0
    ) -> LazyPosterior:
        """The posterior given what is known of some items (see `settled`)."""
        if not isinstance(predictions, Predictions):
            from consilience.passes.cluster import answered_by  # noqa: PLC0415 - Dask is an extra

            return answered_by(predictions, partial(self.lazy_posterior, noise=noise), known)
        patterns = None if known is not None else patterns_of(predictions)
        if patterns is not None:
            return patterns.posterior(self.lazy_posterior(patterns.predictions))
        reader = Reader(predictions.ballots() if self.is_label.all() else predictions, chunk_size=self.chunk_size)
        answer, example = self.answer(reader), example_of(predictions)
        if known is None:
            return reader.lazy_posterior(answer, example)

        def given(chunk: ReadChunk) -> Array:
            return settled(dense(answer(chunk)), known[chunk.items], noise)

        return reader.lazy_posterior(given, example)

    @abstractmethod
    def answer(self, reader: Reader) -> Callable[[ReadChunk], Array]:
        """A function from each chunk of this reader to its posterior (items, classes), which may be sparse."""

    @abstractmethod
    def explained(self, one: Predictions) -> Explained:
        """The only item of some predictions, with what tips its answer."""

    @property
    def n_numbers(self) -> int:
        """How many numbers an exported rule holds, about."""
        return 0

    @abstractmethod
    def form(self) -> RuleForm:
        """The rule for torch and ONNX: its numbers, and how they answer."""
