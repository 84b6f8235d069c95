"""How far off an estimated accuracy may be, as learned from panels whose truth was known.

On the scale of log-odds the interval reaches down and up from the estimate by what two linear functions of some
features say. `training.accuracy` in the project's repository fits them; the weights come with the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.special import expit, logit

from consilience.answering.learned.experts import VOTE
from consilience.answering.learned.features import PANEL, entropy
from consilience.answering.weights_file import damaged, read_weights, sealed

if TYPE_CHECKING:
    import os

    from consilience.aggregators.consensus.traits import Found
    from consilience.insight.accuracy.tally import Tally
    from consilience.system.arrays import FloatArray

VERSION = 1

WEIGHTS = "weights.npz"

MOST_DEVIATIONS = 4.0
"""Features are clamped to so many standard deviations: beyond, nothing was learned."""

MOST_SURE = 0.99
"""Log-odds are of probabilities no nearer to 1 or to 0."""

MEANS = ("averaged", "translated", "chosen", "top", "shared")
"""Means by vote; the log-odds of each are compared with those of the estimate."""

OF_PANEL = (
    *("agreement", "agreement beyond skill", "most agreement beyond skill", "raw agreement", "chance"),
    *("log classes", "log members", "log items", "log answers an item", "mean confidence"),
    *("claimed over shown errors", "translation against average", "evenness of average", "votes among members"),
)
"""Traits of the panel that the error depends on."""

NAMES = (
    *(f"{name} against believed" for name in (*MEANS, "confidence")),
    *("log votes", "breadth", "largest share", "gives votes", "is no member"),
    *(f"panel: {name}" for name in OF_PANEL),
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The two linear functions, of standardized features."""

    table: FloatArray  # (features, 2): down and up
    bias: FloatArray  # (2,)
    mean: FloatArray  # (features,)
    deviation: FloatArray  # (features,)

    def around(self, believed: FloatArray, features: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of each estimate (voters,), given the features (voters, features)."""
        scaled = np.clip((features - self.mean) / self.deviation, -MOST_DEVIATIONS, MOST_DEVIATIONS)
        down, up = np.logaddexp(0, scaled @ self.table + self.bias).T
        middle = log_odds(believed)
        low, high = np.minimum(expit(middle - down), believed), np.maximum(expit(middle + up), believed)
        return np.where(low < 1 - MOST_SURE, 0.0, low), np.where(high > MOST_SURE, 1.0, high)  # on few items, it may be


def log_odds(shares: FloatArray) -> FloatArray:
    """Log-odds of probabilities, bounded."""
    return np.asarray(logit(np.clip(shares, 1 - MOST_SURE, MOST_SURE)))


def features_of(tally: Tally, found: Found, panel: FloatArray) -> FloatArray:
    """The features of each voter (voters, len(NAMES)), given the traits of the panel."""
    n_members, n_voters, n_classes = len(found.is_hard), *tally.said.shape
    believed = log_odds(tally.mean("believed"))
    n_votes = tally.said.sum(axis=1)
    shares = np.where(n_votes[:, None] > 0, tally.said / np.maximum(n_votes, 1)[:, None], 1 / n_classes)
    confidence = tally.mean("averaged")  # how sure of itself: of whole answers, the average of what they say
    stated = np.where(found.is_hard, VOTE + (1 - VOTE) / n_classes, found.standing.agreement.mean_confidence)
    confidence[:n_members] = stated
    means = [*(tally.mean(name) for name in MEANS), confidence]
    columns = [log_odds(mean) - believed for mean in means]
    is_hard = np.concatenate([found.is_hard, np.zeros(n_voters - n_members)])
    columns += [np.log(np.maximum(n_votes, 1)), entropy(shares), shares.max(axis=1), is_hard]
    columns += [(np.arange(n_voters) >= n_members).astype(np.float64)]
    columns += [np.full(n_voters, panel[PANEL.index(name)]) for name in OF_PANEL]
    return np.nan_to_num(np.stack(columns, axis=1).astype(np.float64))


# ---- the weights ------------------------------------------------------------------------------------------


@cache
def shipped() -> Intervals:
    """The weights that come with the package."""
    with as_file(files("consilience.insight.accuracy") / WEIGHTS) as path:
        return read(path)


def contents(intervals: Intervals) -> dict[str, Any]:
    """What a file of weights holds."""
    arrays = {name: np.asarray(getattr(intervals, name)) for name in _sizes(())}
    return sealed(arrays, VERSION, NAMES)


def read(path: str | os.PathLike[str]) -> Intervals:
    """The weights of a file; raises where they are missing, damaged or of another version."""
    arrays = read_weights(path, VERSION, NAMES, _sizes)
    if (arrays["deviation"] <= 0).any():
        raise damaged(path)
    return Intervals(**arrays)


def _sizes(_: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {"table": (len(NAMES), 2), "bias": (2,), "mean": (len(NAMES),), "deviation": (len(NAMES),)}
