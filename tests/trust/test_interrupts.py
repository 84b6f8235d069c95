"""Ctrl-C, typed into a real terminal: the terminal is as it was, the program says nothing but that it stopped."""

import os
import select
import subprocess
import sys
import time

import numpy as np
import pytest

from simulate import softmax_members

pty, termios = pytest.importorskip("pty"), pytest.importorskip("termios")  # not on Windows

HIDE_CURSOR, SHOW_CURSOR = b"\x1b[?25l", b"\x1b[?25h"


class Terminal:
    """A pseudo-terminal that a program runs in."""

    def __init__(self, command, folder):
        self.screen, self._inside = pty.openpty()
        self.shown = b""
        self._settings = termios.tcgetattr(self._inside)
        name = os.ttyname(
            self._inside
        )  # the leader of a new session that opens a terminal gets to be interrupted by it
        self.program = subprocess.Popen(
            ["/bin/sh", "-c", f'exec "$@" < {name} > {name} 2>&1', "sh", *command],
            cwd=folder,
            env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"},
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.program.kill()
        self.program.wait()
        os.close(self._inside)
        os.close(self.screen)

    def read_until(self, is_over):
        until = time.monotonic() + 120
        while not is_over() and time.monotonic() < until:
            self._read(seconds=0.05)
        assert is_over(), self.shown.decode(errors="replace")
        while self._read(seconds=0.1):  # what was shown last may come a little later
            pass

    def _read(self, seconds):
        is_there = select.select([self.screen], [], [], seconds)[0]
        if is_there:
            self.shown += os.read(self.screen, 65536)
        return is_there

    def type(self, keys):
        os.write(self.screen, keys)

    @property
    def is_as_before(self):
        return termios.tcgetattr(self._inside) == self._settings


def interrupt(command, folder, *, when):
    with Terminal(command, folder) as terminal:
        terminal.read_until(lambda: when in terminal.shown)
        terminal.type(b"\x03")
        terminal.read_until(lambda: terminal.program.poll() is not None)
        assert terminal.is_as_before
        shown = terminal.shown
    assert b"Traceback" not in shown, shown.decode(errors="replace")
    assert shown.rfind(SHOW_CURSOR) >= shown.rfind(HIDE_CURSOR), "the cursor is still hidden"
    return terminal.program.returncode


@pytest.mark.parametrize("when", [HIDE_CURSOR, b"reading", b"members.npy"])
def test_a_command_that_is_interrupted(tmp_path, when):
    array, _ = softmax_members(np.random.default_rng(0), [2] * 20, n_items=30_000, n_classes=10)
    np.save(tmp_path / "members.npy", array)
    command = [sys.executable, "-m", "consilience", "aggregate", "members.npy", "--method", "soft-dawid-skene"]
    code = interrupt([*command, "-o", "fused.npz", "--save", "model.npz"], tmp_path, when=when)
    assert code == 130
    assert [path.name for path in tmp_path.iterdir()] == ["members.npy"]


def test_a_bar_that_is_interrupted(tmp_path):
    script = (
        "import numpy as np, consilience as cs\n"
        "array = np.random.default_rng(0).dirichlet(np.ones(10), size=(20, 30_000))\n"
        "try:\n"
        "    cs.SoftDawidSkene(max_iter=100_000, tol=None, verbose=True).fit(array)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
        "    raise SystemExit(7)\n"
    )
    assert interrupt([sys.executable, "-c", script], tmp_path, when=HIDE_CURSOR) == 7


def test_a_terminal_left_without_its_cursor_would_be_seen(tmp_path):
    """The check can fail."""
    script = (
        "import time\n"
        "try:\n"
        f"    print({HIDE_CURSOR.decode()!r}, flush=True)\n"
        "    time.sleep(60)\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
    )
    with pytest.raises(AssertionError, match="the cursor is still hidden"):
        interrupt([sys.executable, "-c", script], tmp_path, when=HIDE_CURSOR)
