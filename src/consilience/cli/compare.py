"""`consilience compare`."""

from consilience.cli import screen
from consilience.cli.inputs import Given
from consilience.insight.comparison import compare


def command(
    *,
    labels: str | None = None,
    known: str | None = None,
    class_shares: str | None = None,
    json: bool = False,
    given: Given,
) -> None:
    """Run every method on the same predictions, in one table beside the best and the median member.

    Labels only score; those of --known are learned from, and not scored. Without labels nothing is ranked, and no
    member is named: each row has the interval that holds its accuracy in nine of ten panels.
    """
    predictions = given.predictions()
    truth, known_truth = (given.labels(source, predictions) for source in (labels, known))
    shares = given.shares(class_shares, predictions.classes)
    with screen.waiting("comparing methods"):
        rows = compare(predictions, truth, known=known_truth, class_shares=shares).rows()
    if json:
        screen.print_json(rows)
    else:
        screen.print_comparison(rows)
