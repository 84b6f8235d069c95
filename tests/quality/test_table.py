import json

import numpy as np
import pytest

from benchmarks.quality.methods import PEERS, YARDSTICK
from benchmarks.quality.table import (
    AS_VOTES,
    TWO_CLASSES,
    against_averaging,
    beside,
    by_family,
    by_kind,
    contest,
    gathered,
    left_out,
    slices,
    text,
    write_json,
)

A_PEER = next(iter(PEERS))


def row(panel, method, accuracy, nll, *, family="judges", kind="as it is", classes=3, votes=False):
    base = panel.partition("~")[0]
    words = {"panel": panel, "base": base, "family": family, "kind": kind, "method": method}
    words |= {"classes": classes, "votes": votes, "seconds": 0.5}
    return words | {"accuracy": accuracy, "nll": nll, "brier": 0.3, "ece debiased": 0.05, "auroc": np.nan}


def both(panel, average, other, **words):
    """Rows of averaging and of `mine`: accuracy and NLL of each."""
    return [row(panel, YARDSTICK, *average, **words), row(panel, "mine", *other, **words)]


ROWS = [
    *both("a", (0.80, 0.98), (0.84, 0.48)),  # +4 points, half the NLL (.02 is added to both)
    *both("b", (0.80, 0.48), (0.80, 0.48)),
    *both("c", (0.50, 0.98), (0.49, 1.98), family="sounds", classes=2),  # -1 point, twice the NLL
]


def test_families_count_the_same_and_ratios_are_geometric_means():
    scores = gathered(ROWS)
    points = contest(scores, "mine", "accuracy")
    assert points.by_family == pytest.approx({"judges": 2, "sounds": -1})
    assert points.value == pytest.approx(0.5)
    assert (points.n_panels, points.won, points.lost) == (3, 1, 1)
    assert points.worst == pytest.approx(-1) and points.where == "c"
    loss = contest(scores, "mine", "nll")
    assert loss.by_family == pytest.approx({"judges": np.sqrt(0.5), "sounds": 2})
    assert loss.value == pytest.approx(np.sqrt(np.sqrt(0.5) * 2))
    assert (loss.won, loss.lost, loss.where) == (1, 1, "c") and loss.worst == pytest.approx(2)


def test_over_all_kinds_a_family_is_the_mean_of_its_kinds():
    more = [*ROWS, *both("a~rare~0", (0.8, 0.98), (0.7, 0.98), kind="rare")]
    assert contest(gathered(more), "mine", "accuracy").by_family["judges"] == pytest.approx((2 - 10) / 2)


def test_draws_of_a_panel_and_kind_are_one_panel():
    rows = [
        *both("a~rare~0", (0.8, 0.98), (0.9, 0.98), kind="rare"),
        *both("a~rare~1", (0.8, 0.98), (0.6, 0.98), kind="rare"),
    ]
    found = contest(gathered(rows), "mine", "accuracy")
    assert found.n_panels == 1 and found.value == pytest.approx(-5)


def test_a_method_is_compared_on_the_draws_that_it_ran_on():
    rows = [
        row("a~rare~0", YARDSTICK, 0.8, 1, kind="rare"),
        row("a~rare~1", YARDSTICK, 0.4, 1, kind="rare"),
        row("a~rare~0", A_PEER, 0.9, 1, kind="rare"),
        row("a~rare~1", A_PEER, 0, 0, kind="rare") | {"left out": "takes more than 20 s"},
    ]
    found = contest(gathered(rows), A_PEER, "accuracy")
    assert found.value == pytest.approx(10)
    table = left_out(rows)
    assert table["method"] == [A_PEER] and table["run on"] == [1]
    assert table["left out of"] == ["1 (takes more than 20 s)"]


def test_intervals_hold_the_mean_and_are_of_families():
    rng = np.random.default_rng(0)
    rows = []
    for place in range(40):
        gain = rng.normal(1, 2) / 100
        rows += both(f"p{place}", (0.5, 1), (0.5 + gain, 1), family=f"f{place % 8}")
    found = contest(gathered(rows), "mine", "accuracy")
    assert found.low < found.value < found.high
    means = np.array(list(found.by_family.values()))
    error = means.std() / np.sqrt(len(means))
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_a_method_that_is_averaging_gains_nothing():
    rows = [one | {"method": "same"} for one in ROWS if one["method"] == YARDSTICK] + ROWS
    for metric, nothing in (("accuracy", 0), ("nll", 1), ("brier", 1)):
        found = contest(gathered(rows), "same", metric)
        assert (found.value, found.low, found.high, found.worst) == pytest.approx((nothing,) * 4)
        assert (found.won, found.lost) == (0, 0)
    assert contest(gathered(rows), "same", "auroc") is None
    assert contest(gathered(rows), "unknown", "accuracy") is None


