"""The alternatives that the benchmarks compare with, written as their authors would write them."""

from __future__ import annotations

import numpy as np


def soft_dawid_skene_in_torch(
    array: np.ndarray, *, averaging: list[float], optimizer_steps: int, init_smoothing: float, dtype: str = "float32"
) -> np.ndarray:
    """Soft Dawid-Skene transcribed literally: autograd on Q over all items, `torch.optim.AdamW`."""
    import torch  # noqa: PLC0415 - only this yardstick needs it

    floor = 1e-10
    c = torch.from_numpy(array).to(getattr(torch, dtype))
    _, n_items, n_classes = c.shape
    log_c = torch.log(torch.clamp(c, min=floor))
    one_hot = torch.nn.functional.one_hot(c.argmax(dim=-1), n_classes).to(c.dtype)
    votes = one_hot.mean(dim=0)
    counts = torch.einsum("ik,mij->mkj", votes, one_hot)
    del one_hot
    start = (counts + init_smoothing) / (votes.sum(dim=0)[None, :, None] + n_classes * init_smoothing)
    pi = torch.clamp(start, min=floor).requires_grad_()
    nu = torch.clamp(votes.mean(dim=0), min=floor)
    posterior = c.mean(dim=0)
    optimizer = torch.optim.AdamW([pi], lr=1e-4, weight_decay=1e-4)

    def log_joint() -> torch.Tensor:
        log_beta = torch.lgamma(pi).sum(-1) - torch.lgamma(pi.sum(-1))
        return torch.log(nu) + torch.einsum("mkj,mij->ik", pi - 1, log_c) - log_beta.sum(0)

    for weight in averaging:
        with torch.no_grad():
            posterior = (1 - weight) * posterior + weight * torch.softmax(log_joint(), dim=1)
            nu = torch.clamp(posterior.mean(dim=0), min=floor)
        for _ in range(optimizer_steps):
            optimizer.zero_grad()
            loss = -(posterior * log_joint()).sum() / n_items
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                pi.clamp_(min=floor)
    return posterior.numpy()


def dawid_skene_of_crowd_kit(
    item: np.ndarray, member: np.ndarray, label: np.ndarray, *, n_iter: int, n_classes: int
) -> np.ndarray:
    """crowd-kit's Dawid-Skene on its long frame; the posterior (items, classes)."""
    import pandas as pd  # noqa: PLC0415 - only this yardstick needs it
    from crowdkit.aggregation.classification.dawid_skene import DawidSkene  # noqa: PLC0415

    frame = pd.DataFrame({"task": item, "worker": member, "label": label})
    model = DawidSkene(n_iter=n_iter, tol=0.0)
    model.fit(frame)
    return model.probas_.sort_index().reindex(columns=range(n_classes), fill_value=0.0).to_numpy()
