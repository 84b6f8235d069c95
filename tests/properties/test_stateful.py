"""Random sequences of all that can be done to an aggregator, against a slow model of what they mean.

The model is the history alone: the fit, the batches and the late labels, each as it was given but with members in one
order. A fresh aggregator that goes through this history must know the same. So whatever else is done in between
(saving, loading, pickling, copying, explaining, exporting, and calls that fail) changes nothing.
"""

from __future__ import annotations

import os
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import consilience as cs
from consilience.system.errors import InvalidPredictions

MEMBERS, CLASSES = ["ann", "bob", "cid", "dee"], ["x", "y", "z"]
SAME = 1e-7  # sums in another order differ by 1e-16; EM and the regression on labels amplify that

METHODS = [
    cs.Average(),
    cs.MajorityVote(),
    cs.DawidSkene(max_iter=5, forgetting=0.9),
    cs.BayesianClassifierCombination(max_iter=5),
    cs.SoftDawidSkene(max_iter=3, averaging=0.1, forgetting=0.5),
    cs.Consensus(),
    cs.Consensus(forgetting=0.5, label_noise=0.1),
    cs.Consensus(forgetting=0.9, class_shares={"x": 0.6, "y": 0.3, "z": 0.1}),
    cs.Consensus(class_shares={"x": 12, "y": 8, "z": 5}),
]

N_CASES = int(os.environ.get("CONSILIENCE_CASES", "1"))

seeds = st.integers(0, 10**6)


class Batch:
    """Some items: what members said of them, and what is known."""

    def __init__(self, seed, *, are_votes, n_items, is_labelled):
        rng = np.random.default_rng(seed)
        truth = rng.integers(3, size=n_items)
        logits = np.array([3.0, 2.0, 1.0, 0.5])[:, None, None] * np.eye(3)[truth] + rng.normal(size=(4, n_items, 3))
        self.array = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
        is_missing = rng.random((4, n_items)) < 0.2
        is_missing[0] = False
        self.array[is_missing] = np.nan
        self.votes = np.where(is_missing, -1, logits.argmax(axis=2))
        self.items = [f"{seed}-{place}" for place in range(n_items)]
        self.labels = None
        if is_labelled:
            known = np.flatnonzero(rng.random(n_items) < 0.5)
            self.labels = {self.items[item]: CLASSES[truth[item]] for item in known}
        self.are_votes = are_votes

    def predictions(self, order=(0, 1, 2, 3)):
        """The batch with members in some order."""
        order, names = list(order), {"items": self.items, "classes": CLASSES}
        members = [MEMBERS[member] for member in order]
        if self.are_votes:
            return cs.Predictions.from_labels(self.votes[order], members=members, **names)
        return cs.Predictions(self.array[order], members=members, **names)