def test_slices_are_kinds_and_some_panels_as_they_are():
    rows = [
        *ROWS,
        *both("d", (0.5, 1), (0.5, 1), votes=True),
        *both("c~rare~0", (0.5, 1), (0.5, 1), kind="rare", classes=2, family="sounds"),
        *both("crowd 3", (0.5, 1), (0.5, 1), family="generated crowd"),
    ]
    found = {name: sorted(cell.name for cell in cells) for name, cells in slices(gathered(rows)).items()}
    assert found[TWO_CLASSES] == ["c"] and found[AS_VOTES] == ["d"] and found["rare"] == ["c, rare"]
    assert found["generated crowd"] == ["crowd 3"] and len(found["all kinds"]) == 6
    assert "uneven" not in found


def test_tables_have_a_row_for_each_method_and_peers_have_consensus_beside_them():
    rows = [*ROWS, *(row(name, "consensus", 0.9, 0.5) for name in "ab"), row("a", A_PEER, 0.7, 2)]
    rows += [row("c", "consensus", 0.1, 9, family="sounds", classes=2)]
    scores = gathered(rows)
    assert against_averaging(scores, list(scores))["method"] == ["consensus", "mine", A_PEER]
    assert against_averaging(scores, list(scores))["panels"] == [3, 3, 1]
    table = beside(rows, "consensus")
    assert table["peer"] == [A_PEER] and table["points"] == ["-10.00"] and table["consensus: points"] == ["+10.00"]
    assert by_family(scores, "consensus")["accuracy"] == ["+10.00", "-40.00"]
    shown = text(rows, "tuning")
    for words in ("3 panels of 2 families (tuning): judges, sounds", "two classes", "peers, and consensus", "-40.00"):
        assert words in shown


def test_consensus_beside_a_peer_is_of_the_same_draws():
    names = [(f"a~rare~{draw}", method) for draw in (0, 1) for method in (YARDSTICK, "consensus", A_PEER)]
    rows = [row(*name, 0.5 + 0.1 * name[0].endswith("1") * (name[1] == "consensus"), 1, kind="rare") for name in names]
    assert beside(rows, "consensus")["consensus: points"] == ["+5.00"]
    assert beside(rows[:-1], "consensus")["consensus: points"] == ["+0.00"]  # the peer ran on the first draw alone


def test_what_is_written_is_json_without_nan(tmp_path):
    write_json(ROWS, tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert found["metrics"][0] == "accuracy"
    assert {one["metric"] for one in found["against averaging"]} == {"accuracy", "nll", "brier", "ece debiased"}
    (first, *_) = found["panels"]
    assert first["base"] == "a" and first["scores"]["mine"] == [0.84, 0.48, 0.3, 0.05, None]


BESIDE = [
    *both("shifted 1", (0.5, 0.98), (0.6, 0.48), family="generated shifted"),
    *both("shifted 2", (0.5, 0.98), (0.4, 0.48), family="generated shifted"),
    *both("dominated 1", (0.5, 0.98), (0.4, 0.98), family="generated dominated"),
]


def test_generated_kinds_have_a_table_of_their_own(tmp_path):
    table = by_kind(gathered(BESIDE))
    assert table["kind"] == ["dominated", "shifted"] and table["method"] == ["mine", "mine"]
    assert table["points"] == ["-10.00", "+0.00"] and table["worst"] == ["-10.0", "-10.0"]
    assert table["NLL ×"] == ["1.000", "0.500"] and table["panels"] == [1, 2]
    without, shown = text(ROWS, "tuning"), text(ROWS, "tuning", BESIDE)
    assert "generated kinds" not in without and without == shown.partition("\n\ngenerated kinds\n")[0]
    write_json(ROWS, tmp_path / "alone.json")
    write_json(ROWS, tmp_path / "found.json", BESIDE)
    alone, found = (json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8")) for name in ("alone", "found"))
    assert {one["panels of"] for one in found.pop("generated kinds")} == {"generated dominated", "generated shifted"}
    assert found == alone


def test_the_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.quality.figure import draw

    draw(gathered(ROWS), "mine", tmp_path / "found.svg")
    drawn = (tmp_path / "found.svg").read_text(encoding="utf-8")
    assert drawn.count("<use") > 6 and "Date" not in drawn
