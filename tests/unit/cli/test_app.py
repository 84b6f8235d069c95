"""The commands and their order, the version, and how errors end."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.main import get_command

import consilience as cs
from consilience.cli.app import app


def test_usage_errors_and_help(run):
    assert run("aggregate")[0] == 2
    code, out, _ = run("--help")
    assert code == 0 and all(name in out for name in ("aggregate", "compare", "evaluate", "explain", "report", "demo"))
    code, out, _ = run("--version")
    assert out.strip() == f"consilience {cs.__version__}"


def test_commands_are_listed_as_they_are_needed():
    names = list(get_command(app).commands)
    assert names[0] == "aggregate" and names[-1] == "demo" and len(names) == 11


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes outputs")
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-"])
def test_an_output_that_the_shell_has_closed(tmp_path, closed):
    np.save(tmp_path / "a.npy", np.random.default_rng(0).dirichlet(np.ones(3), size=(3, 20)))
    command = f"{sys.executable} -m consilience aggregate a.npy --method average -o fused.npz {closed}"
    env = {**os.environ, "PYTHONPATH": str(Path(cs.__file__).parents[1])}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert (tmp_path / "fused.npz").exists()
