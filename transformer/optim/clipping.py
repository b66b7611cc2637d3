"""Limits of updates: by value, by the norm of each leaf, by the norm of all of them.

    optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adam(1e-3))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import tree
from .transformations import GradientTransformation, stateless


def global_norm(updates: Any) -> Any:
    """The Euclidean norm of all leaves of a pytree together.

    >>> global_norm({"w": np.array([3.0, 0.0]), "b": np.array(4.0)})
    np.float64(5.0)
    """
    return np.sqrt(sum([np.sum(np.square(leaf)) for leaf in tree.leaves(updates)]))


def clip(max_delta: float) -> GradientTransformation:
    """Each element between `-max_delta` and `max_delta`.

    >>> init, update = clip(1.0)
    >>> update(np.array([-3.0, 0.5]), init(None))[0]
    array([-1. ,  0.5])
    """
    return stateless(lambda updates, params: tree.map(lambda update: np.clip(update, -max_delta, max_delta), updates))


def clip_by_norm(max_norm: float) -> GradientTransformation:
    """Scales down each leaf whose norm is above `max_norm`.

    >>> init, update = clip_by_norm(1.0)
    >>> update(np.array([3.0, 4.0]), init(None))[0]
    array([0.6, 0.8])
    """
    return stateless(lambda updates, params: tree.map(
        lambda update: shortened(update, global_norm(update), max_norm), updates))


def clip_by_global_norm(max_norm: float) -> GradientTransformation:
    """Scales down all leaves by one factor if their global norm is above `max_norm`. Source: Pascanu et al., On the
    difficulty of training recurrent neural networks, https://arxiv.org/abs/1211.5063.

    >>> init, update = clip_by_global_norm(1.0)
    >>> update({"w": np.array([3.0]), "b": np.array([4.0])}, init(None))[0]
    {'w': array([0.6]), 'b': array([0.8])}
    """

    def update(updates: Any, params: Any) -> Any:
        norm = global_norm(updates)
        return tree.map(lambda update: shortened(update, norm, max_norm), updates)

    return stateless(update)


def shortened(update: Any, norm: Any, max_norm: float) -> Any:
    """An update scaled to `max_norm` if its norm is above: by a Python number, which leaves its dtype alone."""
    return update if norm < max_norm else update * float(max_norm / norm)
