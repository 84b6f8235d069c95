"""Assertions with a name; each has a test that it can fail."""

from __future__ import annotations

import numpy as np


def assert_never_falls(history, tolerance=1e-9):
    """The objective never falls by more than rounding: 1e-9 of its size."""
    drops = -np.diff(history)
    scale = np.abs(history).max()
    assert len(history) > 1, "a history of one value says nothing"
    assert drops.max() <= tolerance * scale, f"the objective falls by {drops.max()} of {scale}"


def assert_within_errors(estimate, truth, standard_error, n_errors=4):
    """Every estimate is within so many standard errors of the truth."""
    excess = np.abs(np.asarray(estimate) - truth) / standard_error
    assert excess.max() <= n_errors, f"an estimate is {excess.max():.1f} standard errors off"
