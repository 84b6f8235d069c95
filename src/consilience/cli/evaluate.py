"""`consilience evaluate`."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import typer

from consilience.cli import gate, screen
from consilience.cli.inputs import checked_labels
from consilience.cli.options import Json, with_layout
from consilience.data.labels import known_labels, named
from consilience.data.tables.told import Told
from consilience.files import read_posterior
from consilience.metrics.scores import Estimate, evaluate, wilson
from consilience.system.errors import InvalidPredictions


@with_layout
def command(
    posterior: Annotated[str, typer.Argument(metavar="FILE", help="A posterior, such as `aggregate -o` writes.")],
    labels: Annotated[str, typer.Option("--labels", help="True labels; -1 or empty where unknown.")],
    *,
    at_confidence: Annotated[
        float | None,
        typer.Option(
            "--at-confidence",
            min=0,
            max=1,
            help="Score only answers at least so sure; **coverage** is the share of the labelled items that they are.",
        ),
    ] = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option("--fail-under", help="Exit with code 1 if a score is less, as accuracy=.85. Repeatable."),
    ] = None,
    fail_over: Annotated[
        list[str] | None,
        typer.Option("--fail-over", help="Exit with code 1 if a score is more, as nll=.4 or ece=.05. Repeatable."),
    ] = None,
    json: Json = False,
    told: Told,
) -> None:
    """Score a posterior against labels: accuracy, NLL, Brier score and calibration, with confidence intervals.

    Items whose labels were given to the fit with `--known` are marked in the file, and are not scored.

    As a gate for pipelines: `consilience evaluate fused.csv --labels gold.csv --at-confidence .9 --fail-under
    accuracy=.95 --fail-under coverage=.6`. The score itself decides, and its interval is printed beside it. The exit
    code is 0 if all bounds hold, 1 if one does not, and 2 if the input is wrong or no answer is so sure.
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
    found: dict[str, Estimate] = dict(scores)
    if at_confidence is not None:
        share = scores.n_items / n_labelled
        found[gate.COVERAGE] = Estimate(share, *wilson(share, n_labelled))
    checks = gate.checked(fail_under, fail_over, found)
    if json:
        parts: dict[str, Any] = {name: estimate._asdict() for name, estimate in found.items()}
        parts |= {"n_items": scores.n_items, "n_left_out": n_left_out, "at_confidence": at_confidence}
        screen.print_json(parts | {"gate": gate.as_json(checks) if checks else None})
    else:
        remarks = [*_remarks(n_left_out, n_labelled, at_confidence, found), *(check.sentence() for check in checks)]
        screen.print_text("\n".join([repr(scores), *remarks]))
    if not all(check.passed for check in checks):
        raise typer.Exit(gate.FAILED)


def _remarks(
    n_left_out: int, n_labelled: int, at_confidence: float | None, found: dict[str, Estimate]
) -> Iterator[str]:
    """On how many items the scores rest, where these are not all."""
    if n_left_out:
        yield f"Left out: {n_left_out:,} items whose labels the fit was given."
    if at_confidence is not None:
        covered = f"{found[gate.COVERAGE].value:.1%} of the {n_labelled:,} labelled items"
        yield f"Coverage: {covered} have an answer that is at least {at_confidence:g} sure."
