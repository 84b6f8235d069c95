"""`Predictions`: what the members said, validated once, with named axes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np

from consilience.arrays import Array, IntArray, is_array, like, namespace, to_numpy, working_dtype
from consilience.axes import PLURAL, Axis
from consilience.errors import InvalidPredictions
from consilience.frames import read_answers
from consilience.storage import ROWS_AT_ONCE, HardAnswers, SoftMember, merge_answers

if TYPE_CHECKING:
    from collections.abc import Iterable

SUM_TOLERANCE = 1e-3
"""How far from 1 a row of probabilities may sum (ten times as far in half precision)."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """The part of some predictions that concerns items start to stop."""

    start: int
    stop: int
    soft: tuple[SoftMember, ...]
    hard: HardAnswers | None


@final
class Predictions:
    """What each member says of each item: probabilities or labels, with names, some of it missing.

    Parameters
    ----------
    probabilities
        An array (members, items, classes) of NumPy, torch or any library that speaks the array API; or one
        array (items, classes) per member, as a list or as a mapping from the member's name. A row of NaN is a
        missing prediction. Nothing is copied, and nothing is ever written to it.
    members, items, classes
        Names along the axes; 0, 1, 2, … where not given.
    normalize
        Rescale each row to sum to 1. Otherwise rows must sum to 1 within 1e-3 (1e-2 in half precision), and
        are used as they are.

    Examples
    --------
    >>> p = Predictions([[[0.9, 0.1], [0.2, 0.8]], [[0.6, 0.4], [0.5, 0.5]]], members=["vit", "resnet"])
    >>> p
    Predictions(2 members × 2 items × 2 classes)
    >>> p.members
    ['vit', 'resnet']
    """

    def __init__(
        self,
        probabilities: Any,
        *,
        members: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
        normalize: bool = False,
    ) -> None:
        if isinstance(probabilities, Mapping):
            members = list(probabilities) if members is None else members
            probabilities = list(probabilities.values())
        matrices = _member_matrices(probabilities)
        _check_shapes(matrices)
        n_items, n_classes = matrices[0].shape
        self._member_axis = Axis("member", len(matrices), members)
        self._item_axis = Axis("item", int(n_items), items)
        self._class_axis = Axis("class", int(n_classes), classes)
        if normalize:
            matrices = [_normalized(matrix) for matrix in matrices]
        self.soft: tuple[SoftMember, ...] = tuple(
            SoftMember(position, matrix, None, is_complete=False) for position, matrix in enumerate(matrices)
        )
        self.hard: HardAnswers | None = None
        self._validate()

    # ---- other ways in ------------------------------------------------------------------------------------

    @classmethod
    def from_logits(cls, logits: Any, **names: Any) -> Predictions:
        """Predictions from logits or log-probabilities (members, items, classes): their softmax.

        >>> Predictions.from_logits([[[0.0, 0.0]]]).to_array().tolist()
        [[[0.5, 0.5]]]
        """
        if isinstance(logits, Mapping):
            names.setdefault("members", list(logits))
            logits = list(logits.values())
        matrices = _member_matrices(logits)
        _check_shapes(matrices)
        return cls([_softmax(matrix, member) for member, matrix in enumerate(matrices)], **names)

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        n_classes: int | None = None,
        *,
        members: Iterable[Any] | None = None,
        items: Iterable[Any] | None = None,
        classes: Iterable[Any] | None = None,
    ) -> Predictions:
        """Predictions from hard labels (members, items): positions of classes, -1 where missing.

        >>> Predictions.from_labels([[0, 1, 1], [0, -1, 2]], n_classes=3)
        Predictions(2 members × 3 items × 3 classes, hard labels)
        """
        table = _integers(labels, "labels")
        if table.ndim != 2:
            raise InvalidPredictions(f"labels must be (members, items); got {table.ndim} dimensions")
        names = None if classes is None else list(classes)
        if n_classes is None:
            n_classes = len(names) if names is not None else int(table.max(initial=0)) + 1
        member, item = np.nonzero(table != -1)
        answers = HardAnswers(item, member, table[member, item])
        axes = (
            Axis("member", table.shape[0], members),
            Axis("item", table.shape[1], items),
            Axis("class", int(n_classes), names),
        )
        return cls._assemble((), merge_answers([answers]), axes)

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
    ) -> Predictions:
        """Predictions from a list of answers: each an item, a member, and a label or a row of probabilities.

        Items, members and labels are positions (0, 1, 2, …); a label of -1 is no answer. A member may answer
        an item more than once. The cost grows with the answers, not with members × items.

        >>> Predictions.from_answers(item=[0, 0, 1], member=[0, 1, 1], label=[1, 1, 0])
        Predictions(2 members × 2 items × 2 classes, hard labels)
        """
        item_positions, member_positions = _integers(item, "item"), _integers(member, "member")
        if item_positions.ndim != 1 or item_positions.shape != member_positions.shape:
            raise InvalidPredictions(
                "item and member must be two lists of the same length; "
                f"got shapes {item_positions.shape} and {member_positions.shape}"
            )
        if (label is None) == (probabilities is None):
            raise InvalidPredictions("each answer needs either a label or probabilities; got both or neither")
        class_names = None if classes is None else list(classes)
        member_axis = _axis_of_positions("member", member_positions, members)
        item_axis = _axis_of_positions("item", item_positions, items)
        order = np.lexsort((member_positions, item_positions))
        item_positions, member_positions = item_positions[order], member_positions[order]
        if label is not None:
            labels = _integers(label, "label")
            _check_length(labels, len(order), "label")
            size = n_classes or (len(class_names) if class_names is not None else int(labels.max(initial=0)) + 1)
            is_answer = labels[order] != -1
            hard = HardAnswers(
                item_positions[is_answer], member_positions[is_answer], labels[order][is_answer]
            )
            return cls._assemble((), hard, (member_axis, item_axis, Axis("class", size, class_names)))
        rows = _floats(probabilities)
        _check_length(rows, len(order), "probabilities")
        if rows.ndim != 2:
            raise InvalidPredictions(f"probabilities must be (answers, classes); got {rows.ndim} dimensions")
        by_member = np.argsort(member_positions, kind="stable")
        bounds = np.searchsorted(member_positions[by_member], np.arange(member_axis.size + 1))
        rows = rows[order[by_member]]
        answered = item_positions[by_member]
        soft = tuple(
            SoftMember(position, rows[first:last], answered[first:last], is_complete=False)
            for position, (first, last) in enumerate(zip(bounds[:-1], bounds[1:], strict=True))
        )
        axes = (member_axis, item_axis, Axis("class", int(rows.shape[1]), class_names))
        return cls._assemble(soft, None, axes)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        item: str = "task",
        member: str = "worker",
        label: str | None = "label",
        classes: Sequence[Any] | None = None,
    ) -> Predictions:
        """Predictions from a long frame of any data-frame library, one answer per row.

        The answer is the column `label`; or, where there is none, one probability column per class: those named
        by `classes`, or all columns but `item` and `member`. Names come from the frame. The defaults are
        crowd-kit's.
        """
        answers = read_answers(frame, item=item, member=member, label=label, classes=classes)
        return cls.from_answers(
            answers.items,
            answers.members,
            answers.labels,
            probabilities=answers.rows,
            members=answers.member_names,
            items=answers.item_names,
            classes=answers.class_names,
        )

    @classmethod
    def concatenate(cls, parts: Sequence[Any]) -> Predictions:
        """The members of all parts side by side: people's labels beside networks' probabilities.

        Items and classes are matched by name; those of a part without names are called 0, 1, 2, … An item that
        only some parts know is missing from the others. Hard labels may use some of the classes only.
        """
        predictions = [as_predictions(part) for part in parts]
        if not predictions:
            raise InvalidPredictions("concatenate needs at least one part; got none")
        members = _joined_members(predictions)
        items = _joined_axis("item", [part._item_axis for part in predictions])
        classes = _joined_axis("class", [part._class_axis for part in predictions])
        soft: list[SoftMember] = []
        hard: list[HardAnswers] = []
        offset = 0
        for part in predictions:
            moved = part._on_axes(np.arange(part.n_members) + offset, items, classes)
            soft.extend(moved[0])
            hard.extend(moved[1])
            offset += part.n_members
        axes = (Axis("member", offset, members), items, classes)
        return cls._assemble(tuple(soft), merge_answers(hard) if hard else None, axes)

    @classmethod
    def _assemble(
        cls, soft: tuple[SoftMember, ...], hard: HardAnswers | None, axes: tuple[Axis, Axis, Axis]
    ) -> Predictions:
        self = cls.__new__(cls)
        self._member_axis, self._item_axis, self._class_axis = axes
        self.soft, self.hard = soft, hard
        self._validate()
        return self

    # ---- what they are ------------------------------------------------------------------------------------

    @property
    def members(self) -> list[Any]:
        """The members' names."""
        return self._member_axis.names

    @property
    def items(self) -> list[Any]:
        """The items' names."""
        return self._item_axis.names

    @property
    def classes(self) -> list[Any]:
        """The classes' names."""
        return self._class_axis.names

    @property
    def n_members(self) -> int:
        """How many members there are."""
        return self._member_axis.size

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return self._item_axis.size

    @property
    def n_classes(self) -> int:
        """How many classes there are."""
        return self._class_axis.size

    @property
    def is_soft(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which members give probabilities; the others give labels."""
        flags = np.zeros(self.n_members, dtype=bool)
        flags[[member.position for member in self.soft]] = True
        return flags

    def __repr__(self) -> str:
        """Sizes, and how much of it is hard labels."""
        n_hard = self.n_members - len(self.soft)
        kind = "" if n_hard == 0 else ", hard labels" if not self.soft else f", {n_hard} of them hard labels"
        return f"Predictions({self.n_members} members × {self.n_items} items × {self.n_classes} classes{kind})"

    def position_of(self, item: Any) -> int:
        """Where an item stands, by its name (by its number where items have no names)."""
        try:
            return self._item_axis.positions[item]
        except (KeyError, TypeError):
            raise InvalidPredictions(
                f"item must be one of the {self.n_items} items; got {item!r}"
            ) from None

    def example(self) -> Array:
        """An empty array of the library, device and precision that item-sized results are given in."""
        if not self.soft:
            return np.empty(0)
        rows = next(
            (member.rows for member in self.soft if namespace(member.rows).finfo(member.rows.dtype).bits == 64),
            self.soft[0].rows,
        )
        return like(np.empty(0), rows, dtype=working_dtype(rows))

    def to_array(self) -> np.ndarray[tuple[int, int, int], np.dtype[np.floating[Any]]]:
        """All of it as one NumPy array (members, items, classes): labels one-hot, missing NaN.

        Several answers of one member to one item are averaged.
        """
        total = np.zeros((self.n_members, self.n_items, self.n_classes))
        count = np.zeros((self.n_members, self.n_items))
        for member in self.soft:
            rows, items = to_numpy(member.rows), np.arange(self.n_items) if member.items is None else member.items
            np.add.at(total[member.position], items, rows)
            np.add.at(count[member.position], items, 1)
        if self.hard is not None:
            np.add.at(total, (self.hard.members, self.hard.items, self.hard.labels), 1)
            np.add.at(count, (self.hard.members, self.hard.items), 1)
        with np.errstate(invalid="ignore"):
            return total / count[:, :, None]

    # ---- parts of them ------------------------------------------------------------------------------------

    def chunks(self, size: int | None = None) -> Iterator[Chunk]:
        """The same data, some items at a time; by default as many as keep temporary arrays small."""
        if size is None:
            size = max(256, ROWS_AT_ONCE // (self.n_classes * (len(self.soft) + 2)))
        for start in range(0, self.n_items, size):
            stop = min(start + size, self.n_items)
            soft = tuple(member.between(start, stop) for member in self.soft)
            yield Chunk(start, stop, soft, None if self.hard is None else self.hard.between(start, stop))

    def take(self, items: Any) -> Predictions:
        """The items at these positions (a slice, integers or a mask), in their order, with their names."""
        positions = np.arange(self.n_items)[items if isinstance(items, slice) else np.asarray(items)]
        soft = tuple(member.take(positions, self.n_items) for member in self.soft)
        hard = None if self.hard is None else self.hard.take(positions, self.n_items)
        is_repeated = len(np.unique(positions)) < len(positions)
        names = None if is_repeated else [self._item_axis.name(int(place)) for place in positions]
        axes = (self._member_axis, Axis("item", len(positions), names), self._class_axis)
        return type(self)._assemble(soft, hard, axes)

    def harden(self) -> Predictions:
        """The same answers as labels: each member's most probable class, the lowest index winning a tie."""
        if not self.soft:
            return self
        parts = [member.harden() for member in self.soft] + ([] if self.hard is None else [self.hard])
        axes = (self._member_axis, self._item_axis, self._class_axis)
        return type(self)._assemble((), merge_answers(parts), axes)

    def aligned(self, members: Sequence[Any], classes: Sequence[Any]) -> Predictions:
        """The same answers on the axes of an earlier fit: members matched by name, absent ones missing."""
        own = self._member_axis
        if own.is_named:
            place = {name: position for position, name in enumerate(members)}
            unknown = [name for name in own.names if name not in place]
            if unknown:
                raise InvalidPredictions(
                    f"members must be among those fitted, {list(members)}; got {unknown[0]!r}"
                )
            positions = np.array([place[name] for name in own.names])
        elif own.size == len(members):
            positions = np.arange(own.size)
        else:
            raise InvalidPredictions(
                f"predictions must have the {len(members)} members of the fit "
                f"(name them, or use NaN rows, where some are missing); got {own.size}"
            )
        if not self._class_axis.is_named and self.n_classes != len(classes):
            raise InvalidPredictions(
                f"predictions must have the {len(classes)} classes of the fit; got {self.n_classes}"
            )
        class_axis = Axis("class", len(classes), list(classes))
        source = self if self._class_axis.is_named else self._renamed(class_axis)
        soft, hard = source._on_axes(positions, self._item_axis, class_axis)
        axes = (Axis("member", len(members), list(members)), self._item_axis, class_axis)
        return type(self)._assemble(tuple(soft), hard[0] if hard else None, axes)

    def known_labels(self, labels: Any) -> IntArray | None:
        """Known truths as positions of classes, -1 where unknown; None where nothing is known.

        `labels` has one entry per item, or maps items to labels (a mapping, a pandas Series). Labels are names of
        classes (positions, where classes have no names); -1 and None are unknown.
        """
        if labels is None:
            return None
        if isinstance(labels, Mapping) or hasattr(labels, "to_dict"):
            mapping = labels if isinstance(labels, Mapping) else labels.to_dict()
            given = dict.fromkeys(range(self.n_items))
            given.update({self.position_of(name): label for name, label in mapping.items()})
            values = list(given.values())
        else:
            values = to_numpy(labels).tolist() if is_array(labels) else list(labels)
            if len(values) != self.n_items:
                raise InvalidPredictions(
                    f"labels must have one entry for each of the {self.n_items} items; got {len(values)}"
                )
        known = np.full(self.n_items, -1, dtype=np.intp)
        for place, label in enumerate(values):
            if label is None or (label == -1 and -1 not in self._class_axis.positions):
                continue
            try:
                known[place] = self._class_axis.positions[label]
            except (KeyError, TypeError):
                raise InvalidPredictions(
                    f"labels must be among the classes {_some(self.classes)}, or -1 where unknown; "
                    f"{self._item_axis.describe(place)} has {label!r}"
                ) from None
        return known if (known >= 0).any() else None

    # ---- how they are checked and moved -------------------------------------------------------------------

    def _validate(self) -> None:
        for axis, least in ((self._member_axis, 1), (self._item_axis, 1), (self._class_axis, 2)):
            if axis.size < least:
                raise InvalidPredictions(f"predictions need at least {least} {axis.kind}; got {axis.size}")
        self.soft = tuple(
            member if member.is_complete else replace(member, is_complete=self._check_rows(member))
            for member in self.soft
        )
        if self.hard is not None:
            self._check_answers(self.hard)
        self._check_everyone_is_answered()

    def _check_rows(self, member: SoftMember) -> bool:
        """Whether no row is missing; raises where a row is neither probabilities nor missing."""
        xp = namespace(member.rows)
        tolerance = SUM_TOLERANCE if xp.finfo(member.rows.dtype).bits > 16 else 10 * SUM_TOLERANCE
        is_complete = True
        step = max(1, ROWS_AT_ONCE // self.n_classes)
        for start in range(0, member.rows.shape[0], step):
            rows = xp.astype(member.rows[start : start + step, :], working_dtype(member.rows), copy=False)
            sums = xp.sum(rows, axis=1)
            # A comparison with NaN is false, so a row with any NaN is suspect too.
            is_good = (xp.min(rows, axis=1) >= 0) & (xp.abs(sums - 1) <= tolerance)
            if bool(xp.all(is_good)):
                continue
            suspects = np.flatnonzero(~to_numpy(is_good))
            values = to_numpy(rows)[suspects]
            is_missing = np.isnan(values).all(axis=1)
            is_complete = is_complete and not is_missing.any()
            if not is_missing.all():
                first = int(np.argmin(is_missing))
                self._refuse_row(member, start + int(suspects[first]), values[first], int((~is_missing).sum()))
        return is_complete

    def _refuse_row(self, member: SoftMember, row: int, values: np.ndarray[Any, Any], n_bad: int) -> None:
        item = row if member.items is None else int(member.items[row])
        where = f"{self._item_axis.describe(item)} of {self._member_axis.describe(member.position)}"
        more = f" ({n_bad - 1} more such rows follow)" if n_bad > 1 else ""
        if np.isnan(values).any():
            raise InvalidPredictions(
                f"a missing prediction must be NaN for every class; {where} is NaN for "
                f"{int(np.isnan(values).sum())} of {len(values)}{more}"
            )
        if values.min() < 0 or np.isinf(values).any():
            worst = values.min() if values.min() < 0 else values.max()
            raise InvalidPredictions(
                f"probabilities must be from 0 to 1; {where} has {worst:.6g}{more}. "
                "Logits go through Predictions.from_logits"
            )
        raise InvalidPredictions(
            f"probabilities must sum to 1 over classes; {where} sums to {values.sum():.6g}{more}"
            f"{self._hint_at_axes()}"
        )

    def _hint_at_axes(self) -> str:
        """What to say where the rows do not sum to 1 but another axis does."""
        if any(member.items is not None for member in self.soft):
            return ""
        block = np.stack([to_numpy(member.rows[:4096, :]) for member in self.soft])
        for axis, name in ((0, "first"), (1, "second")):
            if np.allclose(block.sum(axis=axis), 1, atol=SUM_TOLERANCE):
                return f". The {name} axis does: the order of axes is (members, items, classes)"
        return ". Use normalize=True to rescale on purpose"

    def _check_answers(self, hard: HardAnswers) -> None:
        is_wrong = (hard.labels < 0) | (hard.labels >= self.n_classes)
        if is_wrong.any():
            first = int(np.argmax(is_wrong))
            raise InvalidPredictions(
                f"labels must be from 0 to {self.n_classes - 1}, or -1 where missing; "
                f"{self._item_axis.describe(int(hard.items[first]))} of "
                f"{self._member_axis.describe(int(hard.members[first]))} has {hard.labels[first]}"
            )

    def _check_everyone_is_answered(self) -> None:
        if any(member.is_complete and member.items is None for member in self.soft):
            return
        is_answered = np.zeros(self.n_items, dtype=bool)
        for member in self.soft:
            is_answered[member.answered()] = True
        if self.hard is not None:
            is_answered[self.hard.items] = True
        if not is_answered.all():
            n_silent = int((~is_answered).sum())
            more = f", nor have {n_silent - 1} others" if n_silent > 1 else ""
            raise InvalidPredictions(
                "each item needs an answer of at least one member; "
                f"{self._item_axis.describe(int(np.argmin(is_answered)))} has none{more}"
            )

    def _renamed(self, classes: Axis) -> Predictions:
        return type(self)._assemble(self.soft, self.hard, (self._member_axis, self._item_axis, classes))

    def _on_axes(
        self, members: IntArray, items: Axis, classes: Axis
    ) -> tuple[list[SoftMember], list[HardAnswers]]:
        """The stored answers with members, items and classes numbered as on other axes."""
        item_map = _positions(self._item_axis, items)
        class_map = _positions(self._class_axis, classes)
        soft = [
            _moved(member, int(members[member.position]), item_map, class_map, classes.size)
            for member in self.soft
        ]
        if self.hard is None:
            return soft, []
        labels = self.hard.labels if class_map is None else class_map[self.hard.labels]
        answered = self.hard.items if item_map is None else item_map[self.hard.items]
        return soft, [merge_answers([HardAnswers(answered, members[self.hard.members], labels)])]


def as_predictions(predictions: Any) -> Predictions:
    """Predictions as they are, or made from whatever `Predictions` takes."""
    return predictions if isinstance(predictions, Predictions) else Predictions(predictions)


# ---- reading what the user gave ---------------------------------------------------------------------------


def _member_matrices(values: Any) -> list[Array]:
    """One floating-point matrix (items, classes) per member, without copying where possible."""
    if isinstance(values, Predictions):
        raise InvalidPredictions("probabilities must be an array; got Predictions, which are ready to use")
    if not is_array(values) and isinstance(values, Sequence) and any(is_array(part) for part in values):
        return [_floats(part) for part in values]
    block = _floats(values)
    if block.ndim != 3:
        hint = ""
        if block.ndim == 2:
            hint = "; one member's (items, classes) goes in as [array], hard labels through from_labels"
        raise InvalidPredictions(
            f"probabilities must be (members, items, classes); got {block.ndim} dimensions{hint}"
        )
    return [block[position, :, :] for position in range(block.shape[0])]


def _check_shapes(matrices: Sequence[Array]) -> None:
    if not matrices:
        raise InvalidPredictions("predictions need at least 1 member; got 0")
    for position, matrix in enumerate(matrices):
        if matrix.ndim != 2:
            raise InvalidPredictions(
                f"each member must be (items, classes); member {position} has {matrix.ndim} dimensions"
            )
        if tuple(matrix.shape) != tuple(matrices[0].shape):
            raise InvalidPredictions(
                f"each member must have the shape of the first, {tuple(matrices[0].shape)}; "
                f"member {position} has {tuple(matrix.shape)}"
            )


def _floats(values: Any) -> Array:
    """The values as a real floating-point array, in their own library."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.astype(np.float64).filled(np.nan)
    if not is_array(values):
        if hasattr(values, "columns"):
            raise InvalidPredictions(
                "probabilities must be an array (members, items, classes); got a data frame: use from_frame"
            )
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise InvalidPredictions(
                f"probabilities must be an array (members, items, classes); got ragged lists ({error})"
            ) from None
    elif hasattr(values, "requires_grad"):
        values = values.detach()
    xp = namespace(values)
    if isinstance(values, np.ndarray) and values.dtype.kind not in "fiub":
        raise InvalidPredictions(f"probabilities must be real numbers; got {values.dtype} values")
    if xp.isdtype(values.dtype, "complex floating"):
        raise InvalidPredictions(f"probabilities must be real numbers; got {values.dtype} values")
    return values if xp.isdtype(values.dtype, "real floating") else xp.astype(values, xp.float64)


def _integers(values: Any, name: str) -> IntArray:
    try:
        array = to_numpy(values)
    except ValueError as error:
        raise InvalidPredictions(f"{name} must be an array of integers; got ragged lists") from error
    if array.dtype.kind not in "iu" and array.size:
        raise InvalidPredictions(f"{name} must be integers; got {array.dtype} values")
    return array.astype(np.intp)


def _check_length(values: Any, length: int, name: str) -> None:
    if values.shape[:1] != (length,):
        raise InvalidPredictions(
            f"{name} must have one entry for each of the {length} answers; got {values.shape}"
        )


def _axis_of_positions(kind: str, positions: IntArray, names: Iterable[Any] | None) -> Axis:
    """The axis that the positions of a list of answers count along."""
    given = None if names is None else list(names)
    size = int(positions.max(initial=-1)) + 1 if given is None else len(given)
    if positions.size and (positions.min() < 0 or positions.max() >= size):
        wrong = positions.min() if positions.min() < 0 else positions.max()
        raise InvalidPredictions(f"{kind} must be positions from 0 to {size - 1}; got {wrong}")
    return Axis(kind, size, given)


def _softmax(logits: Array, member: int) -> Array:
    xp = namespace(logits)
    wide = xp.astype(logits, working_dtype(logits), copy=False)
    largest = xp.max(wide, axis=1, keepdims=True)
    if bool(xp.any(xp.isinf(largest))):
        row = int(np.argmax(to_numpy(xp.isinf(largest))[:, 0]))
        raise InvalidPredictions(
            f"logits must have a finite largest value; item {row} of member {member} has "
            f"{float(largest[row, 0])}"
        )
    exponentials = xp.exp(wide - largest)
    return exponentials / xp.sum(exponentials, axis=1, keepdims=True)


def _normalized(matrix: Array) -> Array:
    xp = namespace(matrix)
    wide = xp.astype(matrix, working_dtype(matrix), copy=False)
    sums = xp.sum(wide, axis=1, keepdims=True)
    # A row that sums to nothing cannot be rescaled; left as it is, validation names it.
    return wide / xp.where(sums > 0, sums, xp.ones_like(sums))


# ---- matching axes ----------------------------------------------------------------------------------------


def _joined_members(parts: Sequence[Predictions]) -> list[Any] | None:
    if not any(part._member_axis.is_named for part in parts):
        return None
    names = []
    for number, part in enumerate(parts):
        is_named = part._member_axis.is_named
        names += part.members if is_named else [f"{number}.{member}" for member in part.members]
    return names


def _joined_axis(kind: str, axes: Sequence[Axis]) -> Axis:
    """All names in order of first appearance.

    A part without names counts 0, 1, 2, …; the names of the others must then be such numbers, since matching
    names with places by guess would pair the wrong items.
    """
    unnamed = [axis for axis in axes if not axis.is_named]
    if not unnamed:
        names = list(dict.fromkeys(name for axis in axes for name in axis.names))
        return Axis(kind, len(names), names)
    for axis in axes:
        is_alike = axis.size == unnamed[0].size if not axis.is_named else True
        if not is_alike or not axis.positions.keys() <= unnamed[0].positions.keys():
            raise InvalidPredictions(
                f"{PLURAL[kind]} must be named in all parts, or be the same in all; got {_some(axis.names)} "
                f"beside {unnamed[0].size} without names"
            )
    return unnamed[0]


def _positions(own: Axis, target: Axis) -> IntArray | None:
    """Where each place of an axis stands on another one; None where the two are the same."""
    if own.size == target.size and own.names == target.names:
        return None
    unknown = [name for name in own.names if name not in target.positions]
    if unknown:
        raise InvalidPredictions(f"{own.kind} must be one of {_some(target.names)}; got {unknown[0]!r}")
    return np.array([target.positions[name] for name in own.names], dtype=np.intp)


def _moved(
    member: SoftMember, position: int, item_map: IntArray | None, class_map: IntArray | None, n_classes: int
) -> SoftMember:
    """A member's rows with items and classes numbered as on other axes."""
    rows, items = member.rows, member.items
    xp = namespace(rows)
    if class_map is not None:
        if len(class_map) < n_classes:
            raise InvalidPredictions(
                f"members with probabilities must give one for each of the {n_classes} classes; "
                f"some give {len(class_map)}"
            )
        rows = xp.take(rows, xp.asarray(np.argsort(class_map)), axis=1)
    if item_map is not None:
        items = item_map if items is None else item_map[items]
        order = np.argsort(items, kind="stable")
        rows, items = xp.take(rows, xp.asarray(order), axis=0), items[order]
    return replace(member, position=position, rows=rows, items=items)


def _some(names: Sequence[Any]) -> str:
    """Up to eight names, for a message."""
    return f"[{', '.join(repr(name) for name in names[:8])}{', …' if len(names) > 8 else ''}]"
