"""The report in a real browser; skipped where there is none."""

import os
import shutil

import numpy as np
import pytest

import consilience as cs
from consilience.report import write_report

from simulate import softmax_members

playwright = pytest.importorskip("playwright.sync_api")
BROWSER = os.environ.get("CONSILIENCE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs chromium")

MINUS = "\N{MINUS SIGN}"
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"'` & 🐈 </title>",
    "very long " * 600,
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_report(browser, tmp_path):
    """Writes a report and opens it; the page must neither complain nor ask for anything."""
    heard, pages = [], []

    def opened(predictions, aggregator=None, labels=None, *, width=1280, dark=False, **options):
        path = write_report(tmp_path / "report.html", predictions, aggregator, labels, **options)
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            offline=True,
        )
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: (heard.append(dialog.message), dialog.dismiss()))
        page.on(
            "request", lambda request: None if request.url.startswith(("file:", "data:")) else heard.append(request.url)
        )
        page.goto(path.as_uri())
        pages.append(context)
        return page

    yield opened
    for context in pages:
        context.close()
    assert heard == []


@pytest.fixture(scope="module")
def animals():
    array, truth = softmax_members(np.random.default_rng(3), [3, 2, 1, 1, 0.5], 120, 4)
    classes = ["cat", "dog", "fox", "owl"]
    predictions = cs.Predictions(array, members=["vit", "cnn", "mlp", "knn", "tree"], classes=classes)
    return predictions, [classes[label] for label in truth]


def names(page):
    return page.locator("table.items tbody tr th").all_inner_texts()


def overflow(page):
    return page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


def test_it_shows_what_was_fused(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1], title="Animals")
    assert page.title() == page.locator("h1").inner_text() == "Animals"
    assert page.locator(".facts").inner_text().split()[:6] == ["members", "5", "items", "120", "classes", "4"]
    assert page.locator("#confusion svg.heat").count() == 5
    assert page.locator("#calibration svg.reliability").count() == 7
    assert page.locator("#agreement svg.heat").count() == 2
    assert "Accuracy" in page.locator(".tiles").inner_text()


def test_it_says_what_to_label(open_report, animals):
    predictions, truth = animals
    page = open_report(predictions)
    rows = page.locator("table.suggestions tbody tr")
    assert rows.locator("th").all_inner_texts() == [str(item) for item in cs.suggest(predictions, 10).items]
    assert "members disagree: " in page.locator("table.suggestions").inner_text()
    page = open_report(predictions, labels=truth)
    assert "The truth of every item is known." in page.locator("#suggestions").inner_text()


def test_filters(open_report, animals):
    predictions, truth = animals
    page = open_report(predictions, cs.DawidSkene(), truth)
    consensus = cs.DawidSkene().fit(predictions).predict_proba(predictions).argmax(axis=1)
    answers = np.array(predictions.classes)[consensus]
    average = cs.Average().fit(predictions).posterior_.argmax(axis=1)
    assert len(names(page)) == 120

    page.get_by_label("changed only").check()
    assert set(names(page)) == {str(i) for i in np.flatnonzero(consensus != average)}
    page.get_by_label("wrong only").check()
    both = {str(i) for i in np.flatnonzero((consensus != average) & (answers != truth))}
    assert set(names(page)) == both
    page.get_by_label("changed only").uncheck()
    page.get_by_label("wrong only").uncheck()

    page.get_by_label("Answered").select_option(label="owl")
    assert set(names(page)) == {str(i) for i in np.flatnonzero(consensus == 3)}
    page.get_by_label("Find").fill("no such animal")
    assert names(page) == []
    assert page.get_by_text("No item passes these filters.").is_visible()
    assert page.locator(".found").inner_text() == "0 of 120 items"


def test_sorting_by_any_column(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1])
    heading = page.locator("table.items thead th").first
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert names(page) == [str(n) for n in range(120)]  # 2 before 10
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert names(page)[0] == "119"

    page.get_by_role("button", name="Confidence of the consensus").click()
    sure = [
        int(text.split()[0].lstrip("<")) for text in page.locator("table.items tbody td:nth-child(3)").all_inner_texts()
    ]
    assert sure == sorted(sure, reverse=True)

    page.locator(".report-card").get_by_role("button", name="Estimated accuracy").click()
    assert page.locator(".report-card tbody th").first.inner_text() == "vit"


