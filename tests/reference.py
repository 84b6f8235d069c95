"""Slow, obvious versions: loops over items and classes, autograd over all items."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import digamma, gammaln


def votes(labels, n_classes):
    """Shares of votes (items, classes) of labels (members, items)."""
    table = np.zeros((labels.shape[1], n_classes))
    for member in labels:
        for item, label in enumerate(member):
            if label >= 0:
                table[item, label] += 1
    return table / table.sum(axis=1, keepdims=True)


def dawid_skene(labels, n_classes, n_iter, smoothing=0.0):
    """Posterior, class prior, confusion and log-likelihood after so many E steps."""
    n_members, n_items = labels.shape
    posterior = votes(labels, n_classes)
    for _ in range(n_iter):
        prior = np.zeros(n_classes)
        for k in range(n_classes):
            prior[k] = (sum(posterior[i, k] for i in range(n_items)) + smoothing) / (n_items + n_classes * smoothing)
        confusion = np.zeros((n_members, n_classes, n_classes))
        for m in range(n_members):
            for k in range(n_classes):
                for j in range(n_classes):
                    confusion[m, k, j] = smoothing * (2 if k == j else 1)
                for i in range(n_items):
                    if labels[m, i] >= 0:
                        confusion[m, k, labels[m, i]] += posterior[i, k]
                confusion[m, k] /= confusion[m, k].sum()
        log_likelihood = 0.0
        for i in range(n_items):
            joint = [
                prior[k] * math.prod(confusion[m, k, labels[m, i]] for m in range(n_members) if labels[m, i] >= 0)
                for k in range(n_classes)
            ]
            log_likelihood += math.log(sum(joint))
            posterior[i] = np.array(joint) / sum(joint)
    return posterior, prior, confusion, log_likelihood


def elbo(labels, posterior, counts, class_counts, prior_confusion, prior_classes):
    """E_q log p(labels, t, π, κ) - E_q log q(t, π, κ), term by term."""
    n_members, n_items = labels.shape
    n_classes = len(class_counts)
    log_kappa = digamma(class_counts) - digamma(class_counts.sum())
    log_pi = digamma(counts) - digamma(counts.sum(axis=-1, keepdims=True))

    def log_dirichlet(concentration, expected_logs):
        constant = gammaln(concentration.sum()) - gammaln(concentration).sum()
        return constant + ((concentration - 1) * expected_logs).sum()

    total = log_dirichlet(prior_classes, log_kappa) - log_dirichlet(class_counts, log_kappa)
    for m in range(n_members):
        for k in range(n_classes):
            total += log_dirichlet(prior_confusion[k], log_pi[m, k]) - log_dirichlet(counts[m, k], log_pi[m, k])
    for i in range(n_items):
        for k in range(n_classes):
            q = posterior[i, k]
            if q > 0:
                likelihood = sum(log_pi[m, k, labels[m, i]] for m in range(n_members) if labels[m, i] >= 0)
                total += q * (log_kappa[k] + likelihood - math.log(q))
    return total


def q_function(array, posterior, class_prior, concentration, floor=1e-10):
    """Eq. 4 of the paper, by loops."""
    n_members, n_items, n_classes = array.shape
    total = 0.0
    for i in range(n_items):
        for k in range(n_classes):
            inner = math.log(class_prior[k])
            for m in range(n_members):
                row = concentration[m, k]
                log_c = np.log(np.maximum(array[m, i], floor))
                inner += ((row - 1) * log_c).sum() - gammaln(row).sum() + gammaln(row.sum())
            total += posterior[i, k] * inner
    return total


def soft_dawid_skene_autograd(array, schedule, optimizer_steps, init_smoothing, *, floor=1e-10, rate=1e-4, decay=1e-4):
    """The paper's algorithm as its authors would write it: PyTorch, autograd on Q over all items, float64."""
    import torch

    c = torch.tensor(np.asarray(array), dtype=torch.float64)
    n_members, n_items, n_classes = c.shape
    log_c = torch.log(torch.clamp(c, min=floor))
    hard = np.asarray(array).argmax(axis=-1)
    shares = votes(hard, n_classes)
    one_hot = np.eye(n_classes)[hard]
    counts = np.einsum("ik,mij->mkj", shares, one_hot)
    start = (counts + init_smoothing) / (shares.sum(axis=0)[None, :, None] + n_classes * init_smoothing)
    pi = torch.tensor(np.maximum(start, floor), requires_grad=True)
    nu = torch.clamp(torch.tensor(shares.mean(axis=0)), min=floor)
    posterior = c.mean(dim=0)
    optimizer = torch.optim.AdamW([pi], lr=rate, weight_decay=decay)

    def log_joint(nu, pi):
        log_beta = torch.lgamma(pi).sum(-1) - torch.lgamma(pi.sum(-1))
        return torch.log(nu) + torch.einsum("mkj,mij->ik", pi - 1, log_c) - log_beta.sum(0)

    history = []
    for alpha in schedule:
        with torch.no_grad():
            posterior = (1 - alpha) * posterior + alpha * torch.softmax(log_joint(nu, pi), dim=1)
            nu = torch.clamp(posterior.mean(dim=0), min=floor)
        for _ in range(optimizer_steps):
            optimizer.zero_grad()
            loss = -(posterior * log_joint(nu, pi)).sum() / n_items
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                pi.clamp_(min=floor)
        with torch.no_grad():
            history.append(float((posterior * log_joint(nu, pi)).sum()))
    return posterior.numpy(), nu.numpy(), pi.detach().numpy(), history


