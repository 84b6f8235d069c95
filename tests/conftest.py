"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

import consilience as cs
from consilience.cli import main

settings.register_profile("patient", deadline=None)  # how long a case takes says more of the machine than of the code
settings.load_profile("patient")

SHARED = Path(os.environ.get("CONSILIENCE_SHARED", Path(__file__).resolve().parents[2] / "shared" / "data"))


def pytest_generate_tests(metafunc):
    """One seed by default; all hundred where CONSILIENCE_SEEDS=all."""
    if "seed" in metafunc.fixturenames:
        seeds = range(100) if os.environ.get("CONSILIENCE_SEEDS") == "all" else [0]
        metafunc.parametrize("seed", seeds)


@pytest.fixture
def rng(seed):
    return np.random.default_rng(seed)


@pytest.fixture(autouse=True)
def _numpy_errors_raise():
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


@pytest.fixture(scope="session")
def shared():
    """Opens a file of real data, or skips the test where there is none."""

    def open_data(name):
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"needs {name}, which is not part of the project")
        return path if path.suffix == ".json" else np.load(path)

    return open_data


@pytest.fixture(scope="session")
def shared_dir():
    """The folder of real data; the test is skipped where there is none."""
    if not SHARED.is_dir():
        pytest.skip("needs real data, which is not part of the project")
    return SHARED


@pytest.fixture(scope="session")
def crowd(shared):
    """Real crowds by name: the predictions, and the truth (-1 where unknown)."""

    def read(name):
        data = shared("crowd.npz")
        predictions = cs.Predictions.from_answers(
            data[f"{name}/item"], data[f"{name}/worker"], data[f"{name}/label"].astype(int)
        )
        gold = data[f"{name}/gold"].astype(int) if f"{name}/gold" in data else None
        return predictions, gold

    return read


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run a command in an empty folder: exit code, standard output, standard error."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["consilience", *map(str, words)])
        try:
            main()
        except SystemExit as leaving:
            code = leaving.code or 0
        else:
            code = 0
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return command


@pytest.fixture
def arrays(tmp_path):
    """Three members of 200 items and three classes, one file each, and the truth."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=200)
    for name, skill in (("good", 3.0), ("fair", 1.5), ("poor", 0.3)):
        logits = rng.normal(size=(200, 3)) + skill * np.eye(3)[truth]
        np.save(tmp_path / f"{name}.npy", np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True))
    np.save(tmp_path / "truth.npy", truth)
    return ["good.npy", "fair.npy", "poor.npy"]
