"""`Consensus`: an answer that has learned from many panels how to fuse one. Label-free."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, final

import numpy as np

from consilience.aggregators.base import AbstractIterative, Outcome
from consilience.aggregators.consensus.class_shares import (
    MOST_WEIGHT,
    ClassShares,
    Reweighting,
    read_shares,
    reweighted,
    saved_shares,
)
from consilience.aggregators.consensus.label_free_fit import (
    LabelFreeFit,
    Sample,
    Survey,
    fit_batch,
    fit_panel,
    sample_of,
)
from consilience.aggregators.consensus.labels.corrected_rule import CorrectedRule, Correction
from consilience.aggregators.consensus.labels.teaching import LabelledItems, is_doubted, labelled_items, taught
from consilience.aggregators.consensus.learned import network
from consilience.aggregators.consensus.learned.network import LearnedRule
from consilience.aggregators.consensus.panel import Standing, traits_of
from consilience.answering.declaration import (
    BY_MEMBER_FLAGS,
    CLASS_PRIOR,
    COARSE,
    LEARNED_ROUNDING,
    STATISTICS,
    VOTE_STATISTICS,
    Learned,
    Number,
    Record,
    Shape,
)
from consilience.answering.rule import AbstractRule
from consilience.data.axes import Axes
from consilience.data.labels import known_truths
from consilience.data.predictions import AbstractPredictions
from consilience.data.validation import check_number
from consilience.maths.em import State
from consilience.passes.pair_products import Agreement
from consilience.system.arrays import Array
from consilience.system.errors import InvalidPredictions

AGREEMENT_RECORD = Record(
    Agreement, {"products": "gg", "counts": "gg", "confidences": "m", "answers": "m", "totals": "mk"}
)


@final
@dataclass(kw_only=True, repr=False, eq=False)
class Consensus(AbstractIterative):
    """The recommended label-free method: a small network, trained on many panels, weighs four ways to fuse answers.

    1. **Experts** fuse the answers in different ways: the average; an average with weights that follow from how much
       members agree (`panel.py`); a translation, which reads the answers through confusion matrices that
       are estimated from that average; and Bayesian classifier combination on the votes.
    2. **Traits** describe the panel, its classes and its members: sizes, agreement beyond chance and beyond what
       accuracy explains, how sure members are and how sure their agreement lets them be, how frequent each class is
       according to each expert and each member, and how far members agree on it.
    3. **The network** computes from both a score for every class of an item, and a gate for every item: the answer is
       gate · softmax(scores) + (1 - gate) · average. It was trained on thousands of panels whose truth was known,
       and never sees your labels. With one member or one item the answer is the average.

    Known labels also correct the answers to the other items, by member and class. The correction is shrunk towards
    none, as strongly as cross-validation on the labelled items demands (`labels/regression.py`), and limited to what so
    many labels can justify, however wrong they are or badly chosen (`labels/teaching.py`). Labels are names of
    classes, or positions where classes have no names (-1 where unknown), or probabilities (items, classes) with rows of
    NaN where unknown. They change nothing else that is learned.

    `history_` is the evidence of the translated answers after each pass; it settles but need not rise.
    `benchmarks/quality` measures gains and losses; the model card says what the network was trained on.

    Parameters
    ----------
    class_shares
        How frequent the classes are, where you know it: "even", if about equally; shares, in the order of the classes,
        or a mapping or a Series by their names, which may leave out one class; or counts, such as
        `labels.value_counts()` of a sample, where the number of items says how well the shares are known. Whole
        numbers that sum to 2 or more are counts. Answers are then weighted by class, so that they have these shares in
        the mean; the fewer items there are, or were counted, the less (`class_shares.py`). None, where you do not know.
    label_noise
        The share of known labels that are wrong, where you know it; the members then count beside a label, also on its
        own item. 0 vouches for the labels: they are right, and of items drawn at random. None estimates the share, and
        believes labels less that contradict sure answers. Soft labels already say how sure they are.
    weights
        A file of weights that `training` wrote, from your own history of labelled panels; None takes those that come
        with the package.
    forgetting
        What `partial_fit` multiplies all earlier statistics by at each batch; 1 forgets nothing.
    chunk_size
        Items at a time; None chooses.
    verbose
        Show a progress bar.

    Attributes
    ----------
    member_weights_ : (members,), of the weighted average; they sum to 1
    member_credibility_ : (members,), what their evidence is multiplied by: below 1 if they are surer than their
        agreement supports
    agreement_, vote_agreement_ : what the weights were found from, in a form that adds up
    survey_, gives_votes_, vote_statistics_ : what else the experts and traits follow from
    stated_ : what `class_shares` say, and how many counted items that is worth; None without them
    reweighting_ : what answers are multiplied by because of them; None without them
    correction_ : what labels corrected; None where there were none
    labelled_ : what members said of the labelled items, which corrections are learned from
    sample_ : what members said of some other items, on which is seen how many answers a correction turns
    network_checksum_ : of the weights that the fit used; with other weights nothing is answered

    Examples
    --------
    >>> Consensus().fit_predict_proba([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.4, 0.6]]]).argmax(1).tolist()
    [0, 1]
    """

    class_shares: Any = None
    label_noise: float | None = None
    weights: str | os.PathLike[str] | None = None

    command: ClassVar[str] = "consensus"
    _shrinks_rates: ClassVar[bool] = True  # confusion matrices, by as much however many items there are
    learned: ClassVar[Learned] = {
        "agreement_": AGREEMENT_RECORD,
        "vote_agreement_": AGREEMENT_RECORD,
        "network_checksum_": Number(most=2**32),
        "member_weights_": Shape("m", is_positive=True, sums_to_one=LEARNED_ROUNDING),
        "member_credibility_": Shape("m", is_positive=True, most=1),
        "confusion_": Shape("mkk", is_positive=True, sums_to_one=LEARNED_ROUNDING),
        "statistics_": STATISTICS,
        "survey_": Record(Survey, {"by_class": "sk", "totals": "t"}),
        "gives_votes_": BY_MEMBER_FLAGS,
        "vote_statistics_": VOTE_STATISTICS,
        "stated_": Record(ClassShares, {"shares": CLASS_PRIOR, "n_counted": Number()}, is_optional=True),
        "reweighting_": Record(
            Reweighting,
            {"log_weights": Shape("k", is_signed=True, most=MOST_WEIGHT), "precision": Shape("k", is_positive=True)},
            is_optional=True,
        ),
        "correction_": Record(
            Correction,
            {"sharpness": Number(), "bias": Shape("k", is_signed=True), "weights": Shape("mkk", is_signed=True)},
            is_optional=True,
        ),
        "labelled_": Record(
            LabelledItems,
            {
                "said": Shape("lmk", sums_to_one=COARSE, may_miss=True),
                "targets": Shape("lk", sums_to_one=COARSE),
                "noise": Shape("l", most=0.5, may_miss=True),
                "weights": Shape("l", is_positive=True, most=1),
                "keys": Shape("l", is_signed=True, dtypes=("int64",)),
            },
            is_optional=True,
        ),
        "sample_": Record(
            Sample, {"said": Shape("smk", sums_to_one=COARSE, may_miss=True, dtypes=("float32",))}, is_optional=True
        ),
        "class_prior_": CLASS_PRIOR,
    }

    # ---- fitting ------------------------------------------------------------------------------------------

    def _fit(self, predictions: AbstractPredictions, known: Array | None) -> Outcome:
        return self._learn(predictions, known, is_first=True)

    def _partial_fit(self, predictions: AbstractPredictions, known: Array | None) -> Outcome:
        return self._learn(predictions, known, is_first=False)

    def _learn(self, predictions: AbstractPredictions, known: Array | None, *, is_first: bool) -> Outcome:
        # Weights that are missing are noticed before the work, and so are wrong shares.
        weights = self._network() if is_first else self._network_of_fit()
        shares = None if self.class_shares is None else read_shares(self.class_shares, predictions.classes)
        if shares is not None and known is not None:
            shares.check_labels(known, predictions.classes)
        before, correction, labelled, sample = None, None, None, None
        if is_first:
            fit = fit_panel(predictions, self.chunk_size, self._progress)
        else:
            old, forgetting = label_free_fit_of(self), self.forgetting
            fit = fit_batch(old, predictions, forgetting, self.chunk_size, ordered=self.ordered_)
            before = None if self.reweighting_ is None else forgetting * self.reweighting_
            labelled = None if self.labelled_ is None else forgetting * self.labelled_
            correction, sample = self.correction_, self.sample_
        plain, reweighting = self._told(fit, weights, predictions, shares, before)
        sample = sample_of(predictions, sample)
        # Corrections take a moment to learn, so that batches without labels leave them as they are.
        rule: AbstractRule = plain if correction is None else CorrectedRule(plain, correction)
        if known is not None:
            labelled = self._labelled(predictions, known, labelled, are_new=not is_first)
            rule = self._taught(plain, labelled, sample, predictions.classes)
        posterior = rule.lazy_posterior(predictions, known, self.label_noise or 0.0)
        # All of it is kept at the end, so that nothing is half-learned where a fit is interrupted.
        self.agreement_, self.vote_agreement_, self.member_weights_, self.member_credibility_ = fit.standing
        self.survey_, self.gives_votes_, self.vote_statistics_ = fit.survey, fit.standing.is_hard, fit.combined
        self.confusion_, statistics = fit.translated.parameters, fit.translated.statistics
        self.class_prior_ = statistics.class_counts / statistics.class_counts.sum()
        self.correction_: Correction | None = getattr(rule, "correction", None)
        self.labelled_: LabelledItems | None = labelled
        self.sample_: Sample | None = sample
        self.network_checksum_ = weights.checksum()
        self.stated_: ClassShares | None = shares
        self.reweighting_: Reweighting | None = reweighting
        self._kept_rule(self._made_of(), lambda: plain)
        return Outcome(posterior, statistics, fit.history, converged=is_first)

    def add_labels(self, predictions: Any, labels: Any) -> Self:
        """Learn from labels that arrive late: what members said of those items, and what is known of them now.

        Only the correction changes; `posterior_` stays that of the last fit or batch. An item that was labelled before,
        counts once, with its new label. Items are known by their names. Those without names are new ones, unless they
        are as many as those of the fit: then by their positions and what members said of them.
        """
        items, known = self._aligned_with(labels, predictions)
        if known is not None:
            are_new = items.n_items != len(getattr(self, "items_", ()))
            labelled = self._labelled(items, known, self.labelled_, are_new=are_new)
            rule = self._taught(plain_rule(self), labelled, self.sample_, self.classes_)
            self.correction_, self.labelled_ = getattr(rule, "correction", None), labelled
        return self

    def _taught(
        self, rule: LearnedRule, labelled: LabelledItems | None, sample: Sample | None, classes: list[Any]
    ) -> AbstractRule:
        return rule if labelled is None else taught(rule, labelled, sample, classes, is_vouched=self.label_noise == 0)

    def _told(
        self,
        fit: LabelFreeFit,
        weights: network.Network,
        predictions: AbstractPredictions,
        shares: ClassShares | None,
        before: Reweighting | None = None,
    ) -> tuple[LearnedRule, Reweighting | None]:
        """The rule without what labels taught, and how class shares reweight its answers."""
        rule = self._rule(fit, weights, shares)
        if shares is None:
            return rule, None
        reweighting = reweighted(rule, predictions, shares, before)
        return replace(rule, log_weights=reweighting.log_weights), reweighting

    def _labelled(
        self, predictions: AbstractPredictions, known: Array, before: LabelledItems | None = None, *, are_new: bool
    ) -> LabelledItems | None:
        """The items of which something is known, after those of `before`."""
        new = labelled_items(predictions, known, self.label_noise, are_new=are_new)
        return new if new is None or before is None else before + new

    # ---- using what was learned ---------------------------------------------------------------------------

    def rule(self) -> AbstractRule:
        """The learned rule, and what labels taught."""
        plain = plain_rule(self)
        return plain if self.correction_ is None else CorrectedRule(plain, self.correction_)

    def _made_of(self) -> tuple[Any, ...]:
        """What the rule without labels follows from."""
        learned = (self.survey_, self.confusion_, self.vote_statistics_, self.stated_, self.reweighting_)
        return (*learned, self.weights, self.chunk_size)

    def _rule(self, fit: LabelFreeFit, weights: network.Network, stated: ClassShares | None) -> LearnedRule:
        """Of one member or one item nothing can be learned: the answer is the average."""
        traits = traits_of(fit, stated)
        n_heard = np.count_nonzero(fit.translated.statistics.answer_counts.sum(axis=1))
        is_alone = n_heard == 1 or fit.survey.totals[0] < 2
        is_known = not is_alone and all(np.isfinite(part).all() for part in traits)
        return LearnedRule(fit.experts, traits, weights, float(is_known), chunk_size=self.chunk_size)

    def _network(self) -> network.Network:
        return network.shipped() if self.weights is None else network.read(self.weights)

    def _network_of_fit(self) -> network.Network:
        """The network that the fit used; raises where the weights have changed: they would give other answers."""
        found = self._network()
        if (checksum := found.checksum()) != self.network_checksum_:
            where, other_way = "that come with this version", ""
            if self.weights is not None:
                where = f"in {os.fspath(self.weights)!r}"
                other_way = ", or give the weights of the fit by set_params(weights=…)"
            raise InvalidPredictions(
                f"the weights {where} are not those of the fit (their checksum is {checksum}, and was "
                f"{self.network_checksum_}), so that answers would change: fit again{other_way}"
            )
        return found

    # ---- options ------------------------------------------------------------------------------------------

    def _known(self, labels: Any, axes: Axes) -> Any:
        return known_truths(labels, axes)

    def _check_parameters(self, n_members: int, n_classes: int) -> None:
        del n_members, n_classes
        if self.label_noise is not None:
            check_number("label_noise", self.label_noise, most=0.5)
        if self.weights is not None and not isinstance(self.weights, str | os.PathLike):
            raise ValueError(f"weights must be the path of a file of weights, or None; got {self.weights!r}")
        self._check_loop()

    def _saved_parameters(self) -> dict[str, Any]:
        return super()._saved_parameters() | {"class_shares": saved_shares(self.class_shares, self.classes_)}

    def _check_learned(self) -> None:
        """Raise where nobody has answered, so that there is nothing to weigh, or where parts do not go together.

        A file of weights may have moved, and is looked at when it is used.
        """
        if self.weights is None:
            self._network_of_fit()
        read_shares(self.class_shares, self.classes_)
        if not self.statistics_.answer_counts.any():
            raise InvalidPredictions("'statistics_' must be of at least one answer")
        if (self.stated_ is None) != (self.reweighting_ is None):
            raise InvalidPredictions("'stated_' and 'reweighting_' must both be there, or neither")
        if self.agreement_.has_pairs != self.vote_agreement_.has_pairs:
            raise InvalidPredictions("'agreement_' and 'vote_agreement_' must both have pairs, or neither")


# ---- what the other rooms ask of a fitted Consensus -------------------------------------------------------
# ruff: noqa: SLF001 - these are of this module, and no methods, so that they are not offered to users


def label_free_fit_of(model: Consensus) -> LabelFreeFit:
    """What was found so far without labels, from what was kept of it."""
    standing = Standing(model.agreement_, model.vote_agreement_, model.member_weights_, model.member_credibility_)
    translated = State(model.confusion_, model.statistics_)
    return LabelFreeFit(standing, model.vote_statistics_, translated, model.history_, model.survey_)


def plain_rule(model: Consensus) -> LearnedRule:
    """The rule without what labels taught."""

    def new_rule() -> LearnedRule:
        rule = model._rule(label_free_fit_of(model), model._network_of_fit(), model.stated_)
        return rule if model.reweighting_ is None else replace(rule, log_weights=model.reweighting_.log_weights)

    model._check_is_fitted()
    return model._kept_rule(model._made_of(), new_rule)


def doubts_labels(model: Consensus) -> bool:
    """Whether the labels contradict sure answers: perhaps classes are swapped, or only mistakes were labelled."""
    known = model.labelled_
    return bool(known and len(known.weights) and is_doubted(plain_rule(model), known, model.sample_))


def rule_taught(model: Consensus, predictions: Any, labels: Any) -> AbstractRule:
    """How items are answered after learning from these labels alone; what was learned before stays as it is."""
    items, known = model._aligned_with(labels, predictions)
    labelled = None if known is None else model._labelled(items, known, are_new=False)
    return model._taught(plain_rule(model), labelled, model.sample_, model.classes_)


def rule_given(model: Consensus, predictions: AbstractPredictions, class_shares: Any) -> LearnedRule:
    """How these items would be answered if class shares were known, without what labels taught.

    What was learned stays as it is.
    """
    fit, weights = label_free_fit_of(model), model._network_of_fit()
    return model._told(fit, weights, predictions, read_shares(class_shares, model.classes_))[0]
