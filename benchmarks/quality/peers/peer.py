"""A peer: somebody else's method, run on a panel without its truth."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, final

import numpy as np

from benchmarks.quality.panel import Panel

SEED = 0
"""Every peer that draws random numbers starts from this seed."""


@final
@dataclass(frozen=True, eq=False)
class Answers:
    """What a peer sees of a panel: the items and members with an answer, and nothing of the truth."""

    votes: np.ndarray  # (members, items), -1 where a member says nothing
    probabilities: np.ndarray | None  # (members, items, classes), normalized, a NaN row where a member says nothing
    n_classes: int

    @property
    def n_members(self) -> int:
        """How many members answer at least once."""
        return len(self.votes)

    @property
    def n_items(self) -> int:
        """How many items have an answer."""
        return self.votes.shape[1]

    @property
    def n_votes(self) -> int:
        """How many answers there are."""
        return int((self.votes >= 0).sum())

    @property
    def classes_voted(self) -> np.ndarray:
        """The classes that have a vote, ascending."""
        return np.unique(self.votes[self.votes >= 0])

    @property
    def numbered_votes(self) -> np.ndarray:
        """(members, items): the votes, with the classes that have any numbered from 0; -1 where one is missing."""
        return np.where(self.votes >= 0, np.searchsorted(self.classes_voted, self.votes), -1)

    def widened(self, found: np.ndarray) -> np.ndarray:
        """(items, classes): a posterior of the classes that have votes, with zeros for the others."""
        posterior = np.zeros((self.n_items, self.n_classes))
        posterior[:, self.classes_voted] = found
        return posterior

    @property
    def vote_shares(self) -> np.ndarray:
        """(items, classes): the share of the votes that each class has."""
        return (self.votes[:, :, None] == np.arange(self.n_classes)).sum(axis=0) / (self.votes >= 0).sum(axis=0)[
            :, None
        ]

    @property
    def average(self) -> np.ndarray:
        """(items, classes): the members' average, of votes where they give no probabilities."""
        return self.vote_shares if self.probabilities is None else np.nanmean(self.probabilities, axis=0)


def answers_of(panel: Panel) -> Answers:
    """What a peer may see of a panel."""
    votes = np.asarray(panel.votes, dtype=np.int64)
    members, items = (votes >= 0).any(axis=1), (votes >= 0).any(axis=0)
    probabilities = None
    if panel.probabilities is not None:
        probabilities = panel.probabilities[members][:, items].astype(np.float64)
        probabilities /= probabilities.sum(axis=2, keepdims=True)
    return Answers(votes[members][:, items], probabilities, panel.n_classes)


Method = Callable[[Answers], np.ndarray]
"""From answers to a posterior (items, classes)."""

Condition = Callable[[Answers], str | None]
"""Why a method cannot run on these answers; None where it can."""


def too_uniform(answers: Answers) -> str | None:
    """With one class voted for, there is nothing to decide, and most methods divide by zero."""
    return None if len(answers.classes_voted) > 1 else "needs votes for two classes or more"


@final
@dataclass(frozen=True, eq=False)
class Peer:
    """A method of another project. Called with a panel, it returns the posterior (items, classes)."""

    name: str
    reads: Literal["votes", "probabilities"]  # the latter falls back on votes where there are no probabilities
    library: str  # the module that it imports
    method: Method
    condition: Condition = too_uniform

    @property
    def is_installed(self) -> bool:
        """Whether the library is there."""
        return find_spec(self.library.partition(".")[0]) is not None

    def reason_against(self, panel: Panel) -> str | None:
        """Why the method cannot run on the panel; None where it can."""
        return self.condition(answers_of(panel))

    def applies_to(self, panel: Panel) -> bool:
        """Whether the method can run on the panel."""
        return self.reason_against(panel) is None

    def __call__(self, panel: Panel) -> np.ndarray:
        """(items, classes): the method's posterior; uniform for items without an answer, or where it gives none."""
        answers = answers_of(panel)
        with _undisturbed():
            found = np.asarray(self.method(answers), dtype=np.float64)
        found = np.where(np.isfinite(found).all(axis=1, keepdims=True), found, 0).clip(min=0)
        found[found.sum(axis=1) == 0] = 1
        posterior = np.full((panel.n_items, panel.n_classes), 1 / panel.n_classes)
        posterior[(panel.votes >= 0).any(axis=0)] = found / found.sum(axis=1, keepdims=True)
        return posterior


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Silence prints and warnings, and seed NumPy's global random numbers, which are put back afterwards."""
    state = np.random.get_state()  # noqa: NPY002 - the peers use the global generator
    np.random.seed(SEED)  # noqa: NPY002
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
