"""`SoftDawidSkene.paper()` against Algorithm 1 as the paper has it, started by crowd-kit's `DawidSkene(n_iter=1)`.

Both are transcribed here, line by line, and share no code with the package: crowd-kit 1.4 with its frames as
dictionaries and its logarithms to base 2, Algorithm 1 with autograd over all items.
"""

from collections import defaultdict

import numpy as np
import pytest

import consilience as cs

torch = pytest.importorskip("torch")

EPS = 1e-10
HYPERPARAMETERS = {  # of appendix D: α, from which iteration on another, iterations, steps of AdamW
    "mnist": (1e-3, None, 100, 5),
    "cifar10": (1e-3, None, 100, 5),
    "cifar100": (1e-5, (100, 1e-3), 200, 5),
    "imagenet": (1e-3, (20, 1e-5), 25, 1),
}


# ---- crowd-kit's DawidSkene(n_iter=1) ----------------------------------------------------------------------


def crowd_kit_start(hard, n_classes):
    """Priors (classes,) and errors (workers, true, said) after one iteration."""
    answers = [(item, worker, int(label)) for worker, row in enumerate(hard) for item, label in enumerate(row)]
    n_workers, n_items = hard.shape
    probas = np.zeros((n_items, n_classes))  # MajorityVote().fit_predict_proba(data)
    for item, _, label in answers:
        probas[item, label] += 1
    probas /= probas.sum(axis=1, keepdims=True)
    priors = probas.mean(axis=0)
    errors = m_step(answers, probas, n_workers, n_classes)
    for _ in range(1):  # n_iter
        probas = e_step(answers, priors, errors, n_items)
        priors = probas.mean(axis=0)
        errors = m_step(answers, probas, n_workers, n_classes)
    return priors, errors


def m_step(answers, probas, n_workers, n_classes):
    sums = defaultdict(lambda: np.zeros(n_classes))  # joined.groupby(["worker", "label"]).sum()
    for item, worker, label in answers:
        sums[worker, label] += probas[item]
    errors = np.stack([[sums[worker, label] for label in range(n_classes)] for worker in range(n_workers)])
    errors = errors.clip(min=EPS)
    errors /= errors.sum(axis=1, keepdims=True)  # errors.groupby("worker").sum()
    return errors.transpose(0, 2, 1)  # theirs are indexed by (worker, said), with a column for each true class


def e_step(answers, priors, errors, n_items):
    log_likelihoods = np.tile(np.log2(priors.clip(min=EPS)), (n_items, 1))
    for item, worker, label in answers:
        log_likelihoods[item] += np.log2(errors[worker, :, label])
    scaled = np.exp2(log_likelihoods - log_likelihoods.max(axis=1, keepdims=True))
    return scaled / scaled.sum(axis=1, keepdims=True)


# ---- Algorithm 1 -------------------------------------------------------------------------------------------


def algorithm_1(c, alpha, change, n_iterations, n_steps):
    """Posterior, ν and Π."""
    n_items, n_classes = c.shape[1:]
    nu, pi = (torch.tensor(array) for array in crowd_kit_start(c.argmax(axis=2), n_classes))
    nu, pi = nu.clamp(min=EPS), pi.clone().requires_grad_()
    c = torch.tensor(c)
    log_c = torch.log(c.clamp(min=EPS))
    t = c.mean(dim=0)  # initialise t with the EA algorithm
    optimizer = torch.optim.AdamW([pi], lr=1e-4, weight_decay=1e-4)

    def second_to_last_line_of_q():  # what follows log ν_j in eq. 2, and eq. 3 but for log ν_j
        log_beta = torch.lgamma(pi).sum(dim=2) - torch.lgamma(pi.sum(dim=2))  # (k, j)
        return torch.einsum("kjl,kil->ij", pi - 1, log_c) - log_beta.sum(dim=0)

    for iteration in range(n_iterations):
        if change is not None and iteration == change[0]:
            alpha = change[1]
        with torch.no_grad():
            t = (1 - alpha) * t + alpha * torch.softmax(torch.log(nu) + second_to_last_line_of_q(), dim=1)
            nu = t.mean(dim=0).clamp(min=EPS)
        for _ in range(n_steps):
            optimizer.zero_grad()
            q = (t * (torch.log(nu) + second_to_last_line_of_q())).sum()
            (-q / n_items).backward()
            optimizer.step()
            with torch.no_grad():
                pi.clamp_(min=EPS)
    return t.numpy(), nu.numpy(), pi.detach().numpy()


# ---- the same ----------------------------------------------------------------------------------------------


def some_panel(n_members=3, n_items=80, n_classes=5, *, n_named=5, seed=0):
    """Members who are often right; of the classes only the first `n_named` are ever named."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_members, n_items, n_classes))
    logits[:, np.arange(n_items), rng.integers(n_named, size=n_items)] += 2
    logits[:, :, n_named:] -= 20
    return np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)


@pytest.mark.parametrize("name", HYPERPARAMETERS)
@pytest.mark.parametrize("n_named", [5, 4], ids=["all named", "one class never"])
def test_posterior_and_parameters(name, n_named):
    array = some_panel(n_named=n_named)
    posterior, prior, concentration = algorithm_1(array, *HYPERPARAMETERS[name])
    model = cs.SoftDawidSkene.paper(name).fit(array)
    np.testing.assert_allclose(model.posterior_, posterior, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.class_prior_, prior, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.concentration_, concentration, rtol=0, atol=1e-8)


def test_our_start_gives_another_answer():
    array = some_panel()
    paper, ours = (cs.SoftDawidSkene.paper("mnist", start=start).fit(array).posterior_ for start in ("paper", "ours"))
    assert np.abs(paper - ours).max() > 1e-3
    default = cs.SoftDawidSkene().fit(array).posterior_
    np.testing.assert_array_equal(ours, default)  # appendix D's numbers for MNIST are the defaults
