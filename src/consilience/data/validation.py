"""The checks that predictions pass once, where they are made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from consilience.data.answers import HardAnswers, SoftMember, parts_of
from consilience.data.axes import PLURAL
from consilience.data.reading import SUM_TOLERANCE, are_probabilities
from consilience.system.arrays import to_numpy
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from consilience.data.axes import Axes


def validated(soft: tuple[SoftMember, ...], hard: HardAnswers | None, axes: Axes) -> tuple[SoftMember, ...]:
    """The soft members, each with its promise of completeness; raises where an answer is wrong."""
    for axis, least in zip(axes, (1, 1, 2), strict=True):
        if axis.size < least:
            noun = axis.kind if least == 1 else PLURAL[axis.kind]
            raise InvalidPredictions(f"predictions need at least {least} {noun}; got {axis.size}")
    checked = tuple(
        member if member.is_complete else replace(member, is_complete=_check_rows(member, soft, axes))
        for member in soft
    )
    if hard is not None:
        _check_answers(hard, axes)
    return checked


def _check_rows(member: SoftMember, soft: tuple[SoftMember, ...], axes: Axes) -> bool:
    """Whether no row is missing; raises where a row is neither probabilities nor missing."""
    is_complete = True
    for start, rows, suspects in _suspect_rows(member):
        is_missing = np.isnan(rows).all(axis=1)
        is_complete = is_complete and not is_missing.any()
        if not is_missing.all():
            first = int(np.argmin(is_missing))
            place = start + int(suspects[first])
            item = place if member.items is None else int(member.items[place])
            where = f"{axes.items.describe(item)} of {axes.members.describe(member.position)}"
            _refuse_row(rows[first], where, int((~is_missing).sum()) - 1, soft)
    return is_complete


def _suspect_rows(member: SoftMember) -> Iterator[tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Some rows at a time, those that are not plainly probabilities: where the part starts, the rows, their places."""
    for start, part in parts_of(member.rows):
        suspects = np.flatnonzero(~to_numpy(are_probabilities(part)))
        if len(suspects):
            rows = to_numpy(part)[suspects]
            yield start, rows.astype(np.result_type(rows, np.float32)), suspects


def _refuse_row(row: np.ndarray[Any, Any], where: str, n_more: int, soft: tuple[SoftMember, ...]) -> NoReturn:
    more = f" ({n_more} more such rows follow)" if n_more else ""
    if np.isnan(row).any():
        n_missing = int(np.isnan(row).sum())
        raise InvalidPredictions(
            f"a missing prediction must be NaN for every class; {where} is NaN for {n_missing} of {len(row)}{more}"
        )
    if row.min() < 0 or row.max() > 1 + SUM_TOLERANCE:
        worst = row.min() if row.min() < 0 else row.max()
        raise InvalidPredictions(
            f"probabilities must be from 0 to 1; {where} has {worst:.6g}{more}. "
            "Logits go through Predictions.from_logits, counts through normalize=True"
        )
    raise InvalidPredictions(
        f"probabilities must sum to 1 over classes; {where} sums to {row.sum():.6g}{more}{_hint_at_axes(soft)}"
    )


def _hint_at_axes(soft: tuple[SoftMember, ...]) -> str:
    """What to say where the rows do not sum to 1 but another axis does."""
    if all(member.items is None for member in soft):
        block = np.stack([to_numpy(next(parts_of(member.rows))[1]) for member in soft])
        for axis, name in ((0, "first"), (1, "second")):
            if are_probabilities(np.moveaxis(block, axis, -1)).all():
                return f". The {name} axis does: the order of axes is (members, items, classes)"
        return ". Use normalize=True to rescale on purpose"
    return ""


def _check_answers(hard: HardAnswers, axes: Axes) -> None:
    is_wrong = (hard.labels < 0) | (hard.labels >= axes.classes.size)
    if is_wrong.any():
        first = int(np.argmax(is_wrong))
        raise InvalidPredictions(
            f"labels must be from 0 to {axes.classes.size - 1}, or -1 where missing; "
            f"{axes.items.describe(int(hard.items[first]))} of "
            f"{axes.members.describe(int(hard.members[first]))} has {hard.labels[first]}"
        )


def check_every_item_is_answered(soft: tuple[SoftMember, ...], hard: HardAnswers | None, axes: Axes) -> None:
    """Raise where nobody answers an item."""
    if any(member.is_complete and member.items is None for member in soft):
        return
    is_answered = np.zeros(axes.items.size, dtype=bool)
    for member in soft:
        is_answered[member.answered()] = True
    if hard is not None:
        is_answered[hard.items] = True
    if not is_answered.all():
        n_others = int((~is_answered).sum()) - 1
        raise InvalidPredictions(
            "each item needs an answer of at least one member; "
            f"{axes.items.describe(int(np.argmin(is_answered)))} has none"
            f"{f', nor have {n_others} others' if n_others else ''}. "
            "Use partial=True for predictions that concatenate puts beside others"
        )
