import json
import os
import subprocess
import sys

import pytest

from consilience.system.errors import extra


def test_a_library_that_is_there_is_given():
    assert extra("json", name="files", use="reading") is json


def test_the_reason_for_a_failed_import_is_kept(tmp_path, monkeypatch):
    """A library that is installed but broken fails inside its own imports."""
    (tmp_path / "broken_library.py").write_text("import no_such_part", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    message = r'^to_onnx needs broken_library, which is not installed: pip install "consilience\[onnx\]"$'
    with pytest.raises(ImportError, match=message) as caught:
        extra("broken_library", name="onnx", use="to_onnx")
    assert "no_such_part" in str(caught.value.__cause__)


FORKED = """
import os, sys
import consilience as cs
cs.read_predictions(sys.argv[1])
child = os.fork()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
try:
    cs.read_predictions(sys.argv[1])
except RuntimeError as error:
    os._exit(7 if "'spawn' or 'forkserver'" in str(error) else 1)
os._exit(0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_says_that_it_cannot_read_tables(tmp_path):
    """polars would wait forever for threads that only the parent has."""
    (tmp_path / "votes.csv").write_text("task,worker,label\n" + "".join(f"q{i},w{i % 3},{i % 2}\n" for i in range(30)))
    command = [sys.executable, "-W", "ignore", "-c", FORKED, tmp_path / "votes.csv"]
    assert subprocess.run(command, check=False, timeout=120, env=os.environ).returncode == 7
