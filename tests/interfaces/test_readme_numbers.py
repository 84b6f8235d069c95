"""The README's table of gains and losses says what the results files say."""

import re
from pathlib import Path

import pytest

from docs import printed

ROOT = Path(__file__).parents[2]
FAMILIES = {
    "language models in examinations": "examinations",
    "crowd workers": "crowds",
    "networks on Fashion-MNIST": "fashion-mnist",
    "word lists and classifiers of profanity": "profanity",
}


def number(text):
    return float(text.strip("* ").replace(printed.MINUS, "-").split(" ")[0])


@pytest.fixture(scope="module")
def table():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    start = lines.index("| family of panels | panels | accuracy, points | NLL × |") + 2
    cells = [line.strip("| ").split(" | ") for line in lines[start : start + len(FAMILIES) + 1]]
    return {re.sub(r" \(.*", "", row[0]): row for row in cells}


@pytest.mark.parametrize("name", FAMILIES)
def test_families(table, name):
    _, panels, points, nll = table[name]
    found = printed.row("held-out.txt", "consensus by family, all kinds", FAMILIES[name])
    assert int(panels) == int(found["panels"])
    assert abs(number(points) - float(found["accuracy"])) <= 0.0501
    assert abs(number(nll) - float(found["nll"])) <= 0.00501
    assert points.startswith("**") == (float(found["accuracy"]) < 0)


def test_all_families(table):
    name, panels, points, nll = table["*all seven families*"]
    found = printed.row("held-out.txt", "all kinds", "consensus")
    won, lost = found["won : lost"].split(" : ")
    assert int(panels) == int(found["panels"]) and f"won {won}, lost {lost}" in name
    assert printed.short(found["worst"]) in name and printed.short(found["95 %"]) in points
    assert abs(number(points) - float(found["points"])) <= 0.0501
    assert abs(number(nll) - float(found["NLL ×"])) <= 0.00501
