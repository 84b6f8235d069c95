"""`consilience compare`."""

from consilience.cli import screen
from consilience.cli.inputs import labels_of, predictions_of
from consilience.cli.options import Files, Json, Labels, Logits, with_columns
from consilience.data.roles import Columns
from consilience.insight.comparison import compare
from consilience.system.tables import Table

SHOWN = (
    *("method", "accuracy", "nll", "brier", "ece"),
    *("estimated accuracy", "from", "to", "confidence", "changed", "seconds"),
)
"""The columns on a screen; JSON has all of them."""


@with_columns
def command(
    files: Files, *, logits: Logits = False, labels: Labels = None, json: Json = False, columns: Columns
) -> None:
    """Run every method on the same predictions, in one table; labels only score.

    Without labels the accuracy of each method is estimated, with the interval that holds it in nine of ten panels.
    """
    predictions = predictions_of(files, columns, logits=logits, quiet=json)
    truth = labels_of(labels, predictions, files, columns)
    with screen.waiting("comparing methods"):
        table = compare(predictions, truth)
    if json:
        screen.print_json(table.rows())
    else:
        screen.print_table(Table({name: table[name] for name in SHOWN if name in table.columns}))