def calibration_error(posterior, labels, n_bins):
    """ECE with bins (low, high], by loops; 1 in the last bin, 0 in the first."""
    total = 0.0
    for b in range(n_bins):
        low, high = b / n_bins, (b + 1) / n_bins
        gap = 0.0
        for row, label in zip(posterior, labels, strict=True):
            confidence = max(row)
            if low < confidence <= high or (b == 0 and confidence == 0):
                gap += float(np.argmax(row) == label) - confidence
        total += abs(gap)
    return total / len(labels)


def answers_of(array, labels=()):
    """(member, item, row) of each answer in probabilities (members, items, classes) and labels (members, items)."""
    n_classes = array.shape[2]
    given = [(m, i, row) for m, rows in enumerate(array) for i, row in enumerate(rows) if not np.isnan(row).any()]
    for m, said in enumerate(labels):
        given += [(len(array) + m, i, np.eye(n_classes)[label]) for i, label in enumerate(said) if label >= 0]
    return given


def agreement(answers, n_members):
    """Products and counts of each pair of members, by comparing each answer with each."""
    products, counts = np.zeros((n_members, n_members)), np.zeros((n_members, n_members))
    for m, i, x in answers:
        for n, other, y in answers:
            if i == other:
                products[m, n] += sum(a * b for a, b in zip(x, y, strict=True))
                counts[m, n] += 1
    return products, counts


def weighted_average(answers, member_weights, n_items, n_classes):
    """The weighted mean (items, classes) of the answers to each item."""
    total, behind = np.zeros((n_items, n_classes)), np.zeros(n_items)
    for m, i, x in answers:
        total[i] += member_weights[m] * x
        behind[i] += member_weights[m]
    return total / behind[:, None]


def confusion_counts(answers, posterior, n_members):
    """Σ_i t_ik x_imj, by loops."""
    n_classes = posterior.shape[1]
    counts = np.zeros((n_members, n_classes, n_classes))
    for m, i, x in answers:
        for k in range(n_classes):
            for j in range(n_classes):
                counts[m, k, j] += posterior[i, k] * x[j]
    return counts


def shrunk_rates(counts, smoothing, few=10):
    """Confusion matrices drawn to those of members who err evenly."""
    n_members, n_classes, _ = counts.shape
    everyones = sum(counts[m, k, k] for m in range(n_members) for k in range(n_classes)) / counts.sum()
    rates = np.zeros_like(counts)
    for m in range(n_members):
        n_answers = counts[m].sum()
        right = sum(counts[m, k, k] for k in range(n_classes))
        accuracy = (right + few * everyones) / (n_answers + few + 1)
        pseudo = smoothing * n_answers / n_classes + 1
        for k in range(n_classes):
            for j in range(n_classes):
                even = accuracy if k == j else (1 - accuracy) / (n_classes - 1)
                rates[m, k, j] = counts[m, k, j] + pseudo * even
            rates[m, k] /= rates[m, k].sum()
    return rates
