"""The report in a real browser; skipped where there is none."""

import os
import shutil

import numpy as np
import pytest

import consilience as cs
from consilience.report import write_report
from consilience.report.page import fingerprint

from simulate import softmax_members

playwright = pytest.importorskip("playwright.sync_api")
BROWSER = os.environ.get("CONSILIENCE_BROWSER") or shutil.which("chromium") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(BROWSER is None, reason="needs chromium")

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

    def opened(predictions, aggregator=None, labels=None, *, width=1280, height=800, dark=False, **options):
        path = write_report(tmp_path / "report.html", predictions, labels, aggregator=aggregator, **options)
        context = browser.new_context(
            viewport={"width": width, "height": height},
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


def test_the_first_screen_has_the_verdict(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1], title="Animals", height=900)
    assert page.title() == page.locator("h1").inner_text() == "Animals"
    assert page.locator(".facts").inner_text().startswith("5 members · 120 items · 4 classes · fused by DawidSkene")
    assert (
        page.locator(".sentence")
        .inner_text()
        .startswith("The fused answer is right less often than the plain average: ")
    )
    assert page.locator(".number-card").count() == 3
    for part in (".sentence", ".ranked", ".number-card >> nth=2"):  # all of it, without scrolling
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 900
    order = page.locator("main > section").evaluate_all("found => found.map((one) => one.id)")
    assert order == ["verdict", "members", "confusion", "calibration", "items", "suggestions"]


def test_members_are_ranked_beside_the_fused_answer_and_the_average(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1])
    who = page.locator(".ranking .who").all_inner_texts()
    assert who[:2] == ["Fused answer", "Plain average"] and sorted(who[2:]) == sorted(animals[0].members)
    shares = [float(text.split("%")[0]) for text in page.locator(".ranking .member .value").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    for row in page.locator(".ranking li.member, .ranking li.fused").all():
        level, whisker = row.locator(".level").bounding_box(), row.locator(".whisker").bounding_box()
        assert whisker["x"] <= level["x"] + level["width"] <= whisker["x"] + whisker["width"] + 2


def test_measured_and_estimated_bars_look_different_and_are_told_in_words(open_report, animals):
    looks = []
    for labels, word in ((None, "estimated without labels"), (animals[1], "measured with labels")):
        page = open_report(animals[0], cs.DawidSkene(), labels)
        assert page.locator(".key").inner_text().splitlines()[0] == word
        looks.append(page.locator(".member .level").first.evaluate("one => getComputedStyle(one).backgroundImage"))
        assert page.locator(".fused .level").count() == (labels is not None)  # its own belief is not drawn
    assert "repeating-linear-gradient" in looks[0] and looks[1] == "none"


def test_warnings_say_what_to_do(open_report):
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=300)
    labels = np.where(rng.random((9, 300)) < 0.85, truth, rng.integers(3, size=(9, 300)))
    labels[4:] = rng.integers(3, size=(5, 300))
    page = open_report(cs.Predictions.from_labels(labels, 3), most_items=5)
    box = page.get_by_label("Warnings")
    assert "What to do: Look at some of its answers" in box.inner_text()
    assert box.get_by_text("and 2 more of the kind").is_visible()


def test_known_labels_say_what_they_gained(open_report, animals):
    predictions, truth = animals
    known = [label if place < 40 else None for place, label in enumerate(truth)]
    page = open_report(predictions, labels=truth, known=known)
    box = page.get_by_label("What the known labels gained")
    assert "What the 40 known labels gained" in box.inner_text() and "of the 80 other answers" in box.inner_text()
    assert "measured only where it did not see the label" in page.locator(".key").inner_text()
    foot = page.locator("#foot").inner_text()
    assert "The method learned from 40 labels. Labels of 80 other items measured the answers." in foot


def test_the_foot_says_where_the_page_comes_from(open_report, animals):
    page = open_report(animals[0], command="consilience report <a>.npy")
    foot = page.locator("#foot").inner_text()
    assert "consilience report <a>.npy" in foot and "No label was used." in foot
    assert fingerprint(animals[0]) in foot and cs.__version__ in foot


