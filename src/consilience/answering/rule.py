"""A rule computes the posterior of items from the numbers that a fit has learned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.passes.patterns import patterns_of
from consilience.passes.reader import ReadChunk, Reader
from consilience.passes.responsibilities import dense, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from consilience.answering.onnx import Graph, GraphRows
    from consilience.answering.torch_module import TorchForm
    from consilience.data.predictions import AbstractPredictions, Predictions
    from consilience.passes.lazy_posterior import LazyPosterior
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


class AbstractExplained(ABC):
    """One item, answered by a rule."""

    log_posterior: FloatArray  # (classes,)

    @abstractmethod
    def evidence(self, first: int, second: int) -> Evidence:
        """What speaks for the first class against the second."""

    def experts(self, first: int, second: int) -> dict[str, float]:
        """What each expert alone says for the first class against the second, in nats; empty where there are none."""
        del first, second
        return {}


class AbstractRule(ABC):
    """How items are answered. Each kind of rule brings its own explanation, torch module and ONNX graph.

    Attributes
    ----------
    is_label : (members,), whether a member's answers count as votes (`SoftMember.ballots`)
    chunk_size : items at a time; None chooses
    """

    is_label: npt.NDArray[np.bool_]
    chunk_size: int | None

    def posterior(self, predictions: AbstractPredictions) -> Array:
        """The posterior (items, classes)."""
        return self.lazy_posterior(predictions).to_array()

    def lazy_posterior(
        self, predictions: AbstractPredictions, known: Array | None = None, noise: float = 0.0
    ) -> LazyPosterior:
        """The posterior given what is known of some items (see `settled`)."""
        return predictions.answer(partial(_lazy_posterior, self, noise), known)

    @abstractmethod
    def answer(self, reader: Reader) -> Callable[[ReadChunk], Array]:
        """A function from each chunk of this reader to its posterior (items, classes), which may be sparse."""

    @abstractmethod
    def explained(self, one: Predictions) -> AbstractExplained:
        """The only item of some predictions, with what tips its answer."""

    @property
    @abstractmethod
    def needs_double(self) -> bool:
        """Whether single precision would show in the posterior."""

    @property
    def n_numbers(self) -> int:
        """How many numbers an exported rule holds, about."""
        return 0

    @abstractmethod
    def draw(self, graph: Graph, rows: GraphRows) -> str:
        """Draw the rule into an ONNX graph; the name of the posterior (batch, classes)."""

    @abstractmethod
    def torch_form(self) -> TorchForm:
        """The rule for torch: its numbers, and how they answer."""


def _lazy_posterior(rule: AbstractRule, noise: float, block: Predictions, known: Any) -> LazyPosterior:
    patterns = None if known is not None else patterns_of(block)
    if patterns is not None:
        return patterns.posterior(_lazy_posterior(rule, noise, patterns.predictions, None))
    reader = Reader(block.ballots() if rule.is_label.all() else block, chunk_size=rule.chunk_size)
    answer = rule.answer(reader)

    def rows(chunk: ReadChunk) -> Array:
        found = answer(chunk)
        return found if known is None else settled(dense(found), known[chunk.items], noise)

    return reader.lazy_posterior(rows, block.example())
