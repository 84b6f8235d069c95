import json

import pytest

from consilience.system.extras import extra


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
