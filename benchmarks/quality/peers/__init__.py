"""Other people's methods, run on the same panels as ours.

    from benchmarks.quality.peers import PEERS
    posterior = PEERS["GLAD"](panel)

`make peers` makes an environment, .venv-peers, in which all of them run. Each library has a file here, whose docstring
says which version is run, under which licence, and with which settings.

scikit-learn's `VotingClassifier(voting="soft")` is not among them: it is the weighted average of the members'
probabilities, which the benchmark has as "average". What needs labels, a stacker and a tempered average, is in
`benchmarks.quality.labels`.
"""

from __future__ import annotations

from benchmarks.quality.peers import cleanlab, crowd_kit, hyperlm, snorkel
from benchmarks.quality.peers.peer import Peer

PEERS: dict[str, Peer] = {
    peer.name: peer for peer in (*crowd_kit.PEERS, *snorkel.PEERS, *hyperlm.PEERS, *cleanlab.PEERS)
}
