"""Shapley values: what each player adds to those before it, averaged over the orders in which players can come.

They are the only way to split a value among players that adds up, treats equal players alike, gives nothing to those
who change nothing, and adds up over games.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.special import comb

from consilience.system.arrays import FloatArray

Value: TypeAlias = Callable[[npt.NDArray[np.bool_]], FloatArray]

MOST_EXACT = 12  # with more players, orders are sampled: the number of coalitions doubles with each player

MOST_ORDERS, LEAST_ORDERS = 256, 4
"""How many pairs of orders are sampled, each of an order and its reverse, whose errors partly cancel."""

MOST_COALITIONS = 2**13  # fewer pairs are sampled where they would take more coalitions
FLAGS_AT_ONCE = 2**22  # about how many flags of who is in a coalition are kept at a time


def shapley_values(value: Value, n_players: int, nothing: float, everything: float) -> FloatArray:
    """The Shapley value of each player (players,); they sum to `everything` - `nothing`, exactly.

    `value` maps coalitions (coalitions, players), flags of who is in, to their values. It is asked neither for the
    empty one, which is worth `nothing`, nor for that of all players, which is worth `everything`.

    >>> shapley_values(lambda is_in: 10.0 * is_in[:, 0], 2, nothing=0.0, everything=12.0).tolist()
    [11.0, 1.0]
    """
    if n_players == 1:
        return np.array([everything - nothing])
    if n_players <= MOST_EXACT:
        return exact_values(value, n_players, nothing, everything)
    n_pairs = max(LEAST_ORDERS, min(MOST_ORDERS, MOST_COALITIONS // (2 * n_players)))
    rng = np.random.default_rng(0)  # the same orders at each call: an explanation must not change when asked again
    orders = np.array([rng.permutation(n_players) for _ in range(n_pairs)])
    return sampled_values(value, np.concatenate([orders, orders[:, ::-1]]), nothing, everything)


def exact_values(value: Value, n_players: int, nothing: float, everything: float) -> FloatArray:
    """The same from all coalitions."""
    is_in = (np.arange(2**n_players)[:, None] >> np.arange(n_players)) & 1 == 1
    values = np.concatenate([[nothing], value(is_in[1:-1]), [everything]])
    sizes = is_in.sum(axis=1)
    # A player joins a given coalition of s others in s! (n - s - 1)! of the n! orders.
    as_first_of = np.append(1 / (n_players * comb(n_players - 1, np.arange(n_players))), 0)
    with_player, without = as_first_of[sizes - 1] * values, as_first_of[sizes] * values
    return np.asarray(is_in.T @ with_player - ~is_in.T @ without)


def sampled_values(value: Value, orders: npt.NDArray[np.intp], nothing: float, everything: float) -> FloatArray:
    """The same from some orders (orders, players); of each, what the players add sums up exactly."""
    n_players = orders.shape[1]
    total = np.zeros(n_players)
    step = max(1, FLAGS_AT_ONCE // n_players**2)
    for start in range(0, len(orders), step):
        ranks = np.argsort(orders[start : start + step], axis=1)
        is_in = ranks[:, None, :] < np.arange(1, n_players)[:, None]
        values = value(is_in.reshape(-1, n_players)).reshape(len(ranks), -1)
        added = np.diff(values, axis=1, prepend=nothing, append=everything)
        total += np.take_along_axis(added, ranks, axis=1).sum(axis=0)
    return total / len(orders)
