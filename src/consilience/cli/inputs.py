"""Read what commands need: predictions, labels, class shares, and a saved or newly fitted model."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from consilience.aggregators import load
from consilience.aggregators.consensus.class_shares import EVEN, read_shares
from consilience.aggregators.registry import commands
from consilience.cli import screen
from consilience.data.axes import look_like_ratings, some
from consilience.data.labels import NamedLabels, known_labels
from consilience.data.names import UNKNOWN, is_missing, nearly_same, text_of
from consilience.data.predictions import doubts
from consilience.data.tables.told import role_of
from consilience.files import read_labels, read_sources, split_source
from consilience.files.contents import ARRAY_FORMATS, TABLE_FORMATS, read_contents
from consilience.insight.analysis import Analysis
from consilience.maths.em import UNSETTLED
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from consilience.aggregators.base import AbstractAggregator
    from consilience.cli.options import Fit
    from consilience.data.predictions import Predictions
    from consilience.data.tables.told import Told
    from consilience.files.recognition import LabelSource


def predictions_of(
    files: list[str], told: Told, *, logits: bool, model: Path | None = None, quiet: bool = False
) -> Predictions:
    """Read predictions from files. Unless `quiet`, print to standard error how each file was understood.

    The classes are those of the saved `model`, if it has names for them: labels of one day need not have all of them.
    """
    told = with_classes_of(model, told)
    with _remarked(), screen.waiting("reading"):
        source = read_sources(files, logits=logits, told=told)
    if not quiet:
        screen.print_found(source.found, source.examples)
        for doubt in doubts(source.predictions):
            screen.print_remark(doubt)
        # Probabilities of 0, 1, 2, … are mostly of options by their places.
        if not source.predictions.soft and look_like_ratings(source.predictions.axes.classes):
            screen.print_remark(
                f"the classes are whole numbers, {some(source.predictions.classes)}: say --ordered if they are ratings"
            )
        # In one file, such names are more likely meant.
        if len(files) > 1 and (groups := nearly_same(source.predictions.items)):
            screen.print_remark(
                f"{len(groups):,} items have names, such as {some(groups[0])}, that differ only in case, spaces around "
                "them or zeros in front, and count as different: write them in one way if they are the same"
            )
    return source.predictions


def with_classes_of(model: Path | None, told: Told) -> Told:
    """With the classes of a saved model, if these have names and the user gives none."""
    if model is None or told.classes is not None:
        return told
    names = load(model).classes_
    return told._replace(classes=tuple(names) if all(isinstance(name, str) for name in names) else None)


def labels_of(
    source: str | None, predictions: Predictions, files: list[str], told: Told, *, quiet: bool = False
) -> Any:
    """Read the labels of predictions from a file, as `fit` takes them."""
    if source is None:
        return None
    path, *others = (split_source(name)[0] for name in (source, *files))
    is_of_predictions = os.path.realpath(path) in map(os.path.realpath, others)
    # Archives and tables may hold predictions and labels; a single array cannot.
    if is_of_predictions and path.suffix.lower() == ".npy":
        raise InvalidPredictions(
            f"labels must be in a file of their own; {source} is also read as predictions, which would see them"
        )
    if not is_of_predictions:
        told = told._replace(format=None, question=None)  # said of the predictions
    found = checked_labels(source, predictions, told, are_of_predictions=True, quiet=quiet)
    if is_of_predictions and found.column is not None:
        _check_no_answers(source, found.column, predictions, told)
    return found.labels


def _check_no_answers(source: str, column: str, predictions: Predictions, told: Told) -> None:
    """Raise if the column of labels, in a table that is also predictions, was read as members' answers too."""
    members = predictions.members
    listed = [] if told.member is None else [name.strip() for name in told.member.split(",")]
    is_wide = column in members or (bool(listed) and set(listed) <= set(members))
    is_answer = column == told.label or (role_of(column) == "label" and not predictions.soft)
    if column in members or (is_answer and not is_wide):
        others = [str(name) for name in members if name != column] if is_wide else ["ann", "bob"]
        raise InvalidPredictions(
            f"labels must be no member's answers; column {column!r} of {source} is read as both: list the members' "
            f"columns, as in --member-column {','.join(others[:8])}{',…' if len(others) > 8 else ''}, or put the "
            "labels in a file of their own"
        )


def checked_labels(
    source: str, predictions: Predictions, told: Told, *, are_of_predictions: bool = False, quiet: bool = False
) -> LabelSource:
    """Read labels that fit the predictions; raises before anything is computed or written.

    Unless `quiet`, print to standard error how the file was understood.
    Columns that were named for the predictions need not be in the file of labels.
    """
    found = read_labels(source, told=told, are_optional=are_of_predictions)
    if not quiet:
        screen.print_found([found.found], [None])
    try:
        known_labels(found.labels, predictions.axes)
    except InvalidPredictions as error:
        raise error.within(source) from None
    return found


def analysed(files: list[str], told: Told, fit: Fit, labels: str | None, *, quiet: bool = False) -> Analysis:
    """Read predictions and labels, and fuse; unless `quiet`, say if the fit knows all labels, so that none scores."""
    fit.check()
    predictions = predictions_of(files, told, logits=fit.logits, model=fit.model, quiet=quiet)
    truth, known = (labels_of(source, predictions, files, told, quiet=quiet) for source in (labels, fit.known))
    scoring, given = (known_labels(own, predictions.axes) for own in (truth, known))
    if not (scoring is None or given is None or quiet or ((scoring >= 0) & (given < 0)).any()):
        screen.print_remark("--labels score nothing: all these items are in --known, whose labels are learned from")
    return Analysis(predictions, fitted(predictions, fit, told, known=known, quiet=quiet), known, truth)


