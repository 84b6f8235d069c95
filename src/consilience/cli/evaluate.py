"""`consilience evaluate`."""

from typing import Annotated

import typer

from consilience.cli import screen
from consilience.cli.inputs import checked_labels
from consilience.cli.options import ItemColumn, Json, LabelColumn
from consilience.data.labels import known_labels
from consilience.data.roles import Columns
from consilience.files import read_posterior
from consilience.metrics.scores import evaluate
from consilience.system.errors import InvalidPredictions


def command(
    posterior: Annotated[str, typer.Argument(metavar="FILE", help="A posterior, such as `aggregate -o` writes.")],
    labels: Annotated[str, typer.Option("--labels", help="True labels; -1 or empty where unknown.")],
    json: Json = False,
    item_column: ItemColumn = None,
    label_column: LabelColumn = None,
) -> None:
    """Score a posterior against labels: accuracy, NLL, Brier score and calibration, with confidence intervals."""
    rows = read_posterior(posterior, columns=Columns(item_column))
    truth = known_labels(checked_labels(labels, rows, Columns(item_column, None, label_column)), rows.axes)
    if truth is None:
        raise InvalidPredictions(f"{labels} must know the label of at least one item; it knows none")
    scores = evaluate(rows.to_array()[0], truth)
    if json:
        screen.print_json({name: {"value": e.value, "low": e.low, "high": e.high} for name, e in scores.items()})
    else:
        screen.print_text(repr(scores))
