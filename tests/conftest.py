"""Fixtures shared by all tests."""

from __future__ import annotations

import csv
import os
import sys
from collections import Counter
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


def pytest_unconfigure(config):
    """The last line of a run names what did not run, and why."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput"):  # of a run in several processes, the first one reports
        return
    reporter.write_line(not_run(reporter.stats.get("skipped", []), reporter.stats.get("xfailed", [])))


def not_run(skipped, failing):
    """A sentence on what was skipped, by reason, and on what is known to fail.

    >>> from types import SimpleNamespace
    >>> not_run([SimpleNamespace(longrepr=("test_a.py", 1, "Skipped: needs chromium"))], [])
    'Not run: 1 (needs chromium). Known to fail: 0.'
    """
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    parts = (
        f"{count} ({reason})" for reason, count in sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    )
    return f"Not run: {', '.join(parts) or 'nothing'}. Known to fail: {len(failing)}."


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
        return np.load(path)

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


@pytest.fixture(scope="session")
def anaesthetists():
    """Dawid and Skene's patients (1979, table 1); the first observer answers three times."""
    table = Path(__file__).parent / "golden" / "dawid_skene_1979.csv"
    answers = [
        (patient, observer, int(label) - 1)
        for patient, (_, *said) in enumerate(csv.reader(table.read_text().splitlines()[2:]))
        for observer, labels in enumerate(said)
        for label in labels
    ]
    return cs.Predictions.from_answers(*zip(*answers, strict=True))


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
