"""An experiment from start to end on data made here; what is finished is not computed again."""

import gzip

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

import consilience as cs
from consilience.experiments import catalog
from consilience.experiments.members import Scale, get_member
from consilience.experiments.reproduce import reproduce
from consilience.experiments.results import Row, paper_rows, read_rows, summarized, write_rows
from consilience.experiments.shifts import Condition
from consilience.experiments.store import Store
from consilience.experiments.tables import blocks, latex, markdown, paper_tally, tally


@pytest.fixture
def store(tmp_path, monkeypatch):
    """Two classes of bars, upright and lying, as MNIST files; members are trained in this process."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "data" / "mnist"
    folder.mkdir(parents=True)
    for part, n_items in (("train", 96), ("t10k", 40)):
        labels = rng.integers(2, size=n_items).astype(np.uint8)
        images = rng.integers(60, size=(n_items, 28, 28)).astype(np.uint8)
        images[labels == 0, :, 12:16] = 255
        images[labels == 1, 12:16, :] = 255
        for kind, array in (("images-idx3", images), ("labels-idx1", labels)):
            data = b"\x00\x00\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()
            (folder / f"{part}-{kind}-ubyte.gz").write_bytes(gzip.compress(data))
    made = Store(tmp_path / "data", tmp_path / "work", Scale(1, None), None, with_laplace=False)

    def train_here(self, task, seeds):
        for seed in seeds:
            get_member(task, seed, self.data_dir, self.work_dir, self.scale)

    monkeypatch.setattr(Store, "train", train_here)
    monkeypatch.setattr(catalog, "ANGLES", (0, 90))
    return made


def test_from_members_to_tables(store, tmp_path):
    written = reproduce("mnist-rotation", store, tmp_path / "out", n_members=6)
    assert {path.suffix for path in written} == {".csv", ".md", ".tex", ".svg"}
    rows = read_rows(written[0])
    assert len(rows) == 2 * 2 * 8 * 6  # angles × ensembles × methods × metrics
    assert {row.scale for row in rows} == {"1 epochs, all test images"}
    accuracy = summarized(rows)["mnist", "rotation", 0.0, 3, "EA", "accuracy"]
    turned = summarized(rows)["mnist", "rotation", 90.0, 3, "EA", "accuracy"]
    assert accuracy.mean > 0.9 and turned.mean < 0.1  # bars that lie look upright then
    labels = store.labels(Condition("mnist"))
    array = store.predictions(Condition("mnist", "rotation", 0), [0, 1, 2])
    found = next(r.value for r in rows if (r.method, r.metric, r.severity, r.ensemble) == ("EA", "accuracy", 0, 0))
    assert found == pytest.approx(cs.metrics.accuracy(array.mean(axis=0), labels), abs=1e-6)


def test_a_run_that_is_killed_goes_on(store, tmp_path, monkeypatch):
    steps = []

    def kill(step):
        steps.append(step)
        if len(steps) == 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce("mnist-rotation", store, tmp_path / "out", n_members=3, on_step=kill)
    assert not (tmp_path / "out").exists() and not list(tmp_path.rglob("*.part"))
    reproduce("mnist-rotation", store, tmp_path / "out", n_members=3)
    first = (tmp_path / "out" / "mnist-rotation.csv").read_text()
    monkeypatch.setattr(catalog, "posterior", lambda *_: pytest.fail("a finished cell was computed again"))
    reproduce("mnist-rotation", store, tmp_path / "again", n_members=3)
    assert (tmp_path / "again" / "mnist-rotation.csv").read_text() == first


@pytest.mark.parametrize("name", ["online", "cost"])
def test_other_experiments(store, tmp_path, name):
    (path, *_) = reproduce(name, store, tmp_path / "out", n_members=3)
    rows = read_rows(path)
    assert rows and all(np.isfinite(row.value) for row in rows)


def test_bad_names(store, tmp_path):
    with pytest.raises(cs.InvalidPredictions, match="the experiment must be one of mnist-rotation"):
        reproduce("nope", store, tmp_path)
    with pytest.raises(cs.InvalidPredictions, match="an ensemble of 3 needs as many members; got 2"):
        reproduce("cost", store, tmp_path, n_members=2)


def rows_of(values):
    return [
        Row("x", "t", "s", severity, 3, ensemble, method, "nll", value, "tiny")
        for (method, severity, ensemble), value in values.items()
    ]


def test_tables_print_means_deviations_and_the_best(tmp_path):
    rows = rows_of({("EA", 1, 0): 1.0, ("EA", 1, 1): 3.0, ("SDS", 1, 0): 1.0, ("SDS", 1, 1): 2.0})
    (block,) = blocks(rows)
    assert (block.metric, block.columns, block.methods) == ("nll", ["1"], ["EA", "SDS"])
    assert "| SDS | **1.500** ± 0.707 |" in markdown("x", rows) and "| EA | 2.000 ± 1.414 |" in markdown("x", rows)
    assert r"SDS & \textbf{1.500} $\pm$ 0.707 \\" in latex(rows)
    write_rows(tmp_path / "r.csv", rows)
    assert sorted(read_rows(tmp_path / "r.csv")) == sorted(rows)


def test_wins_are_counted_over_all_cells():
    rows = rows_of(
        {("EA", s, 0): 1.0 for s in range(4)} | {("SDS", s, 0): v for s, v in enumerate((0.5, 1.0002, 2, 0.9))}
    )
    assert tally(rows, "SDS", "EA", "nll")[:3] == (2, 1, 1)
    assert tally(rows, "EA", "SDS", "nll")[:3] == (1, 1, 2)


def test_the_papers_numbers_are_there():
    assert len(paper_rows()) == 1248
    wins = paper_tally("imagenet-c", "SDS", "EA", "ece 300")
    assert sum(wins[:3]) == 75
