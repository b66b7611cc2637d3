"""What an optimiser is: a function that makes a state, and one that makes updates of gradients.

    init(params) -> state
    update(updates, state, params=None) -> updates, state

Both are ordinary functions of pytrees and change nothing that they are given. The state is a pytree of arrays and
counts, so that a training step can be compiled, differentiated, batched and saved. Several are one: `chain`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import tree


class GradientTransformation(NamedTuple):
    """Two functions: ``init(params)`` gives a state, ``update(updates, state, params=None)`` the updates and the next
    state. What is not there for parameters themselves can do without them."""

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


class EmptyState(NamedTuple):
    """The state of what has none."""


def stateless(update: Callable[[Any, Any], Any]) -> GradientTransformation:
    """A transformation of ``update(updates, params)`` that keeps nothing from one step to the next."""

    def init(params: Any) -> EmptyState:
        return EmptyState()

    def updated(updates: Any, state: EmptyState, params: Any = None) -> tuple[Any, EmptyState]:
        return update(updates, params), state

    return GradientTransformation(init, updated)


def identity() -> GradientTransformation:
    """Updates as they are."""
    return stateless(lambda updates, params: updates)


def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Transformations one after the other: the updates of one are those that the next is given.

    >>> from transformer.optim import clip, sgd
    >>> optimizer = chain(clip(1.0), sgd(0.1))
    >>> grads = {"w": np.array([0.5, 4.0])}
    >>> optimizer.update(grads, optimizer.init(grads))[0]
    {'w': array([-0.05, -0.1 ])}
    """

    def init(params: Any) -> tuple[Any, ...]:
        return tuple([transformation.init(params) for transformation in transformations])

    def update(updates: Any, state: tuple[Any, ...], params: Any = None) -> tuple[Any, tuple[Any, ...]]:
        if len(state) != len(transformations):
            raise ValueError(f"the state belongs to a chain of {len(state)} transformations, not of "
                             f"{len(transformations)}: create it with `init` of the same optimizer")
        states = []
        for transformation, before in zip(transformations, state):
            updates, after = transformation.update(updates, before, params)
            states.append(after)
        return updates, tuple(states)

    return GradientTransformation(init, update)


def apply_updates(params: Any, updates: Any) -> Any:
    """``params + updates``, leaf by leaf, in the dtypes of the parameters.

    >>> apply_updates({"w": np.ones(2, np.float32)}, {"w": np.array([0.5, -0.5])})
    {'w': array([1.5, 0.5], dtype=float32)}
    """
    check_alike(updates, params, "params")
    return tree.map(lambda param, update: cast(param + update, param), params, updates)


def cast(value: Any, like: Any) -> Any:
    """A value in the dtype of another one."""
    dtype = np.result_type(like)
    return value if np.result_type(value) == dtype else np.asarray(value, dtype)


def check_alike(updates: Any, expected: Any, expected_name: str) -> None:
    """Raises ValueError, with the path of the leaf, unless updates have this structure and leaves of these shapes."""
    structure = tree.structure(expected)
    pairs = zip(structure.paths(), structure.leaves_of(updates, "updates"), tree.leaves(expected))
    for path, leaf, other in pairs:
        if np.shape(leaf) != np.shape(other):
            raise ValueError(f"updates{path} has shape {np.shape(leaf)}, but {expected_name}{path} has shape "
                             f"{np.shape(other)}")
