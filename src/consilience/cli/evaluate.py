"""`consilience evaluate`."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from consilience.cli import screen
from consilience.cli.inputs import checked_labels
from consilience.cli.outputs import Share
from consilience.data.labels import known_labels, named
from consilience.data.tables.told import Told
from consilience.files import read_posterior
from consilience.metrics.scores import Estimate, evaluate, wilson
from consilience.system.errors import InvalidPredictions

FAILED = 1  # the exit code of a gate that is not passed; bad input has 2, so that a pipeline can tell them apart
UNDER, OVER = "--fail-under", "--fail-over"
SHARE = "coverage"  # that of the labelled items that have an answer that is sure enough


def command(
    posterior: Annotated[str, typer.Argument(metavar="FILE")],
    labels: str,
    *,
    at_confidence: Share = None,
    fail_under: list[str] | None = None,
    fail_over: list[str] | None = None,
    json: bool = False,
    told: Told,
) -> None:
    """Score a posterior against labels: accuracy, NLL, Brier score and calibration, with confidence intervals.

    Items whose labels were given to the fit with `--known` are marked in the file, and are not scored.

    As a gate for pipelines: `consilience evaluate fused.csv --labels gold.csv --at-confidence .9 --fail-under
    accuracy=.95 --fail-under coverage=.6`. The score itself decides, and its interval is printed beside it. The exit
    code is 0 if all bounds hold, 1 if one does not, and 2 if the input is wrong or no answer is so sure.

    Options:
    posterior: A posterior, such as `aggregate -o` writes.
    labels: True labels; -1 or empty where unknown.
    at_confidence: Score only answers at least so sure; **coverage** is the share of the labelled items that they are.
    fail_under: Exit with code 1 if a score is less, as accuracy=.85. Repeatable.
    fail_over: Exit with code 1 if a score is more, as nll=.4 or ece=.05. Repeatable.
    """
    read = read_posterior(posterior, told=told._replace(label=None))  # the column of labels is in the other file
    rows = read.predictions
    truth = known_labels(checked_labels(labels, rows, told, quiet=json).labels, rows.axes)
    if truth is None:
        raise InvalidPredictions(f"{labels} must know the label of at least one item; it knows none")
    n_left_out, truth = int(((truth >= 0) & read.is_known).sum()), np.where(read.is_known, -1, truth)
    n_labelled, fused = int((truth >= 0).sum()), rows.to_array()[0]
    if not n_labelled:
        raise InvalidPredictions(f"{labels} must know labels that the fit of {posterior} was not given; it knows none")
    truth = np.where(fused.max(axis=1) >= (at_confidence or 0), truth, -1)
    if not (truth >= 0).any():
        raise InvalidPredictions(f"no answer of {posterior} with a label is at least {at_confidence:g} sure")
    scores = evaluate(fused, named(truth, rows.classes), classes=rows.classes, ordered=rows.ordered)
    found, remarks = dict(scores), []
    if n_left_out:
        remarks.append(f"Left out: {n_left_out:,} items whose labels the fit was given.")
    if at_confidence is not None:
        share = scores.n_items / n_labelled
        found[SHARE] = Estimate(share, *wilson(share, n_labelled))
        covered = f"{share:.1%} of the {n_labelled:,} labelled items"
        remarks.append(f"Coverage: {covered} have an answer that is at least {at_confidence:g} sure.")
    checks = checked(fail_under, fail_over, found)
    passed = all(check.passed for check in checks)
    if json:
        parts: dict[str, Any] = {name: estimate._asdict() for name, estimate in found.items()}
        parts |= {"n_items": scores.n_items, "n_left_out": n_left_out, "at_confidence": at_confidence}
        gate = {"passed": passed, "checks": [check._asdict() for check in checks]}
        screen.print_json(parts | {"gate": gate if checks else None})
    else:
        screen.print_text(repr(scores), *remarks, *(check.sentence() for check in checks))
    if not passed:
        raise typer.Exit(FAILED)


# ---- the gate: bounds on scores, which pass or fail ---------------------------------------------------------------


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
        outcome = "passed" if self.passed else "FAILED"
        return f"{outcome}: {self.metric} {self.value:.4f}{interval}, {self.rule} {self.bound:g}"


def checked(under: list[str] | None, over: list[str] | None, scores: Mapping[str, Estimate]) -> list[Check]:
    """Every bound that was asked for, checked. Raises if there is no such score, or if more is better and not less."""
    found = []
    for flag, rule, bounds in ((UNDER, "at least", under), (OVER, "at most", over)):
        for asked in bounds or []:
            name, bound = _bound(asked, flag, scores)
            value = scores[name].value
            passed = value >= bound if flag == UNDER else value <= bound
            found.append(Check(name, rule, bound, *scores[name], passed=bool(passed)))
    return found


def _bound(asked: str, flag: str, scores: Mapping[str, Estimate]) -> tuple[str, float]:
    """The name of a score and its bound; raises where that makes no sense."""
    name, _, text = (part.strip() for part in asked.rpartition("="))
    try:
        bound = float(text)
    except ValueError:
        bound = math.nan
    if name == SHARE and name not in scores:
        raise ValueError(f"{flag} {asked} needs --at-confidence, which says how sure answers must be to count")
    if name not in scores or not math.isfinite(bound):
        raise ValueError(f"{flag} must be NAME=NUMBER with a name of {', '.join(scores)}; got {asked!r}")
    better, right_flag = ("less", OVER) if name in screen.LOWER_IS_BETTER else ("more", UNDER)
    if flag != right_flag:
        raise ValueError(f"{better} {name} is better, so that its bound is {right_flag} {name}={text}; got {flag}")
    if flag == UNDER and bound > 1:
        raise ValueError(f"{flag} must have a bound that can be reached; {name} is at most 1, and got {text}")
    return name, bound
