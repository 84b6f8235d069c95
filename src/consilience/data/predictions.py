"""`Predictions`: what the members said, validated once, with named axes."""

# ruff: noqa: SLF001 - functions of this module look inside; they are no methods, so that they are not offered to users

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, Self, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from consilience.data import validation
from consilience.data.answers import NUMBERS_AT_ONCE, HardAnswers, SoftMember, merged
from consilience.data.axes import Axes, Axis, check_order, in_order, joined_axis, joined_members, listed, short, some
from consilience.data.names import nearly_same
from consilience.data.tables.columns import Column, Columns
from consilience.data.tables.frames import columns_of, is_member_table, read_member, shared_index
from consilience.data.tables.told import Told
from consilience.system.arrays import Array, FloatArray, IntArray, like, namespace, sample, to_numpy, working_dtype
from consilience.system.errors import Either, InvalidPredictions, warn
from consilience.system.machine import n_threads

LONG_PASS, LEAST_PART = 2**24, 2048
"""A pass of at least this many multiplications is cut into as many chunks as there are cores, of at least so many
items: handing over less costs more than it saves."""


AT_ONCE = 2**18  # so many answers are put in order at once
MOST_REPEATED = 10_000_000  # up to so many items are written out that were given as counts

NO_ZERO = (
    "labels are positions of classes, which count from 0, and none of these is 0: if yours count from 1, subtract 1 or "
    "name the classes"
)

PANEL_OF_MANY, TOO_MANY = 20, 8
"""A fit to more members than these, and than so many per item, is warned of, unless they have names."""

MANY_MEMBERS, MEMBERS_PER_ITEM, FAR_TOO_MANY = 30, 10, 100
"""More members than the first number, and than the second per item, are items. In an array, whose axes may be turned
unless they are named, it takes more than the third per item."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """The part of some predictions that concerns items start to stop."""

    start: int
    stop: int
    soft: tuple[SoftMember, ...]
    hard: HardAnswers | None


Result = TypeVar("Result")


class AbstractPredictions(ABC):
    """What each member says of each item, wherever that lies: on this machine, or on a cluster (`passes.cluster`)."""

    axes: Axes
    soft: tuple[SoftMember, ...] = ()  # none on a cluster, where nothing lies here
    counts: FloatArray | None = None  # (items,): how often each counts; None, once
    _places: IntArray | None = None  # of items that `counted` has grouped: which of these each of them is

    @property
    def members(self) -> list[Any]:
        """The members' names."""
        return self.axes.members.names

    @property
    def items(self) -> list[Any]:
        """The items' names."""
        return self.axes.items.names

    @property
    def classes(self) -> list[Any]:
        """The classes' names."""
        return self.axes.classes.names

    @property
    def ordered(self) -> bool:
        """Whether the classes are ratings, each one step above the one before it."""
        return self.axes.classes.ordered

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return self.axes.members.size

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self.axes.items.size

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self.axes.classes.size

    @property
    @abstractmethod
    def is_soft(self) -> npt.NDArray[np.bool_]:
        """Which members give probabilities; the others give labels."""

    @abstractmethod
    def answering(self) -> tuple[list[int], list[int]]:
        """The members with answers: those who gave probabilities, and those who gave labels."""

    @abstractmethod
    def has_repeats(self) -> bool:
        """Whether some member answered some item more than once."""

    @abstractmethod
    def take(self, items: Any) -> Predictions:
        """The items at these positions, on this machine."""

    @abstractmethod
    def _each(self, work: Callable[[Predictions], Predictions]) -> Self:
        """What some work makes of the answers, where they lie; of labels alone, nothing."""

    def harden(self) -> Self:
        """The same answers as labels: each member's most probable class, the lowest index winning a tie."""
        return self._each(_hardened)

    def votes(self) -> Self:
        """The same as labels, without the answers that find several classes equally probable."""
        return self._each(_votes)

    def ballots(self) -> Self:
        """The same as votes, an undecided answer being split among the classes that it finds equally probable."""
        return self._each(_ballots)

    @abstractmethod
    def aligned(self, members: Sequence[Any], classes: Sequence[Any]) -> Self:
        """The same answers on the axes of an earlier fit."""


