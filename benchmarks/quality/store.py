"""Sets as files: one .npz each, and an index that says what they are and to which part they belong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from consilience.system.atomic import whole_file


@dataclass(frozen=True, eq=False)
class Set:
    """What the members of one ensemble say of some items, and the truth."""

    name: str
    group: str  # what makes it hard: "shifted", "crowd", …; "clean" if nothing does
    part: str  # "tuning", "held-out" or "fresh"
    predictions: np.ndarray  # (members, items, classes), a NaN row where a member says nothing
    labels: np.ndarray  # the true classes, -1 where unknown or where there is none
    recipe: str = ""  # how it was made; another recipe under the same name makes it anew

    def entry(self) -> dict[str, str | int]:
        """What the index says of it."""
        members, items, classes = self.predictions.shape
        sizes = {"members": members, "items": items, "classes": classes}
        return {"name": self.name, "group": self.group, "part": self.part, **sizes}


def write(one: Set, folder: Path) -> None:
    """Keep a set."""
    folder.mkdir(parents=True, exist_ok=True)
    predictions, labels = one.predictions.astype(np.float32), one.labels.astype(np.int64)
    described = {"group": one.group, "part": one.part, "recipe": one.recipe}
    with whole_file(folder / f"{one.name}.npz") as file:
        np.savez(file, predictions=predictions, labels=labels, **described)


def read(path: Path) -> Set:
    """A set that was kept."""
    with np.load(path, allow_pickle=False) as file:
        group, part, recipe = (str(file[key]) for key in ("group", "part", "recipe"))
        return Set(path.stem, group, part, file["predictions"], file["labels"], recipe)


def write_index(entries: list[dict[str, str | int]], path: Path) -> None:
    """The list of all sets, one a line."""
    with whole_file(path) as file:
        lines = ",\n".join(json.dumps(entry) for entry in entries)
        file.write(f"[\n{lines}\n]\n".encode())


def read_sets(folder: Path, part: str = "tuning") -> Iterator[Set]:
    """The sets of a part, or of "all"; those of the other part are not even opened."""
    for entry in json.loads((folder / "sets.json").read_text(encoding="utf-8")):
        if part in {entry["part"], "all"}:
            yield read(folder / f"{entry['name']}.npz")