class Sequences(RuleBasedStateMachine):
    """An aggregator, and the history that it must be the result of."""

    @initialize(method=st.sampled_from(METHODS), are_votes=st.booleans())
    def begin(self, method, are_votes):
        self.method, self.are_votes = method, are_votes
        self.subject, self.history = clone(method), []
        self.probe = self.batch(10**7, 5).predictions()
        self.last = None

    def batch(self, seed, n_items, *, is_labelled=False):
        return Batch(seed, are_votes=self.are_votes, n_items=n_items, is_labelled=is_labelled)

    @property
    def is_fitted(self):
        return bool(self.history)

    # ---- what teaches something ---------------------------------------------------------------------------

    @rule(seed=seeds, n_items=st.integers(2, 20), is_labelled=st.booleans())
    def fit(self, seed, n_items, is_labelled):
        batch = self.batch(seed, n_items, is_labelled=is_labelled)
        self.subject.fit(batch.predictions(), batch.labels)
        self.history, self.last = [("fit", batch)], batch

    @rule(seed=seeds, n_items=st.integers(1, 12), is_labelled=st.booleans(), order=st.permutations(range(4)))
    def partial_fit(self, seed, n_items, is_labelled, order):
        batch = self.batch(seed, n_items, is_labelled=is_labelled)
        order = order if self.is_fitted else range(4)  # the first batch says in which order members are known
        self.subject.partial_fit(batch.predictions(order), batch.labels)
        self.history, self.last = [*self.history, ("partial_fit", batch)], batch

    @precondition(lambda self: self.is_fitted and isinstance(self.subject, cs.Consensus))
    @rule(seed=seeds, n_items=st.integers(1, 12), order=st.permutations(range(4)))
    def add_labels(self, seed, n_items, order):
        batch = self.batch(seed, n_items, is_labelled=True)
        self.subject.add_labels(batch.predictions(order), batch.labels)
        self.history = [*self.history, ("add_labels", batch)]

    # ---- what changes nothing -----------------------------------------------------------------------------

    @precondition(lambda self: self.is_fitted)
    @rule()
    def save_and_load(self):
        with tempfile.TemporaryDirectory() as folder:
            self.subject.save(Path(folder) / "model.npz")
            self.subject = cs.load(Path(folder) / "model.npz")

    @rule()
    def pickled(self):
        self.subject = pickle.loads(pickle.dumps(self.subject))  # noqa: S301 - our own

    @rule()
    def cloned(self):
        """A clone has the parameters and knows nothing."""
        copy = clone(self.subject)
        assert copy.get_params() == self.method.get_params()
        with pytest.raises(NotFittedError):
            copy.predict_proba(self.probe)

    @precondition(lambda self: self.is_fitted)
    @rule(item=st.integers(0, 4))
    def explained(self, item):
        """The explanation is of the answer that is given."""
        why = cs.explain(self.probe, self.probe.items[item], aggregator=self.subject)
        row = self.subject.predict_proba(self.probe)[item]
        first, second = CLASSES.index(why.winner), CLASSES.index(why.runner_up)
        assert row[first] == pytest.approx(row.max(), abs=SAME)
        if row[[first, second]].min() > 1e-9:
            assert why.log_odds == pytest.approx(np.log(row[first] / row[second]), abs=1e-5)

    @precondition(lambda self: self.is_fitted)
    @rule()
    def exported(self):
        torch = pytest.importorskip("torch")
        module = self.subject.to_torch(dtype=torch.float64)
        rows = module(torch.from_numpy(self.probe.to_array())).detach().numpy()
        np.testing.assert_allclose(rows, self.subject.predict_proba(self.probe), atol=1e-6)

    @precondition(lambda self: self.is_fitted)
    @rule(seed=seeds)
    def refused(self, seed):
        """A call that fails leaves everything as it was."""
        batch = self.batch(seed, 3)
        stranger = cs.Predictions(batch.array, members=["ann", "bob", "cid", "eve"], classes=CLASSES)
        for call in (self.subject.partial_fit, self.subject.predict_proba):
            with pytest.raises(InvalidPredictions, match="eve"):
                call(stranger)
        with pytest.raises(InvalidPredictions):
            self.subject.partial_fit(batch.predictions(), {batch.items[0]: "no class"})

    # ---- what must hold -----------------------------------------------------------------------------------

    @invariant()
    def knows_what_its_history_taught(self):
        if not self.is_fitted:
            assert not hasattr(self.subject, "members_")
            return
        model = clone(self.method)
        for call, batch in self.history:
            getattr(model, call)(batch.predictions(), batch.labels)
        assert (self.subject.members_, self.subject.classes_) == (MEMBERS, CLASSES)
        assert self.subject.items_ == self.last.items
        for name in ("n_items", "class_counts", "answer_counts", "sums"):
            same(getattr(self.subject.statistics_, name), getattr(model.statistics_, name))
        same(self.subject.confusion_, model.confusion_)
        same(self.subject.posterior_, model.posterior_)
        same(self.subject.predict_proba(self.probe), model.predict_proba(self.probe))
        np.testing.assert_allclose(self.subject.posterior_.sum(axis=1), 1, atol=1e-9)
        assert self.subject.statistics_.n_items == pytest.approx(self.n_remembered())

    def n_remembered(self):
        """How many items count, each by how much of it is left."""
        total = 0.0
        for call, batch in self.history:
            if call != "add_labels":
                total = getattr(self.method, "forgetting", 1.0) * total + len(batch.items)
        return total


def same(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=SAME, atol=SAME)


TestSequences = Sequences.TestCase
TestSequences.settings = settings(
    max_examples=25 * N_CASES,
    stateful_step_count=8,
    deadline=None,
    derandomize="CONSILIENCE_CASES" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
TestSequences = pytest.mark.filterwarnings("ignore")(TestSequences)  # that labels are of one class, or EM unsettled
