"""`consilience compare`."""

from consilience.cli import screen
from consilience.cli.inputs import labels_of, predictions_of, shares_of
from consilience.cli.options import Files, Json, Known, Labels, Logits, SharesOption, with_layout
from consilience.data.tables.told import Told
from consilience.insight.comparison import compare


@with_layout
def command(
    files: Files,
    *,
    logits: Logits = False,
    labels: Labels = None,
    known: Known = None,
    class_shares: SharesOption = None,
    json: Json = False,
    told: Told,
) -> None:
    """Run every method on the same predictions, in one table beside the best and the median member.

    Labels only score; those of --known are learned from, and not scored. Without labels nothing is ranked, and no
    member is named: each row has the interval that holds its accuracy in nine of ten panels.
    """
    predictions = predictions_of(files, told, logits=logits, quiet=json)
    truth, known_truth = (labels_of(source, predictions, files, told, quiet=json) for source in (labels, known))
    shares = shares_of(class_shares, told, predictions.classes, quiet=json)
    with screen.waiting("comparing methods"):
        table = compare(predictions, truth, known=known_truth, class_shares=shares)
    if json:
        screen.print_json(table.rows())
        return
    screen.print_comparison(table.rows())
