"""Networks run on the devices that were asked for, on all of them at a time."""

import threading

import pytest

torch = pytest.importorskip("torch")

from paper import devices
from paper.devices import device, share_out, use_devices


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    monkeypatch.setenv(devices.VARIABLE, "cpu")


def test_what_was_asked_for_counts():
    use_devices("cpu:1,cpu")  # torch takes any number behind cpu
    assert devices.devices() == [torch.device("cpu:1"), torch.device("cpu")] and device() == torch.device("cpu:1")
    with pytest.raises(ValueError, match="device must be one that torch has here, like cpu or cuda:0; got 'nowhere'"):
        use_devices("cpu,nowhere")
    assert device() == torch.device("cpu:1")


def test_all_gpus_else_the_processor(monkeypatch):
    monkeypatch.delenv(devices.VARIABLE)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert devices.devices() == [torch.device("cpu")]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert devices.devices() == [torch.device("cuda:0"), torch.device("cuda:1")] and device() == torch.device("cuda:0")


def test_work_is_done_on_all_devices_at_a_time():
    use_devices("cpu:0,cpu:1")
    both_work, done = threading.Barrier(2, timeout=30), []

    def work(part):
        if part < 2:
            both_work.wait()  # breaks unless two parts are under way
        done.append((part, device()))

    share_out(work, [0, 1, 2, 3])
    assert sorted(part for part, _ in done) == [0, 1, 2, 3]
    assert {place for part, place in done if part < 2} == {torch.device("cpu:0"), torch.device("cpu:1")}
    assert device() == torch.device("cpu:0")  # here nothing has changed


def test_a_failure_comes_through():
    use_devices("cpu:0,cpu:1")

    def fail(part):
        raise OSError(f"no room for {part}")

    with pytest.raises(OSError, match="no room for 1"):
        share_out(fail, [1])
