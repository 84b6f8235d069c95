"""Names that are formulas, markup, control characters or commands: text, wherever they are shown or written."""

import csv
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience.cli import main
from consilience.files import read_posterior
from consilience.files.writing import with_quote, without_quote
from written import write_fitted

BLOCK = np.random.default_rng(0).dirichlet(np.ones(4), size=(3, 4))
FORMULAS = [
    '=HYPERLINK("http://x")',
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "'=1",
    "''@x",
    "\uff1d1",
    "=",
    "'",
    "a=b",
]
CLASSES = ["=cmd|' /C calc'!A0", "+x", "@y", "plain"]
CONTROL = "cat\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe"


def fitted(items, classes=("a", "b", "c", "d")):
    rows = np.random.default_rng(1).dirichlet(np.ones(4), size=(3, len(items)))
    predictions = cs.Predictions(rows, members=["p", "q", "r"], items=items, classes=list(classes))
    return cs.Average().fit(predictions)


def test_no_cell_of_a_table_is_a_formula(tmp_path):
    aggregator = fitted(FORMULAS, CLASSES)
    write_fitted(tmp_path / "out.csv", aggregator, FORMULAS)
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert len(cells) == (len(FORMULAS) + 1) * 10
    assert not [cell for cell in cells if cell[:1] in set("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")]


def test_they_come_back_as_they_were(tmp_path):
    aggregator = fitted(FORMULAS, CLASSES)
    write_fitted(tmp_path / "out.csv", aggregator, FORMULAS)
    back = read_posterior(str(tmp_path / "out.csv")).predictions
    assert (back.items, back.classes) == (FORMULAS, CLASSES)
    np.testing.assert_allclose(back.to_array()[0], aggregator.posterior_, rtol=1e-15)


@given(st.text(alphabet="'=+-@\t\r\nab"))
def test_quoting_is_undone(text):
    assert without_quote(with_quote(text)) == text
    assert with_quote(text)[:1] not in set("=+-@\t\r\n") or text == ""


def test_numbers_are_numbers(tmp_path):
    aggregator = fitted([-3, -2, -1])
    write_fitted(tmp_path / "out.csv", aggregator, [-3, -2, -1])
    assert "'" not in (tmp_path / "out.csv").read_text(encoding="utf-8")
    assert read_posterior(str(tmp_path / "out.csv")).predictions.items == ["-3", "-2", "-1"]


# ---- the terminal -----------------------------------------------------------------------------------------


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).dirichlet(np.full(2, 0.4), size=(3, 30))
    named = {"items": [f"{CONTROL}{n}" for n in range(30)], "members": [CONTROL, ":smile:", "[red]x[/red]"]}
    np.savez("p.npz", p=rows, classes=np.array([CONTROL, "[bold]dog"]), **{k: np.array(v) for k, v in named.items()})

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["consilience", *words])
        with pytest.raises(SystemExit):
            main()
        printed = capsys.readouterr()
        return printed.out, printed.err

    return command


@pytest.mark.parametrize(
    "words",
    [
        ["aggregate", "p.npz"],
        ["aggregate", "p.npz", "--json"],
        ["compare", "p.npz"],
        ["explain", "p.npz", "--item", f"{CONTROL}3"],
        ["explain", "p.npz", "--item", CONTROL],
        ["aggregate", f"{CONTROL}.npz"],
        ["aggregate", f"p.npz:{CONTROL}"],
        ["aggregate", "p.npz", "--method", CONTROL],
    ],
    ids=range(8),
)
def test_terminals_are_shown_text_alone(run, words):
    out, err = run(*words)
    text = out + err
    assert text.strip()
    assert not [
        mark for mark in text if (ord(mark) < 32 and mark != "\n") or 127 <= ord(mark) < 160 or mark == "\u202e"
    ]


def test_markup_is_shown_as_it_is(run):
    out, _ = run("aggregate", "p.npz")
    assert ":smile:" in out and "[red]x[/red]" in out and "[bold]dog" in out


def test_json_holds_the_names_themselves(run):
    out, _ = run("aggregate", "p.npz", "--json")
    assert {row["member"] for row in json.loads(out)["members"]} == {CONTROL, ":smile:", "[red]x[/red]"}


# ---- figures and the page ---------------------------------------------------------------------------------


def test_figures_do_not_read_formulas(tmp_path):
    pytest.importorskip("matplotlib")
    names = ["$\\frac{$", "$5 to $10", "_hidden"]
    predictions = cs.Predictions(
        BLOCK[:, :, :3] / BLOCK[:, :, :3].sum(axis=2, keepdims=True), members=names, classes=names
    )
    fitted = cs.DawidSkene(max_iter=3, tol=None).fit(predictions)
    cs.plots.plot_confusion(fitted).savefig(tmp_path / "confusion.svg")
    posteriors = dict.fromkeys(names, fitted.posterior_)
    ax = cs.plots.plot_reliability(posteriors, [0, 1, 2, 0])
    ax.figure.savefig(tmp_path / "reliability.svg")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == names


MARKUP = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"'`&lt; 🐈</title>",
    "javascript:alert(3)",
]


def test_a_page_made_of_a_hostile_file(tmp_path, monkeypatch):
    """The whole way from a file to a browser: nothing runs, nothing is asked for, names are shown as they are."""
    playwright = pytest.importorskip("playwright.sync_api")
    browser_path = os.environ.get("CONSILIENCE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
    if browser_path is None:
        pytest.skip("needs chromium")
    monkeypatch.chdir(tmp_path)
    with Path("crowd.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "member", "label"])
        writer.writerows(
            [f"{MARKUP[n % 4]}{n}", MARKUP[m], MARKUP[(n + (m == n % 5)) % 4]] for n in range(12) for m in range(4)
        )
    monkeypatch.setattr(sys, "argv", ["consilience", "report", "crowd.csv", "-o", "page.html"])
    with pytest.raises(SystemExit, match="0"):
        main()
    heard = []
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_context(offline=True).new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        page.on(
            "request", lambda request: None if request.url.startswith(("file:", "data:")) else heard.append(request.url)
        )
        page.goto((tmp_path / "page.html").as_uri())
        together, *names = page.locator("#confusion figcaption").all_inner_texts()
        assert together == "All members together" and sorted(names) == sorted(MARKUP)
        assert page.locator("img, iframe, object, main script").count() == 0
        assert page.locator("a[href^='javascript']").count() == 0
        browser.close()
    assert heard == []
