"""Read what commands need: predictions, labels, and a saved or newly fitted model."""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING, Any

from consilience.aggregators import load
from consilience.cli import screen
from consilience.cli.methods import DEFAULT, make_method
from consilience.cli.wording import on_command_line
from consilience.data.axes import some
from consilience.data.labels import known_labels
from consilience.data.names import nearly_same
from consilience.data.order import look_like_ratings
from consilience.data.predictions import doubts
from consilience.data.tables.vocabulary import role_of
from consilience.files import read_labels, read_predictions, split_source
from consilience.maths.em import UNSETTLED
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from pathlib import Path

    from consilience.aggregators.base import AbstractAggregator
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
    with screen.waiting("reading"):
        source = read_predictions(files, logits=logits, told=told)
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


def say_if_nothing_is_scored(labels: Any, known: Any, predictions: Predictions, *, quiet: bool = False) -> None:
    """Unless `quiet`, print a remark if the fit knows all labels that should score: those are never scored."""
    truth, given = (known_labels(found, predictions.axes) for found in (labels, known))
    if truth is None or given is None or quiet:
        return
    if not ((truth >= 0) & (given < 0)).any():
        screen.print_remark("--labels score nothing: all these items are in --known, whose labels are learned from")


def check_model_is_alone(
    model: Path | None, method: str, options: list[str] | None, known: str | None, class_shares: str | None = None
) -> None:
    """Raise if a saved model is asked for together with how to fit one."""
    if model is not None and (known is not None or class_shares is not None or options or method != DEFAULT):
        raise ValueError(
            "--model answers with what was learned; --method, --option, --class-shares and --known do not go with it"
        )


def fitted(
    predictions: Predictions,
    method: str,
    options: list[str] | None,
    model: Path | None = None,
    *,
    known: Any = None,
    class_shares: Any = None,
) -> AbstractAggregator:
    """A saved model, or a method fitted to these predictions, known labels and class shares."""
    if model is not None:
        return load(model)
    aggregator = make_method(method, options or [], verbose=screen.err.is_terminal)
    if class_shares is not None:
        if "class_shares" not in aggregator.get_params():
            raise ValueError(f"--class-shares go with --method consensus; got {method!r}")
        aggregator.set_params(class_shares=class_shares)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", UserWarning)
        warnings.filterwarnings("ignore", UNSETTLED)  # the summary reports it
        aggregator.fit(predictions, known)
    for warning in told:  # the message alone, without the line of code
        screen.print_remark(on_command_line(str(warning.message)))
    return aggregator
