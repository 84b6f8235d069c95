"""`consilience explain`."""

from typing import Annotated

import typer

from consilience.cli import screen
from consilience.cli.inputs import DEFAULT, check_model_is_alone, fitted, labels_of, predictions_of, shares_of
from consilience.cli.options import (
    Files,
    Json,
    Known,
    Logits,
    MethodOption,
    MethodOptions,
    ModelOption,
    SharesOption,
    with_layout,
)
from consilience.data.tables.told import Told
from consilience.insight.explanation import explain


@with_layout
def command(
    files: Files,
    *,
    item: Annotated[str, typer.Option("--item", help="The item's name, or its number where items have no names.")],
    against: Annotated[
        str | None,
        typer.Option("--against", help="The class to compare the answer with; the second by default."),
    ] = None,
    method: MethodOption = DEFAULT,
    option: MethodOptions = None,
    class_shares: SharesOption = None,
    logits: Logits = False,
    known: Known = None,
    model: ModelOption = None,
    json: Json = False,
    told: Told,
) -> None:
    """Say why an item got its answer: what each member said, and what tipped it."""
    check_model_is_alone(model, method, option, known, class_shares)
    predictions = predictions_of(files, told, logits=logits, model=model, quiet=json)
    known_truth = labels_of(known, predictions, files, told, quiet=json)
    for option_name, text, axis in (
        ("--item", item, predictions.axes.items),
        ("--against", against, predictions.axes.classes),
    ):
        if text is not None and axis.find(text) is None:  # before the fit
            raise ValueError(f"{option_name} must be one of {', '.join(map(str, axis.names[:5]))}, …; got {text!r}")
    shares = shares_of(class_shares, told, predictions.classes, quiet=json)
    aggregator = fitted(predictions, method, option, model, known=known_truth, class_shares=shares)
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
