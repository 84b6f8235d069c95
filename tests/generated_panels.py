"""Panels of any size and kind, which hypothesis chooses."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

CASES = int(os.environ.get("CONSILIENCE_CASES", "4"))
generated = settings(
    max_examples=CASES,
    derandomize="CONSILIENCE_CASES" not in os.environ,  # the same few everywhere, other ones every night
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.generate, Phase.shrink],  # explaining a failure takes minutes
)

KINDS = ("modest", "sure", "flat", "rounded", "zeros", "labels", "all alike")


@dataclass(frozen=True)
class Panel:
    """Members (members, items, classes) of some kind, some answers missing, each item answered."""

    n_members: int
    n_items: int
    n_classes: int
    kind: str
    missing: float
    seed: int

    @property
    def rng(self):
        return np.random.default_rng([self.seed, 1])

    @property
    def truth(self):
        return np.random.default_rng(self.seed).integers(self.n_classes, size=self.n_items)

    def array(self):
        rng, shape = self.rng, (self.n_members, self.n_items, self.n_classes)
        signal = np.eye(self.n_classes)[self.truth] * rng.uniform(0, 4, size=(self.n_members, 1, 1))
        logits = signal + rng.normal(size=shape)
        if self.kind == "all alike":
            logits[:] = logits[:1]
        values = np.exp({"sure": 8.0, "flat": 0.05}.get(self.kind, 1.0) * logits)
        if self.kind == "labels":
            values = np.eye(self.n_classes)[values.argmax(axis=2)]
        if self.kind == "zeros":
            values[values < np.median(values, axis=2, keepdims=True)] = 0
        values /= values.sum(axis=2, keepdims=True)
        if self.kind == "rounded":
            values = np.round(values, 1) + 1e-3  # ties, as people's and language models' percentages have them
            values /= values.sum(axis=2, keepdims=True)
        if self.n_members > 1:
            is_silent = rng.random(shape[:2]) < self.missing
            is_silent[rng.integers(self.n_members, size=self.n_items), np.arange(self.n_items)] = False
            values[is_silent] = np.nan
        return values

    def of_kind(self, kind):
        return replace(self, kind=kind)

    def with_classes(self, n_classes):
        return replace(self, n_classes=n_classes)

    @property
    def has_ties(self):
        return self.kind in {"rounded", "labels", "zeros"}


def panels(kinds=KINDS, least_items=1, least_members=1):
    return st.builds(
        Panel,
        st.integers(least_members, 6),
        st.integers(least_items, 40),
        st.integers(2, 7),
        st.sampled_from(kinds),
        st.sampled_from([0.0, 0.0, 0.3]),
        st.integers(0, 2**32),
    )
