"""Trained members are kept in a folder, and trained once."""

import pytest

torch = pytest.importorskip("torch")

from consilience.experiments import members, tasks
from consilience.experiments.members import get_member, member_path, missing_members, train_members
from consilience.experiments.scales import Scale
from consilience.experiments.tasks import TASKS, Task

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


def test_only_the_missing_are_trained_and_each_is_told(folders):
    assert missing_members("mnist", folders[1], SCALE) == [0, 1, 2]
    told = []
    train_members("mnist", [0, 2], *folders, scale=SCALE, jobs=1, on_member=lambda: told.append(1))
    assert len(told) == 2
    assert missing_members("mnist", folders[1], SCALE) == [1]
    assert missing_members("mnist", folders[1], Scale(epochs=1, subset=40, n_members=2)) == [0, 1]  # another scale
