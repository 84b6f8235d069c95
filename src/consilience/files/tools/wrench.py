"""Data sets of WRENCH: labelling functions as members, which abstain by -1."""

from __future__ import annotations

from consilience.files.tools.export import Export, Given, Reader

ABSTAIN = -1


def read(given: Given) -> Export:
    """Weak labels by the place of their function; `label` is the truth."""
    export = Export()
    for item, example in given.data.items():
        for function, label in enumerate(example["weak_labels"]):
            if label == ABSTAIN:
                export.left_out["abstentions"] += 1
            else:
                export.add(item, f"function {function}", label)
        if example["label"] != ABSTAIN:
            export.know(item, example["label"])
    return export


READER = Reader(
    "wrench",
    "WRENCH",
    item="the key of an example",
    member="the labelling function, by its place",
    label="`weak_labels`, without -1; `label` is the truth",
    whole=("*/label */data */weak_labels",),
    read=read,
    verified="JieyuZ2/wrench, wrench/dataset/basedataset.py",
)
