"""The gate of `evaluate --fail-under`: bounds on scores, which pass or fail."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.cli.screen import LOWER_IS_BETTER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consilience.metrics.scores import Estimate

FAILED = 1
"""The exit code of a gate that is not passed. Bad input has 2, so that a pipeline can tell them apart."""


COVERAGE = "coverage"
"""The share of the labelled items that have an answer that is sure enough."""


class Check(NamedTuple):
    """One bound, and what became of it. The value decides; its interval is only told."""

    metric: str
    rule: str  # "at least" or "at most"
    bound: float
    value: float
    low: float
    high: float
    passed: bool

    def sentence(self) -> str:
        """The check in one line."""
        low, high = f"{self.low:.4f}", f"{self.high:.4f}"
        interval = f" ({low} to {high})" if low != high else ""
        verdict = "passed" if self.passed else "FAILED"
        return f"{verdict}: {self.metric} {self.value:.4f}{interval}, {self.rule} {self.bound:g}"


def checked(under: list[str] | None, over: list[str] | None, scores: Mapping[str, Estimate]) -> list[Check]:
    """Every bound that was asked for, checked. Raises if there is no such score, or if more is better and not less."""
    checks = [(asked, "--fail-under", "at least") for asked in under or []]
    checks += [(asked, "--fail-over", "at most") for asked in over or []]
    return [_checked(asked, flag, rule, scores) for asked, flag, rule in checks]


def _checked(asked: str, flag: str, rule: str, scores: Mapping[str, Estimate]) -> Check:
    name, _, text = (part.strip() for part in asked.rpartition("="))
    bound = _number(text)
    if name == COVERAGE and name not in scores:
        raise ValueError(f"{flag} {asked} needs --at-confidence, which says how sure answers must be to count")
    if name not in scores or bound is None:
        raise ValueError(f"{flag} must be NAME=NUMBER with a name of {', '.join(scores)}; got {asked!r}")
    if (name in LOWER_IS_BETTER) != (flag == "--fail-over"):
        other = "--fail-over" if name in LOWER_IS_BETTER else "--fail-under"
        better = "less" if name in LOWER_IS_BETTER else "more"
        raise ValueError(f"{better} {name} is better, so that its bound is {other} {name}={text}; got {flag}")
    if rule == "at least" and bound > 1:
        raise ValueError(f"{flag} must have a bound that can be reached; {name} is at most 1, and got {text}")
    found = scores[name]
    passed = found.value <= bound if rule == "at most" else found.value >= bound
    return Check(name, rule, bound, *found, passed=bool(passed))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def as_json(checks: list[Check]) -> dict[str, Any]:
    """The gate for a pipeline: passed if every check is."""
    return {"passed": all(check.passed for check in checks), "checks": [check._asdict() for check in checks]}
