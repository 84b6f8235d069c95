"""HyperLM 0.0.5 (MIT, github.com/wurenzhi/hyper_label_model): a network trained once on synthetic panels.

`HyperLabelModel().infer(votes)` is the call of its README, where -1 is a missing vote too. Here it has the option
return_probs=True, of which the README says nothing: the labels are the same, and come with probabilities that the
package rescales so that the highest is twice a tie's before rows are normalized. It counts classes by the highest vote,
so only those with votes are given.

Its checkpoint holds NumPy scalars, which `torch.load` refuses by default. The three types they need are allowed while
it is loaded, and no others, so that the file still cannot run code.
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
