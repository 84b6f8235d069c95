"""Options that several commands share, and how the options of a command are made of its signature and its docstring."""

import csv
import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from typer import Argument, Option
from typer.models import OptionInfo

from consilience.cli.inputs import DEFAULT, Given, method_names
from consilience.cli.outputs import Back
from consilience.data.tables.told import Told
from consilience.files.recognition import read_names

SHARED = f"""
method, -m: One of {", ".join(method_names())}.
option: A parameter of the method, NAME=VALUE, such as max_iter=50 of dawid-skene. Repeatable.
class_shares: How frequent the classes are, if you know it. **even**, if about equally; shares, as cat=.2,dog=.8 (one
    class may be left out), or .2,.8 in the order of the classes; counts of a sample, as cat=20,dog=80; or a file: a
    table of classes with their count or share, or labels, which are counted. For the method consensus.
labels: True labels, only to score the answers with. -1 or empty where unknown.
known: Known labels of some items, to learn from.
title: The heading of the report.
json: Print one JSON document instead of tables.
"""
"""The help of options that several commands have; a docstring may say it otherwise."""


@dataclass(frozen=True)
class Fit:
    """How predictions are fused: by a saved model, or by a method that is fitted to them.

    Options:
    model: Answer with a model that `aggregate --save` wrote instead of fitting one.
    """

    method: str = DEFAULT
    option: list[str] | None = None
    class_shares: str | None = None
    known: str | None = None
    model: Path | None = None

    def __post_init__(self) -> None:
        others = (self.known, self.class_shares, self.option or None)
        if self.model is not None and (self.method != DEFAULT or any(own is not None for own in others)):
            refused = "--method, --option, --class-shares and --known do not go with it"
            raise ValueError(f"--model answers with what was learned; {refused}")

    @property
    def files(self) -> list[str | Path | None]:
        """What is read besides predictions; options of a method, such as weights=FILE, may name files too."""
        values = [option.partition("=")[2] for option in self.option or [] if "=" in option]
        return [self.known, self.class_shares, self.model, *values]


def _told(
    *,
    item_column: str | None = None,
    member_column: str | None = None,
    label_column: str | None = None,
    classes: str | None = None,
    ordered: bool = False,
    items: str | None = None,
    normalize: bool = False,
    positive: str | None = None,
    from_: str | None = None,
    question: str | None = None,
) -> Told:
    """How tables are laid out.

    Options:
    item_column: The tables' column of items; several are joined by +.
    member_column: The tables' column of members; or all of them, as ann,bob, of a wide table.
    label_column: The tables' column of labels.
    classes: The classes, as cat,dog or a .txt file with one on each line: the columns of classes in tables, and the
        names, in order, for arrays that have none.
    ordered: The classes are ratings: whole numbers such as 1 to 5, or --classes in rising order. Wrong answers are
        expected near the truth, and each item gets an expected rating.
    items: A file with the names of the items (a .txt file, or a table with a column of items), in the order of the
        arrays that do not name theirs.
    normalize: Divide each row of numbers by its sum, such as counts.
    positive, --label: The class whose probability alone the files give: in the column that is called so, as **toxic**
        among several independent labels, or in the only column of numbers.
    from_: The tool that wrote the files, if it is not recognised; `consilience formats` lists.
    question: The question that is read, where a tool's file has several.
    """
    names = None if items is None else tuple(read_names(items))
    is_list = classes is not None and classes.lower().endswith(".txt")
    sources = tuple(own for own in (items, classes if is_list else None) if own is not None)
    listed = None
    if classes is not None and is_list:
        listed = tuple(read_names(classes))
    elif classes is not None:
        listed = tuple(name.strip() for name in next(csv.reader([classes], skipinitialspace=True)))
    said: dict[str, Any] = {"format": from_, "question": question, "ordered": ordered}
    return Told(item_column, member_column, label_column, listed, names, normalize, sources, positive, **said)


def _given(
    files: Annotated[list[str], Argument(metavar="FILE...", show_default=False)], told: Told, *, logits: bool = False
) -> Given:
    """The predictions.

    Options:
    files: Predictions: one file for all members or one per member. **.npy .npz .safetensors**: arrays (members, items,
        classes) or (items, classes); FILE:KEY picks one of several. **.csv .tsv .parquet .jsonl .json .xlsx .db**: long
        tables with columns item, member and label (or one probability column per class), or one member's probabilities
        with a column per class. Files that name items are matched by name. Probabilities, per cent and logits are told
        apart file by file; FILE:logits, FILE:percent, FILE:probabilities, FILE:counts or FILE:labels says it.
    logits: The numbers of all files are logits or log-probabilities.
    """
    return Given(files, told, logits)


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command as Typer takes it: each parameter is an option, with the flags and the help that the docstring has.

    A parameter of a type that is `MADE` of options is replaced by these. Where JSON is printed, nothing is said of what
    was read.
    """
    own = signature(command).parameters
    text, _, listed = cleandoc(command.__doc__ or "").partition("\n\nOptions:\n")
    entries = re.findall(r"^(\w+)((?:, -[-\w]+)*): (.+(?:\n .+)*)", SHARED + listed, re.MULTILINE)
    about = {name: (flags.split(", ")[1:], " ".join(words.split())) for name, flags, words in entries}
    makers = {name: with_options(MADE[part.annotation]) for name, part in own.items() if part.annotation in MADE}
    parts = {name: signature(maker).parameters for name, maker in makers.items()}

    @wraps(command)
    def with_made(**values: Any) -> Any:
        for name, maker in makers.items():
            values[name] = maker(**{option: values.pop(option) for option in parts[name]})
            if isinstance(values[name], Given):
                values[name] = values[name]._replace(quiet=values.get("json", False))
        return command(**values)

    offered: list[Parameter] = []
    for name, part in own.items():
        offered += parts[name].values() if name in parts else [_offered(part, *about[name])]
    with_made.__signature__ = Signature(offered)  # type: ignore[attr-defined]
    with_made.__doc__ = text
    return with_made


def _offered(parameter: Parameter, flags: list[str], words: str) -> Parameter:
    """A parameter as an option, with its name, and maybe others, as flags; or as an argument."""
    kind, given = parameter.annotation, Option(readable=False)  # our readers report files that cannot be read
    if get_origin(kind) is Annotated:
        kind, given = get_args(kind)
    option = copy(given)
    option.help = words
    if isinstance(option, OptionInfo):
        option.param_decls = (f"--{parameter.name.rstrip('_').replace('_', '-')}", *flags)
    return parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=Annotated[kind, option])


MADE: dict[Any, Callable[..., Any]] = {Fit: Fit, Back: Back, Told: _told, Given: _given}
"""What is made of options, and how."""
