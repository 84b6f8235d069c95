"""Dawid and Skene (1979): each member has a confusion matrix, and EM finds it without labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

import numpy as np

from consilience.aggregators.iterative import AbstractLabelEM, read_class_prior
from consilience.answering.declaration import CLASS_PRIOR, CONFUSION, SILENCE, VOTE_STATISTICS, Learned, Record
from consilience.data.reading import check_number
from consilience.maths.em import Scores, log_rates, pseudo_answers, smoothed_rates

if TYPE_CHECKING:
    from consilience.maths.em import Statistics
    from consilience.system.arrays import FloatArray


@final
@dataclass(frozen=True, slots=True, eq=False)
class Rates:
    """How often each class occurs, and how often each member calls class k class j."""

    class_prior: FloatArray  # (true,)
    confusion: FloatArray  # (members, true, predicted)


@final
@dataclass(frozen=True, slots=True, eq=False)
class CategoricalModel:
    """t ~ Categorical(ν); a member's label given t = k ~ Categorical(π_k).

    The prior is that of pseudo-answers, to each cell of each confusion matrix and to each class.
    """

    smoothing: float
    class_prior: FloatArray | None
    ordered: bool = False

    def maximize(self, statistics: Statistics, _: Rates | None = None) -> Rates:
        """The maximum of the expected log-likelihood plus `log_prior`."""
        confusion = smoothed_rates(statistics.sums, self.smoothing, ordered=self.ordered)
        if self.class_prior is not None:
            return Rates(self.class_prior, confusion)
        counts = statistics.class_counts + self.smoothing
        return Rates(counts / counts.sum(), confusion)

    def scores(self, rates: Rates) -> Scores:
        """The logarithms of the rates."""
        n_members, n_classes, _ = rates.confusion.shape
        return Scores(log_rates(rates.class_prior), log_rates(rates.confusion), np.zeros((n_members, n_classes)))

    def log_prior(self, rates: Rates) -> float:
        """The logarithm of the prior of the rates, up to a constant; zero without smoothing."""
        if self.smoothing == 0:
            return 0.0
        answers = pseudo_answers(rates.confusion.shape[1], self.smoothing, ordered=self.ordered)
        total = (answers * log_rates(rates.confusion)).sum()
        if self.class_prior is None:
            total += self.smoothing * log_rates(rates.class_prior).sum()
        return float(total)

    def rates(self, rates: Rates) -> tuple[FloatArray, FloatArray]:
        """The parameters as they are."""
        return rates.class_prior, rates.confusion


@final
class DawidSkene(AbstractLabelEM):
    """Dawid-Skene: EM on hard labels, in log space.

    `history_` is the log-likelihood Σ_i log Σ_k ν_k Π_m π_{m,k,label} plus the logarithm of the smoothing prior; it
    never falls, and its last value is that of the parameters returned. Accuracy is often better than the average's;
    the probabilities are far too sure of themselves, because members are not independent.

    Parameters
    ----------
    smoothing
        Pseudo-answers in each cell of the confusion matrices (twice on the diagonal) and for each class. 0 is the
        maximum likelihood of 1979, in which a rate of zero forbids a class for ever. Of ordered classes, they lean to
        the neighbours of the true one.
    class_prior
        None: estimated. "uniform" or one probability per class: fixed.
    missing
        Whether a missing answer is information. "ignored": no. "informative": yes, each member answers items of each
        class at a rate of its own, like a labelling function that names one class or stays silent; a member who was
        not asked then counts as silent. "auto": "informative" if most answers come from members who name few of the
        classes and leave items out.
    max_iter, tol
        At most so many iterations; fewer when the objective changes by less than `tol` per item.
    forgetting
        What `partial_fit` multiplies all earlier statistics by at each batch; 1 forgets nothing.
    chunk_size
        Items at a time; None chooses.
    verbose
        Show a progress bar.

    Attributes
    ----------
    silence_ : how often members answer, `answering` (members, true); None where missing answers are ignored

    Examples
    --------
    >>> from consilience import Predictions
    >>> ds = DawidSkene().fit(Predictions.from_labels([[0, 0, 1, 1], [0, 0, 1, 1], [1, 0, 0, 1]]))
    >>> ds.predict(Predictions.from_labels([[0], [0], [1]])).tolist()
    [0]
    """

    command: ClassVar[str] = "dawid-skene"
    learned: ClassVar[Learned] = {
        "parameters_": Record(Rates, {"class_prior": CLASS_PRIOR, "confusion": CONFUSION}),
        "silence_": SILENCE,
        "statistics_": VOTE_STATISTICS,
        "class_prior_": CLASS_PRIOR,
        "confusion_": CONFUSION,
    }

    def __init__(
        self,
        *,
        smoothing: float = 0.01,
        class_prior: Any = None,
        missing: Literal["auto", "ignored", "informative"] = "auto",
        max_iter: int = 100,
        tol: float | None = 1e-6,
        forgetting: float = 1.0,
        chunk_size: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.smoothing = smoothing
        self.class_prior = class_prior
        self.missing = missing
        self.max_iter = max_iter
        self.tol = tol
        self.forgetting = forgetting
        self.chunk_size = chunk_size
        self.verbose = verbose

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        del n_members
        self._check_loop()
        check_number("smoothing", self.smoothing)
        read_class_prior(self.class_prior, n_classes)

    def _model(self, n_classes: int, *, ordered: bool) -> CategoricalModel:
        return CategoricalModel(self.smoothing, read_class_prior(self.class_prior, n_classes), ordered)