@final
class Predictions(AbstractPredictions):
    """What each member says of each item: probabilities or labels, with names, some of it missing.

    Parameters
    ----------
    probabilities
        An array (members, items, classes) of NumPy, torch or any library that speaks the array API; or one
        array (items, classes) per member, as a list or as a mapping from the member's name. A path to a `.npy` file
        stands for the array in it, which stays on disk. A row of NaN is a missing prediction. Nothing is copied, and
        nothing is ever written to it. Instead of an array, a member may be a data frame with a column per class, or
        what a pipeline of transformers gives with `top_k=None`: items and classes are then matched by name.
    members, items, classes
        Names along the axes; 0, 1, 2, … where not given.
    ordered
        The classes are ratings, in rising order: methods then expect a wrong answer to be near the truth.
    partial
        Allow items that nobody answers, in predictions that `concatenate` will put beside others.
    normalize
        Rescale each row to sum to 1. Otherwise rows must sum to 1 within 1e-3 (1e-2 in half precision), and
        are used as they are.
    counts
        How often each item counts: a positive number each. Items with the same answers can so be given once, grouped by
        a database, and fits are the same as with all of them. None: each counts once.

    Examples
    --------
    >>> p = Predictions([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]], members=["vit", "resnet"])
    >>> p
    Predictions(2 members × 2 items × 2 classes)
    >>> p.members
    ['vit', 'resnet']
    """

    hard: HardAnswers | None
    from_models: ClassVar[Callable[..., Predictions]]  # of torch members: `ensemble.torch_members` adds it
    both_orders: bool = False  # a member who answers an item twice saw its first two classes in both orders
    _has_answers = False  # whether it was checked that each item has one: a look at all of them

    def __init__(
        self,
        probabilities: Any,
        *,
        members: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
        ordered: bool = False,
        normalize: bool = False,
        partial: bool = False,
        counts: Any = None,
    ) -> None:
        members, parts = _named_parts(probabilities, members)
        if _have_tables(parts):
            wanted = None if classes is None else listed("class", classes)
            made = _of_member_tables(parts, members, items, wanted, normalize=normalize)
            made = as_ratings(made, wanted) if ordered else made
            self.axes, self.soft, self.hard = made.axes, made.soft, made.hard
            self._finish(counts, partial=partial)
            return
        matrices = validation.member_matrices(parts)
        n_items, n_classes = matrices[0].shape
        self.axes = Axes(
            Axis("member", len(matrices), members),
            Axis("item", int(n_items), items),
            _class_axis(int(n_classes), classes, ordered=ordered),
        )
        matrices = [validation.normalized(matrix) for matrix in matrices] if normalize else matrices
        soft = (SoftMember(place, matrix, None, is_complete=False) for place, matrix in enumerate(matrices))
        self.hard = None
        self.soft = validation.validated(tuple(soft), self.hard, self.axes)
        self._finish(counts, partial=partial, order="members, items, classes")

    def _finish(self, counts: Any, *, partial: bool, order: str | None = None) -> Predictions:
        """Check what is checked of all answers, whatever they were made of; `order` is that of an array's axes."""
        if order is not None and not (self.axes.members.is_named or self.axes.items.is_named):
            advice = f"the order of axes is ({order}); name the members if they are so many"
            check_members(self, advice, FAR_TOO_MANY)
        self.counts = validation.read_counts(counts, self.n_items)
        if not partial:
            check_every_item_is_answered(self)
        return self

    # ---- other ways in ------------------------------------------------------------------------------------

    @classmethod
    def from_logits(cls, logits: Any, **names: Any) -> Predictions:
        """Predictions from logits or log-probabilities (members, items, classes): their softmax.

        >>> Predictions.from_logits([[[0.0, 0.0]]]).to_array().tolist()
        [[[0.5, 0.5]]]
        """
        names["members"], parts = _named_parts(logits, names.get("members"))
        if _have_tables(parts):
            raise InvalidPredictions(
                "logits must be arrays (items, classes); got frames or scores with names: give their values"
            )
        matrices = validation.member_matrices(parts)
        return cls([validation.softmax(matrix, member) for member, matrix in enumerate(matrices)], **names)

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        n_classes: int | None = None,
        *,
        members: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
        ordered: bool = False,
        partial: bool = False,
        counts: Any = None,
    ) -> Predictions:
        """Predictions from hard labels (members, items), -1 where missing; `counts` as in `Predictions`.

        Labels are positions of classes; or their names, where `classes` names them and labels are text or some class
        is called by a whole number. If no label is 0 and it is not said how many classes there are, you are warned.

        >>> Predictions.from_labels([[0, 1, 1], [0, -1, 2]], n_classes=3)
        Predictions(2 members × 3 items × 3 classes, hard labels)
        >>> Predictions.from_labels([[2, 1, 1]], classes=[1, 2]).to_array().tolist()
        [[[0.0, 1.0], [1.0, 0.0], [1.0, 0.0]]]
        """
        names = None if classes is None else listed("class", classes)
        items = shared_index(labels) if items is None else items
        table = validation.positions_of_labels(labels, names, "labels")
        if table.ndim != 2:
            raise InvalidPredictions(f"labels must be (members, items); got {table.ndim} dimensions")
        size = validation.number_of_classes(n_classes, names, table)
        axes = Axes(
            Axis("member", table.shape[0], members),
            Axis("item", table.shape[1], items),
            _class_axis(size, names, ordered=ordered),
        )
        if n_classes is None and names is None and not partial and not (table == 0).any():
            warn(NO_ZERO)
        member, item = np.nonzero(table != -1)
        made = of_answers(item, member, table[member, item], axes)
        return made._finish(counts, partial=partial, order="members, items")

    @classmethod
    def from_answers(
        cls,
        item: Any,
        member: Any,
        label: Any = None,
        *,
        probabilities: Any = None,
        n_classes: int | None = None,
        members: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
        ordered: bool = False,
        partial: bool = False,
        counts: Any = None,
    ) -> Predictions:
        """Predictions from a list of answers: each an item, a member, and a label or a row of probabilities.

        Items and members are positions (0, 1, 2, …), labels as in `from_labels`; a label of -1 is no answer. A member
        may answer an item more than once. `counts` are of items, as in `Predictions`. The cost grows with the answers,
        not with members × items.

        >>> Predictions.from_answers(item=[0, 0, 1], member=[0, 1, 1], label=[1, 1, 0])
        Predictions(2 members × 2 items × 2 classes, hard labels)
        """
        item_positions, member_positions = validation.integers(item, "item"), validation.integers(member, "member")
        if item_positions.ndim != 1 or item_positions.shape != member_positions.shape:
            raise InvalidPredictions(
                "item and member must be two lists of the same length; "
                f"got shapes {item_positions.shape} and {member_positions.shape}"
            )
        if (label is None) == (probabilities is None):
            raise InvalidPredictions("each answer needs either a label or probabilities; got both or neither")
        names = None if classes is None else listed("class", classes)
        if label is not None:
            expected, n_axes = "label must be a flat list", 1
            answers = validation.positions_of_labels(label, names, "label")
        else:
            expected, n_axes = "probabilities must be (answers, classes)", 2
            answers = to_numpy(validation.floats(probabilities))
        if answers.ndim != n_axes or len(answers) != len(item_positions):
            raise InvalidPredictions(
                f"{expected}, with one entry for each of the {len(item_positions)} answers; got {answers.shape}"
            )
        size = int(answers.shape[1]) if label is None else validation.number_of_classes(n_classes, names, answers)
        if n_classes not in (None, size):
            raise InvalidPredictions(f"n_classes must be the {size} of the probabilities; got {n_classes!r}")
        axes = Axes(
            validation.axis_of_positions("member", member_positions, members),
            validation.axis_of_positions("item", item_positions, items),
            _class_axis(size, names, ordered=ordered),
        )
        made = of_answers(item_positions, member_positions, answers, axes)
        return made._finish(counts, partial=partial)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: Any = None,
        member: Any = None,
        label: Any = None,
        classes: Sequence[Any] | None = None,
        ordered: bool = False,
        positive: str | None = None,
        normalize: bool = False,
        partial: bool = False,
        counts: Any = None,
    ) -> Predictions:
        """Predictions from a table of any data-frame library, read as `read_predictions` reads a file.

        In a long table each row is one answer: a column names the item, another the member, and a third holds the
        label, or there is one column of probabilities for each class. In a wide table each row is one item, with a
        column of labels for each member, as cleanlab takes it, or with one member's probabilities. Columns of usual
        names, such as crowd-kit's `task`, `worker` and `label`, or `question_id` and `judge_model`, are recognised if
        nothing else may be meant; a table that can be read in two ways is refused, and the error says which of these
        arguments decides. Items come in the order of their first rows (those called 0, 1, 2, … in that order), and
        their labels are matched by name. Empty text and words such as NA are missing answers, unless `classes` has
        them.

        Parameters
        ----------
        frame
            A frame of pandas, polars, pyarrow or another library, perhaps lazy; a `datasets.Dataset`; or a list of
            records. The index of pandas is a column.
        item, member, label
            Names of columns. `item="question+model"` joins two; `member="ann,bob"` lists the members' columns of a wide
            table.
        classes
            The columns of classes, or all that labels may be.
        ordered
            The classes are ratings: in the order of their numbers, or in that of `classes`.
        positive
            The class whose probability alone is given, in a column that is called so or in the only one of numbers.
        normalize
            Divide each row of numbers by its sum.
        partial
            Allow items that nobody answers, in predictions that `concatenate` will put beside others.
        counts
            The column that says how often each item counts, in a table with a row for each item, such as a database
            gives that has grouped items by their answers.
        """
        from consilience.data.tables.layouts import read_columns  # noqa: PLC0415 - it makes predictions

        for argument, name in (("item", item), ("member", member), ("label", label)):
            if not isinstance(name, str | None):
                raise InvalidPredictions(f"{argument} must be the name of a column, which is text; got {short(name)}")
        if not isinstance(counts, Hashable):
            raise InvalidPredictions(f"counts must name a column of numbers; got {short(counts)}")
        columns = columns_of(frame)
        if not columns.n_rows:
            raise InvalidPredictions(f"frame must have rows of answers; it has none, in {len(columns)} columns")
        names = None if classes is None else tuple(listed("class", classes))
        told = Told(item, member, label, names, normalize=normalize, positive=positive, strict=True, ordered=ordered)
        found = read_columns(columns.without([counts]), told, "counts" if normalize else None)
        made = found.predictions
        if counts is not None:
            made.counts = _counts_of(made.axes.items, columns, counts, found.items)
        made = as_told(made, told, partial=partial)
        for doubt in () if partial else doubts(made):
            warn(doubt)
        return made

    @classmethod
    def concatenate(cls, parts: Sequence[Any]) -> Predictions:
        """The members of all parts side by side: people's labels beside networks' probabilities.

        Items and classes are matched by name; those of a part without names are called 0, 1, 2, … An item that
        only some parts know is missing from the others. Hard labels may use some of the classes only.
        """
        if isinstance(parts, Predictions | Mapping | str) or not isinstance(parts, Iterable):
            raise InvalidPredictions(f"parts must be a list of predictions; got {type(parts).__name__}")
        predictions = [part if isinstance(part, Predictions) else Predictions(part) for part in parts]
        if not predictions:
            raise InvalidPredictions("concatenate needs at least one part; got none")
        if any(part.counts is not None for part in predictions):
            raise InvalidPredictions("parts must have single items to be put side by side; some have counts of items")
        together = _side_by_side(predictions)
        check_every_item_is_answered(together)
        return together

    # ---- what they are ------------------------------------------------------------------------------------

    @property
    def is_soft(self) -> npt.NDArray[np.bool_]:
        """Which members give probabilities; the others give labels."""
        flags = np.zeros(self.n_members, dtype=bool)
        flags[[member.position for member in self.soft]] = True
        return flags

    def answering(self) -> tuple[list[int], list[int]]:
        """The members with answers: those who gave probabilities, and those who gave labels."""
        soft = [member.position for member in self.soft if len(member.answered())]
        return soft, [] if self.hard is None else np.unique(self.hard.members).tolist()

    def has_repeats(self) -> bool:
        """Whether some member answered some item more than once."""
        lists = [member.items for member in self.soft if member.items is not None]
        if self.hard is not None:
            lists.append(self.hard.items * self.n_members + self.hard.members)
        # In the order that answers are kept in, which takes one look.
        is_rising = [bool((places[1:] > places[:-1]).all()) for places in lists]
        return not all(is_rising) and any(len(np.unique(places)) < len(places) for places in lists)

    def __sizeof__(self) -> int:
        """The bytes of all answers: Dask sends to another worker what it believes to be small."""
        parts = [member.rows for member in self.soft]
        if self.hard is not None:
            parts += [self.hard.items, self.hard.members, self.hard.labels]
        return object.__sizeof__(self) + sum(getattr(part, "nbytes", 0) for part in parts)

    def __repr__(self) -> str:
        """Sizes, and how much of it is hard labels."""
        n_hard = self.n_members - len(self.soft)
        kind = "" if n_hard == 0 else ", hard labels" if not self.soft else f", {n_hard} of them hard labels"
        counted = "" if self.counts is None else f", counted {n_counted(self):,.12g} times"
        return f"Predictions({self.n_members} members × {self.n_items} items × {self.n_classes} classes{kind}{counted})"

    def to_array(self) -> FloatArray:
        """All of it as one NumPy array (members, items, classes): labels one-hot, missing NaN.

        Several answers of one member to one item are averaged.
        """
        total = np.zeros((self.n_members, self.n_items, self.n_classes))
        count = np.zeros((self.n_members, self.n_items))
        for member in self.soft:
            np.add.at(total[member.position], member.places, to_numpy(member.rows))
            np.add.at(count[member.position], member.places, 1)
        if self.hard is not None:
            np.add.at(total, (self.hard.members, self.hard.items, self.hard.labels), 1)
            np.add.at(count, (self.hard.members, self.hard.items), 1)
        with np.errstate(invalid="ignore"):
            return total / count[:, :, None]

    # ---- parts of them ------------------------------------------------------------------------------------

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """The same data, some items at a time; by default as many as keep temporary arrays small.

        They are fewer where several threads can share a long pass. The statistics of a chunk have classes² numbers for
        each member, so chunks of a few items would spend more time on adding these up than on the items.
        """
        if size is None:
            width = self.n_classes * (len(self.soft) + 2)
            size = max(256, self.n_classes // 2, NUMBERS_AT_ONCE // width)
            if self.n_items * width * self.n_classes >= LONG_PASS:
                size = min(size, max(LEAST_PART, -(-self.n_items // n_threads())))
        validation.check_number("size", size, least=1, integer=True)
        for start in range(0, self.n_items, size):
            stop = min(start + size, self.n_items)
            soft = tuple(member.between(start, stop) for member in self.soft)
            yield Chunk(start, stop, soft, self.hard and self.hard.between(start, stop))

    def take(self, items: Any) -> Predictions:
        """The items at these positions (a slice, integers or a mask), in their order, with their names."""
        places = np.arange(self.n_items)
        try:
            positions = places[items if isinstance(items, slice) else np.asarray(items)]
        except (IndexError, ValueError):
            positions = places[:0]
        if positions.ndim != 1 or not positions.size:
            raise InvalidPredictions(
                f"items must be a slice, positions from 0 to {self.n_items - 1} or a mask, of at least 1 item; "
                f"got {' '.join(repr(items).split())[:80]}"
            )
        soft = tuple(member.take(positions) for member in self.soft)
        own, names = self.axes.items, None  # an item that is taken twice has no name of its own
        if len(np.unique(positions)) == len(positions):
            names = [own.name(int(place)) for place in positions]
        axes = self.axes._replace(items=Axis("item", len(positions), names, by_name=own.by_name))
        counts = None if self.counts is None else self.counts[positions]
        return _assembled(soft, self.hard and self.hard.take(positions), axes, counts)

    def _each(self, work: Callable[[Predictions], Predictions]) -> Predictions:
        return work(self) if self.soft else self

    def aligned(self, members: Sequence[Any], classes: Sequence[Any]) -> Predictions:
        """The same answers on the axes of an earlier fit: members matched by name, absent ones missing."""
        own, own_classes = self.axes.members, self.axes.classes
        if own.is_named and own_classes.is_named and (own.names, self.classes) == (list(members), list(classes)):
            return self
        target = Axes(
            Axis("member", len(members), list(members)),
            self.axes.items,
            Axis("class", len(classes), list(classes), ordered=self.ordered),
        )
        places, class_map = own.places_in_fit(target.members), own_classes.places_in_fit(target.classes)
        if self.ordered and class_map is not None and (np.diff(class_map) < 0).any():
            raise InvalidPredictions(
                f"ordered classes must be in the order of those fitted, {some(classes)}; got {some(self.classes)}"
            )
        places = np.arange(own.size) if places is None else places
        soft = [own.moved(places, None, class_map, len(classes)) for own in self.soft]
        return self._with(soft, merged([self.hard and self.hard.moved(places, None, class_map)]), target)

    def _with(self, soft: Iterable[SoftMember], hard: HardAnswers | None, axes: Axes) -> Predictions:
        """Other answers to the same items, which count as often."""
        return _assembled(soft, hard, axes, self.counts, self._places)


# ---- what other rooms ask of predictions, and users do not ------------------------------------------------


def _hardened(predictions: Predictions) -> Predictions:
    labels = merged([*map(SoftMember.harden, predictions.soft), predictions.hard])
    return predictions._with((), labels, predictions.axes)


def _ballots(predictions: Predictions) -> Predictions:
    votes, splits = zip(*map(SoftMember.ballots, predictions.soft), strict=True)
    split = (own for own in splits if len(own.rows))
    return predictions._with(split, merged([*votes, predictions.hard]), predictions.axes)


def _votes(predictions: Predictions) -> Predictions:
    return predictions._with((), _ballots(predictions).hard, predictions.axes)


@singledispatch
def total_of(predictions: AbstractPredictions, find: Callable[[Predictions], Result]) -> Result:
    """The sum of what a function finds in some items at a time, where they lie."""
    return find(cast("Predictions", predictions))


@singledispatch
def placed(predictions: AbstractPredictions, labels: Any) -> Any:
    """Labels as the axis of the items can match them."""
    del predictions
    return labels


@singledispatch
def place_of(predictions: AbstractPredictions, item: Any) -> int:
    """The position of an item, given its name; raises where there is none."""
    return predictions.axes.items.position_of(item)


def example_of(predictions: AbstractPredictions) -> Array:
    """An empty array of the library, device and precision that item-sized results are given in."""
    if not predictions.soft:
        return np.empty(0)
    every = [member.rows for member in predictions.soft]
    rows = next((rows for rows in every if namespace(rows).finfo(rows.dtype).bits == 64), every[0])
    return like(np.empty(0), rows, dtype=working_dtype(rows))


def n_counted(predictions: AbstractPredictions) -> float:
    """How many items there are, each as often as it counts."""
    return predictions.n_items if predictions.counts is None else float(predictions.counts.sum())


def counted(predictions: Predictions, counts: FloatArray | None, places: IntArray | None = None) -> Predictions:
    """The same answers to items that count so often; `places` say which of these each single item is."""
    return _assembled(predictions.soft, predictions.hard, predictions.axes, counts, places)


def sampled(predictions: AbstractPredictions, most: int) -> Predictions:
    """All items, or so many at random and always the same, on this machine; each counts once."""
    drawn = sample(round(n_counted(predictions)), most)
    if predictions.counts is None:
        return predictions.take(drawn)
    places = predictions._places
    drawn = np.searchsorted(np.cumsum(predictions.counts), drawn + 0.5) if places is None else places[drawn]
    return counted(predictions.take(drawn), None)


def check_every_item_is_answered(predictions: Predictions) -> None:
    """Raise where nobody answers an item, which predictions made with `partial=True` may leave open."""
    soft, hard = predictions.soft, predictions.hard
    if predictions._has_answers or any(member.is_complete and member.items is None for member in soft):
        return
    is_answered = np.zeros(predictions.n_items, dtype=bool)
    for member in soft:
        is_answered[member.answered()] = True
    if hard is not None:
        is_answered[hard.items] = True
    if not is_answered.all():
        n_others = int((~is_answered).sum()) - 1
        raise InvalidPredictions(
            "each item needs an answer of at least one member; "
            f"{predictions.axes.items.describe(int(np.argmin(is_answered)))} has none"
            f"{f', nor have {n_others} others' if n_others else ''}. ",
            Either("Use partial=True for what concatenate puts beside others", "Leave such items out of all files"),
        )
    predictions._has_answers = True


def apart(predictions: Predictions) -> Predictions:
    """The answers to a single item as several items: one for each member who answered, in the members' order."""
    soft_members, hard_members = predictions.answering()
    places = {member: place for place, member in enumerate(sorted(soft_members + hard_members))}
    soft = list[SoftMember]()
    for member in predictions.soft:
        if member.position in places:
            rows = to_numpy(member.rows).astype(np.float64)[member.is_given()]
            items = np.full(len(rows), places[member.position])
            soft.append(SoftMember(member.position, rows, items, is_complete=True))
    hard = predictions.hard
    if hard is not None:
        items = np.array([places[member] for member in hard.members.tolist()], dtype=np.intp)
        hard = HardAnswers(items, hard.members, hard.labels)
    return _assembled(soft, hard, predictions.axes._replace(items=Axis("item", len(places))))


def renamed(
    predictions: Predictions, *, items: Axis | Iterable[Any] | None = None, classes: Axis | None = None
) -> Predictions:
    """The same answers with other names of items or classes. Labels may be among more classes than were said."""
    axes = predictions.axes
    if items is not None:
        axes = axes._replace(items=items if isinstance(items, Axis) else Axis("item", axes.items.size, items))
    axes = axes if classes is None else axes._replace(classes=classes)
    return predictions._with(predictions.soft, predictions.hard, axes)


def as_ratings(predictions: Predictions, classes: Sequence[Any] | None = None) -> Predictions:
    """The same answers with classes that are ratings: in this order, or in that of their numbers."""
    ordered = in_order(predictions.axes.classes, classes)
    if ordered.is_named:
        predictions = predictions.aligned(predictions.members, ordered.names)
    return renamed(predictions, classes=ordered)


def as_told(predictions: Predictions, told: Told, *, partial: bool = False) -> Predictions:
    """Predictions of tables on the classes that the user names, as ratings if they are; every item has an answer."""
    names = told.classes
    if names is not None and told.positive is None and predictions.classes != list(names):
        predictions = predictions.aligned(predictions.members, names)
    predictions = as_ratings(predictions, names) if told.ordered else predictions
    if not partial:
        check_every_item_is_answered(predictions)
    return predictions


def as_predictions(predictions: Any) -> Predictions:
    """Predictions as they are, or made from whatever `Predictions` takes; every item has an answer."""
    if not isinstance(predictions, Predictions):
        return Predictions(predictions)
    check_every_item_is_answered(predictions)
    return predictions


def warn_of_turned_axes(predictions: AbstractPredictions) -> None:
    """Warn where an array without names has so many members that they may be its items."""
    axes = predictions.axes
    is_named = axes.members.is_named or axes.items.is_named
    if not is_named and axes.members.size > max(PANEL_OF_MANY, TOO_MANY * axes.items.size):
        warn(
            f"got {axes.members.size:,} members on {axes.items.size:,} items: arrays are (members, items, classes), so "
            "swap the first two axes if yours has items first; name the members if they are so many"
        )


def check_members(predictions: Predictions, order: str, per_item: int = MEMBERS_PER_ITEM) -> None:
    """Raise if members outnumber items by far; `order` says where members and items are expected."""
    n_members, n_items = predictions.n_members, predictions.n_items
    if n_members > max(MANY_MEMBERS, per_item * n_items):
        raise InvalidPredictions(
            f"got {n_members:,} members on {n_items:,} items, so rows and columns may be the wrong way round: {order}. "
            "A long table (item, member, label) says for certain who is who"
        )


def as_single_items(predictions: Any) -> Predictions:
    """The same, each item as often as it counts: for what looks at one item after the other."""
    data = as_predictions(predictions)
    if data.counts is None:
        return data
    if n_counted(data) > MOST_REPEATED or (data.counts != np.rint(data.counts)).any():
        raise InvalidPredictions(
            f"items must be given one by one here, or have whole counts of up to {MOST_REPEATED:,} items in all; "
            f"got counts of {n_counted(data):,.12g}: take a sample"
        )
    single = data.take(np.repeat(np.arange(data.n_items), data.counts.astype(np.intp)))
    single.counts = None
    return single


def check_items_are_single(predictions: AbstractPredictions, labels: Any) -> None:
    """Raise where labels are given of items that count more than once: these may have several labels."""
    if labels is not None and predictions.counts is not None:
        raise InvalidPredictions("labels are of single items; these predictions have counts of items")


def doubts(predictions: Predictions) -> list[str]:
    """What may be wrong, in words: there is nobody to fuse, or one name is written in several ways."""
    found = []
    if predictions.n_members == 1:
        name = predictions.members[0]
        found.append(f"there is one member in all, {name!r}: nothing is fused, and nobody can say how good it is")
    are_positions = not predictions.soft and not predictions.axes.classes.is_named
    if are_positions and predictions.hard is not None and predictions.hard.labels.all() and predictions.n_items:
        found.append(NO_ZERO)
    for kind, names in (("classes", predictions.classes), ("members", predictions.members)):
        found += [
            f"the {kind} {some(group)} differ only in case, spaces around them or zeros in front, and count as "
            "different: write them in one way if they mean the same"
            for group in nearly_same(names)
        ]
    return found


def _class_axis(size: int, names: Iterable[Any] | None, *, ordered: bool) -> Axis:
    axis = Axis("class", size, names)
    return check_order(axis) if ordered else axis


def _have_tables(parts: Any) -> bool:
    """Whether some member is a data frame, or a list of scores by class."""
    return isinstance(parts, list | tuple) and any(map(is_member_table, parts))


def _named_parts(given: Any, members: Iterable[Any] | None) -> tuple[Iterable[Any] | None, Any]:
    """The members' names, and what was given; of a mapping its values, and its names unless others are given.

    Raises if a given name is that of another part.
    """
    if not isinstance(given, Mapping):
        return members, given
    own = Axis("member", len(given), list(given))
    names = own.names if members is None else listed("member", members)
    if any(own.find(name) not in (None, place) for place, name in enumerate(names)):
        raise InvalidPredictions(
            f"members must be in the order of the mapping, {some(own.names)}, or be left out; got {some(names)}"
        )
    return names, list(given.values())


def _of_member_tables(
    tables: Sequence[Any],
    members: Iterable[Any] | None,
    items: Iterable[Any] | None,
    wanted: list[Any] | None,
    *,
    normalize: bool,
) -> Predictions:
    """One data frame, array or list of scores for each member. Items and classes are matched by name."""
    axis = Axis("member", len(tables), members)
    own_items = None if items is None else listed("item", items)
    parts = []
    for place, table in enumerate(tables):
        rows, names = read_member(table, axis.name(place), own_items, wanted, normalize=normalize)
        own = [axis.name(place)] if axis.is_named else None
        parts.append(Predictions([rows], members=own, **names, normalize=normalize, partial=True))
    together = _side_by_side(parts)
    if own_items is None:
        return together
    found, wanted_items = together.axes.items, Axis("item", together.n_items, own_items)
    if found.positions_on(wanted_items) is not None:  # it raises unless they are the same names
        together = together.take([found.position_of(name) for name in own_items])
    return renamed(together, items=wanted_items)


def _counts_of(axis: Axis, columns: Columns, name: Any, items: Column | None) -> FloatArray | None:
    """How often each item counts, by a column of a table with a row for each of them."""
    numbers = columns[name].numbers if name in columns else None
    if numbers is None or columns.n_rows != axis.size:
        raise InvalidPredictions(
            f"counts must name a column of numbers in a table with a row for each item; got {short(name)}, and "
            f"{columns.n_rows:,} rows for {axis.size:,} items"
        )
    places = slice(None) if items is None else [axis.position_of(own) for own in items.rows()]
    counts = np.empty(axis.size)
    counts[places] = numbers
    return validation.read_counts(counts, axis.size)


def _side_by_side(predictions: Sequence[Predictions]) -> Predictions:
    """The members of all parts, on axes that have all their items and classes."""
    axes = Axes(
        joined_members([part.axes.members for part in predictions]),
        joined_axis([part.axes.items for part in predictions]),
        joined_axis([part.axes.classes for part in predictions]),
    )
    soft, hard, n_before = list[SoftMember](), list[HardAnswers | None](), 0
    for part in predictions:
        members = np.arange(part.n_members) + n_before
        item_map, class_map = (own.positions_on(joined) for own, joined in zip(part.axes[1:], axes[1:], strict=True))
        soft += [own.moved(members, item_map, class_map, axes.classes.size) for own in part.soft]
        hard.append(part.hard and part.hard.moved(members, item_map, class_map))
        n_before += part.n_members
    return _assembled(soft, merged(hard), axes)


def _assembled(
    soft: Iterable[SoftMember],
    hard: HardAnswers | None,
    axes: Axes,
    counts: FloatArray | None = None,
    places: IntArray | None = None,
) -> Predictions:
    """Predictions made of parts that were validated before."""
    self = Predictions.__new__(Predictions)
    self.axes, self.soft, self.hard, self.counts, self._places = axes, tuple(soft), hard, counts, places
    return self


def stacked(parts: Sequence[Predictions], items: Sequence[Any]) -> Predictions:
    """The items of all parts, one part after the other, by these names.

    All parts have the same members and classes; who gives probabilities gives them for every item, perhaps as NaN.
    """
    offsets = np.cumsum([0, *(part.n_items for part in parts)])
    soft = [
        SoftMember(
            members[0].position,
            np.concatenate([to_numpy(own.rows) for own in members]),
            None,
            is_complete=all(own.is_complete for own in members),
        )
        for members in zip(*(part.soft for part in parts), strict=True)
    ]
    hard = [
        HardAnswers(part.hard.items + offset, part.hard.members, part.hard.labels)
        for part, offset in zip(parts, offsets, strict=False)
        if part.hard is not None
    ]
    axes = parts[0].axes._replace(items=Axis("item", int(offsets[-1]), items))
    return _assembled(soft, merged(hard), axes)


def of_answers(items: IntArray, members: IntArray, answers: Any, axes: Axes) -> Predictions:
    """Predictions of a list of answers by position: labels (answers,), -1 where missing, or rows (answers, classes)."""
    soft, hard = list[SoftMember](), None
    if answers.ndim == 1:
        order = np.lexsort((members, items))
        order = order if answers.min(initial=0) >= 0 else order[answers[order] != -1]
        items, members = (_gathered(part, order, np.empty_like(order)) for part in (items, members))
        hard = HardAnswers(items, members, _gathered(answers, order, order))  # little is made: there may be many
    else:
        order, everything = np.lexsort((items, members)), np.arange(axes.items.size)
        ends = np.searchsorted(members[order], np.arange(1, axes.members.size))
        for position, own in enumerate(np.split(order, ends)):
            answered = None if np.array_equal(items[own], everything) else items[own]
            soft.append(SoftMember(position, answers[own], answered, is_complete=False))
    return _assembled(validation.validated(tuple(soft), hard, axes), hard, axes)


def _gathered(values: IntArray, order: IntArray, into: IntArray) -> IntArray:
    """The values in this order."""
    for start in range(0, len(order), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        into[part] = values[order[part]]
    return into
