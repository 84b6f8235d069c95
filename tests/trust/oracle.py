"""What must hold of any file: it is refused in one sentence that names it, or all that is done with it works."""

from __future__ import annotations

import tempfile
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import consilience as cs
from consilience.files import read_labels, read_posterior, read_sources
from consilience.report.page import report_payload
from written import write_fitted

from trust.sentences import LONGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 6))


def examine(path: Path) -> str:
    """Read a file in every way there is; "refused" or "accepted". What is not as promised raises an AssertionError."""
    outcomes = set()
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        for way in (_load,) if path.suffix == ".model" else (_aggregate, _labels, _posterior):
            with _refusals(path) as outcome:
                read = way(path)
                outcome.append("accepted")
            if outcome == ["accepted"]:
                _use(read)
            outcomes.update(outcome)
    return "accepted" if "accepted" in outcomes else "refused"


@contextmanager
def _refusals(path: Path) -> Iterator[list[str]]:
    outcome: list[str] = []
    try:
        yield outcome
    except cs.InvalidPredictions as error:
        message = str(error)
        assert path.name in message, f"the file is not named: {message}"
        assert "\n" not in message and len(message) <= LONGEST, f"more than a sentence: {message[:900]!r}"
        outcome.append("refused")
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}") from error


def _aggregate(path: Path) -> Any:
    return read_sources([str(path)]).predictions


def _labels(path: Path) -> Any:
    return read_labels(str(path)).labels


def _posterior(path: Path) -> Any:
    return read_posterior(str(path)).predictions


def _load(path: Path) -> Any:
    return cs.load(path)


def _use(read: Any) -> None:
    """What an accepted file is for: no surprise is left for later."""
    try:
        if isinstance(read, cs.Predictions):
            _use_predictions(read)
        elif hasattr(read, "predict_proba"):
            _use_model(read)
    except cs.InvalidPredictions:
        pass  # a posterior of few items, a model of other classes: said in words
    except Exception as error:
        raise AssertionError(f"accepted, then {type(error).__name__}: {error}") from error


def _use_predictions(predictions: cs.Predictions) -> None:
    if predictions.n_members * predictions.n_classes**2 > 10**6 or predictions.n_items > 10**5:
        return  # large, and true: nothing for a quick look
    fitted = cs.DawidSkene(max_iter=2, tol=None).fit(predictions)
    assert np.isfinite(fitted.posterior_).all(), "a posterior is not finite"
    report_payload(predictions, aggregator=fitted)
    with tempfile.TemporaryDirectory() as folder:
        fitted.save(Path(folder) / "m.npz")
        assert cs.load(Path(folder) / "m.npz").members_ == fitted.members_, "names of members are lost"
        write_fitted(Path(folder) / "out.csv", fitted)


def _use_model(model: Any) -> None:
    answer = model.predict_proba(cs.Predictions(BLOCK, members=model.members_, classes=model.classes_))
    assert np.isfinite(np.asarray(answer)).all(), "a posterior is not finite"
    np.testing.assert_allclose(np.asarray(answer).sum(axis=1), 1, atol=1e-6)
