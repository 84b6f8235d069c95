"""A few kills of each kind; `python -m tests.trust.kills` makes a hundred."""

import pytest

from trust import kills


@pytest.mark.parametrize("name", ["aggregate", "save"])
def test_what_a_kill_leaves_is_whole(tmp_path, name):
    job = next(job for job in kills.jobs(tmp_path) if job.name == name)
    assert kills.torture(job, times=2)["kills"] == 2


def test_half_a_file_would_be_seen(tmp_path):
    """The check can fail."""
    job = kills.aggregate(tmp_path / "members.npy")
    (tmp_path / "fused.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(Exception, match=r"(?i)zip"):
        job.check(tmp_path)
    (tmp_path / "fused.npz").unlink()
    (tmp_path / "report.html").write_text("<html><body>", encoding="utf-8")
    with pytest.raises(AssertionError, match="cut off"):
        job.check(tmp_path)
