"""Snorkel 0.10.0 (Apache-2.0, github.com/snorkel-team/snorkel): the label model of weak supervision.

`LabelModel(cardinality)`, fitted with n_epochs=500, log_freq=100, seed=123 as in spam/01_spam_tutorial.py of
github.com/snorkel-team/snorkel-tutorials (others there take 100 to 5,000 epochs; the one on crowds 100 and l2=.1), with
the default class balance (uniform) since any other would need labels. Classes without votes are left out, as they take
probability from the others. Where the loss becomes NaN its message asks to reduce the learning rate, so the default .01
is divided by 10 up to twice.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.peers.peer import Answers, Peer, too_uniform

RATES = (0.01, 0.001, 0.0001)

MOST_COLUMNS = 4000
"""It makes square matrices with a row for each member and class, at each of its 500 steps."""


def _label_model(answers: Answers) -> np.ndarray:
    from snorkel.labeling.model import LabelModel  # noqa: PLC0415 - only where it is installed

    votes = answers.numbered_votes.T
    for rate in RATES:
        model = LabelModel(cardinality=len(answers.classes_voted), verbose=False)
        try:
            model.fit(votes, n_epochs=500, log_freq=100, seed=123, lr=rate, progress_bar=False)
        except Exception as error:
            if "Loss is NaN" not in str(error) or rate == RATES[-1]:
                raise
        else:
            break
    return answers.widened(model.predict_proba(votes))


def _too_few_or_many(answers: Answers) -> str | None:
    if answers.n_members < 3:
        return "needs three members or more"
    if answers.n_members * len(answers.classes_voted) > MOST_COLUMNS:
        return f"needs memory for each pair of columns; run for at most {MOST_COLUMNS} members times classes"
    return too_uniform(answers)


PEERS = (Peer("Snorkel's label model", "votes", "snorkel.labeling.model", _label_model, _too_few_or_many),)
