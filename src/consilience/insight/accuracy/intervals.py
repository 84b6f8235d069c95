"""How far off an estimated accuracy may be, as learned from panels whose truth was known.

The interval starts from two beliefs: that of `Consensus`, which has learned that members share errors, and what
independent errors would mean. From the higher one it reaches up and from the lower one down, on the scale of log-odds,
by what two linear functions of some features say. But however much members agree, they may all be wrong together, or
all be better than believed, and no feature shows it: no interval is narrower than two constants allow.
`training.accuracy` in the project's repository fits all of it; the weights come with the package.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, final

import numpy as np
from scipy.special import expit, logit

from consilience.aggregators.consensus.learned.experts import PANEL_TRAITS, VOTE, entropy
from consilience.answering.weights_file import damaged, read_weights, sealed

if TYPE_CHECKING:
    import os

    from consilience.aggregators.consensus.panel import PanelSums
    from consilience.insight.accuracy.estimates import VoterSums
    from consilience.system.arrays import FloatArray

INTERVALS_VERSION = 2

INTERVALS_FILE = "weights.npz"

MOST_STANDARD = 4.0
"""Features are clamped to so many standard deviations: beyond, nothing was learned."""

MOST_SURE = 0.99
"""Log-odds are of probabilities no nearer to 1 or to 0."""

NEVER = 0.02
"""An interval that ends so near to 0 or 1 ends there: members who are never wrong on some items do exist."""

MEANS = ("averaged", "translated", "combined", "chosen", "top", "shared")
"""Means by vote; the log-odds of each are compared with those of the estimate."""

OF_PANEL = (
    *("agreement", "agreement beyond skill", "most agreement beyond skill", "raw agreement", "chance"),
    *("log classes", "log members", "log items", "log answers an item", "mean confidence"),
    *("claimed over shown errors", "translation against average", "evenness of average", "votes among members"),
)
"""Traits of the panel that the error depends on."""

INTERVAL_FEATURES = (
    *(f"{name} against believed" for name in (*MEANS, "confidence", "independent")),
    *("log votes", "breadth", "largest share", "gives votes", "is no member"),
    *(f"panel: {name}" for name in OF_PANEL),
)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The two linear functions, of standardized features, and the least that intervals reach."""

    table: FloatArray  # (features, 2): down and up
    bias: FloatArray  # (2,)
    mean: FloatArray  # (features,)
    deviation: FloatArray  # (features,)
    least: FloatArray  # (2,): down, as a factor of what is believed; up, in log-odds of the higher belief

    def around(
        self, believed: FloatArray, features: FloatArray, independent: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of each estimate (voters,), given the features (voters, features).

        `independent` is the accuracy if members erred independently, NaN where that is not known.
        """
        scaled = np.clip((features - self.mean) / self.deviation, -MOST_STANDARD, MOST_STANDARD)
        down, up = np.logaddexp(0, scaled @ self.table + self.bias).T
        lower, higher = bases(believed, independent)
        low = np.minimum(expit(log_odds(lower) - down), self.least[0] * believed)
        high = np.maximum(expit(log_odds(higher) + np.maximum(up, self.least[1])), higher)
        return np.where(low < NEVER, 0.0, low), np.where(high > 1 - NEVER, 1.0, high)


def bases(believed: FloatArray, independent: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Where intervals start from: the lower and the higher belief (voters,); NaN without a vote."""
    other = np.where(np.isnan(independent), believed, independent)
    return np.minimum(believed, other), np.maximum(believed, other)


def log_odds(shares: FloatArray) -> FloatArray:
    """Log-odds of probabilities, bounded."""
    return np.asarray(logit(np.clip(shares, 1 - MOST_SURE, MOST_SURE)))


def features_of(tally: VoterSums, found: PanelSums, panel: FloatArray, independent: FloatArray) -> FloatArray:
    """The features of each voter (voters, len(INTERVAL_FEATURES)), given the traits of the panel."""
    n_members, n_voters, n_classes = len(found.is_hard), *tally.said.shape
    believed = log_odds(tally.mean("believed"))
    n_votes = tally.said.sum(axis=1)
    shares = np.where(n_votes[:, None] > 0, tally.said / np.maximum(n_votes, 1)[:, None], 1 / n_classes)
    confidence = tally.mean("averaged")  # how sure of itself: of whole answers, the average of what they say
    stated = np.where(found.is_hard, VOTE + (1 - VOTE) / n_classes, found.standing.agreement.mean_confidence)
    confidence[:n_members] = stated
    means = [*(tally.mean(name) for name in MEANS), confidence, independent]
    columns = [log_odds(mean) - believed for mean in means]
    is_hard = np.concatenate([found.is_hard, np.zeros(n_voters - n_members)])
    columns += [np.log(np.maximum(n_votes, 1)), entropy(shares), shares.max(axis=1), is_hard]
    columns += [(np.arange(n_voters) >= n_members).astype(np.float64)]
    columns += [np.full(n_voters, panel[PANEL_TRAITS.index(name)]) for name in OF_PANEL]
    return np.nan_to_num(np.stack(columns, axis=1).astype(np.float64))


# ---- the weights ------------------------------------------------------------------------------------------


@cache
def shipped() -> Intervals:
    """The weights that come with the package."""
    with as_file(files("consilience.insight.accuracy") / INTERVALS_FILE) as path:
        return read(path)


def contents(intervals: Intervals) -> dict[str, Any]:
    """What a file of weights holds."""
    arrays = {name: np.asarray(getattr(intervals, name)) for name in _sizes(())}
    return sealed(arrays, INTERVALS_VERSION, INTERVAL_FEATURES)


def read(path: str | os.PathLike[str]) -> Intervals:
    """The weights of a file; raises where they are missing, damaged or of another version."""
    arrays = read_weights(path, INTERVALS_VERSION, INTERVAL_FEATURES, _sizes)
    if (arrays["deviation"] <= 0).any():
        raise damaged(path)
    return Intervals(**arrays)


def _sizes(_: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    n = len(INTERVAL_FEATURES)
    return {"table": (n, 2), "bias": (2,), "mean": (n,), "deviation": (n,), "least": (2,)}
