"""HyperLM 0.0.5 (MIT, github.com/wurenzhi/hyper_label_model): a network trained once on synthetic panels.

`HyperLabelModel().infer(votes, return_probs=True)`, as in its README; -1 is a missing vote there too. It counts
classes by the highest vote, so only those with votes are given. Its checkpoint was saved with two NumPy types that
`torch.load` now refuses: these two are allowed while it is loaded, and nothing else, so that the file still cannot run
code.
"""

from __future__ import annotations

import numpy as np

from benchmarks.quality.peers.peer import Answers, Peer


def _hyper_label_model(answers: Answers) -> np.ndarray:
    import torch  # noqa: PLC0415 - only where it is installed
    from hyperlm import HyperLabelModel  # noqa: PLC0415

    number = np.float64(0)
    scalar = number.__reduce__()[0]
    allowed = [(scalar, "numpy.core.multiarray.scalar"), np.dtype, type(number.dtype)]
    with torch.serialization.safe_globals(allowed), torch.inference_mode():
        model = HyperLabelModel(device="cpu")
        return answers.widened(model.infer(answers.numbered_votes.T, return_probs=True))


PEERS = (Peer("HyperLM", "votes", "hyperlm", _hyper_label_model),)