def fitted(
    predictions: Predictions, fit: Fit, told: Told, *, known: Any = None, quiet: bool = False
) -> AbstractAggregator:
    """A saved model, or a method fitted to these predictions, known labels and class shares."""
    class_shares = shares_of(fit.class_shares, told, predictions.classes, quiet=quiet)
    if fit.model is not None:
        return load(fit.model)
    aggregator = make_method(fit.method, fit.option or [], verbose=screen.err.is_terminal)
    if class_shares is not None:
        if "class_shares" not in aggregator.get_params():
            raise ValueError(f"--class-shares go with --method consensus; got {fit.method!r}")
        aggregator.set_params(class_shares=class_shares)
    with _remarked():
        aggregator.fit(predictions, known)
    return aggregator


@contextmanager
def _remarked() -> Iterator[None]:
    """Print warnings as remarks, each once: the message alone, without the line of code."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", UNSETTLED)  # the summary reports it
        yield
    for message in dict.fromkeys(str(warning.message) for warning in told):
        screen.print_remark(screen.on_command_line(message))


# ---- methods by name ------------------------------------------------------------------------------------

DEFAULT = "consensus"


def method_names() -> list[str]:
    """The names of all methods, the recommended one first."""
    return list(reversed(commands()))


def make_method(name: str, options: Sequence[str] = (), *, verbose: bool = False) -> AbstractAggregator:
    """Make the aggregator of a name, with options such as `max_iter=50`. Values are JSON or plain text."""
    known_methods = commands()
    if name not in known_methods:
        raise ValueError(f"--method must be one of {', '.join(method_names())}; got {name!r}")
    method = known_methods[name]()
    known = method.get_params()
    for option in options:
        key, equals, value = option.partition("=")
        if not equals or key not in known:
            raise ValueError(f"--option must be NAME=VALUE with one of {', '.join(known)}; got {option!r}")
        method.set_params(**{key: _parsed(value)})
    if verbose and "verbose" in known:
        method.set_params(verbose=True)
    return method


def _parsed(value: str) -> Any:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    if not isinstance(parsed, dict):
        return parsed
    # The keys of a schedule such as {"0": 0.001} are iterations.
    if not all(key.isdecimal() for key in parsed):
        raise ValueError(f'--option must have a schedule like {{"0": 0.001}}, by iteration; got {value!r}')
    return {int(key): number for key, number in parsed.items()}


# ---- class shares ---------------------------------------------------------------------------------------

FORM = (
    "--class-shares must be even; like cat=.2,dog=.8 or, as counted, cat=20,dog=80; like .2,.8 in the order of the "
    "classes; or a file of labels, or of a column class and a column count or share"
)

NUMBERS = frozenset(["count", "counts", "n", "number", "share", "shares", "proportion", "frequency"])
"""Usual names of the column of numbers in a table of classes; pandas' `value_counts` calls it count or proportion."""


def shares_of(text: str | None, told: Told, classes: list[Any] | None, *, quiet: bool = False) -> Any:
    """What `Consensus(class_shares=...)` takes; None where none are given.

    Unless `quiet`, print to standard error how they were understood, as far as the classes are known yet.
    """
    given = None if text is None else _read(text, told, quiet=quiet)
    if classes is None:
        return given
    stated = read_shares(given, classes)
    if stated is not None and not quiet:
        screen.print_found([stated.in_words(classes)], [None])
    return given


def _read(text: str, told: Told, *, quiet: bool) -> Any:
    if text == EVEN:
        return text
    if split_source(text)[0].suffix.lower() in ARRAY_FORMATS | TABLE_FORMATS:
        return _of_file(text, told, quiet=quiet)
    pairs = [part.rpartition("=")[::2] for part in text.split(",")]
    names, numbers = [name.strip() for name, _ in pairs], _floats((number for _, number in pairs), text)
    return _by_name(names, numbers, text) if any(names) else numbers


def _of_file(source: str, told: Told, *, quiet: bool) -> Counter[str]:
    """A table of classes and their numbers, or labels, which are counted."""
    contents = read_contents(source)
    numbers = [name for name in contents.table or () if name.strip().lower() in NUMBERS]
    if contents.table is not None and len(contents.table) == 2 and len(numbers) == 1:
        (column,) = set(contents.table) - {*numbers}
        names, cells = (contents.table[name].rows() for name in (column, *numbers))
        found = f"{source}: {contents.format}, {len(names)} classes in {column!r}, their {numbers[0]}"
        given: Counter[str] = Counter(_by_name([str(name) for name in names], _floats(cells, source), source))
    else:
        labels, found, _ = read_labels(source, told=told, are_optional=True)
        listed = labels.labels if isinstance(labels, NamedLabels) else labels
        texts = (text_of(label) for label in listed if not is_missing(label))
        given = Counter(text for text in texts if text not in ("", "-1", *UNKNOWN))
    if not quiet:
        screen.print_found([found], [None])
    return given


def _by_name(names: list[str], numbers: list[float], source: str) -> dict[str, float]:
    given = dict(zip(names, numbers, strict=True))
    if len(given) < len(names):
        raise InvalidPredictions(f"--class-shares must name each class once; got {source!r}")
    return given


def _floats(numbers: Iterable[Any], source: str) -> list[float]:
    try:
        return [float(number) for number in numbers]
    except (TypeError, ValueError):
        raise InvalidPredictions(f"{FORM}; got {source!r}") from None
