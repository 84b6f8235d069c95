"""Appendix C: who alone is right, and the story of one item."""

import numpy as np
import pytest

pytest.importorskip("torch")

import consilience as cs
from paper.catalog import example
from paper.catalog.run import Run
from paper.shifts import Condition


class Told:
    """A store with one condition, of which three members say what they say."""

    def __init__(self, array, labels):
        self.array, self._labels = array, labels

    def scale(self, _):
        return type("Scale", (), {"n_members": 3})

    def predictions(self, _, seeds):
        assert seeds == [0, 1, 2]
        return self.array

    def labels(self, _):
        return self._labels


@pytest.fixture
def told(rng, monkeypatch):
    """Two members take 3 for 2, so that what is learned answers some items otherwise than the average."""
    monkeypatch.setattr(example, "ANGLES", (60,))
    truth = rng.integers(4, size=400)
    said = np.stack([truth, *[np.where(truth == 3, 2, truth)] * 2])
    logits = 2.0 * np.eye(4)[said] + 1.5 * rng.normal(size=(3, 400, 4))
    array = cs.Predictions.from_logits(logits).to_array()
    return Run(Told(array, truth), ("mnist",), with_laplace=False)


def test_counts_are_of_items_that_one_answers_right_and_the_other_wrong(told):
    (cell,) = example.cells(told)
    found = cell.compute()
    array, truth = told.store.array, told.store.labels(None)
    soft = cs.SoftDawidSkene.paper("mnist").fit(array).posterior_.argmax(axis=1)
    average = array.mean(axis=0).argmax(axis=1)
    no_member = (array.argmax(axis=2) != truth).all(axis=0)
    alone = {
        "alone right": (soft == truth) & (average != truth),
        "average alone right": (average == truth) & (soft != truth),
    }
    assert alone["alone right"].sum() > 0 and set(found) == {"SDS (paper)", "SDS (ours)"}
    for name, is_so in alone.items():
        assert found["SDS (paper)"][name] == is_so.sum()
        assert found["SDS (paper)"][f"{name}, no member"] == (is_so & no_member).sum()


def test_the_story_is_of_an_item_that_sds_alone_answers_right(told, tmp_path):
    (path,) = example.write_example(told, tmp_path)
    text = path.read_text(encoding="utf-8")
    found = example._answers(told, example.Where(Condition("mnist", "rotation", 60), [0, 1, 2]), "SDS (paper)")
    item = int(text.split()[3])
    assert text.startswith(f"# Test image {item} of MNIST rotated by 60°: a {found.labels[item]}\n")
    assert found.alone(found.soft, found.average)[item]
    wrong = int(found.average[item].argmax())
    pure = cs.explain(cs.Predictions(found.array), item, against=wrong, aggregator=found.model.pure())
    mixed = cs.explain(cs.Predictions(found.array), item, against=wrong, aggregator=found.model)
    assert f"Eq. 3 alone: log-odds of {pure.winner} over {wrong} {pure.log_odds:+.2f} nats" in text
    assert f"The answer, mixed with the average: log-odds of {mixed.winner} over {wrong} {mixed.log_odds:+.2f}" in text
    assert len([line for line in text.splitlines() if line.startswith("| 2 |")]) == 3  # habits, and terms twice


def test_nothing_to_explain_is_said(monkeypatch, tmp_path):
    monkeypatch.setattr(example, "ANGLES", (60,))
    array = np.eye(3)[[[0, 1, 2]] * 3] * 0.9 + 0.1 / 3
    run = Run(Told(array, np.array([0, 1, 2])), ("mnist",), with_laplace=False)
    assert example.write_example(run, tmp_path) == []
    assert run.notes == ["No item is answered rightly by SDS and wrongly by EA: there is nothing to explain."]
    assert list(tmp_path.iterdir()) == []
