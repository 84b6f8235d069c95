"""The panels that are learned from, and those that are examined: features of each are kept in a file of their own.

Generated panels come by their seed. Real ones are drawn from the bench's panels as they are. Only files of tuning
families are opened: `index.json` of the bench names the family of each file.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import numpy as np
import sklearn

from benchmarks.quality.draws import rare
from benchmarks.quality.families import side_of
from benchmarks.quality.generated import alter, generate
from benchmarks.quality.jobs import BESIDE_KINDS
from benchmarks.quality.methods import YARDSTICK
from benchmarks.quality.panel import AS_IT_IS, Panel, answered, read, take
from benchmarks.quality.prepare import FIRST_SEED, Entry, fingerprint
from benchmarks.quality.run import Row, score
from consilience import __file__ as LIBRARY  # noqa: N812 - a constant
from consilience.system.atomic import whole_file
from training.features import Features, features_of

ALTERED = 0.8
"""The share of generated panels that are altered afterwards."""

RARE = 0.2
"""The share of altered panels of which two classes are taken, one of them rare."""

UNALTERED_DRAWS = 10
"""So many draws of a family are its panels as they are; all others are altered."""

MANY_CLASSES = 200
"""Families with more classes take long: a tenth of the draws, and of the bench's kinds only some are examined."""

MOST_WORK = 5e8
"""Panels keep so many items that members × items × classes × classes are at most that, but `MOST_ITEMS` at least; only
those of hundreds of classes are cut. Methods are compared on the same items."""

MOST_ITEMS, LEAST_ITEMS = 200, 5
"""So many items of a panel are kept to learn from; with fewer than the least there is nothing to learn."""

COMPARED = (YARDSTICK,)
"""Methods of the bench that the learned combiner is compared with."""


@dataclass(frozen=True)
class Job:
    """A panel to make or read, and whether it is examined rather than learned from."""

    name: str
    seed: int
    path: Path | None  # None: generated
    is_altered: bool
    is_examined: bool = False
    is_own: bool = False  # of the user's folder
    kind: str | None = None  # of a generated panel; None draws one


class Lesson(NamedTuple):
    """What is learned from one panel: some items whose truth is among the candidates."""

    features: Features  # mostly in half precision
    truth: np.ndarray  # (items,): the place of the true class among the candidates
    shares: np.ndarray  # (classes,): of the truth, over all items of the panel
    family: str


class Exam(NamedTuple):
    """A panel of the bench with the items whose truth is known, and how other methods score on it."""

    features: Features
    truth: np.ndarray  # (items,): classes
    shares: np.ndarray  # (classes,)
    rows: dict[str, Row]  # by method
    seconds: float  # that the features took


# ---- which panels -----------------------------------------------------------------------------------------


def generated_jobs(n_panels: int) -> list[Job]:
    """The panels of seeds 0, 1, ...; most of them are altered."""
    is_altered = np.random.default_rng(0).random(n_panels) < ALTERED
    return [Job(f"generated {seed}", seed, None, bool(altered)) for seed, altered in enumerate(is_altered)]


