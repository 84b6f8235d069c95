"""The default method with class shares, and the hint of what even class shares would change."""

import numpy as np
import pytest

import consilience as cs
from consilience.insight import verdict
from consilience.insight.verdict import hint_of
from consilience.report.page import report_payload

from simulate import named


@pytest.fixture
def collapsed(rng):
    """Members who call half of one class the other, although both are as frequent."""
    truth = np.arange(400) % 2
    logits = 1.5 * np.eye(2)[truth] + rng.normal(size=(4, 400, 2)) + rng.normal(size=(400, 2)) + [1.5, 0]
    rows = np.exp(logits)
    return cs.Predictions(rows / rows.sum(axis=2, keepdims=True), classes=["often", "seldom"]), truth


def test_the_hint_counts_what_would_change(collapsed):
    predictions, _ = collapsed
    plain, even = (cs.Consensus(class_shares=given).fit(predictions) for given in (None, "even"))
    n_changed = int((plain.posterior_.argmax(axis=1) != even.posterior_.argmax(axis=1)).sum())
    hint = cs.diagnose(predictions).hint
    assert hint == (n_changed, 400, True) and n_changed >= 4
    sentence = f'say class_shares="even": {n_changed} of 400 answers would change'
    assert sentence in hint.sentence() and sentence in repr(cs.diagnose(predictions))
    assert repr(hint).replace("\n", " ") == hint.sentence() and max(map(len, repr(hint).splitlines())) <= 100


def test_of_many_items_some_are_counted(collapsed, monkeypatch):
    predictions, _ = collapsed
    exact = cs.diagnose(predictions).hint
    monkeypatch.setattr(verdict, "MOST_HINTED", 400)
    found = cs.diagnose(predictions).hint
    assert not found.is_exact and found.n_items == 400
    assert found.n_changed == pytest.approx(exact.n_changed, abs=20)
    assert f": about {found.n_changed} of 400 answers" in found.sentence()


def test_there_is_no_hint_where_nothing_is_gained_by_it(collapsed):
    predictions, truth = collapsed
    fused = cs.Consensus().fit(predictions)
    assert hint_of(cs.Consensus(class_shares=[0.5, 0.5]).fit(predictions), predictions, fused.posterior_) is None
    assert hint_of(cs.DawidSkene().fit(predictions), predictions, fused.posterior_) is None
    taught = cs.Consensus().fit(predictions, named(np.where(np.arange(400) < 50, truth, -1), predictions))
    assert hint_of(taught, predictions, fused.posterior_) is None
    for rows in (0.98 * np.eye(2)[np.arange(400) % 2] + 0.01, np.full((400, 2), 0.5)):  # sure and even, or tied
        same = cs.Predictions(np.stack([rows, rows]))
        fused = cs.Consensus().fit(same)
        assert hint_of(fused, same, fused.posterior_) is None


def test_the_report_and_the_summary_have_the_hint(collapsed):
    predictions, _ = collapsed
    with_hint, without = (
        report_payload(predictions, class_shares=given, most_items=3)["opening"]["hint"] for given in (None, "even")
    )
    assert "If the classes are about equally frequent, say" in with_hint and "--class-shares even" in with_hint
    assert without is None


def test_a_report_with_class_shares_has_them_as_a_step(collapsed):
    predictions, _ = collapsed
    for row in report_payload(predictions, class_shares=[70, 30], most_items=5)["items"]["rows"]:
        why = row["why"]
        total = why["prior"] + why["shares"] + why["others_weight"] + sum(part["weight"] for part in why["members"])
        assert why["shares"] != 0 and why["log_odds"] == pytest.approx(total, abs=0.005)


def test_class_shares_go_to_a_consensus_once(collapsed):
    predictions, _ = collapsed
    known, shares = cs.Consensus(class_shares="even"), [0.4, 0.6]
    for call in (
        lambda: report_payload(predictions, aggregator=known, class_shares=shares),
        lambda: cs.compare(predictions, aggregators=[known], class_shares=shares),
        lambda: cs.suggest(predictions, n=3, aggregator=cs.Average(), class_shares=shares),
    ):
        with pytest.raises(ValueError, match="class_shares .*; got both"):
            call()


def test_a_comparison_knows_the_class_shares(collapsed):
    predictions, _ = collapsed
    rows = {row["method"]: row for row in cs.compare(predictions, class_shares="even").rows()}
    (only,) = cs.compare(predictions, aggregators={"Consensus": cs.Consensus(class_shares="even")}).rows()
    for name in ("from", "to", "confidence"):
        assert rows["Consensus"][name] == pytest.approx(only[name])
    (average,) = cs.compare(predictions, aggregators={"Average": cs.Average()}, class_shares="even").rows()
    assert average["from"] == pytest.approx(rows["Average"]["from"])
