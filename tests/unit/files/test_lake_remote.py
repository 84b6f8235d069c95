"""Data sets in an object store, by a small stand-in for S3: lists, sizes and ranges of bytes, as polars asks."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest

import consilience as cs
from consilience.files.lake import buckets
from unit.files.test_lake import fused, long_votes, written


class Store(BaseHTTPRequestHandler):
    """One bucket, `lake`, whose objects are in `server.objects`."""

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        address = urlsplit(self.path)
        query, key = parse_qs(address.query), unquote(address.path).removeprefix("/lake").lstrip("/")
        if "list-type" in query:
            self._send(200, self._listing(query.get("prefix", [""])[0]), "application/xml")
        elif key not in self.server.objects:
            self._send(404, b"<Error><Code>NoSuchKey</Code></Error>", "application/xml")
        else:
            self._send_object(self.server.objects[key])

    def _listing(self, prefix):
        found = [
            f"<Contents><Key>{escape(key)}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>1</ETag><Size>{len(data)}</Size></Contents>"
            for key, data in sorted(self.server.objects.items())
            if key.startswith(prefix)
        ]
        inside = f"<Name>lake</Name><IsTruncated>false</IsTruncated>{''.join(found)}"
        return f'<?xml version="1.0"?><ListBucketResult>{inside}</ListBucketResult>'.encode()

    def _send_object(self, data):
        wanted = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if wanted is None:
            self._send(200, data)
            return
        first, last = (int(group) if group else None for group in wanted.groups())
        start = max(len(data) - last, 0) if first is None else first
        stop = len(data) if first is None or last is None else min(last + 1, len(data))
        place = {"Content-Range": f"bytes {start}-{stop - 1}/{len(data)}"}
        self._send(206, data[start:stop], **place)

    def _send(self, code, data, kind="application/octet-stream", **headers):
        self.send_response(code)
        about = {"Content-Length": str(len(data)), "Content-Type": kind, "ETag": '"1"'}
        about["Last-Modified"] = "Thu, 01 Jan 2026 00:00:00 GMT"
        for name, value in (about | headers).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    def log_message(self, *_):
        """Print nothing."""


@contextmanager
def store(objects):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Store)
    server.objects = objects
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def remote(monkeypatch, tmp_path):
    """The votes in three objects, and one that is no table."""
    objects = {}
    for place in range(3):
        long_votes()[place::3].write_parquet(tmp_path / "part.parquet")
        objects[f"votes/part-{place}.parquet"] = (tmp_path / "part.parquet").read_bytes()
    monkeypatch.setattr(buckets, "NUMBERS_IN_BUCKET", 500)
    with store(objects) as address:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": address,
            "AWS_ALLOW_HTTP": "true",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }.items():
            monkeypatch.setenv(name, value)
        yield objects


@pytest.mark.parametrize("source", ["s3://lake/votes/*.parquet", "s3://lake/votes/"])
def test_votes_in_an_object_store_are_fused_as_on_disk(source, remote, tmp_path):
    long_votes().write_parquet(tmp_path / "votes.parquet")
    fused([tmp_path / "votes.parquet"], tmp_path / "here")
    found = fused([source], tmp_path / "there")
    assert (found.items, found.answers) == (600, 2400)
    assert written(tmp_path / "there").equals(written(tmp_path / "here"))


def test_what_cannot_be_read_is_named(remote, tmp_path):
    remote["votes/part-1.parquet"] = remote["votes/part-1.parquet"][:500]
    with pytest.raises(cs.InvalidPredictions, match=r"s3://lake/votes/"):
        fused(["s3://lake/votes/*.parquet"], tmp_path / "out")
    with pytest.raises(cs.InvalidPredictions, match=r"s3://lake/nothing/"):
        fused(["s3://lake/nothing/*.parquet"], tmp_path / "out")
    assert list(tmp_path.glob("out*")) == []
