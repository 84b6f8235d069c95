"""Real panels of others, read from a folder: language models, tools, networks, labelling functions, people.

`docs/guide/quality.md` says for each where it comes from, under which licence, and how it was read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.special import softmax

from benchmarks.quality.panel import AS_IT_IS, Panel, answered, take

FAMILIES = {
    "css": "annotators",
    "llmbar": "judges",
    "chexpert": "medicine",
    "langid": "languages",
    "nli": "inference",
    "sentiment": "sentiment",
    "weak": "functions",
    "spear": "functions",
    "fsdd": "sounds",
    "imagenet1k": "imagenet",
    "cifar10": "cifar10",
    "flu": "forecasters",
    "mmlupro": "examinations",
    "superlim": "leaderboard",
    "code": "code",
    "profanity": "profanity",
    "sleep": "sleep",
}
"""The family of a file, by the first word of its name."""

CROWDS = {"crowd.npz": ("bluebird", "rte", "dog", "web"), "crowds.npz": ("CF", "SP", "d_sentiment", "s4_Relevance")}

MOST_ITEMS = 2000
"""Of larger panels so many items are drawn: more would change no score and cost most of the time. Crowds are left
whole, because their workers answer few items each."""


def shared_panels(folder: Path) -> Iterator[Panel]:
    """All panels of the folder."""
    for path in [*sorted((folder / "panels").glob("*.npz")), *sorted((folder / "more_panels").glob("*.npz"))]:
        if path.name not in CROWDS:
            yield smaller(_panel(path))
    yield from map(smaller, _prompts(folder / "mmlu_prompts.npz"))
    yield from map(smaller, _resnets(folder / "cifar10_resnets.npz"))
    for path in (folder / "crowd.npz", folder / "panels" / "crowds.npz"):
        yield from _crowds(path)


def _panel(path: Path) -> Panel:
    """One of the files that hold `probabilities` or `labels`, the truth `y`, and names."""
    family = FAMILIES[path.stem.split("_")[0]]
    with np.load(path, allow_pickle=False) as file:
        truth, n_classes = file["y"].astype(np.int64), len(file["classes"])
        if "labels" in file.files:
            answers = {"labels": file["labels"].astype(np.int64)}
        else:
            rows = file["probabilities"].astype(np.float64)
            answers = {"probabilities": rows / rows.sum(axis=2, keepdims=True)}  # half precision does not sum to 1
    return answered(Panel(path.stem, family, AS_IT_IS, truth, n_classes, **answers))


def _prompts(path: Path) -> Iterator[Panel]:
    """Ten prompts of a language model, a panel for each subject that has 150 questions, and one for all of them."""
    with np.load(path, allow_pickle=False) as file:
        rows, truth, subjects = file["probabilities"], file["labels"], file["subjects"]
    names, counts = np.unique(subjects, return_counts=True)
    for name in ("all", *names[counts >= 150]):
        chosen = np.isin(subjects, names if name == "all" else [name])
        yield Panel(f"mmlu_{name}", "prompts", AS_IT_IS, truth[chosen], 4, probabilities=rows[:, chosen])


def _resnets(path: Path) -> Iterator[Panel]:
    with np.load(path, allow_pickle=False) as file:
        logits, truth = {view: file[f"{view}_logits"] for view in ("clean", "jpeg")}, file["labels"]
    for view, scores in logits.items():
        rows = softmax(scores.astype(np.float64), axis=2)
        yield Panel(f"cifar10_resnets_{view}", "cifar10", AS_IT_IS, truth, 10, probabilities=rows)


def _crowds(path: Path) -> Iterator[Panel]:
    """Answers as triples: item, worker, label. Of an item that a worker answered twice, the last answer counts."""
    with np.load(path, allow_pickle=False) as file:
        for name in CROWDS[path.name]:
            item, worker, label, gold = (file[f"{name}/{key}"].astype(np.int64) for key in TRIPLE)
            votes = np.full((worker.max() + 1, len(gold)), -1)
            votes[worker, item] = label
            n_classes = int(max(label.max(), gold.max())) + 1
            yield answered(Panel(f"crowd_{name}", "crowds", AS_IT_IS, gold, n_classes, labels=votes))


TRIPLE = ("item", "worker", "label", "gold")


def smaller(panel: Panel) -> Panel:
    """The panel with at most so many items, drawn at random."""
    if panel.n_items <= MOST_ITEMS:
        return panel
    drawn = np.random.default_rng(0).choice(panel.n_items, MOST_ITEMS, replace=False)
    return take(panel, np.sort(drawn))