def drawn_jobs(entries: Iterable[Entry], n_draws: int) -> list[Job]:
    """So many draws of each tuning family, going round its panels."""
    by_family: dict[str, list[Path]] = defaultdict(list)
    for entry in tuning(entries):
        if entry.kind == AS_IT_IS:
            by_family[entry.family].append(entry.path)
    jobs = []
    for family, paths in by_family.items():
        n_unaltered = min(len(paths), UNALTERED_DRAWS)
        for number in range(max(1, n_draws // 10) if _has_many_classes(paths[0]) else n_draws):
            path = paths[number % len(paths)]
            jobs.append(Job(f"{family} {number}", number, path, number >= n_unaltered))
    return jobs


def exam_jobs(entries: Iterable[Entry], kinds: Iterable[str] | None = None) -> list[Job]:
    """Tuning panels of the bench: as they are, and the first draw of each kind."""
    jobs = []
    for entry in tuning(entries):
        is_first = entry.kind == AS_IT_IS or entry.path.stem.endswith("~0")
        is_quick = entry.kind in {AS_IT_IS, "votes"} or not _has_many_classes(entry.path)
        if is_first and is_quick and (kinds is None or entry.kind in kinds):
            jobs.append(Job(entry.path.stem, 0, entry.path, is_altered=False, is_examined=True))
    return jobs


def generated_exams(n_panels: int = 40) -> list[Job]:
    """Generated panels of the kinds that have rows of their own in the bench, by seeds that training does not use."""
    return [
        Job(f"{kind} {seed}", seed, None, is_altered=False, is_examined=True, kind=kind)
        for kind in BESIDE_KINDS
        for seed in range(FIRST_SEED, FIRST_SEED + n_panels)
    ]


def own_jobs(folder: Path, n_draws: int) -> list[Job]:
    """So many draws of each panel in a folder of the user's."""
    paths = sorted(folder.glob("*.npz"))
    if not paths:
        raise ValueError(f"the folder of panels must hold .npz files; {folder} has none")
    for path in paths:
        read_own(path)  # all of them, before hours of work
    return [
        Job(f"own {path.stem} {_state_of(path)} {number}", number, path, number > 0, is_own=True)
        for path in paths
        for number in range(n_draws)
    ]


def own_exams(folder: Path | None) -> list[Job]:
    """The user's panels, to be examined as they are."""
    paths = [] if folder is None else sorted(folder.glob("*.npz"))
    names = [f"own {path.stem} {_state_of(path)}" for path in paths]
    return [
        Job(name, 0, path, is_altered=False, is_examined=True, is_own=True)
        for name, path in zip(names, paths, strict=True)
    ]


def _state_of(path: Path) -> str:
    """What tells a file from an earlier one of the same name."""
    return f"{crc32(path.read_bytes()):08x}"


def read_own(path: Path) -> Panel:
    """A panel of the user's: `truth` (items,), and `probabilities` or `labels` of the members; a family by itself.

    Truth is -1 where it is unknown; a row of NaN, or a label of -1, is no answer.
    """
    with np.load(path, allow_pickle=False) as file:
        given = [name for name in ("probabilities", "labels") if name in file.files]
        if "truth" not in file.files or len(given) != 1:
            found = ", ".join(file.files) or "nothing"
            raise ValueError(f"{path} must hold truth and either probabilities or labels; it holds {found}")
        truth, answers = file["truth"].astype(np.int64), file[given[0]]
        family = str(file["family"]) if "family" in file.files else path.stem
        n_classes = answers.shape[2] if given == ["probabilities"] else int(max(answers.max(), truth.max())) + 1
        if "n_classes" in file.files:
            n_classes = int(file["n_classes"])
    if truth.ndim != 1 or answers.ndim != 3 - (given == ["labels"]) or answers.shape[1] != len(truth):
        raise ValueError(f"{path} must have one truth for each item; got {truth.shape} for answers {answers.shape}")
    if truth.max() >= n_classes or (truth >= 0).sum() < LEAST_ITEMS:
        raise ValueError(f"{path} must have {LEAST_ITEMS} true classes or more, all below {n_classes}")
    return answered(Panel(path.stem, f"own {family}", AS_IT_IS, truth, n_classes, **{given[0]: answers}))


def tuning(entries: Iterable[Entry]) -> list[Entry]:
    """The entries of tuning families; files of others are never opened here."""
    return [entry for entry in entries if side_of(entry.family) == "tuning"]


def _has_many_classes(path: Path) -> bool:
    with np.load(path, allow_pickle=False) as file:
        return int(file["n_classes"]) > MANY_CLASSES


# ---- making and keeping -----------------------------------------------------------------------------------


def panel_of(job: Job) -> Panel:
    """The panel of a job: the same job gives the same panel."""
    panel = generate(job.seed, job.kind) if job.path is None else read_own(job.path) if job.is_own else read(job.path)
    rng = np.random.default_rng(crc32(job.name.encode()))
    if job.is_altered:
        panel = (rng.random() < RARE and rare(panel, rng)) or panel
        panel = alter(panel, rng)
    n_items = max(MOST_ITEMS, int(MOST_WORK / (panel.n_members * panel.n_classes**2)))
    if n_items < panel.n_items:
        panel = answered(take(panel, np.sort(rng.choice(panel.n_items, n_items, replace=False))))
    return panel


def store(job: Job, path: Path) -> str:
    """Write what a job gives to a file; the name of the job is returned."""
    panel = panel_of(job)
    items = np.flatnonzero(panel.truth >= 0)
    if not job.is_examined:
        items = np.sort(np.random.default_rng(crc32(job.name.encode())).permutation(items)[:MOST_ITEMS])
    started = time.perf_counter()
    found = features_of(panel, items)
    more: dict[str, object] = {"family": panel.family, "seconds": time.perf_counter() - started}
    if job.is_examined:
        rows = {name: {"panel": panel.name, "method": name} | score(panel, name) for name in COMPARED}
        more["rows"] = json.dumps(rows)
    else:
        found = found._replace(average=np.empty(0))
    arrays = {name: _short(getattr(found, name)) for name in Features._fields}
    arrays["average"] = found.average.astype(np.float32)
    shares = np.bincount(panel.truth[panel.truth >= 0], minlength=panel.n_classes) / (panel.truth >= 0).sum()
    with whole_file(path) as file:
        np.savez(file, truth=panel.truth[items].astype(np.int16), shares=shares, **arrays, **more)
    return job.name


def _short(values: np.ndarray) -> np.ndarray:
    """Traits as they are; what there is of each item in half precision."""
    if values.dtype.kind != "f":
        return values.astype(np.int32)
    return values.astype(np.float32 if values.dtype == np.float64 else np.float16)


def store_all(jobs: Iterable[Job], folder: Path, n_processes: int, on_done: Callable[[str], None]) -> list[Path]:
    """The files of all jobs in a folder; those that are there already are not made again."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {job: folder / f"{job.name}.npz" for job in jobs}
    to_do = [(job, path) for job, path in paths.items() if not path.exists()]
    for job in paths.keys() - {job for job, _ in to_do}:
        on_done(job.name)
    if n_processes == 1:
        for job, path in to_do:
            on_done(store(job, path))
    elif to_do:
        with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
            waiting = [pool.submit(store, job, path) for job, path in to_do]
            try:
                for future in as_completed(waiting):
                    on_done(future.result())
            finally:  # after an error, those that have not begun would be computed for nobody
                pool.shutdown(cancel_futures=True)
    return list(paths.values())


def code_state() -> str:
    """What tells features from those that other code gave: they are kept in a folder of that name."""
    here, bench, library = (Path(file).parent for file in (__file__, fingerprint.__code__.co_filename, LIBRARY))
    ours = ("features.py", "panels.py")
    benches = ("panel.py", "draws.py", "families.toml", "methods.py", "prepare.py", "scores.py", "generated", "sources")
    rooms = ("aggregators", "data", "maths", "passes")
    return fingerprint(
        [
            *(here / name for name in ours),
            *(bench / name for name in benches),
            *(library / name for name in rooms),
        ],
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}",
    )


def features_folder(work_dir: Path) -> Path:
    """Where features are kept: apart by the code that gave them, and by the panels of the bench that they are of."""
    index = work_dir / "panels" / "index.json"
    panels = f"{crc32(index.read_bytes()):08x}" if index.exists() else "none"
    return work_dir / "learned" / f"{code_state()}-{panels}"


# ---- reading ----------------------------------------------------------------------------------------------


def read_lessons(paths: Iterable[Path]) -> list[Lesson]:
    """All lessons that have enough items whose truth is among the candidates."""
    lessons = []
    for path in paths:
        with np.load(path, allow_pickle=False) as file:
            features, truth = Features(*(file[name] for name in Features._fields)), file["truth"]
            shares, family = file["shares"], str(file["family"])
        is_true = features.candidates == truth[:, None]
        is_candidate = is_true.any(axis=1)
        if is_candidate.sum() >= LEAST_ITEMS:
            # An item whose truth is no candidate is never drawn: -1.
            lessons.append(Lesson(features, np.where(is_candidate, is_true.argmax(axis=1), -1), shares, family))
    return lessons


def family_of(path: Path) -> str:
    """The family of a lesson or an exam."""
    with np.load(path, allow_pickle=False) as file:
        return str(file["family"])


def read_exam(path: Path) -> Exam:
    """One of the panels to be examined."""
    with np.load(path, allow_pickle=False) as file:
        features = Features(*(file[name] for name in Features._fields))
        rows, seconds = json.loads(str(file["rows"])), float(file["seconds"])
        return Exam(features, file["truth"].astype(np.int64), file["shares"], rows, seconds)