def test_an_item_is_explained_by_keyboard(open_report, animals):
    page = open_report(animals[0], cs.SoftDawidSkene())
    first, second = names(page)[:2]
    panel = page.get_by_role("region", name="Explanation of the selected item")
    assert panel.get_by_role("heading").first.inner_text() == f"Item {first}"
    page.locator("#filter-changed").focus()
    page.keyboard.press("Tab")
    for _ in page.locator("table.items thead button").all():
        page.keyboard.press("Tab")
    focused = "document.activeElement.querySelector('th')?.innerText ?? document.activeElement.className"
    for _ in range(3):  # some browsers let the scrolling box itself take the focus first
        if page.evaluate(focused) == first:
            break
        page.keyboard.press("Tab")
    assert page.evaluate(focused) == first
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == second
    page.keyboard.press("Enter")
    assert panel.get_by_role("heading").first.inner_text() == f"Item {second}"
    assert page.evaluate("document.activeElement.id") == "explanation"
    assert page.locator("tr[aria-selected=true] th").inner_text() == second
    parts = [float(text.replace(MINUS, "-")) for text in panel.locator(".evidence tbody .number").all_inner_texts()]
    total = float(panel.locator(".evidence tfoot .number").inner_text().replace(MINUS, "-"))
    assert sum(parts) == pytest.approx(total, abs=0.005 * (len(parts) + 1))
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == second


def test_confusion_cells_are_read_by_keyboard_and_pointer(open_report, animals):
    predictions, _ = animals
    ds = cs.DawidSkene().fit(predictions)
    page = open_report(predictions, ds)
    heat = page.locator("#confusion svg.heat").first
    heat.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    diagnosis = cs.diagnose(predictions, ds)
    member = diagnosis.members["member"].index(page.locator("#confusion figcaption").first.inner_text())
    expected = f"said fox for a true dog: {diagnosis.confusion[member, 1, 2]:.0%}".replace("%", " %")
    assert page.locator("#spoken").inner_text() == page.locator("#tooltip").inner_text() == expected
    page.keyboard.press("Escape")
    assert page.locator("#tooltip").is_hidden()
    heat.locator("rect.cell").nth(4 * 2 + 1).hover()
    assert page.locator("#tooltip").inner_text().startswith("said dog for a true fox: ")


def test_dark_and_light(open_report, animals):
    page = open_report(animals[0], cs.Average())

    def lightness():
        color = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in color[4:-1].split(",")) / 3

    assert lightness() > 200
    page.get_by_role("button", name="Switch to dark colours").click()
    assert lightness() < 60
    page.get_by_role("button", name="Switch to light colours").click()
    assert lightness() > 200
    page.emulate_media(color_scheme="dark")
    assert lightness() > 200  # the reader chose
    assert "rgb(16, 20, 24)" in open_report(animals[0], cs.Average(), dark=True).evaluate(
        "getComputedStyle(document.body).backgroundColor"
    )


def test_a_phone_does_not_scroll_sideways(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1], width=360)
    assert overflow(page) <= 0
    page.locator("table.items tbody tr").nth(3).click()
    panel = page.locator("#explanation")
    assert 0 <= panel.bounding_box()["y"] < 400
    assert overflow(page) <= 0
    page.get_by_role("button", name="Back to the list").click()
    assert page.evaluate("document.activeElement.tagName") == "TR"


@pytest.mark.parametrize("width", [360, 1280])
def test_hostile_names_are_but_text(open_report, width):
    array, truth = softmax_members(np.random.default_rng(0), [2, 1, 1, 1], 12, 4)
    items = [f"{name}{n}" for name in HOSTILE for n in range(3)]
    predictions = cs.Predictions(array, members=HOSTILE, classes=HOSTILE, items=items)
    labels = [HOSTILE[label] for label in truth]
    page = open_report(predictions, labels=labels, width=width, title=HOSTILE[1] + HOSTILE[2])
    assert page.title() == HOSTILE[1] + HOSTILE[2]
    assert page.locator("img, main script, iframe").count() == 0
    assert page.locator("#confusion figcaption").all_inner_texts()[:2] == HOSTILE[:2]
    assert overflow(page) <= 0
    page.get_by_label("Find").fill("🐈")
    assert 3 <= len(names(page)) <= 12


def test_a_crowd_of_labels_without_truths(open_report):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(80, 50))
    labels[1:][rng.random((79, 50)) < 0.8] = -1
    page = open_report(cs.Predictions.from_labels(labels, 3), cs.DawidSkene(max_iter=500), width=360)
    assert "Shown are 60 of 80 members" in page.locator("#members").inner_text()
    assert "No labels were given" in page.locator("#calibration").inner_text()
    assert page.get_by_label("wrong only").count() == 0
    assert overflow(page) <= 0


def test_it_prints(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1])
    page.emulate_media(media="print")
    assert page.locator(".filters").is_hidden()
    assert page.locator("#explanation .evidence").is_visible()
    assert page.pdf()[:4] == b"%PDF"
