"""What the fuzzer found once stays as it was put right, and it still finds nothing in some seconds."""

import sys
from pathlib import Path

import pytest

from trust.oracle import examine
from trust.seeds import seeds

CORPUS = sorted(path for path in (Path(__file__).parent / "corpus").iterdir())


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_what_was_found(path):
    assert examine(path) in ("refused", "accepted")


@pytest.mark.parametrize("name", seeds())
def test_the_files_that_are_damaged_are_good(name, tmp_path):
    (tmp_path / name).write_bytes(seeds()[name])
    assert examine(tmp_path / name) == "accepted"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="bounds on memory are Linux's")
def test_some_seconds_of_it(tmp_path):
    from trust.fuzz import fuzz

    counts, found = fuzz(minutes=0.05, seed=0, corpus=tmp_path)
    assert sum(counts.values()) >= 400 and found == {}


def test_the_fuzzer_finds_what_is_wrong(tmp_path, monkeypatch):
    """A reader that raises something else, or does not name the file, is caught."""
    from trust import oracle

    (tmp_path / "a.npy").write_bytes(seeds()["block.npy"])
    for error in (KeyError("x"), oracle.cs.InvalidPredictions("it is wrong"), oracle.cs.InvalidPredictions("a.npy\nx")):
        monkeypatch.setattr(oracle, "read_labels", lambda _, error=error: (_ for _ in ()).throw(error))
        with pytest.raises(AssertionError):
            examine(tmp_path / "a.npy")
