"""Saved models that somebody changed: each is refused by name, or answers with probabilities.

    python -m tests.trust.forgeries --times 20

Every number and array of a saved model is replaced by what no fit gives: zeros, noise, other precisions, other scales.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

import consilience as cs
from consilience.system.errors import InvalidPredictions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_MEMBERS, N_ITEMS, N_CLASSES = 4, 30, 3
TOLERANCE = 0.02  # a saved posterior may be in half precision

Array = np.ndarray[Any, Any]


def _with(array: Array, value: float, rng: np.random.Generator) -> Array:
    changed = array.astype(np.float64)
    if changed.size:
        changed.flat[rng.integers(changed.size)] = value
    return changed


def _without_a_row(array: Array, rng: np.random.Generator) -> Array:
    changed = array.copy()
    if changed.size:
        changed[rng.integers(len(changed))] = 0
    return changed


ARRAYS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "zeros": lambda array, _: np.zeros_like(array),
    "ones": lambda array, _: np.ones_like(array),
    "huge": lambda array, _: np.full_like(array, 1e99),
    "large": lambda array, _: np.full_like(array, 1e40),
    "tiny": lambda array, _: np.full_like(array, 1e-300),
    "next to nothing": lambda array, _: np.full_like(array, 1e-308),
    "negative": lambda array, _: -1 * array,
    "twice": lambda array, _: 2 * array,
    "shifted": lambda array, _: array + 0.5,
    "single": lambda array, _: array.astype(np.float32),
    "half": lambda array, _: array.astype(np.float16),
    "whole": lambda array, _: array.astype(np.int64),
    "noise": lambda array, rng: rng.normal(size=array.shape),
    "even noise": lambda array, rng: rng.random(array.shape),
    "scaled": lambda array, rng: array * np.exp(10 * rng.normal(size=array.shape)),
    "one NaN": lambda array, rng: _with(array, np.nan, rng),
    "one infinite": lambda array, rng: _with(array, np.inf, rng),
    "one zero": lambda array, rng: _with(array, 0.0, rng),
    "one huge": lambda array, rng: _with(array, 1e90, rng),
    "one large": lambda array, rng: _with(array, 1e40, rng),
    "one negative": lambda array, rng: _with(array, -1e-3, rng),
    "row of zeros": _without_a_row,
    "mixed": lambda array, rng: rng.permutation(array.ravel()).reshape(array.shape),
    "transposed": lambda array, _: array.T,
    "short": lambda array, _: array[:-1],
}

NUMBERS: list[Any] = [
    0,
    -1,
    0.5,
    1,
    2,
    1e-300,
    1e40,
    1e99,
    1e200,
    float("nan"),
    float("inf"),
    None,
    "x",
    [],
    True,
    -1e50,
]


def panel(rng: np.random.Generator, *, n_items: int = N_ITEMS, missing: float = 0.0) -> Array:
    """Probabilities of some members (members, items, classes)."""
    truth = rng.integers(N_CLASSES, size=n_items)
    logits = rng.normal(size=(N_MEMBERS, n_items, N_CLASSES)) + 2 * np.eye(N_CLASSES)[truth]
    array = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    is_missing = rng.random((N_MEMBERS, n_items)) < missing
    is_missing[0] = False
    array[is_missing] = np.nan
    return array


def models() -> dict[str, tuple[Any, Any]]:
    """Fitted models of all kinds, by name, and what they were fitted to."""
    rng = np.random.default_rng(0)
    soft = panel(rng, missing=0.1)
    votes = cs.Predictions.from_labels(panel(rng).argmax(axis=2), N_CLASSES)
    sparse = np.full((N_MEMBERS, 120), -1)
    for member in range(N_MEMBERS):  # each says one class or nothing, and so silence tells something
        sparse[member, member::N_MEMBERS] = member % N_CLASSES
    functions = cs.Predictions.from_labels(sparse, N_CLASSES)
    voters = cs.Predictions.from_labels(soft[2:].argmax(axis=2), N_CLASSES)
    mixed = cs.Predictions.concatenate([cs.Predictions(soft[:2]), voters])
    labels = np.where(rng.random(N_ITEMS) < 0.5, rng.integers(N_CLASSES, size=N_ITEMS), -1)
    kinds = [
        cs.Average(),
        cs.Average(kind="geometric"),
        cs.MajorityVote(),
        cs.DawidSkene(),
        cs.BayesianClassifierCombination(),
        cs.SoftDawidSkene(max_iter=5),
        cs.SoftDawidSkene(max_iter=5, averaging=1.0),
        cs.Consensus(),
    ]
    given = {"probabilities": soft, "votes": votes, "mixed": mixed, "functions": functions}
    fitted = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind in kinds:
            usable = {"probabilities": soft} if "geometric" in repr(kind) else given
            fitted |= {f"{kind!r}, {name}": (clone(kind).fit(data), data) for name, data in usable.items()}
            fitted[f"{kind!r}, labels"] = (clone(kind).fit(soft, labels), soft)
            fitted[f"{kind!r}, stream"] = (clone(kind).partial_fit(soft).partial_fit(soft[:, :7]), soft)
    return fitted


def forged(path: Path, rng: np.random.Generator) -> Iterator[tuple[str, dict[str, Array]]]:
    """What is changed, and the contents of the changed file."""
    with np.load(path) as archive:
        contents = dict(archive)
    header = json.loads(contents["header"].tobytes())
    for name, array in contents.items():
        if name == "header":
            continue
        for how, change in ARRAYS.items():
            with np.errstate(all="ignore"):
                yield f"{name}: {how}", contents | {name: change(array, rng)}
    for name in header["learned"]:
        for value in NUMBERS:
            text = json.dumps({**header, "learned": {**header["learned"], name: value}})
            yield f"{name} = {value!r}", contents | {"header": np.frombuffer(text.encode(), dtype=np.uint8)}


def complaint(model: Any, given: Any) -> str | None:
    """What is wrong with the answers of a model; None where they are probabilities."""
    new = cs.Predictions(given) if isinstance(given, np.ndarray) else given
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            rows = [model.posterior_, model.predict_proba(new), model.predict_proba(new.take([0]))]
            repr(cs.explain(new, 0, aggregator=model))
            model.partial_fit(new)
            rows += [model.posterior_, model.predict_proba(new)]
        except InvalidPredictions:
            return None  # that members answered otherwise, which is a sentence of ours
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
            return f"{type(error).__name__}: {error}"
    for place, values in enumerate(rows):
        if not np.isfinite(values).all():
            return f"answer {place} is not finite"
        if (np.asarray(values) < 0).any() or np.abs(np.asarray(values).sum(axis=1) - 1).max() > TOLERANCE:
            return f"answer {place} holds no probabilities"
    return None


def run(times: int, *, share: float = 1.0, seed: int = 0) -> tuple[int, int, list[str]]:
    """Forge each model so many times, or a share of it: how many were tried and refused, and what went wrong."""
    rng = np.random.default_rng(seed)
    n_forged, n_refused, wrong = 0, 0, []
    with tempfile.TemporaryDirectory() as folder:
        path, other = Path(folder) / "model.npz", Path(folder) / "forged.npz"
        for kind, (model, given) in models().items():
            model.save(path)
            for _ in range(times):
                for what, contents in forged(path, rng):
                    if rng.random() > share:
                        continue
                    with other.open("wb") as file:
                        np.savez(file, **contents)
                    n_forged += 1
                    try:
                        loaded = cs.load(other)
                    except InvalidPredictions:
                        n_refused += 1
                        continue
                    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
                        wrong.append(f"{kind}, {what}: load says {type(error).__name__}: {error}")
                        continue
                    found = complaint(loaded, given)
                    if found is not None:
                        wrong.append(f"{kind}, {what}: {found}")
    return n_forged, n_refused, wrong


def main() -> None:
    """Forge all models and say how it went."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20)
    n_forged, n_refused, wrong = run(parser.parse_args().times)
    for line in wrong:
        print(line)  # noqa: T201 - a command
    print(f"{n_forged} forged, {n_refused} refused, {len(wrong)} wrong")  # noqa: T201
    if wrong:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
