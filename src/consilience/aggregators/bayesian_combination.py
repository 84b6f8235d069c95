"""Bayesian classifier combination: Dawid-Skene with distributions over its rates, by variational Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from scipy.special import digamma, gammaln

from consilience.aggregators.base import read_class_prior
from consilience.aggregators.dawid_skene import AbstractLabelEM
from consilience.answering.declaration import Learned, Record, Shape
from consilience.data.validation import check_number
from consilience.maths.dirichlet import kullback_leibler, mean_log
from consilience.maths.em import Scores, Statistics
from consilience.system.arrays import FloatArray

LEAST_COUNT = 1e-12
"""Pseudo-counts must not be smaller; the logarithms that they expect would have no end."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Dirichlet concentrations: prior pseudo-counts plus expected counts."""

    classes: FloatArray  # (true,)
    confusion: FloatArray  # (members, true, predicted)


@final
@dataclass(frozen=True, slots=True, eq=False)
class VariationalModel:
    """κ ~ Dirichlet(ν0), π_mk ~ Dirichlet(α0_k), q(t) q(κ) q(π) (Simpson et al. 2013)."""

    prior_classes: FloatArray  # (true,): ν0
    prior_confusion: FloatArray  # (true, predicted): α0
    class_prior: FloatArray | None  # κ where it is fixed

    def maximize(self, statistics: Statistics, _: Counts | None = None) -> Counts:
        """q(κ) and q(π): the priors' counts plus the expected ones."""
        return Counts(self.prior_classes + statistics.class_counts, self.prior_confusion + statistics.sums)

    def scores(self, counts: Counts) -> Scores:
        """E ln κ and E ln π."""
        log_prior = mean_log(counts.classes) if self.class_prior is None else np.log(self.class_prior)
        # E ln π = ψ(α) - ψ(Σα): the second part is the same for all labels, so it is the bias.
        bias = -digamma(counts.confusion.sum(axis=-1))
        weights, is_moved = np.empty_like(counts.confusion), counts.confusion != self.prior_confusion
        weights[...] = digamma(self.prior_confusion)  # of many classes, most cells are as before any answer
        weights[is_moved] = digamma(counts.confusion[is_moved])
        return Scores(log_prior, weights, bias)

    def log_prior(self, counts: Counts) -> float:
        """-KL(q(π) || p(π)) - KL(q(κ) || p(κ)); with the evidence under E ln κ, E ln π it makes the ELBO."""
        member, true, label = np.nonzero(counts.confusion != self.prior_confusion)
        cells, prior_cells = counts.confusion[member, true, label], self.prior_confusion[true, label]
        totals, prior_totals = counts.confusion.sum(axis=-1), self.prior_confusion.sum(axis=-1)
        # Σ KL over rows, of which only the cells that some answer has moved from the prior contribute.
        divergence = ((cells - prior_cells) * digamma(cells) - gammaln(cells) + gammaln(prior_cells)).sum()
        divergence -= ((totals - prior_totals) * digamma(totals) - gammaln(totals) + gammaln(prior_totals)).sum()
        if self.class_prior is None:
            divergence += kullback_leibler(counts.classes, self.prior_classes)
        return -float(divergence)

    def rates(self, counts: Counts) -> tuple[FloatArray, FloatArray]:
        """The means of q(κ) and q(π)."""
        classes = counts.classes / counts.classes.sum() if self.class_prior is None else self.class_prior
        return classes, counts.confusion / counts.confusion.sum(axis=-1, keepdims=True)


@final
@dataclass(kw_only=True, repr=False, eq=False)
class BayesianClassifierCombination(AbstractLabelEM):
    """Variational Bayesian classifier combination (IBCC), on hard labels.

    `history_` is the evidence lower bound, which never falls. The priors keep rates from zero, so it is steadier than
    Dawid-Skene where a member answered little.

    Parameters
    ----------
    diagonal_prior, off_diagonal_prior
        Pseudo-counts of right and wrong answers in each confusion matrix.
    class_prior_count
        Pseudo-count of each class.
    class_prior, missing, max_iter, tol, forgetting, chunk_size, verbose
        As for `DawidSkene`.

    Examples
    --------
    >>> from consilience import Predictions
    >>> bcc = BayesianClassifierCombination().fit(Predictions.from_labels([[0, 0, 1], [0, 0, 1], [1, 0, 0]]))
    >>> bcc.posterior_.argmax(axis=1).tolist()
    [0, 0, 1]
    """

    diagonal_prior: float = 2
    off_diagonal_prior: float = 1
    class_prior_count: float = 1
    max_iter: int = 200

    command: ClassVar[str] = "bcc"
    learned: ClassVar[Learned] = {
        "parameters_": Record(
            Counts, {"classes": Shape("k", least=LEAST_COUNT), "confusion": Shape("mkk", least=LEAST_COUNT)}
        ),
        **AbstractLabelEM.learned,
    }

    def _check_model(self) -> None:
        for name in ("diagonal_prior", "off_diagonal_prior", "class_prior_count"):
            check_number(name, getattr(self, name), least=LEAST_COUNT)

    def _model(self, n_classes: int, *, ordered: bool) -> VariationalModel:
        del ordered  # a prior that leans to neighbours loses more than it gains here: results/ratings.txt
        diagonal = np.eye(n_classes) * (self.diagonal_prior - self.off_diagonal_prior)
        return VariationalModel(
            np.full(n_classes, float(self.class_prior_count)),
            self.off_diagonal_prior + diagonal,
            read_class_prior(self.class_prior, n_classes),
        )
