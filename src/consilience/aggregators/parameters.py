"""Checks of constructor arguments that several methods share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.data.reading import check_number

if TYPE_CHECKING:
    from consilience.system.arrays import FloatArray


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
    try:
        prior = np.asarray(class_prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"class_prior must be None, 'uniform' or one probability per class; got {class_prior!r}"
        ) from None
    if prior.shape != (n_classes,):
        raise ValueError(f"class_prior must have one entry for each of {n_classes} classes; got {prior.shape}")
    if not (prior > 0).all() or abs(prior.sum() - 1) > 1e-6:
        raise ValueError(
            f"class_prior must be positive and sum to 1; it sums to {prior.sum():.6g} from {prior.min():.6g} up"
        )
    return prior
