"""cleanlab 2.9.0 (Apache-2.0, github.com/cleanlab/cleanlab): CROWDLAB, the consensus of several annotators.

`get_label_quality_multiannotator(votes, pred_probs)` with its defaults (consensus_method="best_quality",
quality_method="crowdlab"), as in its tutorial on multiple annotators. There `pred_probs` come from a classifier trained
on the items' features. A panel has none, so they are the members' average, or the shares of their votes where they give
no probabilities: the members are heard twice, which is not what CROWDLAB was made for.

It returns the posterior of the consensus label only. Those of the other labels follow from the weights that it also
returns, by the formula of its paper (Goh, Tkachenko, Mueller: CROWDLAB, arXiv:2210.06812): a weighted mean of the
classifier's row and of one row for each annotator, which has P at the label given and (1 - P) / (K - 1) elsewhere,
where P is the average agreement with the consensus among items with several labels.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.peers.peer import Answers, Peer, too_uniform


def _crowdlab(answers: Answers) -> np.ndarray:
    return posterior_and_quality(answers)[0]


def posterior_and_quality(answers: Answers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The posterior (items, classes), and cleanlab's consensus labels and their quality (items,)."""
    from cleanlab.multiannotator import get_label_quality_multiannotator  # noqa: PLC0415 - only where it is installed

    votes = np.where(answers.votes >= 0, answers.votes, np.nan)
    average = answers.average
    found = get_label_quality_multiannotator(
        votes.T,
        average,
        verbose=False,
        return_weights=True,
        return_detailed_quality=False,
        return_annotator_stats=False,
    )
    quality, weights, weight = found["label_quality"], found["annotator_weight"], found["model_weight"]
    agreement = quality["annotator_agreement"][quality["num_annotations"] != 1].mean()
    elsewhere = (1 - agreement) / (answers.n_classes - 1)
    posterior = weight * average
    for vote, trust in zip(answers.votes, weights, strict=True):
        items = np.flatnonzero(vote >= 0)
        posterior[items] += trust * elsewhere
        posterior[items, vote[items]] += trust * (agreement - elsewhere)
    posterior /= posterior.sum(axis=1, keepdims=True)
    return posterior, quality["consensus_label"].to_numpy(), quality["consensus_quality_score"].to_numpy()


def _never_two(answers: Answers) -> str | None:
    if ((answers.votes >= 0).sum(axis=0) < 2).all():
        return "needs items with two answers or more"
    return too_uniform(answers)


PEERS = (Peer("cleanlab", "probabilities", "cleanlab.multiannotator", _crowdlab, _never_two),)
