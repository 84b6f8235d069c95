"""`python -m paper` as it is typed."""

import sys
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")
pytest.importorskip("matplotlib")

from paper.__main__ import main
from paper.results import Row, read_rows, write_rows

from small_data import write_mnist


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONSILIENCE_DEVICE", "")  # and restored, whatever --device makes of it

    def command(*words):
        monkeypatch.setattr(sys, "argv", ["paper", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return command


def test_the_list(run):
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()][:3] == [
        "mnist-rotation",
        "cifar10-c",
        "cifar10-resnet20",
    ]
    assert "appendix G: mnist, cifar10, cifar100, imagenet (on request: cifar10-resnet20, cifar10-published)\n" in out


def test_a_small_run(run, tmp_path):
    write_mnist(tmp_path / "data" / "mnist")
    small = ["--epochs", "1", "--subset", "mnist=48", "--members", "3", "--items", "20", "--jobs", "1", "--no-laplace"]
    code, out, err = run("clean", "--tasks", "mnist", *small)
    assert code == 0 and err.count("\n") == 1 and "Training 3 members of mnist; work/members/" in err  # and no bar
    assert "Wrote results/clean.csv" in out
    assert {row.scale for row in read_rows(tmp_path / "results" / "clean.csv")} == {
        "1 epoch, 48 training images, 3 members, 20 test images"
    }
    assert (tmp_path / "work" / "members" / "mnist-1-epochs-48-images" / "member-2.pt").exists()
    code, *_ = run("clean", "--tasks", "mnist", *small, "--mixed-precision", "--no-keep-predictions", "--device", "cpu")
    assert code == 0 and len(list((tmp_path / "work" / "predictions").iterdir())) == 1  # of the first run
    assert {row.scale for row in read_rows(tmp_path / "results" / "clean.csv")} == {
        "1 epoch, 48 training images, 3 members, 20 test images, mixed precision"
    }


def test_tables_of_an_earlier_run_are_written_anew(run, tmp_path):
    rows = [Row("clean", "mnist", "clean", 0.0, 3, 0, "EA", "nll", 0.25, "tiny")]
    write_rows(tmp_path / "before.csv", rows)
    code, out, _ = run("clean", "--from", "before.csv", "-o", "anew")
    assert code == 0 and "Wrote anew/clean.md" in out and not (tmp_path / "work").exists()
    assert read_rows(tmp_path / "anew" / "clean.csv") == rows
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    code, _, err = run("clean", "--from", "other.csv")
    assert code == 2 and "other.csv must have the columns experiment, task," in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "the experiment must be one of"),
        (["clean", "--epochs", "nope=3"], "epochs must name one of the tasks"),
        (
            ["clean", "--tasks", "nope"],
            "tasks of clean are mnist, cifar10, cifar100, imagenet, cifar10-resnet20, cifar10-published; got nope",
        ),
        (["printed", "--tasks", "mnist"], "printed has no tasks; leave out --tasks"),
        (["clean", "--device", "nowhere"], "device must be one that torch has here, like cpu or cuda:0; got 'nowhere'"),
        (["clean", "--weights", "folder"], "weights must be TASK=FOLDER; got 'folder'"),
    ],
)
def test_bad_input_ends_in_one_sentence(run, words, message):
    code, _, err = run(*words)
    assert code == 2 and message in " ".join(err.split()) and "Traceback" not in err


def test_files_in_the_place_of_folders_are_told_before_the_work(run, tmp_path):
    (tmp_path / "afile").write_text("x", encoding="utf-8")
    for option in ("--output", "--work-dir"):
        code, _, err = run("clean", option, "afile")
        assert (code, err) == (2, f"paper: {option} must be a folder; afile is a file\n")
    assert run("clean", "--jobs", "0")[0] == 2


def test_data_that_cannot_be_had_are_told_with_what_to_do(run, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(sys.modules, "pooch", SimpleNamespace(retrieve=fail))
    code, _, err = run("clean", "--tasks", "mnist,cifar10", "--data-dir", "data", "--no-laplace")
    digits = "mnist is not in data/mnist and could not be downloaded (OSError); put train-images-idx3-ubyte.gz there"
    objects = "cifar10 is not in data/cifar10 and could not be downloaded (OSError); put cifar-10-binary.tar.gz there"
    assert (code, err) == (2, f"paper: {digits}; {objects}\n")  # all that is missing, at once
    assert not (tmp_path / "data").exists()
    write_mnist(tmp_path / "data" / "mnist")
    code, _, err = run("clean", "--tasks", "mnist,cifar10", "--data-dir", "data", "--no-laplace")
    assert (code, err) == (2, f"paper: {objects}; without it: --tasks mnist\n")
