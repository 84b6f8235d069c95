"""Arguments and options that several commands share, and what is made of them."""

import csv
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from typer import Argument, Option

from consilience.cli.inputs import DEFAULT, Given, method_names
from consilience.cli.outputs import Back
from consilience.data.tables.told import Told
from consilience.files.recognition import read_names

MethodOption = Annotated[str, Option("--method", "-m", help=f"One of {', '.join(method_names())}.")]
MethodOptions = Annotated[
    list[str] | None, Option(help="A parameter of the method, NAME=VALUE, such as max_iter=50. Repeatable.")
]
SharesOption = Annotated[
    str | None,
    Option(
        help="How frequent the classes are, if you know it. **even**, if about equally; shares, as cat=.2,dog=.8 (one "
        "class may be left out), or .2,.8 in the order of the classes; counts of a sample, as cat=20,dog=80; or a "
        "file: a table of classes with their count or share, or labels, which are counted. For the method consensus.",
    ),
]
Labels = Annotated[str | None, Option(help="True labels, only to score the answers with. -1 or empty where unknown.")]
Known = Annotated[str | None, Option(help="Known labels of some items, to learn from.")]
Title = Annotated[str | None, Option(help="The heading of the report.")]
Json = Annotated[bool, Option("--json", help="Print one JSON document instead of tables.")]


class Fit(NamedTuple):
    """The options that say how predictions are fused."""

    method: MethodOption = DEFAULT
    option: MethodOptions = None
    class_shares: SharesOption = None
    known: Known = None
    model: Annotated[
        Path | None,  # the reader reports unreadable files, as for predictions
        Option(readable=False, help="Answer with a model that `aggregate --save` wrote instead of fitting one."),
    ] = None

    def check(self) -> None:
        """Raise if a saved model is asked for together with how to fit one."""
        others = (self.known, self.class_shares, self.option or None)
        if self.model is not None and (self.method != DEFAULT or any(own is not None for own in others)):
            refused = "--method, --option, --class-shares and --known do not go with it"
            raise ValueError(f"--model answers with what was learned; {refused}")

    @property
    def files(self) -> list[str | Path | None]:
        """What is read besides predictions; options of a method, such as weights=FILE, may name files too."""
        values = [option.partition("=")[2] for option in self.option or [] if "=" in option]
        return [self.known, self.class_shares, self.model, *values]


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Replace the parameters of a command that are `MADE` of options by these options.

    Typer reads the options of a command from its signature. Where JSON is printed, nothing is said of what was read.
    """
    own = signature(command).parameters
    makers = {name: MADE[parameter.annotation] for name, parameter in own.items() if parameter.annotation in MADE}
    parts = {name: signature(maker).parameters for name, maker in makers.items()}

    @wraps(command)
    def with_made(**values: Any) -> Any:
        for name, maker in makers.items():
            values[name] = maker(**{option: values.pop(option) for option in parts[name]})
            if isinstance(values[name], Given):
                values[name] = values[name]._replace(quiet=values.get("json", False))
        return command(**values)

    listed = [part for name in own for part in parts.get(name, {name: own[name]}).values()]
    with_made.__signature__ = Signature(  # type: ignore[attr-defined]
        [part.replace(kind=Parameter.KEYWORD_ONLY) for part in listed]
    )
    return with_made


def _told(
    *,
    item_column: Annotated[str | None, Option(help="The tables' column of items; several are joined by +.")] = None,
    member_column: Annotated[
        str | None, Option(help="The tables' column of members; or all of them, as ann,bob, of a wide table.")
    ] = None,
    label_column: Annotated[str | None, Option(help="The tables' column of labels.")] = None,
    classes: Annotated[
        str | None,
        Option(
            help="The classes, as cat,dog or a .txt file with one on each line: the columns of classes in tables, and "
            "the names, in order, for arrays that have none.",
        ),
    ] = None,
    ordered: Annotated[
        bool,
        Option(
            "--ordered",
            help="The classes are ratings: whole numbers such as 1 to 5, or --classes in rising order. Wrong answers "
            "are expected near the truth, and each item gets an expected rating.",
        ),
    ] = False,
    items: Annotated[
        str | None,
        Option(
            help="A file with the names of the items (a .txt file, or a table with a column of items), in the order of "
            "the arrays that do not name theirs.",
        ),
    ] = None,
    normalize: Annotated[
        bool, Option("--normalize", help="Divide each row of numbers by its sum, such as counts.")
    ] = False,
    positive: Annotated[
        str | None,
        Option(
            "--positive",
            "--label",
            help="The class whose probability alone the files give: in the column that is called so, as **toxic** "
            "among several independent labels, or in the only column of numbers.",
        ),
    ] = None,
    format_: Annotated[
        str | None,
        Option("--from", help="The tool that wrote the files, if it is not recognised; `consilience formats` lists."),
    ] = None,
    question: Annotated[str | None, Option(help="The question that is read, where a tool's file has several.")] = None,
) -> Told:
    names = None if items is None else tuple(read_names(items))
    is_list = classes is not None and classes.lower().endswith(".txt")
    sources = tuple(own for own in (items, classes if is_list else None) if own is not None)
    listed = None
    if classes is not None and is_list:
        listed = tuple(read_names(classes))
    elif classes is not None:
        listed = tuple(name.strip() for name in next(csv.reader([classes], skipinitialspace=True)))
    said: dict[str, Any] = {"format": format_, "question": question, "ordered": ordered}
    return Told(item_column, member_column, label_column, listed, names, normalize, sources, positive, **said)


def _given(
    files: Annotated[
        list[str],
        Argument(
            metavar="FILE...",
            help="Predictions: one file for all members or one per member. **.npy .npz .safetensors**: arrays "
            "(members, items, classes) or (items, classes); FILE:KEY picks one of several. **.csv .tsv .parquet .jsonl "
            ".json .xlsx .db**: long tables with columns item, member and label (or one probability column per "
            "class), or one member's probabilities with a column per class. Files that name items are matched by name. "
            "Probabilities, per cent and logits are told apart file by file; FILE:logits, FILE:percent, "
            "FILE:probabilities, FILE:counts or FILE:labels says it.",
            show_default=False,
        ),
    ],
    told: Told,
    *,
    logits: Annotated[
        bool, Option("--logits", help="The numbers of all files are logits or log-probabilities.")
    ] = False,
) -> Given:
    return Given(files, told, logits)


MADE: dict[Any, Callable[..., Any]] = {Fit: Fit, Back: Back, Told: _told}
"""What is made of options, and how."""

MADE[Given] = with_options(_given)
