"""crowd-kit 1.4.2 (Apache-2.0, github.com/Toloka/crowd-kit): nine ways to aggregate votes.

All run with their defaults, which are also those of the examples in their documentation (the docstring of each class),
unless stated otherwise:

- majority vote: the shares of the votes.
- Wawa: votes weighted by each member's agreement with the majority.
- Zero-Based Skill: the same repeated, n_iter=100, lr_init=1, halved every 20 steps.
- Dawid-Skene, one-coin Dawid-Skene: n_iter=100, tol=1e-5. The bound that tol applies to counts the class prior once
  for each answer in this release, not once for each task. It can fall while the right one still rises, and then the fit
  stops early: after two iterations on the crowd "bluebird", with 11.1 % errors instead of 10.2 % at convergence. Both
  are therefore run twice: as they are, and with tol=-inf, so that all hundred iterations are done.
- GLAD: n_iter=100, tol=1e-5, at most 25 conjugate-gradient steps in each M step.
- MACE: method="vb", n_iter=50. Its documented n_restarts=10 start from one and the same seed in this release, so all
  ten are equal; n_restarts=1 gives the same answer ten times faster.
- M-MSR: n_iter=10000, tol=1e-10. Its scores are sums of members' weights divided by their total, which is no
  probability, and reverses the order of classes where the total is negative. A weight is a log-odds in its model, so
  the posterior of that model is the softmax of the sums, and that is used here.
- KOS: n_iter=100; two classes. It gives labels only, so its posterior is one-hot.

MACE 1.4.2 numbers labels and workers by first appearance in one place and in sorted order in another. Therefore the
frame given to all methods numbers both by first appearance, where the two orders are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import softmax

from benchmarks.quality.peers.peer import SEED, Answers, Condition, Method, Peer, too_uniform

MOST_MEMBERS_OF_MMSR = 100
"""It makes dense square matrices with a row for each pair of members that agree: 5,000 rows for 100 members."""

MOST_ROWS_OF_GLAD = 4_000_000
"""It makes a frame with a row for each answer and class, and copies it at each step: a few gigabytes."""


def frame_of(answers: Answers) -> tuple[pd.DataFrame, np.ndarray]:
    """The answers as crowd-kit reads them, and the class behind each of the frame's labels."""
    items, members = np.nonzero(answers.votes.T >= 0)
    labels, classes = pd.factorize(answers.votes[members, items])
    return pd.DataFrame({"task": items, "worker": pd.factorize(members)[0], "label": labels}), classes


def _by(name: str, **settings: Any) -> Method:
    """An aggregator of crowd-kit that gives probabilities, as a method."""

    def method(answers: Answers) -> np.ndarray:
        frame, classes = frame_of(answers)
        found = _aggregator(name, **settings).fit_predict_proba(frame)
        return _placed(found, answers, classes)

    return method


def _placed(found: pd.DataFrame, answers: Answers, classes: np.ndarray) -> np.ndarray:
    """The posterior (items, classes) from crowd-kit's frame, whose rows and columns are in any order."""
    posterior = np.zeros((answers.n_items, answers.n_classes))
    posterior[np.ix_(found.index, classes[found.columns])] = found
    return posterior


def _weighted_by(name: str) -> Method:
    """The votes weighted by the skills that an aggregator learns.

    That is what Wawa and Zero-Based Skill return, but their own `predict_proba` refuses scikit-learn 1.7 and later.
    """

    def method(answers: Answers) -> np.ndarray:
        frame, classes = frame_of(answers)
        found = _aggregator("MajorityVote").fit_predict_proba(frame, skills=_aggregator(name).fit(frame).skills_)
        return _placed(found, answers, classes)

    return method


def _mmsr(answers: Answers) -> np.ndarray:
    frame, classes = frame_of(answers)
    model = _aggregator("MMSR", random_state=SEED).fit(frame)
    sums = np.zeros((answers.n_items, len(classes)))
    np.add.at(sums, (frame.task, frame.label), model.skills_.loc[frame.worker])
    posterior = np.zeros((answers.n_items, answers.n_classes))
    posterior[:, classes] = softmax(sums, axis=1)
    return posterior


def _kos(answers: Answers) -> np.ndarray:
    frame, classes = frame_of(answers)
    labels = _aggregator("KOS", random_state=SEED).fit_predict(frame)
    posterior = np.zeros((answers.n_items, answers.n_classes))
    posterior[labels.index, classes[labels]] = 1
    return posterior


def _aggregator(name: str, **settings: Any) -> Any:
    from crowdkit import aggregation  # noqa: PLC0415 - only where it is installed

    return getattr(aggregation, name)(**settings)


def _too_many_members(answers: Answers) -> str | None:
    if answers.n_members > MOST_MEMBERS_OF_MMSR:
        return f"needs memory for each pair of members; run for at most {MOST_MEMBERS_OF_MMSR} members"
    if answers.n_members < 3:
        return "needs three members to tell their skills apart"
    return too_uniform(answers)


def _too_many_rows(answers: Answers) -> str | None:
    if answers.n_votes * len(answers.classes_voted) > MOST_ROWS_OF_GLAD:
        return f"copies answers times classes; run for at most {MOST_ROWS_OF_GLAD:,} of them"
    return too_uniform(answers)


def _not_two_classes(answers: Answers) -> str | None:
    """KOS fails where the messages about an item cancel, as they do if its members answer nothing else."""
    if answers.n_classes != 2 or len(answers.classes_voted) != 2:
        return "is defined for two classes"
    is_answer = answers.votes >= 0
    if not is_answer[is_answer.sum(axis=1) > 1].any(axis=0).all():
        return "needs for each item a member who answers others too"
    return None


def _peer(name: str, method: Method, condition: Condition = too_uniform) -> Peer:
    return Peer(name, "votes", "crowdkit.aggregation", method, condition)


PEERS = (
    _peer("majority vote", _by("MajorityVote")),
    _peer("Wawa", _weighted_by("Wawa")),
    _peer("zero-based skill", _weighted_by("ZeroBasedSkill")),
    _peer("Dawid-Skene", _by("DawidSkene", n_iter=100)),
    _peer("one-coin Dawid-Skene", _by("OneCoinDawidSkene", n_iter=100)),
    _peer("Dawid-Skene, 100 iterations", _by("DawidSkene", n_iter=100, tol=-np.inf)),
    _peer("one-coin Dawid-Skene, 100 iterations", _by("OneCoinDawidSkene", n_iter=100, tol=-np.inf)),
    _peer("GLAD", _by("GLAD", n_iter=100), _too_many_rows),
    _peer("MACE", _by("MACE", n_restarts=1, random_state=SEED)),
    _peer("M-MSR", _mmsr, _too_many_members),
    _peer("KOS", _kos, _not_two_classes),
)
