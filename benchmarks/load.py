"""Under load: one aggregator in eight threads, a stream of a million items, and the ONNX service with 64 clients.

    python -m benchmarks.load threads stream service --seconds 60

Each part raises where an answer is wrong, memory grows or a request fails; otherwise it prints what it measured. The
service is `examples/service.py` under uvicorn, which has to be installed, on the loopback device.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import consilience as cs

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def batch_of(rng: np.random.Generator, n_items: int, n_members: int = 5, n_classes: int = 10) -> np.ndarray:
    """Probabilities (members, items, classes) of members of different skill."""
    truth = rng.integers(n_classes, size=n_items)
    skill = np.linspace(1, 4, n_members)[:, None, None]
    values = np.exp(skill * np.eye(n_classes)[truth] + rng.normal(size=(n_members, n_items, n_classes)))
    return np.asarray(values / values.sum(axis=2, keepdims=True))


def threads(seconds: float, n_threads: int = 8) -> str:
    """Eight threads ask one fitted aggregator: each answer is what a single thread gets."""
    rng = np.random.default_rng(0)
    batches = [batch_of(rng, 200) for _ in range(n_threads)]
    model = cs.Consensus().fit(batch_of(rng, 5000))
    expected = [model.predict_proba(batch) for batch in batches]
    counts, errors, until = [0] * n_threads, [], time.monotonic() + seconds

    def ask(place: int) -> None:
        while time.monotonic() < until and not errors:
            if not np.array_equal(model.predict_proba(batches[place]), expected[place]):
                errors.append(place)
            cs.explain(batches[place], place, aggregator=model)
            counts[place] += 1

    workers = [threading.Thread(target=ask, args=(place,)) for place in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise AssertionError(f"threads {errors} got answers that a single thread does not get")
    return f"{n_threads} threads, {sum(counts):,} batches of 200 items and as many explanations, all answers equal"


def stream(n_items: int = 1_000_000, batch: int = 1000, model: Any = None) -> str:
    """Give a model a million items by `partial_fit`: it takes no more memory in the end than after a tenth of them.

    Run it in a fresh process: memory that earlier work has freed but not returned to the system would hide a leak.
    """
    rng = np.random.default_rng(0)
    batches = [batch_of(rng, batch) for _ in range(20)]
    model = cs.Consensus(forgetting=0.999) if model is None else model
    started, marks = time.monotonic(), []
    for place in range(n_items // batch):
        model.partial_fit(batches[place % len(batches)])
        if place in (n_items // batch // 10, n_items // batch - 1):
            marks.append(memory())
    if marks[1] > marks[0] + 20:
        raise AssertionError(f"memory must not grow; it went from {marks[0]:.0f} to {marks[1]:.0f} MB")
    seconds = time.monotonic() - started
    return f"{n_items:,} items in {seconds:.0f} s, {marks[0]:.0f} MB after a tenth, {marks[1]:.0f} MB in the end"


def memory() -> float:
    """The resident size of this process now, in MB."""
    try:
        n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except FileNotFoundError:  # macOS has no /proc
        command = ["ps", "-o", "rss=", "-p", str(os.getpid())]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1024
    return n_pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def service(seconds: float, n_clients: int = 64) -> str:
    """The ONNX graph behind HTTP: no request fails, all answers are those of `predict_proba`; latencies."""
    rng = np.random.default_rng(0)
    model = cs.Consensus().fit(batch_of(rng, 5000))
    items = batch_of(rng, 8).round(4)
    items /= items.sum(axis=2, keepdims=True)
    body, expected = json.dumps({"predictions": items.tolist()}), model.predict_proba(items)
    with tempfile.TemporaryDirectory() as folder:
        model.to_onnx(f"{folder}/model.onnx")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [sys.executable, "-m", "uvicorn", "--app-dir", str(EXAMPLES), "service:app", "--port", str(port)]
        environment = {**os.environ, "MODEL": f"{folder}/model.onnx"}
        server = subprocess.Popen([*command, "--log-level", "error"], env=environment)
        try:
            _wait_for(port, server)
            latencies, errors = _ask(port, body, expected, seconds, n_clients)
        finally:
            server.terminate()
            server.wait()
    if errors:
        raise AssertionError(f"{len(errors)} requests failed: {errors[0]}")
    middle, high, highest = 1000 * np.quantile(latencies, [0.5, 0.99, 1])
    rate = len(latencies) / seconds
    return (
        f"{n_clients} clients for {seconds:.0f} s: {len(latencies):,} requests of 8 items, no error, {rate:.0f} a "
        f"second; latency {middle:.0f} ms in the median, {high:.0f} ms at 99 %, {highest:.0f} ms at most"
    )


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError("the service did not start; it needs uvicorn and fastapi")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the service did not answer within 30 s")


def _ask(port: int, body: str, expected: np.ndarray, seconds: float, n_clients: int) -> tuple[list[float], list[str]]:
    latencies: list[float] = []
    errors: list[str] = []
    until = time.monotonic() + seconds

    def client() -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        while time.monotonic() < until:
            started = time.monotonic()
            try:
                connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                found = json.loads(answer.read())
            except (OSError, ValueError, http.client.HTTPException) as error:
                errors.append(repr(error))
                return
            latencies.append(time.monotonic() - started)
            if answer.status != 200 or not np.allclose(found["probabilities"], expected, atol=1e-4):
                errors.append(f"status {answer.status}")
                return

    clients = [threading.Thread(target=client) for _ in range(n_clients)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    return latencies, errors


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["threads", "stream", "service"])
    parser.add_argument("--seconds", type=float, default=60, help="how long threads and clients ask")
    parser.add_argument("--items", type=int, default=1_000_000, help="of the stream")
    options = parser.parse_args()
    for part in sorted(options.parts, key=lambda part: part != "stream"):  # the stream needs a fresh process
        if part == "stream":
            print(stream(options.items), flush=True)
        else:
            print({"threads": threads, "service": service}[part](options.seconds), flush=True)


if __name__ == "__main__":
    main()
