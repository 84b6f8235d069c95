"""Checks of constructor arguments that several methods share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from consilience.arrays import FloatArray


def check_number(name: str, value: Any, *, least: float = 0.0, most: float = np.inf, integer: bool = False) -> None:
    """Raise where the value is not a number of the range (ends included)."""
    kinds = (int, np.integer) if integer else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not (np.isfinite(value) and least <= value <= most):
        noun = "an integer" if integer else "a number"
        bounds = f"of at least {least:g}" if most == np.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{name} must be {noun} {bounds}; got {value!r}")


def check_loop(aggregator: Any) -> None:
    """Raise where an argument that all iterative methods share makes no sense."""
    check_number("max_iter", aggregator.max_iter, least=1, integer=True)
    if aggregator.tol is not None:
        check_number("tol", aggregator.tol)
    check_number("forgetting", aggregator.forgetting, most=1)
    if aggregator.chunk_size is not None:
        check_number("chunk_size", aggregator.chunk_size, least=1, integer=True)


def read_class_prior(class_prior: Any, n_classes: int) -> FloatArray | None:
    """A fixed class prior as an array; None where it is to be estimated."""
    if class_prior is None:
        return None
    if isinstance(class_prior, str):
        if class_prior != "uniform":
            raise ValueError(f"class_prior must be None, 'uniform' or one probability per class; got {class_prior!r}")
        return np.full(n_classes, 1 / n_classes)
    prior = np.asarray(class_prior, dtype=np.float64)
    if prior.shape != (n_classes,):
        raise ValueError(f"class_prior must have one entry for each of {n_classes} classes; got {prior.shape}")
    if not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(f"class_prior must be positive and sum to 1; it sums to {prior.sum():.6g}")
    return prior
