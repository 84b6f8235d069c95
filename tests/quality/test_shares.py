"""What known class shares gain, against Consensus without them."""

import sys

import numpy as np

from benchmarks.quality import shares
from benchmarks.quality.panel import Panel, keep
from consilience.aggregators.consensus import class_shares


def rare(seed=0, n_items=600):
    """Two classes, one of them rare, which members take to be as frequent; they share some errors."""
    rng = np.random.default_rng(seed)
    truth = (np.arange(n_items) < n_items // 20).astype(int)
    shared = rng.normal(size=n_items)[:, None] * [0.5, -0.5]
    rows = np.exp(1.2 * np.eye(2)[truth] + shared + rng.normal(size=(4, n_items, 2)))
    return Panel(f"rare-{seed}", "tables", "as it is", truth, 2, probabilities=rows / rows.sum(axis=2, keepdims=True))


def test_true_shares_gain_where_a_class_is_rare():
    panel = rare()
    np.testing.assert_allclose(shares.true_shares(panel), [0.95, 0.05])
    found = shares.scored(panel, shares.true_shares(panel))
    accuracy, nll, brier = found.changes[shares.TRUE]
    assert accuracy > 0 and nll < np.log(0.9) and brier < np.log(0.9)
    counted = {f"counted on {n_items}" for n_items in shares.COUNTED}
    assert set(found.changes) == {shares.TRUE, shares.NOT_EVEN, *counted} and len(found.estimates) == 3


def test_even_is_given_where_classes_nearly_are():
    panel = rare()
    for true, is_even in (([0.5, 0.5], True), ([0.6, 0.4], True), ([0.65, 0.35], False), ([1, 0], False)):
        given = shares.given_for(panel, np.array(true))
        assert (shares.EVEN in given) == is_even and (shares.NOT_EVEN in given) == (not is_even)


def test_the_table_is_written(tmp_path, monkeypatch, capsys):
    for seed in range(2):
        keep(rare(seed), tmp_path / "panels")
    (tmp_path / "panels" / "index.json").write_text(
        '{"panels": {"rare-0": ["tables", "as it is"], "rare-1": ["tables", "as it is"]}}', encoding="utf-8"
    )
    monkeypatch.setattr(class_shares, "RIDGE", class_shares.RIDGE)  # the command changes them
    for name in ("SHARE_TOLERANCE", "COUNT_TOLERANCE", "EVEN_WORTH"):
        monkeypatch.setattr(class_shares, name, getattr(class_shares, name))
    monkeypatch.setattr(sys, "argv", ["shares", "--work-dir", str(tmp_path), "-o", str(tmp_path / "shares.txt")])
    shares.main()
    written = (tmp_path / "shares.txt").read_text(encoding="utf-8")
    assert written.strip() in capsys.readouterr().out
    assert "2 panels of the tuning side" in written and "counted on 20" in written and "tables" in written
