from pathlib import Path

from benchmarks.quality.jobs import PEER_PANELS, jobs_beside, jobs_of
from benchmarks.quality.methods import PEERS
from benchmarks.quality.prepare import Entry

A_PEER = next(iter(PEERS))


def with_peers(kinds, family="tables"):
    entries = [Entry(Path(f"{name}.npz"), family, kind) for name, kind in kinds.items()]
    jobs = jobs_of(entries, ["average", A_PEER])
    assert len(jobs) == len(kinds) and all("average" in methods for _, methods in jobs)
    return [path.stem for path, methods in jobs if A_PEER in methods]


def test_peers_see_the_first_draws_of_some_kinds():
    kinds = {"a": "as it is", "a~rare~0": "rare", "a~rare~1": "rare"}
    kinds |= {"a~copies~0": "copies", "a~few-answers~0": "few answers"}
    assert with_peers(kinds) == ["a", "a~rare~0", "a~few-answers~0"]


def test_peers_see_a_few_panels_of_each_family_evenly():
    bases = {f"p{place}": "as it is" for place in range(3 * PEER_PANELS)}
    draws = {f"{base}~rare~0": "rare" for base in bases}
    seen = with_peers(bases | draws)
    assert seen == ["p0", "p3", "p6", "p0~rare~0", "p3~rare~0", "p6~rare~0"]
    assert len(with_peers({f"crowd {seed}": "as it is" for seed in range(20)}, "generated crowd")) == PEER_PANELS


def test_beside_real_panels_generated_ones_see_a_few_methods_and_new_ones():
    entries = [Entry(Path("shifted 1.npz"), "generated shifted", "as it is")]
    methods = ["average", "mixture", "bcc", "soft-dawid-skene", A_PEER, "mine:method"]
    assert jobs_beside(entries, methods) == [(Path("shifted 1.npz"), ["average", "bcc", "mine:method"])]
