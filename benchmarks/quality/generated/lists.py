"""Word lists and a few classifiers that look for one thing, such as offensive language.

An item has words, and a list finds it where it has one of the list's. Lists have the common words in common, so they
find the same, and are silent together where what is meant is said in other words.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from benchmarks.quality.generated.assembly import Draft
from benchmarks.quality.generated.draws import chance, draw_n_items, draw_truth, log_uniform, log_uniform_integer

Rng = np.random.Generator

N_WORDS = 80


def lists(rng: Rng) -> Draft:
    """Votes or probabilities of two to eight lists, and of one to four classifiers."""
    share = rng.uniform(0.05, 0.6)
    truth = draw_truth(rng, np.array([1 - share, share]), draw_n_items(rng, N_WORDS))
    words = _words(truth, rng)
    found = _found(words, log_uniform_integer(rng, 2, 8), rng)
    beliefs = _beliefs(truth, words.sum(axis=1), int(rng.integers(1, 5)), rng)
    positive = np.concatenate([np.where(found, 1.0, _silence(len(found), rng)[:, None]), beliefs])
    draft = Draft(truth, 2, probabilities=np.stack([1 - positive, positive], axis=2))
    return draft.hardened() if chance(rng, 0.5) else draft


def _words(truth: np.ndarray, rng: Rng) -> np.ndarray:
    """(items, words): how often each word is there; some positive items have no more of them than others have."""
    rates = 1 / np.arange(1, N_WORDS + 1) ** rng.uniform(0.5, 1.2)
    rates *= log_uniform(rng, 0.5, 2.5) / rates.sum()
    innocence = log_uniform(rng, 0.03, 0.5) * np.exp(rng.uniform(0, 1) * rng.standard_normal(N_WORDS))
    is_open = (truth == 1) & (rng.random(len(truth)) > rng.uniform(0.05, 0.6))
    return rng.poisson(np.where(is_open[:, None], rates, rates * np.minimum(innocence, 1)))


def _found(words: np.ndarray, n_lists: int, rng: Rng) -> np.ndarray:
    """(lists, items): where a list has a word of the item; long lists and short ones, common words in most."""
    common = np.linspace(rng.uniform(0, 2), -rng.uniform(0, 2), N_WORDS)
    length = rng.uniform(-1.5, 1.5, (n_lists, 1))
    has_word = rng.random((n_lists, N_WORDS)) < expit(common + length)
    has_word[:, 0] = True
    return has_word.astype(np.int64) @ words.T > 0


def _silence(n_lists: int, rng: Rng) -> np.ndarray:
    """(lists,): what a list says that finds nothing: negative, or with some lists nothing."""
    return np.where(rng.random(n_lists) < rng.choice([0, 0, 0.5, 1]), np.nan, 0)


def _beliefs(truth: np.ndarray, n_words: np.ndarray, n_members: int, rng: Rng) -> np.ndarray:
    """(classifiers, items): of classifiers that see the words, something of what is meant, and what misleads all."""
    skill = rng.uniform(0.2, 2.2, (n_members, 1))
    heed = rng.uniform(0, 1.5, (n_members, 1))
    lean = rng.uniform(-2, 1) + rng.uniform(0, 1) * rng.standard_normal((n_members, 1))
    common = rng.uniform(0, 0.8) * rng.standard_normal(len(truth))
    noise = common + rng.standard_normal((n_members, len(truth)))
    return expit(log_uniform(rng, 0.5, 2.5) * (skill * (2 * truth - 1) + heed * np.log1p(n_words) + lean + noise))
