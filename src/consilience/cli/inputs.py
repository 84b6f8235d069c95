"""Read what commands need: predictions, labels, class shares, and a saved or newly fitted model."""

from __future__ import annotations

import json
import os
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.aggregators import load
from consilience.aggregators.base import AbstractAggregator
from consilience.aggregators.consensus.class_shares import EVEN, read_shares
from consilience.aggregators.registry import commands
from consilience.cli import screen
from consilience.data.axes import look_like_ratings, some
from consilience.data.labels import NamedLabels, known_labels
from consilience.data.names import UNKNOWN, is_missing, nearly_same, text_of
from consilience.data.predictions import Predictions, doubts
from consilience.data.tables.told import Told, role_of
from consilience.files import read_labels, read_sources, split_source
from consilience.files.contents import FORMATS, read_contents
from consilience.files.recognition import LabelSource
from consilience.insight.analysis import Analysis
from consilience.maths.em import UNSETTLED
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from consilience.cli.shared_options import Fit


class Given(NamedTuple):
    """The predictions that a command is given, and how to read them and what belongs to them.

    Unless it is `quiet`, how each file was understood is printed to standard error.
    """

    files: list[str]
    told: Told
    logits: bool = False
    quiet: bool = False

    @property
    def sources(self) -> list[str | Path | None]:
        """All files that are read."""
        return [*self.files, *self.told.sources]

    def with_classes_of(self, model: Path | None) -> Given:
        """With the classes of a saved model, if these have names and the user gives none.

        Labels of one day need not have all of them.
        """
        if model is None or self.told.classes is not None:
            return self
        names = load(model).classes_
        are_names = all(isinstance(name, str) for name in names)
        return self._replace(told=self.told._replace(classes=tuple(names) if are_names else None))

    def predictions(self) -> Predictions:
        """The predictions."""
        with _remarked(), screen.waiting("reading"):
            source = read_sources(self.files, logits=self.logits, told=self.told)
        if not self.quiet:
            screen.print_found(source.found, source.examples)
            for remark in _doubts(source.predictions, len(self.files)):
                screen.print_remark(remark)
        return source.predictions

    def labels(self, source: str | None, predictions: Predictions) -> Any:
        """The labels of predictions from a file, as `fit` takes them."""
        if source is None:
            return None
        path, *others = (split_source(name)[0] for name in (source, *self.files))
        is_of_predictions = os.path.realpath(path) in map(os.path.realpath, others)
        # Archives and tables may hold predictions and labels; a single array cannot.
        if is_of_predictions and path.suffix.lower() == ".npy":
            raise InvalidPredictions(
                f"labels must be in a file of their own; {source} is also read as predictions, which would see them"
            )
        # The tool and its question are said of the predictions.
        told = self.told if is_of_predictions else self.told._replace(format=None, question=None)
        found = checked_labels(source, predictions, told, are_of_predictions=True, quiet=self.quiet)
        if is_of_predictions and found.column is not None:
            _check_no_answers(source, found.column, predictions, told)
        return found.labels

    def shares(self, text: str | None, classes: list[Any] | None) -> Any:
        """What `Consensus(class_shares=...)` takes, of these classes as far as they are known yet; None where none."""
        given, found = (None, []) if text is None else _read_shares(text, self.told)
        if classes is not None and (stated := read_shares(given, classes)) is not None:
            found = [*found, stated.in_words(classes)]
        if not self.quiet:
            screen.print_found(found)
        return given

    def fitted(self, predictions: Predictions, fit: Fit, known: Any = None) -> AbstractAggregator:
        """A saved model, or a method fitted to these predictions, known labels and class shares."""
        class_shares = self.shares(fit.class_shares, predictions.classes)
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

    def analysed(self, fit: Fit, labels: str | None) -> Analysis:
        """Predictions and labels, fused; unless quiet, say if the fit knows all labels, so that none scores."""
        predictions = self.with_classes_of(fit.model).predictions()
        truth, known = (self.labels(source, predictions) for source in (labels, fit.known))
        scoring, given = (known_labels(own, predictions.axes) for own in (truth, known))
        if not (scoring is None or given is None or self.quiet or ((scoring >= 0) & (given < 0)).any()):
            screen.print_remark("--labels score nothing: all these items are in --known, whose labels are learned from")
        return Analysis(predictions, self.fitted(predictions, fit, known), known, truth)


def _doubts(predictions: Predictions, n_files: int) -> Iterator[str]:
    """What the user should know of predictions, and may want to say otherwise."""
    yield from doubts(predictions)
    # Probabilities of 0, 1, 2, … are mostly of options by their places.
    if not predictions.soft and look_like_ratings(predictions.axes.classes):
        yield (
            f"the classes are whole numbers, {some(predictions.classes)}: say --ordered if they are ratings, or "
            "--normalize if they count votes for classes"
        )
    # In one file, such names are more likely meant.
    if n_files > 1 and (groups := nearly_same(predictions.items)):
        yield (
            f"{len(groups):,} items have names, such as {some(groups[0])}, that differ only in case, spaces around "
            "them or zeros in front, and count as different: write them in one way if they are the same"
        )


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

    Columns that were named for the predictions need not be in the file of labels.
    """
    found = read_labels(source, told=told, are_optional=are_of_predictions)
    if not quiet:
        screen.print_found([found.found])
    try:
        known_labels(found.labels, predictions.axes)
    except InvalidPredictions as error:
        raise error.within(source) from None
    return found


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
    if name not in commands():
        raise ValueError(f"--method must be one of {', '.join(method_names())}; got {name!r}")
    method = commands()[name]()
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


def _read_shares(text: str, told: Told) -> tuple[Any, list[str]]:
    """Class shares, and how their file was understood, if it is one."""
    if text == EVEN:
        return text, []
    if split_source(text)[0].suffix.lower() in FORMATS:
        given, found = _counted_in(text, told)
        return given, [found]
    pairs = [part.rpartition("=")[::2] for part in text.split(",")]
    names, numbers = [name.strip() for name, _ in pairs], _floats((number for _, number in pairs), text)
    return _by_name(names, numbers, text) if any(names) else numbers, []


def _counted_in(source: str, told: Told) -> tuple[Counter[str], str]:
    """A table of classes and their numbers, or labels, which are counted."""
    contents = read_contents(source)
    numbers = [name for name in contents.table or () if name.strip().lower() in NUMBERS]
    if contents.table is not None and len(contents.table) == 2 and len(numbers) == 1:
        (column,) = set(contents.table) - {*numbers}
        names, cells = (contents.table[name].rows() for name in (column, *numbers))
        found = f"{source}: {contents.format}, {len(names)} classes in {column!r}, their {numbers[0]}"
        return Counter(_by_name(list(map(str, names)), _floats(cells, source), source)), found
    labels, found, _ = read_labels(source, told=told, are_optional=True)
    listed = labels.labels if isinstance(labels, NamedLabels) else labels
    texts = (text_of(label) for label in listed if not is_missing(label))
    return Counter(text for text in texts if text not in ("", "-1", *UNKNOWN)), found


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
