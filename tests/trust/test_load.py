"""A moment of load; `python -m benchmarks.load` has a minute of it, and the service."""

from benchmarks.load import stream, threads


def test_threads_share_an_aggregator():
    assert "all answers equal" in threads(seconds=0.5)


def test_a_stream_takes_no_more_memory():
    assert "20,000 items" in stream(n_items=20_000, batch=500)
