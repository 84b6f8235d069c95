"""`consilience evaluate`."""

from typing import Annotated

import numpy as np
import typer

from consilience.cli import screen
from consilience.cli.inputs import checked_labels
from consilience.cli.options import Json, with_layout
from consilience.data.labels import known_labels
from consilience.data.tables.told import Told
from consilience.files import read_posterior
from consilience.metrics.scores import evaluate
from consilience.system.errors import InvalidPredictions


@with_layout
def command(
    posterior: Annotated[str, typer.Argument(metavar="FILE", help="A posterior, such as `aggregate -o` writes.")],
    labels: Annotated[str, typer.Option("--labels", help="True labels; -1 or empty where unknown.")],
    *,
    json: Json = False,
    told: Told,
) -> None:
    """Score a posterior against labels: accuracy, NLL, Brier score and calibration, with confidence intervals.

    Items whose labels were given to the fit with `--known` are marked in the file, and are not scored.
    """
    read = read_posterior(posterior, told=told._replace(label=None))  # the column of labels is in the other file
    rows = read.predictions
    truth = known_labels(checked_labels(labels, rows, told, quiet=json).labels, rows.axes)
    if truth is None:
        raise InvalidPredictions(f"{labels} must know the label of at least one item; it knows none")
    is_left_out = (truth >= 0) & read.is_known
    if is_left_out.sum() == (truth >= 0).sum():
        raise InvalidPredictions(f"{labels} must know labels that the fit of {posterior} was not given; it knows none")
    scores, n_left_out = evaluate(rows.to_array()[0], np.where(is_left_out, -1, truth)), int(is_left_out.sum())
    if json:
        found = {name: {"value": e.value, "low": e.low, "high": e.high} for name, e in scores.items()}
        screen.print_json(found | {"n_items": scores.n_items, "n_left_out": n_left_out})
        return
    screen.print_text(repr(scores))
    if n_left_out:
        screen.print_text(f"Left out: {n_left_out:,} items whose labels the fit was given.")
