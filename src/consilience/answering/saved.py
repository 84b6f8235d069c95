"""What a file of a saved aggregator may hold: nothing else gets into the object that it becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.system.arrays import is_array

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

SHAPES = {
    "posterior_": "ik",
    "class_prior_": "k",
    "confusion_": "mkk",
    "statistics_.class_counts": "k",
    "statistics_.answer_counts": "mk",
    "statistics_.sums": "mkk",
    "parameters_.class_prior": "k",
    "parameters_.classes": "k",
    "parameters_.confusion": "mkk",
    "is_soft_": "m",
    "moments_.first": "mkk",
    "moments_.second": "mkk",
    "table_": "mkk",
    "log_normalizers_": "mk",
    "member_weights_": "m",
    "member_credibility_": "m",
    "correction_.bias": "k",
    "correction_.weights": "mkk",
    "labelled_.said": "lmk",
    "labelled_.targets": "lk",
    "labelled_.noise": "l",
    "labelled_.weights": "l",
    "agreement_.products": "gg",
    "agreement_.counts": "gg",
    "agreement_.confidences": "g",
    "agreement_.answers": "g",
    "vote_agreement_.products": "gg",
    "vote_agreement_.counts": "gg",
    "vote_agreement_.confidences": "g",
    "vote_agreement_.answers": "g",
}
"""The arrays, by the letters of their axes: m members, i items, k classes, l labelled items, g the members that were
compared or none."""

LARGEST = 1e100
"""Beyond it sums overflow; NaN is not below it either."""

NUMBERS = {
    "statistics_.n_items": LARGEST,
    "statistics_.log_evidence": LARGEST,
    "weight_": 1.0,
    "n_iter_": LARGEST,
    "moments_.n_steps": LARGEST,
    "converged_": 1.0,
    "correction_.sharpness": LARGEST,
}
"""The most that each may be."""

NAMES = ("members_", "items_", "classes_")
SIGNED = (
    "statistics_.log_evidence",
    "statistics_.sums",
    "moments_.first",
    "log_normalizers_",
    "correction_.sharpness",
    "correction_.bias",
    "correction_.weights",
)
"""Sums of logarithms, and what follows from them; all else are counts, rates or probabilities."""

MISSING = ("labelled_.said",)
"""Arrays with NaN where somebody is silent."""

NOTHING = ("correction_", "labelled_")
"""What is None where no labels were known."""

ALWAYS = {"members_", "classes_", "history_", "n_iter_", "converged_", "class_prior_", "statistics_"}
REQUIRED = {
    "Average": {"confusion_"},
    "MajorityVote": {"confusion_"},
    "DawidSkene": {"confusion_", "parameters_"},
    "BayesianClassifierCombination": {"confusion_", "parameters_"},
    "SoftDawidSkene": {"is_soft_", "log_normalizers_", "moments_", "table_", "weight_"},
    "Consensus": {
        "agreement_",
        "confusion_",
        "correction_",
        "labelled_",
        "member_credibility_",
        "member_weights_",
        "vote_agreement_",
    },
}
OPTIONAL = {"items_", "posterior_"}


def reason_to_refuse(method: str, learned: Mapping[str, Any]) -> str | None:
    """What is wrong with the values that a method of that name is said to have learned; None where nothing is."""
    required = ALWAYS | REQUIRED[method]
    found = {name.split(".")[0] for name in learned}
    if unknown := found - required - OPTIONAL:
        return f"{method} does not learn {min(unknown)!r}"
    if missing := required - found:
        return f"it lacks {min(missing)!r}"
    learned = {name: value for name, value in learned.items() if name not in NOTHING or value is not None}
    if unknown := learned.keys() - {*SHAPES, *NUMBERS, *NAMES, "history_"}:
        return f"{method} does not learn {min(unknown)!r}"
    return _wrong_names(learned) or _wrong_numbers(learned) or _wrong_arrays(learned)


def _wrong_names(learned: Mapping[str, Any]) -> str | None:
    for name, least in zip(NAMES, (1, 0, 2), strict=True):
        values = learned.get(name, [] if name == "items_" else None)
        if not isinstance(values, list) or len(values) < least:
            return f"{name!r} is no list of names"
        if not all(isinstance(value, str | int | float | None) for value in values) or not _are_distinct(values):
            return f"{name!r} are no distinct names"
    return None


def _are_distinct(values: list[Hashable]) -> bool:
    return len(set(values)) == len(values)


def _wrong_numbers(learned: Mapping[str, Any]) -> str | None:
    history = learned.get("history_")
    if not isinstance(history, list) or not all(_is_number(value) for value in history):
        return "'history_' is no list of numbers"
    for name, most in NUMBERS.items():
        value = learned.get(name, 0)
        if not _is_number(value) or value > most or (value < 0 and name not in SIGNED):
            return f"{name!r} is no number that it can be, {value!r}"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) < LARGEST


def _are_finite(array: Any, may_miss: bool) -> bool:
    is_fine = np.abs(array) < np.float64(LARGEST)
    return bool((is_fine | np.isnan(array) if may_miss else is_fine).all())


def _wrong_arrays(learned: Mapping[str, Any]) -> str | None:
    sizes = {"m": len(learned["members_"]), "k": len(learned["classes_"])}
    if "items_" in learned:
        sizes["i"] = len(learned["items_"])
    for name, letters in SHAPES.items():
        if name not in learned:
            continue
        array = learned[name]
        kind = "b" if name == "is_soft_" else "f"
        if not is_array(array) or array.dtype.kind != kind or not _are_finite(array, name in MISSING):
            return f"{name!r} is no array of finite numbers"
        if name not in SIGNED and (array < 0).any():
            return f"{name!r} has negative numbers"
        allowed = [sizes | {"g": size} for size in {sizes["m"], 0}] if "g" in letters else [sizes]
        if array.ndim != len(letters) or array.shape not in [
            tuple(size.get(letter, array.shape[place]) for place, letter in enumerate(letters)) for size in allowed
        ]:
            return f"{name!r} has the shape {array.shape}, which its members and classes do not have"
        sizes |= {letter: array.shape[place] for place, letter in enumerate(letters) if letter == "l"}
    return None
