"""Predictions of others: language models' prompts, well-trained networks, crowds. They need no training.

MMLU's parts have other prompts and other subjects; the crowds' parts are other crowds. The ResNets are four, too few to
divide: both parts have all of them, looking at other images.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import softmax

from benchmarks.quality.store import Set

CROWDS = {"bluebird": "tuning", "rte": "tuning", "web": "tuning", "dog": "held-out"}
ANSWERS_KEPT = (3, 5)
"""Each crowd is also a set with so few answers of each item."""

PROMPTS = {"tuning": slice(0, 6), "held-out": slice(6, 10)}
SUBJECTS = {
    "tuning": ("clinical_knowledge", "high_school_biology", "marketing", "management"),
    "held-out": ("professional_medicine", "formal_logic"),
}
"""A set each, and all of a part's subjects are one more set."""

RESNET_ITEMS = {"tuning": slice(0, 6667), "held-out": slice(6667, 10_000)}


def shared_sets(folder: Path) -> Iterator[Set]:
    """All sets of the folder."""
    yield from _prompts(folder / "mmlu_prompts.npz")
    yield from _resnets(folder / "cifar10_resnets.npz")
    yield from _crowds(folder / "crowd.npz")


def _prompts(path: Path) -> Iterator[Set]:
    with np.load(path) as file:
        probabilities, labels, subjects = file["probabilities"], file["labels"], file["subjects"]
    for part, prompts in PROMPTS.items():
        ours = _subjects_of(part, subjects)
        for name, some in (("all", ours), *((subject, [subject]) for subject in SUBJECTS[part])):
            chosen = np.isin(subjects, some)
            yield Set(f"mmlu_{name}_{part}", "prompts", part, probabilities[prompts, chosen], labels[chosen])


def _subjects_of(part: str, subjects: np.ndarray) -> list[str]:
    """Those named for the part, and of the others every third is held out."""
    named = [subject for some in SUBJECTS.values() for subject in some]
    others = [str(subject) for subject in np.unique(subjects) if subject not in named]
    ours = [subject for place, subject in enumerate(others) if (place % 3 == 2) == (part == "held-out")]
    return [*SUBJECTS[part], *ours]


def _resnets(path: Path) -> Iterator[Set]:
    with np.load(path) as file:
        logits = {"clean": file["clean_logits"], "jpeg": file["jpeg_logits"]}
        labels = file["labels"]
    for part, items in RESNET_ITEMS.items():
        for view, group in (("clean", "clean"), ("jpeg", "shifted")):
            rows = softmax(logits[view][:, items].astype(np.float64), axis=2)
            yield Set(f"resnets_{view}_{part}", group, part, rows, labels[items])


def _crowds(path: Path) -> Iterator[Set]:
    with np.load(path) as file:
        for name, part in CROWDS.items():
            item, worker, label, gold = (file[f"{name}/{key}"] for key in ("item", "worker", "label", "gold"))
            one_hot = np.eye(label.max() + 1, dtype=np.float32)[label]
            answers = np.full((worker.max() + 1, len(gold), one_hot.shape[1]), np.nan, np.float32)
            answers[worker, item] = one_hot
            yield Set(f"{name}_all_{part}", "crowd", part, answers, gold)
            for n_kept in ANSWERS_KEPT:
                yield Set(f"{name}_{n_kept}-answers_{part}", "crowd", part, _thinned(answers, n_kept), gold)


def _thinned(answers: np.ndarray, n_kept: int) -> np.ndarray:
    """The same with at most so many answers of each item, drawn at random; members left without any are dropped."""
    order = np.random.default_rng(n_kept).random(answers.shape[:2])
    order[np.isnan(answers[:, :, 0])] = 2
    rank = order.argsort(axis=0).argsort(axis=0)
    thinned = np.where((rank < n_kept)[:, :, None], answers, np.nan)
    return thinned[~np.isnan(thinned[:, :, 0]).all(axis=1)]
