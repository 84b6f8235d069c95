"""Score methods on panels: several panels at once, each score written as it comes, so that a run can be cut off.

A score is of a panel, a method and the code of both. What was scored with other code or on other answers is scored
again.
"""

from __future__ import annotations

import hashlib
import json
import signal
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import consilience
from benchmarks.quality.methods import METHODS, named
from benchmarks.quality.panel import Panel, read
from benchmarks.quality.scores import scores

SECONDS = 60
"""A peer that takes longer on a panel is left out there, and the row says so."""

Row = dict[str, Any]


def score_all(
    paths: list[Path], methods: Callable[[Path], list[str]], written: Path, n_jobs: int, on_panel: Callable[[str], None]
) -> list[Row]:
    """The rows of all panels, those of an earlier run as they were written."""
    earlier = {key_of(row): row for row in read_rows(written)}
    done = defaultdict(list)
    for key in earlier:
        done[key[0]].append(key)
    jobs = [(path, methods(path), done[path.stem]) for path in paths]
    with (
        written.open("a", encoding="utf-8") as file,
        ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool,
    ):
        waiting = {pool.submit(score_panel, *job): job[0].stem for job in jobs}
        found: list[Row] = []
        for future in as_completed(waiting):
            new, keys = future.result()
            file.writelines(json.dumps(row) + "\n" for row in new)
            file.flush()
            known = {key_of(row): row for row in new}
            found += [known[key] if key in known else earlier[key] for key in keys]
            on_panel(waiting[future])
    return sorted(found, key=lambda row: (row["panel"], row["method"]))


def score_panel(path: Path, methods: list[str], earlier: Iterable[tuple[str, ...]]) -> tuple[list[Row], list[Any]]:
    """The rows of a panel that are new, and the keys of all."""
    panel, done = read(path), set(earlier)
    answers = fingerprint(panel)
    keys = [(panel.name, answers, method, version_of(method)) for method in methods]
    return [score(panel, *key[1:]) for key in keys if key not in done], keys


def score(panel: Panel, answers: str, method: str, version: str) -> Row:
    """How a method scores on a panel; only the scores see its truth."""
    base, _, _ = panel.name.partition("~")
    row: Row = {"panel": panel.name, "answers": answers, "method": method, "version": version}
    row |= {"base": base, "family": panel.family, "kind": panel.kind, "members": panel.n_members}
    row |= {"items": panel.n_items, "classes": panel.n_classes, "votes": panel.labels is not None}
    function = named(method)
    started = time.perf_counter()
    try:
        with limited(SECONDS if method not in METHODS else 0):
            posterior = function(panel)
    except TimeoutError:
        return row | {"left out": f"over {SECONDS} seconds"}
    seconds = time.perf_counter() - started
    return row | {"seconds": seconds, **scores(np.asarray(posterior, dtype=np.float64), panel.truth)}


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Raise TimeoutError after so many seconds; 0 is for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def fingerprint(panel: Panel) -> str:
    """What tells a panel's answers and truth from others of the same name."""
    parts = [part for part in (panel.probabilities, panel.labels, panel.truth) if part is not None]
    return hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()[:16]


@cache
def version_of(method: str) -> str:
    """What tells a method's code from others of the same name: of ours the source, of peers the release."""
    if method in METHODS:
        folder = Path(consilience.__file__).parent
        rooms = [folder / room for room in ("aggregators", "answering", "data", "maths", "passes", "system")]
        files = [Path(__file__).with_name("methods.py"), *(path for room in rooms for path in room.rglob("*.py"))]
        return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(files))).hexdigest()[:16]
    return str(getattr(named(method), "version", "")) or str(import_module(method.split(":")[0]).__name__)


def read_rows(path: Path) -> list[Row]:
    """The rows of earlier runs; a line that a kill cut off is left out."""
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def key_of(row: Row) -> tuple[str, ...]:
    """What a row is of."""
    return tuple(row[name] for name in ("panel", "answers", "method", "version"))
