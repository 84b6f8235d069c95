"""Trained members are kept in a folder, and trained once."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from paper import members, tasks
from paper.errors import CannotReproduce
from paper.members import check_members, get_member, member_path, missing_members, train_members
from paper.scales import Scale
from paper.tasks import TASKS, Task

from small_data import write_mnist

SCALE = Scale(epochs=1, subset=48, n_members=3)


@pytest.fixture
def folders(tmp_path, monkeypatch):
    write_mnist(tmp_path / "data" / "mnist")
    fields = {name: getattr(TASKS["mnist"], name) for name in Task.__dataclass_fields__}

    def make():
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(28 * 28, 10))

    monkeypatch.setitem(tasks.TASKS, "mnist", Task(**fields | {"make_network": make}))
    return tmp_path / "data", tmp_path / "work"


def test_a_member_is_trained_once_and_read_afterwards(folders, monkeypatch):
    first = get_member("mnist", 2, *folders, SCALE)
    path = member_path(folders[1], "mnist", SCALE, 2)
    assert path == folders[1] / "members" / "mnist-1-epochs-48-images" / "member-2.pt"
    assert path.with_suffix(".log").read_text(encoding="utf-8").startswith("epoch 1 loss ")
    monkeypatch.setattr(members, "train_member", lambda *_, **__: pytest.fail("trained again"))
    again = get_member("mnist", 2, *folders, SCALE)
    torch.testing.assert_close(again.state_dict(), first.state_dict())


def test_members_of_other_images_are_refused(folders):
    train_members("mnist", [0], *folders, scale=SCALE, jobs=1)
    check_members("mnist", *folders, SCALE)
    shutil.rmtree(folders[0] / "mnist")
    write_mnist(folders[0] / "mnist", seed=1)
    with pytest.raises(CannotReproduce, match="must be of the training images and the recipe of this run"):
        check_members("mnist", *folders, SCALE)
    check_members("mnist", *folders, Scale(epochs=2))  # of which there are none


WAITING = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from paper.members import end_with_parent
if __name__ == "__main__":
    pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=end_with_parent)
    print(pool.submit(os.getpid).result(), flush=True)
    pool.submit(time.sleep, 600)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_workers_of_a_killed_run_end_with_it(tmp_path):
    script = tmp_path / "waiting.py"
    script.write_text(WAITING, encoding="utf-8")
    env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}  # where `paper` is found here
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=env) as run:
        worker = Path(f"/proc/{int(run.stdout.readline())}")
        assert worker.exists()
        run.kill()
    until = time.monotonic() + 30
    while worker.exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not worker.exists()


@pytest.mark.parametrize(("jobs", "taken"), [(None, ["cuda:0", "cuda:1"]), (3, ["cuda:0", "cuda:1", "cuda:0"])])
def test_every_process_takes_a_gpu(folders, monkeypatch, jobs, taken):
    found = []

    class Pool:
        """Starts no process; each would take a name of the queue."""

        def __init__(self, n_jobs, *, initargs, **_):
            found.extend(initargs[0].get() for _ in range(n_jobs))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(members, "ProcessPoolExecutor", Pool)
    monkeypatch.setattr(members, "devices", lambda: [torch.device("cuda:0"), torch.device("cuda:1")])
    train_members("mnist", [], *folders, scale=SCALE, jobs=jobs)
    assert found == taken


def test_mixed_precision_has_a_folder_of_its_own(folders):
    mixed = Scale(epochs=1, subset=48, mixed=True)
    get_member("mnist", 0, *folders, mixed)
    assert (folders[1] / "members" / "mnist-1-epochs-48-images-mixed" / "member-0.pt").exists()
    assert str(mixed).endswith("all test images, mixed precision")


def test_only_the_missing_are_trained_and_each_is_told(folders):
    assert missing_members("mnist", folders[1], SCALE) == [0, 1, 2]
    told = []
    train_members("mnist", [0, 2], *folders, scale=SCALE, jobs=1, on_member=lambda: told.append(1))
    assert len(told) == 2
    assert missing_members("mnist", folders[1], SCALE) == [1]
    assert missing_members("mnist", folders[1], Scale(epochs=1, subset=40, n_members=2)) == [0, 1]  # another scale