def test_every_part_is_drawn(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1])
    assert page.locator("#confusion svg.heat").count() == 6  # all members together, and each
    assert page.locator("#calibration svg.reliability").count() == 7
    assert page.locator("#calibration .scores tbody tr").count() == 2
    assert page.locator("#members svg.heat").count() == 2


def test_no_word_needs_a_dictionary(open_report, animals):
    for labels in (None, animals[1]):
        words = open_report(animals[0], labels=labels).locator("body").inner_text().lower()
        for word in ("nats", "dissents", "takes over", "effective members", "known truths", "had been fitted"):
            assert word not in words


@pytest.fixture(scope="module")
def judges():
    """Thirty-six judges: four models under nine prompts each."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=80)
    labels = np.where(rng.random((36, 80)) < rng.uniform(0.55, 0.9, size=(36, 1)), truth, 1 - truth)
    names = [f"model-{letter}/prompt-{n} with a long name" for letter in "abcd" for n in range(9)]
    return cs.Predictions.from_labels(labels, members=names, classes=["first", "second"])


@pytest.mark.parametrize("width", [400, 1280])
def test_many_members_are_folded_grouped_and_found(open_report, judges, width):
    page = open_report(judges, most_items=10, width=width)
    shown = page.locator(".ranking .member:visible")
    assert shown.count() == 10
    page.get_by_role("button", name="Show the 26 between").click()
    assert shown.count() == 36
    page.get_by_role("button", name="Show fewer").first.click()
    assert shown.count() == 10
    rows = page.locator(".report-card tbody tr")
    assert rows.count() == 36
    page.get_by_label("Group").select_option(label="model-b")
    assert rows.count() == 9
    page.locator("#member-text").fill("prompt-3")
    page.keyboard.press("Enter")  # it filters already; nothing is sent
    assert rows.locator("th").all_inner_texts() == ["model-b/prompt-3 with a long name"]
    drawn = page.locator("#confusion figure:visible")
    assert drawn.count() == 6
    page.locator("#confusion-text").fill("model-c")
    assert drawn.count() == 10
    assert overflow(page) <= 0


def test_many_classes_have_lists_instead_of_matrices(open_report):
    array, truth = softmax_members(np.random.default_rng(0), [7, 6, 5], 300, 100)
    names = [f"class number {k}" for k in range(100)]
    page = open_report(cs.Predictions(array, classes=names), cs.Average(), [names[k] for k in truth], most_items=5)
    assert page.locator("#confusion svg.heat").count() == 0
    assert page.locator("table.worst tbody tr").count() == 20
    assert page.locator("#confusion figure .pairs").count() == 3
    assert "With 100 classes a matrix would be unreadable" in page.locator("#confusion").inner_text()


def test_a_worker_with_one_answer_has_an_interval_and_no_bar(open_report):
    labels = np.full((4, 60), -1)
    labels[:3] = np.random.default_rng(0).integers(2, size=60)
    labels[3, 0] = 1 - labels[0, 0]
    page = open_report(cs.Predictions.from_labels(labels, 2, members=["a", "b", "c", "once"]), most_items=5)
    row = page.locator(".ranking .member", has_text="once")
    assert row.locator(".level").count() == 0 and row.locator(".whisker").count() == 1
    assert " to " in row.locator(".value").inner_text()
    cell = page.locator(".report-card tbody tr", has_text="once").locator("td").first.inner_text()
    assert " to " in cell and "e-" not in cell


def test_coverage_overlap_and_conflict(open_report):
    labels = np.array([[0, 1, 1, 0], [0, 0, -1, -1], [-1, -1, -1, 0]])
    page = open_report(cs.Predictions.from_labels(labels, 2, members=["a", "b", "c"]), cs.MajorityVote())
    cells = page.locator(".report-card tbody tr", has=page.locator("th", has_text="b")).locator("td").all_inner_texts()
    assert cells[1].splitlines()[0] == "50%" and cells[2:4] == ["50%", "25%"]


def test_it_says_what_to_label(open_report, animals):
    predictions, truth = animals
    page = open_report(predictions)
    rows = page.locator("table.suggestions tbody tr")
    assert rows.locator("th").all_inner_texts() == [str(item) for item in cs.suggest(predictions, n=10).items]
    assert "members disagree: " in page.locator("table.suggestions").inner_text()
    page = open_report(predictions, labels=truth)
    assert "Every item has a label." in page.locator("#suggestions").inner_text()


def test_filters(open_report, animals):
    predictions, truth = animals
    page = open_report(predictions, cs.DawidSkene(), truth, most_items=120)
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
    page = open_report(animals[0], cs.DawidSkene(), animals[1], most_items=120)
    heading = page.locator("table.items thead th").first
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert names(page) == [str(n) for n in range(120)]  # 2 before 10
    heading.get_by_role("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"
    assert names(page)[0] == "119"

    page.get_by_role("button", name="Confidence of the fused answer").first.click()
    sure = [int(text.strip("<>%")) for text in page.locator("table.items tbody td:nth-child(3)").all_inner_texts()]
    assert sure == sorted(sure, reverse=True)

    page.locator(".report-card").get_by_role("button", name="Right").click()
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
    page.keyboard.press("Escape")
    assert page.evaluate(focused) == second


def odds(text):
    """Odds of a waterfall in numbers: `3.5 to 1`, `×2.0`, `÷4.0`."""
    if " to " in text:
        first, second = (float(part.replace(",", "")) for part in text.split(" to "))
        return first / second
    value = float(text[1:].replace(",", ""))
    return value if text[0] == "×" else 1 / value


def test_the_waterfall_leads_from_the_start_to_the_answer(open_report, animals):
    page = open_report(animals[0], cs.SoftDawidSkene())
    rows = page.locator(".waterfall li:not(.axis, .sides)")
    assert rows.count() == 7
    found = [odds(text) for text in rows.locator(".value").all_inner_texts()]
    assert np.prod(found[:-1]) == pytest.approx(found[-1], rel=0.3)  # the factors are shown with two digits
    spans = [box.bounding_box() for box in rows.locator(".step").all()]
    zero = spans[-1]["x"] + (0 if found[-1] > 1 else spans[-1]["width"])
    at = zero
    for factor, span in zip(found[:-1], spans[:-1], strict=True):
        left, right = span["x"], span["x"] + span["width"]
        start, end = (left, right) if factor > 1 else (right, left)
        assert start == pytest.approx(at, abs=2.5)  # each step begins where the last one ended
        at = end
    assert at == pytest.approx(spans[-1]["x"] + (spans[-1]["width"] if found[-1] > 1 else 0), abs=2.5)
    rows.nth(1).hover()
    assert "chance of" in page.locator("#tooltip").inner_text()


def test_class_shares_are_asked_for_and_then_a_step_of_the_waterfall(open_report):
    rng = np.random.default_rng(0)
    rows = np.exp(
        1.5 * np.eye(2)[np.arange(200) % 2] + rng.normal(size=(4, 200, 2)) + rng.normal(size=(200, 2)) + [1.5, 0]
    )
    predictions = cs.Predictions(rows, classes=["pass", "fail"], normalize=True)
    hint = open_report(predictions).locator("#verdict .hint")
    assert "--class-shares even" in hint.inner_text() and "of 200 answers would change" in hint.inner_text()
    page = open_report(predictions, class_shares=[60, 40])
    assert page.locator("#verdict .hint").count() == 0
    rows = page.locator(".waterfall li:not(.axis, .sides)")
    assert rows.count() == 7 and rows.nth(1).inner_text().startswith("Class shares")
    found = [odds(text) for text in rows.locator(".value").all_inner_texts()]
    assert np.prod(found[:-1]) == pytest.approx(found[-1], rel=0.3)


def test_a_waterfall_of_many_members_sums_up_the_rest(open_report, judges):
    page = open_report(judges, most_items=5)
    rows = page.locator(".waterfall li:not(.axis, .sides)")
    assert rows.count() == 13 and "26 other members" in rows.nth(11).inner_text()
    page.get_by_role("button", name="Show 30 members one by one").click()
    assert rows.count() == 33 and "6 other members" in rows.nth(31).inner_text()


def test_answers_to_look_at_again(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1])
    page.get_by_text("answers to look at again").first.click()
    rows = page.locator("table.doubtful tbody tr")
    assert 0 < rows.count() <= 50
    believed = [text.strip("<%") for text in rows.locator("td:nth-child(4)").all_inner_texts()]
    assert all(float(text) < 50 for text in believed)
    assert page.locator(".said .believed").count() == 6  # its heading, and a cell for each member


def test_confusion_cells_are_read_by_keyboard_and_pointer(open_report, animals):
    predictions, _ = animals
    ds = cs.DawidSkene().fit(predictions)
    page = open_report(predictions, ds)
    heat = page.locator("#confusion svg.heat").nth(1)
    heat.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    diagnosis = cs.diagnose(predictions, aggregator=ds)
    member = diagnosis.members["member"].index(page.locator("#confusion figcaption").nth(1).inner_text())
    expected = f"said fox for a true dog: {diagnosis.confusion[member, 1, 2]:.0%}"
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
    captions = page.locator("#confusion figcaption").all_inner_texts()[1:]
    assert set(HOSTILE[:3]) <= set(captions)
    assert overflow(page) <= 0
    page.get_by_label("Find").fill("🐈")
    assert 3 <= len(names(page)) <= 12


def test_a_crowd_of_labels_without_truths(open_report):
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(520, 50))
    labels[1:][rng.random((519, 50)) < 0.95] = -1
    page = open_report(
        cs.Predictions.from_labels(labels, 3, members=range(520)), cs.DawidSkene(max_iter=500), width=360
    )
    assert "Shown are 500 of 520 members" in page.locator("#members").inner_text()
    assert "Without labels nobody can say" in page.locator("#calibration").inner_text()
    assert page.get_by_label("wrong only").count() == 0
    assert overflow(page) <= 0


def test_it_prints(open_report, animals):
    page = open_report(animals[0], cs.DawidSkene(), animals[1], width=720)  # A4 within its margins
    page.emulate_media(media="print")
    assert overflow(page) <= 0
    assert page.locator(".filters").is_hidden()
    assert page.locator("#explanation .waterfall").is_visible() and page.locator(".sentence").is_visible()
    assert page.locator(".pill:visible").count() == 0
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Switch to dark colours").click()
    page.emulate_media(media="print", color_scheme="dark")
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert sum(int(part) for part in ink[4:-1].split(",")) < 200  # dark ink on white paper
    assert page.pdf()[:4] == b"%PDF"


def test_known_labels_are_not_denied(open_report, animals):
    predictions, truth = animals
    known = [name if place < 30 else None for place, name in enumerate(truth)]
    said = open_report(predictions, known=known).locator("#members").inner_text()
    assert "No labels were given" not in said
    assert "The best first" in said  # the known labels measure members


def test_whom_a_warning_is_about_is_marked_in_the_ranking(open_report):
    rng = np.random.default_rng(1)
    truth = (rng.random(300) < 0.86).astype(int)
    labels = np.where(rng.random((5, 300)) < 0.85, truth, 1 - truth)
    labels[4] = 1
    page = open_report(cs.Predictions.from_labels(labels, 2, members=[*"abcd", "always"]))
    assert page.locator(".ranking .flag").count() == 1
    assert page.locator(".ranking li", has=page.locator(".flag")).locator(".who").get_attribute("title") == "always"


def test_names_are_those_that_are_seen_and_regions_differ(open_report, animals):
    """Who speaks to the page, or listens to it, meets the words on it; what scrolls can be reached by keyboard."""
    page = open_report(animals[0], cs.DawidSkene(), animals[1])
    seen = page.locator("button[aria-label]:not(.theme)").evaluate_all(
        "found => found.map((one) => [one.getAttribute('aria-label'), one.innerText.trim()])"
    )
    assert seen and all(text in label for label, text in seen)
    regions = page.locator("section, [role=region]").evaluate_all(
        "found => found.map((one) => one.ariaLabel ?? document.getElementById(`${one.id}-heading`)?.innerText)"
    )
    assert None not in regions and len(set(regions)) == len(regions) > 6
    assert page.locator(".scroll.scores:not([tabindex])").count() == 0
