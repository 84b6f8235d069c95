"""Arguments and options that several commands share."""

from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from consilience.cli.methods import method_names
from consilience.files.recognition import Columns

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Predictions: one file for all members or one per member. **.npy .npz .safetensors**: arrays (members, "
        "items, classes) or (items, classes); FILE:KEY picks one of several. **.csv .tsv .parquet**: long tables with "
        "columns item, member and label (or one probability column per class), or one member's probabilities with a "
        "column per class. Files that name items are matched by name.",
        show_default=False,
    ),
]
Method = Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(method_names())}.")]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="A parameter of the method, NAME=VALUE, such as max_iter=50. Repeatable."),
]
Logits = Annotated[bool, typer.Option("--logits", help="The arrays are logits or log-probabilities.")]
Labels = Annotated[
    str | None,
    typer.Option("--labels", help="True labels, only to score the answers with. -1 or empty where unknown."),
]
Known = Annotated[str | None, typer.Option("--known", help="Known labels of some items, to learn from.")]
Title = Annotated[str | None, typer.Option("--title", help="The heading of the report.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
ItemColumn = Annotated[str | None, typer.Option("--item-column", help="The tables' column of items.")]
MemberColumn = Annotated[str | None, typer.Option("--member-column", help="The tables' column of members.")]
LabelColumn = Annotated[str | None, typer.Option("--label-column", help="The tables' column of labels.")]
Model = Annotated[
    Path | None,
    typer.Option(
        "--model", readable=False, help="Answer with a model that `aggregate --save` wrote instead of fitting one."
    ),  # the reader reports unreadable files, as for predictions
]


def with_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `columns` of a command by --item-column, --member-column and --label-column."""
    own = [parameter for parameter in signature(command).parameters.values() if parameter.name != "columns"]
    offered = signature(_columns).parameters

    @wraps(command)
    def with_options(**values: Any) -> None:
        names = {name: values.pop(name) for name in offered}
        command(columns=_columns(**names), **values)

    # Typer reads the options of a command from its signature.
    with_options.__signature__ = Signature([*own, *offered.values()])  # type: ignore[attr-defined]
    return with_options


def _columns(
    *, item_column: ItemColumn = None, member_column: MemberColumn = None, label_column: LabelColumn = None
) -> Columns:
    return Columns(item_column, member_column, label_column)
