"""Every command, for panels in files of every layout and labels in files of every form."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from consilience.metrics.scores import METRICS

from doors.commands import read_answer, run
from doors.entrances import like_missing
from doors.layouts import LAYOUTS, can_be_written
from doors.panels import cases, panels
from doors.truths import FILES, are_counted, asked
from doors.uses import Uses, fitted, posterior, scores
from doors.verdict import TOLERANCE, Refused, assert_same_answer, assert_same_scores, text

TABLES = [name for name in LAYOUTS if name.startswith(("long", "wide", "mixed"))]
METHODS = {  # as in `uses.METHODS`
    "average": ["-m", "average"],
    "dawid-skene": ["-m", "dawid-skene", "--option", "max_iter=4", "--option", "tol=null"],
}


class Case:
    """A panel in files, in another order, and its labels in another file."""

    def __init__(self, data, folder, layout=None, form=None):
        self.layout = data.draw(st.sampled_from(list(LAYOUTS))) if layout is None else layout
        self.form = data.draw(st.sampled_from(list(FILES))) if form is None else form
        kind = data.draw(st.sampled_from(LAYOUTS[self.layout].kinds))
        self.panel = data.draw(panels((kind,)))
        assume(can_be_written(self.layout, self.panel))
        assume("" not in (*self.panel.members, *self.panel.classes))  # a cell is missing, a column an index
        assume(self.layout.endswith((".csv", ".tsv")) or like_missing(self.panel) is None)  # said to be missing
        self.loses_order = FILES[self.form].is_ordered and self.layout in TABLES
        assume(not (self.loses_order and are_counted(self.panel.items)))
        self.folder, self.shown, self.named = folder, self.panel.shuffled(), LAYOUTS[self.layout].named
        self.files = LAYOUTS[self.layout].write(self.shown, folder)

    def labels(self):
        return FILES[self.form].give(asked(self.shown, self.named, self.panel.rng), self.folder)

    def check_refusal(self, *, with_labels=True, is_written=False):
        """A refusal is right where names are odd, or where the labels cannot be told apart by name.

        A posterior that was written names its items, so that labels in order may be refused.
        """
        is_unsure = FILES[self.form].may_be_refused or self.loses_order
        is_unsure = is_unsure or (is_written and FILES[self.form].is_ordered)
        assert self.panel.may_be_refused or (with_labels and is_unsure)

    def check_answer(self, path, expected):
        answer = read_answer(path)
        items = answer.items if "items" in self.named else None
        classes = answer.classes if "classes" in self.named else None
        assert_same_answer(answer._replace(items=items, classes=classes), self.shown, self.panel, expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@cases
@given(data=st.data(), suffix=st.sampled_from([".npz", ".csv", ".parquet"]))
def test_aggregate(layout, data, suffix, tmp_path_factory):
    """And what it writes is read again as it was."""
    folder = tmp_path_factory.mktemp("aggregate")
    case, path = Case(data, folder, layout=layout), str(folder / f"posterior{suffix}")
    again = str(folder / "again.npz")
    try:
        run("aggregate", *case.files, *METHODS["dawid-skene"], "-o", path)
        case.check_answer(path, posterior("dawid-skene", case.panel))
        run("aggregate", path, *METHODS["average"], "-o", again)
        case.check_answer(again, posterior("dawid-skene", case.panel))
    except Refused:
        case.check_refusal(with_labels=False)


@pytest.mark.parametrize("form", FILES)
@cases
@given(data=st.data(), method=st.sampled_from(list(METHODS)))
def test_aggregate_known(form, data, method, tmp_path_factory):
    folder = tmp_path_factory.mktemp("known")
    case = Case(data, folder, form=form)
    try:
        run("aggregate", *case.files, *METHODS[method], "--known", case.labels(), "-o", str(folder / "posterior.npz"))
    except Refused:
        case.check_refusal()
        return
    case.check_answer(folder / "posterior.npz", posterior(method, case.panel, case.panel.known))


@pytest.mark.parametrize("form", FILES)
@cases
@given(data=st.data())
def test_aggregate_labels(form, data, tmp_path_factory):
    case = Case(data, tmp_path_factory.mktemp("labels"), form=form)
    try:
        printed = run("aggregate", *case.files, *METHODS["average"], "--labels", case.labels())
    except Refused:
        case.check_refusal()
        return
    assert_same_scores(printed["scores"]["Average"], scores("average", case.panel))


@pytest.mark.parametrize("form", FILES)
@cases
@given(data=st.data(), suffix=st.sampled_from([".npz", ".csv", ".parquet"]))
def test_evaluate(form, data, suffix, tmp_path_factory):
    """Of a posterior that `aggregate` wrote."""
    folder = tmp_path_factory.mktemp("evaluate")
    case, path = Case(data, folder, form=form), str(folder / f"posterior{suffix}")
    try:
        run("aggregate", *case.files, *METHODS["average"], "-o", path)
        printed = run("evaluate", path, "--labels", case.labels())
    except Refused:
        case.check_refusal(is_written=True)
        return
    found = {name: estimate["value"] for name, estimate in printed.items() if name in METRICS}
    assert_same_scores(found, scores("average", case.panel))


@pytest.mark.parametrize("form", FILES)
@cases
@given(data=st.data())
def test_compare(form, data, tmp_path_factory):
    case = Case(data, tmp_path_factory.mktemp("compare"), form=form)
    try:
        printed = run("compare", *case.files, "--labels", case.labels())
    except Refused:
        case.check_refusal()
        return
    assert_same_scores(next(row for row in printed if row["method"] == "Average"), scores("average", case.panel))


@pytest.mark.parametrize("form", FILES)
@cases
@given(data=st.data())
def test_suggest(form, data, tmp_path_factory):
    """Asked for more items than there are, it suggests all whose label is unknown; and reads again what it wrote."""
    folder = tmp_path_factory.mktemp("suggest")
    case, path = Case(data, folder, form=form), str(folder / "fill-in.csv")
    words = ["suggest", *case.files, *METHODS["average"], "-n", "1000"]
    uses = Uses(case.panel, case.shown, None, case.named)
    try:
        for known in (case.labels(), path):
            printed = run(*words, "--known", known, "-o", path)
            rows = [(row["item"], row["answer"], row["probability"]) for row in printed["suggestions"]]
            uses.assert_suggested(rows)
    except Refused:
        case.check_refusal()


@cases
@given(data=st.data())
def test_explain(data, tmp_path_factory):
    case = Case(data, tmp_path_factory.mktemp("explain"))
    place = data.draw(st.integers(0, len(case.panel.items) - 1))
    item = case.panel.items[place] if "items" in case.named else str(case.shown.items.index(case.panel.items[place]))
    try:
        printed = run("explain", *case.files, *METHODS["average"], f"--item={item}")
    except Refused:
        case.check_refusal(with_labels=False)
        return
    row = posterior("average", case.panel)[place]
    winner = printed["winner"] if "classes" in case.named else case.shown.classes[int(printed["winner"])]
    assert row[[text(name) for name in case.panel.classes].index(text(winner))] == pytest.approx(
        row.max(), abs=TOLERANCE
    )


@pytest.mark.parametrize("layout", [name for name in LAYOUTS if LAYOUTS[name].named == ("members", "items", "classes")])
@cases
@given(data=st.data())
def test_saved_model(layout, data, tmp_path_factory):
    """A model that was fitted to a panel in one layout answers the panel in another, by name."""
    folder = tmp_path_factory.mktemp("saved")
    case = Case(data, folder, layout=layout)
    kind = "hard" if case.panel.is_hard.all() else "mixed" if case.panel.is_hard.any() else "soft"
    others = [name for name, other in LAYOUTS.items() if other.named == case.named and kind in other.kinds]
    other = data.draw(st.sampled_from(others))
    assume(can_be_written(other, case.panel))
    model, path = str(folder / "model.npz"), folder / "posterior.npz"
    try:
        run("aggregate", *case.files, *METHODS["dawid-skene"], "--save", model)
        Path(folder / "again").mkdir()
        files = LAYOUTS[other].write(case.panel.shuffled(3), folder / "again")
        run("aggregate", *files, "--model", model, "-o", str(path))
    except Refused:
        # If members are called like the model's classes, their columns may be either.
        if not {*case.panel.classes} <= {*case.panel.members}:
            case.check_refusal(with_labels=False)
        return
    expected = fitted("dawid-skene", case.panel.predictions()).predict_proba(case.panel.predictions())
    case.check_answer(path, expected)
