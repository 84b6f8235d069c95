"""`consilience explain`."""

from consilience.cli import screen
from consilience.cli.inputs import Given
from consilience.cli.shared_options import Fit
from consilience.insight.explanation import explain


def command(*, item: str, against: str | None = None, fit: Fit, json: bool = False, given: Given) -> None:
    """Say why an item got its answer: what each member said, and what tipped it.

    Options:
    item: The item's name, or its number where items have no names.
    against: The class to compare the answer with; the second by default.
    """
    predictions = given.with_classes_of(fit.model).predictions()
    known = given.labels(fit.known, predictions)
    for flag, text, axis in (
        ("--item", item, predictions.axes.items),
        ("--against", against, predictions.axes.classes),
    ):
        if text is not None and axis.find(text) is None:  # before the fit
            raise ValueError(f"{flag} must be one of {', '.join(map(str, axis.names[:5]))}, …; got {text!r}")
    why = explain(predictions, item, aggregator=given.fitted(predictions, fit, known), against=against)
    if not json:
        screen.print_text(repr(why))
        return
    parts = {name: getattr(why, name) for name in ("item", "winner", "runner_up", "log_odds", "prior")}
    screen.print_json(parts | {"class_shares": why.shares, "members": why.to_table().rows()})
