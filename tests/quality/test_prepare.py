import numpy as np
import pytest

from benchmarks.quality import prepare as module
from benchmarks.quality.panel import read
from benchmarks.quality.prepare import (
    MOST_PANELS,
    chosen,
    evenly,
    fingerprint,
    kept,
    prepare_generated,
    sources_at,
)
from benchmarks.quality.sources.ensembles import DATA
from panels_of_quality import soft


def test_panels_are_made_once_for_each_state(tmp_path):
    asked = []

    def panels(*names):
        for name in names:
            asked.append(name)
            yield soft(name=name, family=f"of {name}", n_items=20)

    first = kept(panels("b", "a"), tmp_path, "one")
    again = kept(panels("b", "a"), tmp_path, "one")
    assert first == again and asked == ["b", "a"]
    assert [(entry.path.stem, entry.family, entry.kind) for entry in first] == [
        ("a", "of a", "as it is"),
        ("b", "of b", "as it is"),
    ]
    other = kept(panels("c"), tmp_path, "two")
    assert asked == ["b", "a", "c"]
    assert [path.stem for path in tmp_path.glob("*.npz")] == [entry.path.stem for entry in other] == ["c"]


def test_panels_that_a_kill_left_are_made_again(tmp_path):
    def dying():
        yield soft(name="a", n_items=20)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept(dying(), tmp_path, "one")
    assert [entry.path.stem for entry in kept(iter([soft(name="b", n_items=20)]), tmp_path, "one")] == ["b"]


def test_another_code_has_another_fingerprint(tmp_path):
    (tmp_path / "code.py").write_text("a = 1")
    before = fingerprint([tmp_path], "mnist")
    assert before == fingerprint([tmp_path], "mnist") != fingerprint([tmp_path], "cifar10")
    (tmp_path / "code.py").write_text("a = 2")
    assert fingerprint([tmp_path], "mnist") != before


def test_of_large_families_some_panels_are_kept_evenly():
    assert evenly(list(range(10)), 4) == [0, 2, 5, 7]
    assert evenly([1, 2], 4) == [1, 2]
    panels = [soft(name=str(n), family="large", n_items=20) for n in range(30)]
    panels += [soft(name="alone", family="small", n_items=20)]
    names = [panel.name for panel in chosen(panels)]
    assert len(names) == MOST_PANELS + 1 and names[0] == "0" and names[-1] == "alone"


def test_what_cannot_be_had_is_left_out_with_a_sentence(tmp_path, monkeypatch):
    def refuse(name, folder):
        raise ConnectionError(f"{name} is not in {folder}")

    monkeypatch.setattr(module, "fetch", refuse)
    sources = sources_at(tmp_path / "data", tmp_path / "nowhere")
    assert sources.data == () and sources.shared_dir is None
    assert len(sources.left_out) == 1 + len(DATA)
    assert all(sentence.endswith(".") for sentence in sources.left_out)


def test_foreign_images_come_from_the_shared_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "fetch", lambda *_: None)
    (tmp_path / "shared" / "notmnist").mkdir(parents=True)
    (tmp_path / "shared" / "notmnist" / "images").write_text("letters")
    sources = sources_at(tmp_path / "data", tmp_path / "shared")
    assert sources.data == (*DATA, "notmnist") and not sources.left_out
    assert (tmp_path / "data" / "notmnist" / "images").read_text() == "letters"


def test_generated_panels_are_spread_evenly_over_kinds(tmp_path):
    entries = prepare_generated(14, tmp_path, lambda _: None)
    families = [entry.family for entry in entries]
    assert len(entries) == 14 and {families.count(family) for family in families} == {1}
    panel = read(entries[0].path)
    assert panel.family.startswith("generated ") and not np.isnan(panel.truth).any()
    some = prepare_generated(6, tmp_path, lambda _: None, ["shifted", "crowd"])
    assert [entry.family for entry in some] == ["generated crowd"] * 3 + ["generated shifted"] * 3
    assert all(entry.path.exists() for entry in some)
