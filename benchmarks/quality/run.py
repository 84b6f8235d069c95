"""Score methods on panels: several panels at once, each score written as it comes, so that a run can be cut off.

A score is of a panel, a method and the code of both. What was scored with other code or on other answers is scored
again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from itertools import starmap
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import consilience
from benchmarks.quality.jobs import Job
from benchmarks.quality.methods import FOLDS, METHODS, PEERS, named
from benchmarks.quality.panel import Panel, read
from benchmarks.quality.peers.run import Runner
from benchmarks.quality.prepare import fingerprint
from benchmarks.quality.scores import scores

SECONDS = 10
"""A peer that takes more processor time on a panel is left out there, and the row says so."""

MOST_CLASSES = {"soft-dawid-skene": 200, "bcc": 200}
"""These of ours sum over three or four axes of classes, minutes for a thousand: left out beyond so many."""

Row = dict[str, Any]
Key = tuple[str, ...]


def score_all(jobs: Iterable[Job], written: Path, n_jobs: int, on_panel: Callable[[str], None]) -> list[Row]:
    """The rows of all panels and methods, those of an earlier run as they were written."""
    earlier = {key_of(row): row for row in read_rows(written)}
    done: dict[str, list[Key]] = defaultdict(list)
    for key in earlier:
        done[key[0]].append(key)
    is_cut_off = written.exists() and not written.read_bytes().endswith(b"\n")
    found: list[Row] = []
    with written.open("a", encoding="utf-8") as file:
        file.write("\n" if is_cut_off else "")
        for new, keys in _as_they_come([(path, methods, done[path.stem]) for path, methods in jobs], n_jobs):
            file.writelines(json.dumps(row) + "\n" for row in new)
            file.flush()
            known = {key_of(row): row for row in new}
            found += [known[key] if key in known else earlier[key] for key in keys]
            on_panel(keys[0][0])
    return sorted(found, key=lambda row: (row["panel"], row["method"]))


def _as_they_come(calls: list[tuple[Path, list[str], list[Key]]], n_jobs: int) -> Iterator[tuple[list[Row], list[Key]]]:
    """What `score_panel` returns for each panel, from several processes where more than one job is asked for."""
    if n_jobs == 1:
        yield from starmap(score_panel, calls)
        return
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        waiting = [pool.submit(score_panel, *call) for call in calls]
        try:
            yield from (future.result() for future in as_completed(waiting))
        finally:  # after an error, those that have not begun would be computed for nobody
            pool.shutdown(cancel_futures=True)


def score_panel(path: Path, methods: list[str], done: Iterable[Key]) -> tuple[list[Row], list[Key]]:
    """The rows of a panel that are new, and the keys of all."""
    panel, before = read(path), set(done)
    answers = answers_of(panel)
    keys: list[Key] = [(panel.name, answers, method, version_of(method)) for method in methods]
    return [dict(zip(KEY, key, strict=True)) | score(panel, key[2]) for key in keys if key not in before], keys


def score(panel: Panel, method: str) -> Row:
    """How a method scores on a panel, or why it is left out; only the scores see the truth."""
    base, _, _ = panel.name.partition("~")
    row: Row = {"base": base, "family": panel.family, "kind": panel.kind, "members": panel.n_members}
    row |= {"items": panel.n_items, "classes": panel.n_classes, "votes": panel.labels is not None}
    if panel.n_classes > MOST_CLASSES.get(method, panel.n_classes):
        return row | {"left out": f"takes minutes with more than {MOST_CLASSES[method]} classes"}
    if method in PEERS:
        outcome = runner().run(PEERS[method].name, panel)
        if outcome.posterior is None:
            return row | {"left out": outcome.reason}
        posterior, seconds = outcome.posterior, outcome.seconds
    else:
        started = time.perf_counter()
        posterior = named(method)(panel)
        seconds = time.perf_counter() - started
    return row | {"seconds": seconds, **scores(np.asarray(posterior, dtype=np.float64), panel.truth)}


@cache
def runner() -> Runner:
    """Where this process runs peers; it ends with the process."""
    return Runner(limit=SECONDS)


def answers_of(panel: Panel) -> str:
    """What tells a panel's answers and truth from others of the same name."""
    parts = [part for part in (panel.probabilities, panel.labels, panel.truth) if part is not None]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]


@cache
def version_of(method: str) -> str:
    """What tells a method's code from others of the same name: of peers, also their release and the time they have."""
    here = Path(__file__).parent
    if method in PEERS:
        peer = PEERS[method]
        package = peer.library.partition(".")[0]
        release = version(packages_distributions()[package][0]) if peer.is_installed else "none"
        wrapper = here / "peers" / f"{peer.method.__module__.rpartition('.')[2]}.py"
        return fingerprint([here / "peers" / "peer.py", wrapper], release, f"{SECONDS} s")
    if method in METHODS:
        folder = Path(consilience.__file__).parent
        rooms = [folder / room for room in ("aggregators", "answering", "data", "maths", "passes", "system")]
        weights = [*sorted(folder.rglob("weights.npz")), *sorted(FOLDS.glob("*.npz"))]
        return fingerprint([here / "methods.py", *rooms, *(weights if method == "consensus" else [])])
    module = find_spec(method.partition(":")[0])
    return fingerprint([Path(module.origin)] if module is not None and module.origin is not None else [])


def read_rows(path: Path) -> list[Row]:
    """The rows of earlier runs; a line that a kill cut off is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


KEY = ("panel", "answers", "method", "version")


def key_of(row: Row) -> Key:
    """What a row is of."""
    return tuple(row[name] for name in KEY)
