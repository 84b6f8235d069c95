"""The summary of a fit in plain values, for the screen and for JSON."""

from __future__ import annotations

from typing import Any

import numpy as np

from consilience.cli.screen import on_command_line
from consilience.data.labels import named
from consilience.data.predictions import Predictions
from consilience.insight.agreement import PanelAgreement
from consilience.insight.analysis import Analysis
from consilience.insight.explanation import Explanation
from consilience.insight.verdict import Change
from consilience.metrics.scores import evaluate
from consilience.system.arrays import FloatArray, IntArray

MOST_CHANGED, MOST_PAIRS = 10, 5
"""How many changed items are listed, and how many pairs of members that agree least, and most."""


def summarize(analysis: Analysis, posterior: FloatArray) -> dict[str, Any]:
    """Summarize members, pairs that agree least and most, items answered differently from the average, and scores.

    Items whose labels were given to the fit are neither listed nor scored, because their answers are those labels.
    """
    predictions, aggregator, diagnosis = analysis.predictions, analysis.method, analysis.diagnosis
    pairs = _pairs(diagnosis.agreement, diagnosis.beyond_chance.kappa, diagnosis.compared)
    warned = {member for warning in diagnosis.warned for member in warning.about}
    summary: dict[str, Any] = {
        "method": type(aggregator).__name__,
        "n_members": predictions.n_members,
        "n_items": predictions.n_items,
        "n_classes": predictions.n_classes,
        "converged": bool(aggregator.converged_) if getattr(aggregator, "tol", None) is not None else None,
        "iterations": aggregator.n_iter_,
        "agreement": coefficients(diagnosis.beyond_chance),
        "verdict": [on_command_line(sentence) for sentence in diagnosis.verdict.sentences()],
        "members": [
            {**row, "reliable on": _reliable(table, predictions.classes), "warned": member in warned}
            for member, (row, table) in enumerate(zip(diagnosis.members.rows(), diagnosis.confusion, strict=True))
        ],
        "answers": {
            name: {
                "estimated accuracy": found.value,
                "from": found.low,
                "to": found.high,
                **({"measured": found.is_measured} if (analysis.known >= 0).any() else {}),
            }
            for name, found in diagnosis.answers.items()
        },
        "disagreement": pairs[:MOST_PAIRS],
        "alike": pairs[::-1][:MOST_PAIRS],
        "confusions counted": diagnosis.counts_labels,
        "known labels": int(analysis.is_given.sum()),
        "repeated": _repeated(predictions),
        "changed": _changed(analysis, posterior),
        "warnings": [on_command_line(warning) for warning in diagnosis.warnings],
        "hint": None if diagnosis.hint is None else diagnosis.hint.sentence("--class-shares even"),
    }
    if (analysis.measurable >= 0).any():
        classes, ordered = predictions.classes, predictions.ordered
        truth, summary["scores"] = named(analysis.measurable, classes), {}
        for name, rows in ((summary["method"], posterior), ("Average", analysis.average)):
            found = evaluate(rows, truth, classes=classes, ordered=ordered, n_bootstrap=0)
            summary["scores"][name] = {metric: own.value for metric, own in found.items()}
    return summary


def gained(analysis: Analysis) -> dict[str, Any]:
    """What the known labels gained; empty if that cannot be estimated."""
    found = analysis.gain
    if found is None:
        return {}
    parts = {"before": found.before, "half": found.half, "after": found.after}
    return {"labels": {"sentence": found.sentence(), **parts}}


def _reliable(confusion: FloatArray, classes: list[Any]) -> str:
    """The two classes that a member recognizes best, and how often."""
    rates = np.nan_to_num(np.diagonal(confusion), nan=-1.0)
    best = [k for k in np.argsort(-rates, kind="stable")[:2] if rates[k] >= 0]
    return ", ".join(f"{classes[k]} {rates[k]:.0%}" for k in best)


def coefficients(found: PanelAgreement) -> dict[str, Any]:
    """The coefficients of agreement beyond chance, each with its interval."""
    by_name = {"krippendorff_alpha": found.alpha, "fleiss_kappa": found.fleiss_kappa, "gwet_ac1": found.ac1}
    if found.ordinal_alpha is not None:
        by_name["krippendorff_ordinal_alpha"] = found.ordinal_alpha
    return {
        **{name: estimate._asdict() for name, estimate in by_name.items()},
        "n_items": found.n_items,
        "sentence": found.sentence(),
    }


def _repeated(predictions: Predictions) -> dict[str, int]:
    """How many members answer items more than once, and how many items that happens to."""
    n_members, hard = predictions.n_members, predictions.hard
    numbered = [own.items * n_members + own.position for own in predictions.soft if own.items is not None]
    if hard is not None:
        numbered.append(hard.items * n_members + hard.members)
    if not numbered:
        return {"members": 0, "items": 0}
    pairs, times = np.unique(np.concatenate(numbered), return_counts=True)
    again = pairs[times > 1]
    return {"members": len(np.unique(again % n_members)), "items": len(np.unique(again // n_members))}


def _pairs(agreement: FloatArray, kappa: FloatArray, members: list[Any]) -> list[dict[str, Any]]:
    """The pairs of members, by agreement beyond chance: first those that agree least, last those that agree most."""
    return [
        {
            "members": [str(members[one]), str(members[other])],
            "agreement": float(agreement[one, other]),
            "kappa": float(kappa[one, other]),
        }
        for one, other in zip(*pairs_by_kappa(kappa, MOST_PAIRS), strict=True)
    ]


def pairs_by_kappa(kappa: FloatArray, most: int | None = None) -> tuple[IntArray, IntArray]:
    """The pairs of members, those first that agree least beyond chance; at most so many from either end."""
    first, second = np.triu_indices(len(kappa), 1)
    order = np.argsort(kappa[first, second], kind="stable")
    order = order[~np.isnan(kappa[first, second][order])]
    if most is not None and len(order) > 2 * most:
        order = np.concatenate([order[:most], order[-most:]])
    return first[order], second[order]


def _changed(analysis: Analysis, posterior: FloatArray) -> dict[str, Any]:
    """The items answered differently from the average, the surest answers first."""
    average, classes = analysis.average, analysis.predictions.classes
    chosen, plain = posterior.argmax(axis=1), average.argmax(axis=1)
    change = Change.of(chosen, average, analysis.measurable, analysis.is_given)
    places = np.flatnonzero(change.is_changed)
    surest = places[np.argsort(-posterior[places, chosen[places]], kind="stable")][:MOST_CHANGED]
    explanations = analysis.explanations(surest, [classes[plain[place]] for place in surest])
    listed = [
        {
            "item": why.item,
            "average": {"class": why.runner_up, "probability": float(average[place, plain[place]])},
            "consensus": {"class": classes[chosen[place]], "probability": float(posterior[place, chosen[place]])},
            "tipped by": _tipped(why),
        }
        for place, why in zip(surest, explanations, strict=True)
    ]
    share = change.n_changed / max(1, change.n_items)
    return {"count": change.n_changed, "share": share, "ties": change.n_ties, "surest": listed}


def _tipped(why: Explanation) -> dict[str, Any]:
    """What spoke most for the answer: a member, or the class shares, which have no member (None)."""
    member = int(np.argmax(why.by_member))
    if (before := why.prior + why.shares) > why.by_member[member]:
        return {"member": None, "log-odds": float(before)}
    return {"member": str(why.members[member]), "log-odds": float(why.by_member[member])}
