"""Arguments and options that several commands share."""

import csv
from collections.abc import Callable
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from consilience.cli.inputs import method_names
from consilience.data.tables.told import Told
from consilience.files.recognition import read_names

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Predictions: one file for all members or one per member. **.npy .npz .safetensors**: arrays (members, "
        "items, classes) or (items, classes); FILE:KEY picks one of several. **.csv .tsv .parquet .jsonl .json .xlsx "
        ".db**: long tables with columns item, member and label (or one probability column per class), or one member's "
        "probabilities with a column per class. Files that name items are matched by name. Probabilities, per cent and "
        "logits are told apart file by file; FILE:logits, FILE:percent, FILE:probabilities, FILE:counts or FILE:labels "
        "says it.",
        show_default=False,
    ),
]
MethodOption = Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(method_names())}.")]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="A parameter of the method, NAME=VALUE, such as max_iter=50. Repeatable."),
]
SharesOption = Annotated[
    str | None,
    typer.Option(
        "--class-shares",
        help="How frequent the classes are, if you know it. **even**, if about equally; shares, as cat=.2,dog=.8 (one "
        "class may be left out), or .2,.8 in the order of the classes; counts of a sample, as cat=20,dog=80; or a "
        "file: a table of classes with their count or share, or labels, which are counted. For the method consensus.",
    ),
]
Logits = Annotated[bool, typer.Option("--logits", help="The numbers of all files are logits or log-probabilities.")]
Labels = Annotated[
    str | None,
    typer.Option("--labels", help="True labels, only to score the answers with. -1 or empty where unknown."),
]
Known = Annotated[str | None, typer.Option("--known", help="Known labels of some items, to learn from.")]
Title = Annotated[str | None, typer.Option("--title", help="The heading of the report.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
ItemColumn = Annotated[
    str | None, typer.Option("--item-column", help="The tables' column of items; several are joined by +.")
]
MemberColumn = Annotated[
    str | None,
    typer.Option("--member-column", help="The tables' column of members; or all of them, as ann,bob, of a wide table."),
]
LabelColumn = Annotated[str | None, typer.Option("--label-column", help="The tables' column of labels.")]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes",
        help="The classes, as cat,dog or a .txt file with one on each line: the columns of classes in tables, and the "
        "names, in order, for arrays that have none.",
    ),
]
Ordered = Annotated[
    bool,
    typer.Option(
        "--ordered",
        help="The classes are ratings: whole numbers such as 1 to 5, or --classes in rising order. Wrong answers are "
        "expected near the truth, and each item gets an expected rating.",
    ),
]
Items = Annotated[
    str | None,
    typer.Option(
        "--items",
        help="A file with the names of the items (a .txt file, or a table with a column of items), in the order of the "
        "arrays that do not name theirs.",
    ),
]
Normalize = Annotated[bool, typer.Option("--normalize", help="Divide each row of numbers by its sum, such as counts.")]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        "--label",
        help="The class whose probability alone the files give: in the column that is called so, as **toxic** among "
        "several independent labels, or in the only column of numbers.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option("--from", help="The tool that wrote the files, if it is not recognised; `consilience formats` lists."),
]
Question = Annotated[
    str | None, typer.Option("--question", help="The question that is read, where a tool's file has several.")
]
ModelOption = Annotated[
    Path | None,
    typer.Option(
        "--model", readable=False, help="Answer with a model that `aggregate --save` wrote instead of fitting one."
    ),  # the reader reports unreadable files, as for predictions
]


def with_layout(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter `told` of a command by the options that say what is in the files."""
    own = [parameter for parameter in signature(command).parameters.values() if parameter.name != "told"]
    offered = signature(_told).parameters

    @wraps(command)
    def with_options(**values: Any) -> None:
        names = {name: values.pop(name) for name in offered}
        command(told=_told(**names), **values)

    # Typer reads the options of a command from its signature.
    with_options.__signature__ = Signature([*own, *offered.values()])  # type: ignore[attr-defined]
    return with_options


def _told(
    *,
    item_column: ItemColumn = None,
    member_column: MemberColumn = None,
    label_column: LabelColumn = None,
    classes: Classes = None,
    ordered: Ordered = False,
    items: Items = None,
    normalize: Normalize = False,
    positive: Positive = None,
    format_: Format = None,
    question: Question = None,
) -> Told:
    names = None if items is None else tuple(read_names(items))
    lists = [classes] if classes is not None and _is_list(classes) else []
    sources = tuple(lists if items is None else [items, *lists])
    return Told(
        item_column,
        member_column,
        label_column,
        _listed(classes),
        names,
        normalize,
        sources,
        positive,
        format=format_,
        question=question,
        ordered=ordered,
    )


def _is_list(classes: str) -> bool:
    return classes.lower().endswith(".txt")


def _listed(classes: str | None) -> tuple[str, ...] | None:
    if classes is None:
        return None
    if _is_list(classes):
        return tuple(read_names(classes))
    return tuple(name.strip() for name in next(csv.reader([classes], skipinitialspace=True)))
