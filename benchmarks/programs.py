"""The programs that are differentiated, and arguments for them.

Each is one function that uses `np` and nothing else of its module, so that it also runs with
another package in place of NumPy.
"""

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np


def mlp_loss(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, y: Any) -> Any:
    """Cross-entropy of a network with one hidden layer; `y` holds one-hot rows."""
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    scores = scores - np.max(scores, axis=1, keepdims=True)
    total = np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return -np.sum(y * (scores - total)) / x.shape[0]


def mlp_arguments() -> tuple[Any, ...]:
    batch, inputs, hidden = 128, 784, 512
    rng = np.random.default_rng(0)
    labels = rng.integers(10, size=batch)
    return (
        rng.normal(0, inputs**-0.5, (inputs, hidden)),
        np.zeros(hidden),
        rng.normal(0, hidden**-0.5, (hidden, 10)),
        np.zeros(10),
        rng.normal(size=(batch, inputs)),
        np.eye(10)[labels],
    )


def pendulum(angle: Any, speed: Any, friction: Any, steps: int) -> Any:
    """The last angle of a damped pendulum after many short steps."""
    for _ in range(steps):
        speed = speed - 0.001 * (np.sin(angle) + friction * speed)
        angle = angle + 0.001 * speed
    return angle


def weighted(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    """Hardly any work on five arrays: what is measured is the way to it."""
    return np.sum(a * b * c * d * e)


def with_numpy(function: Callable[..., Any], numpy_like: ModuleType) -> Callable[..., Any]:
    """The same function over another package that looks like NumPy."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is not a Python function")
    return FunctionType(function.__code__, {**function.__globals__, "np": numpy_like})
