"""`SoftDawidSkene.paper()` against Algorithm 1 as the paper has it, started by crowd-kit's `DawidSkene(n_iter=1)`.

Algorithm 1 is transcribed here, line by line, with autograd over all items, and shares no code with the package. The
start is crowd-kit itself where it is installed. It is transcribed too (version 1.4, its frames as dictionaries, its
logarithms to base 2), so that the comparison runs without it.

crowd-kit has no row for a class that nobody names, and the paper does not say what stands in its place. Both fillings
are compared, for the same matrices of all other classes.
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
    """Priors (classes,) and errors (workers, true, said) after one iteration; NaN for a class that nobody names."""
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
    is_named = np.isin(np.arange(n_classes), hard)
    return priors, np.where(is_named[None, :, None], errors, np.nan)


def m_step(answers, probas, n_workers, n_classes):
    sums = defaultdict(lambda: np.zeros(n_classes))  # joined.groupby(["worker", "label"]).sum()
    for item, worker, label in answers:
        sums[worker, label] += probas[item]
    errors = np.stack([[sums[worker, label] for label in range(n_classes)] for worker in range(n_workers)])
    errors = errors.clip(min=EPS)
    errors /= errors.sum(axis=1, keepdims=True)  # errors.groupby("worker").sum()
    return errors.transpose(0, 2, 1)  # theirs are indexed by (worker, said), with a column for each true class


def e_step(answers, priors, errors, n_items):
    is_named = priors > 0  # no other class is a column of theirs
    log_likelihoods = np.tile(np.log2(priors.clip(min=EPS)), (n_items, 1))
    log_likelihoods[:, ~is_named] = -np.inf
    for item, worker, label in answers:
        log_likelihoods[item] += np.log2(errors[worker, :, label])
    scaled = np.exp2(log_likelihoods - log_likelihoods.max(axis=1, keepdims=True))
    return scaled / scaled.sum(axis=1, keepdims=True)


def real_crowd_kit_start(hard, n_classes):
    """The same by crowd-kit itself."""
    pd = pytest.importorskip("pandas")
    crowdkit = pytest.importorskip("crowdkit.aggregation")
    worker, task = np.indices(hard.shape)
    frame = pd.DataFrame({"task": task.ravel(), "worker": worker.ravel(), "label": hard.ravel()})
    model = crowdkit.DawidSkene(n_iter=1).fit(frame)
    classes = range(n_classes)
    sums = model.probas_.sum().reindex(classes)
    errors = np.stack(
        [model.errors_.loc[name].reindex(index=classes, columns=classes).to_numpy().T for name in range(len(hard))]
    )
    # A label that a worker never says has no row in theirs: its count is floored as other counts of zero are.
    return model.priors_.reindex(classes, fill_value=0).to_numpy(), np.where(
        np.isnan(errors) & np.isin(classes, hard)[None, :, None], EPS / sums.to_numpy()[None, :, None], errors
    )


def filled(errors, silent_classes):
    """Their errors with rows for classes that nobody names."""
    if silent_classes == "flat":
        return np.where(np.isnan(errors), 1 / errors.shape[2], errors)
    return np.nan_to_num(errors).clip(min=EPS)


# ---- Algorithm 1 -------------------------------------------------------------------------------------------


def algorithm_1(c, alpha, change, n_iterations, n_steps, *, silent="flat", moments="kept", start=crowd_kit_start):
    """Posterior, ν and Π."""
    n_items, n_classes = c.shape[1:]
    priors, errors = start(c.argmax(axis=2), n_classes)
    nu, pi = torch.tensor(priors).clamp(min=EPS), torch.tensor(filled(errors, silent)).requires_grad_()
    c = torch.tensor(c)
    log_c = torch.log(c.clamp(min=EPS))
    t = c.mean(dim=0)  # initialise t with the EA algorithm
    optimizer = torch.optim.AdamW([pi], lr=1e-4, weight_decay=1e-4)

    def second_to_last_line_of_q():  # what follows log ν_j in eq. 1, and eq. 3 but for log ν_j
        log_beta = torch.lgamma(pi).sum(dim=2) - torch.lgamma(pi.sum(dim=2))  # (k, j)
        return torch.einsum("kjl,kil->ij", pi - 1, log_c) - log_beta.sum(dim=0)

    for iteration in range(n_iterations):
        if change is not None and iteration == change[0]:
            alpha = change[1]
        with torch.no_grad():
            t = (1 - alpha) * t + alpha * torch.softmax(torch.log(nu) + second_to_last_line_of_q(), dim=1)
            nu = t.mean(dim=0).clamp(min=EPS)
        if moments == "anew":
            optimizer = torch.optim.AdamW([pi], lr=1e-4, weight_decay=1e-4)
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


def assert_is_the_papers(array, name, options, **readings):
    posterior, prior, concentration = algorithm_1(array, *HYPERPARAMETERS[name], **readings)
    model = cs.SoftDawidSkene.paper(name).set_params(**options).fit(array)
    np.testing.assert_allclose(model.posterior_, posterior, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.class_prior_, prior, rtol=0, atol=1e-8)
    np.testing.assert_allclose(model.concentration_, concentration, rtol=0, atol=1e-8)


@pytest.mark.parametrize("name", HYPERPARAMETERS)
@pytest.mark.parametrize("moments", ["kept", "anew"])
def test_posterior_and_parameters(name, moments):
    assert_is_the_papers(some_panel(), name, {"optimizer_moments": moments}, moments=moments)


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*keyword:Warning")  # their pandas
@pytest.mark.parametrize("start", [crowd_kit_start, real_crowd_kit_start])
@pytest.mark.parametrize("silent", ["flat", "floor"])
@pytest.mark.parametrize("name", ["cifar10", "cifar100"])
def test_a_class_that_nobody_names(name, silent, start):
    """By both fillings of what crowd-kit leaves out, from crowd-kit itself and from what is transcribed of it."""
    options = {"silent_classes": silent}
    assert_is_the_papers(some_panel(n_named=4), name, options, silent=silent, start=start)


def test_readings_of_the_text_give_other_answers():
    """The comparisons above can fail: the fillings and the moments move answers by far more than their tolerance."""
    array, fit = some_panel(n_named=4), cs.SoftDawidSkene.paper("cifar10").fit(some_panel(n_named=4))
    others = [{"silent_classes": "floor"}, {"optimizer_moments": "anew"}]
    for options in others:
        other = cs.SoftDawidSkene.paper("cifar10").set_params(**options).fit(array)
        assert np.abs(fit.posterior_ - other.posterior_).max() > 1e-3


def test_a_flat_row_takes_every_item():
    """So that the answer is the average, shrunk: no other class gains, and confidence falls by a constant."""
    array = some_panel(n_named=4)
    average = array.mean(axis=0)
    first, rows = average.argmax(axis=1), np.arange(array.shape[1])
    shares = {}
    for silent in ("flat", "floor"):
        fit = cs.SoftDawidSkene.paper("cifar10").set_params(silent_classes=silent).fit(array)
        new = (fit.posterior_ - (1 - fit.weight_) * average) / fit.weight_
        shares[silent] = new[:, 4].mean()
        kept = fit.posterior_[rows, first] / average[rows, first]
        assert (np.abs(kept - 0.999**100).max() < 1e-3) == (silent == "flat")
    assert shares["flat"] > 0.999 and shares["floor"] < 1e-6


def test_our_start_gives_another_answer():
    array = some_panel()
    paper, ours = (cs.SoftDawidSkene.paper("mnist", start=start).fit(array).posterior_ for start in ("paper", "ours"))
    assert np.abs(paper - ours).max() > 1e-3
    default = cs.SoftDawidSkene().fit(array).posterior_
    np.testing.assert_array_equal(ours, default)  # appendix D's numbers for MNIST are the defaults
