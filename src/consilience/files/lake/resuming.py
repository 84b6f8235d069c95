"""Where a run keeps what it has done, so that one that was killed goes on where it was.

A sorted partition, the fitted model and a part of the output appear whole or not at all: who makes one (`buckets`,
`fusing`) first asks whether its file is there.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, final

from consilience.files.lake.partitions import DataSet
from consilience.system.atomic import whole_file
from consilience.system.errors import InvalidPredictions


@final
class Places:
    """Where a run writes. The output appears whole in the end; until then all is in a folder beside it."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.manifest = output.with_name(f"{output.name}.manifest.json")  # what the finished output was made of
        self.work = output.with_name(f"{output.name}.partial")  # what is not finished yet
        self.begun = self.work / "manifest.json"
        self.spool, self.parts = self.work / "spool", self.work / "parts"  # the buckets, and the parts of the output
        self.model = self.work / "model.npz"

    def begin(self, data_sets: list[DataSet], settings: dict[str, Any]) -> dict[str, Any] | None:
        """Make the folders, or find those of an earlier run; what it has found if it has finished.

        Raises if that run had another input or other settings.
        """
        inputs = [part._asdict() for data in data_sets for part in data.partitions]
        begun = json.loads(json.dumps({"settings": settings, "inputs": inputs}))
        if self.output.is_dir() and any(self.output.iterdir()):
            if not self.manifest.is_file():
                raise FileExistsError(17, "the output must be a new or empty folder", str(self.output))
            before = self._check_same(self.manifest, begun)
            self.forget()
            return dict(before["fused"])
        if self.output.exists() and not self.output.is_dir():
            raise NotADirectoryError(20, "the output must be a folder", str(self.output))
        self.spool.mkdir(parents=True, exist_ok=True)
        self.parts.mkdir(exist_ok=True)
        if self.begun.is_file():
            self._check_same(self.begun, begun)
        else:
            self._write(self.begun, begun)
        for left in self.spool.glob(".*"):
            shutil.rmtree(left, ignore_errors=True)  # of a run that was killed
        return None

    def finish(self, found: dict[str, Any]) -> None:
        """Put the parts in their place."""
        begun = json.loads(self.begun.read_text(encoding="utf-8"))
        self._write(self.manifest, begun | found)
        if self.output.is_dir():
            self.output.rmdir()
        self.parts.replace(self.output)
        self.forget()

    def forget(self) -> None:
        """Remove all that is not finished."""
        shutil.rmtree(self.work, ignore_errors=True)

    def _check_same(self, path: Path, begun: dict[str, Any]) -> dict[str, Any]:
        before = json.loads(path.read_text(encoding="utf-8"))
        old, new = ({own["path"]: own for own in each["inputs"]} for each in (before, begun))
        changed = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
        where = self.output if path == self.manifest else self.work
        begin_anew = f"delete {where} to begin anew, or write to another folder"
        if changed:
            raise InvalidPredictions(f"{changed[0]} has changed since {self.output} was begun: {begin_anew}")
        had, has = before["settings"], begun["settings"]
        if other := [name for name in has | had if had.get(name) != has.get(name)]:
            option = f"{other[0]} = {had.get(other[0])!r}"
            raise InvalidPredictions(f"{self.output} was begun with other options, {option}: {begin_anew}")
        return dict(before)

    def _write(self, path: Path, value: Any) -> None:
        with whole_file(path) as file:
            file.write(json.dumps(value, indent=1).encode())
