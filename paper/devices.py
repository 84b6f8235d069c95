"""Where networks run: on the devices that were asked for, else on all GPUs of the machine, else on its processor."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Part = TypeVar("Part")

VARIABLE = "CONSILIENCE_DEVICE"
"""The environment variable that names the devices; processes that are started from here inherit it."""

_OF_THREAD: ContextVar[torch.device | None] = ContextVar("device", default=None)


def use_devices(names: str) -> None:
    """Run networks on these devices from now on, separated by commas, here and in processes started from here."""
    for name in names.split(","):
        try:
            torch.zeros(1, device=name)
        except (RuntimeError, AssertionError) as error:  # torch asserts that it was built for GPUs
            raise ValueError(f"device must be one that torch has here, like cpu or cuda:0; got {name!r}") from error
    os.environ[VARIABLE] = names


def devices() -> list[torch.device]:
    """The devices that were asked for; else all GPUs; else the processor."""
    if names := os.environ.get(VARIABLE):
        return [torch.device(name) for name in names.split(",")]
    n_gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return [torch.device("cuda", number) for number in range(n_gpus)] or [torch.device("cpu")]


def device() -> torch.device:
    """The device of this thread, which is the first unless `share_out` gave it another."""
    return _OF_THREAD.get() or devices()[0]


def share_out(work: Callable[[Part], None], parts: Sequence[Part]) -> None:
    """Do some work for each part, on all devices at a time; inside of `work`, `device()` is the part's own."""
    places = devices()
    if len(places) == 1:
        for part in parts:
            work(part)
        return
    free: SimpleQueue[torch.device] = SimpleQueue()
    for place in places:
        free.put(place)

    def run(part: Part) -> None:
        place = free.get()
        _OF_THREAD.set(place)
        try:
            work(part)
        finally:
            free.put(place)

    with ThreadPoolExecutor(len(places)) as pool:
        for done in [pool.submit(run, part) for part in parts]:
            done.result()
