"""`consilience explain`."""

from typing import Annotated

import typer

from consilience.cli import screen
from consilience.cli.inputs import fitted, labels_of, predictions_of
from consilience.cli.options import Files, Fit, Json, with_layout
from consilience.data.tables.told import Told
from consilience.insight.explanation import explain


@with_layout
def command(
    files: Files,
    *,
    item: Annotated[str, typer.Option("--item", help="The item's name, or its number where items have no names.")],
    against: Annotated[
        str | None, typer.Option("--against", help="The class to compare the answer with; the second by default.")
    ] = None,
    fit: Fit,
    json: Json = False,
    told: Told,
) -> None:
    """Say why an item got its answer: what each member said, and what tipped it."""
    fit.check()
    predictions = predictions_of(files, told, logits=fit.logits, model=fit.model, quiet=json)
    known = labels_of(fit.known, predictions, files, told, quiet=json)
    for option_name, text, axis in (
        ("--item", item, predictions.axes.items),
        ("--against", against, predictions.axes.classes),
    ):
        if text is not None and axis.find(text) is None:  # before the fit
            raise ValueError(f"{option_name} must be one of {', '.join(map(str, axis.names[:5]))}, …; got {text!r}")
    aggregator = fitted(predictions, fit, told, known=known, quiet=json)
    explanation = explain(predictions, item, aggregator=aggregator, against=against)
    if json:
        screen.print_json(
            {
                "item": explanation.item,
                "winner": explanation.winner,
                "runner_up": explanation.runner_up,
                "log_odds": explanation.log_odds,
                "prior": explanation.prior,
                "class_shares": explanation.shares,
                "members": explanation.to_table().rows(),
            }
        )
    else:
        screen.print_text(repr(explanation))
