"""Optimisers by name: chains of the parts in `scaling`, with the arguments and the defaults of optax.

`learning_rate` is a number, or a function of how many steps were made before (`schedules`). `optim.adam(1e-3)` is two
functions; see `transformations`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .scaling import (
    add_decayed_weights,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_lion,
    scale_by_rms,
    scale_by_rss,
    scale_by_stddev,
    trace,
)
from .transformations import GradientTransformation, chain, identity

Rate = float | Callable[[Any], Any]


def sgd(learning_rate: Rate, momentum: float | None = None, nesterov: bool = False) -> GradientTransformation:
    """Stochastic gradient descent.

    With `momentum`, steps follow a decayed sum of all gradients; with `nesterov`, one step ahead of it (Sutskever et
    al., http://proceedings.mlr.press/v28/sutskever13.pdf).

    >>> import numpy as np
    >>> init, update = sgd(0.5)
    >>> state = init(np.zeros(2))
    >>> update(np.array([3.0, 4.0]), state)[0]
    array([-1.5, -2. ])
    """
    return chain(remembering(momentum, nesterov), scale_by_learning_rate(learning_rate))


def remembering(momentum: float | None, nesterov: bool) -> GradientTransformation:
    return identity() if momentum is None else trace(momentum, nesterov)


def momentum(learning_rate: Rate, decay: float = 0.9) -> GradientTransformation:
    """`sgd` with momentum.

    >>> import numpy as np
    >>> init, update = momentum(0.5)
    >>> gradient = np.array([2.0])
    >>> _, state = update(gradient, init(np.zeros(1)))
    >>> update(gradient, state)[0]
    array([-1.9])
    """
    return sgd(learning_rate, decay)


def nesterov(learning_rate: Rate, decay: float = 0.9) -> GradientTransformation:
    """`sgd` with Nesterov's momentum."""
    return sgd(learning_rate, decay, nesterov=True)


def adam(learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
         nesterov: bool = False) -> GradientTransformation:
    """Adam: see `scale_by_adam`.

    >>> import numpy as np
    >>> init, update = adam(0.5)
    >>> state = init(np.zeros(2))
    >>> update(np.array([3.0, 4.0]), state)[0]
    array([-0.5, -0.5])
    """
    return chain(scale_by_adam(b1, b2, eps, eps_root, nesterov), scale_by_learning_rate(learning_rate))


def adamw(learning_rate: Rate, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
          weight_decay: float = 1e-4, mask: Any = None, nesterov: bool = False) -> GradientTransformation:
    """Adam with decoupled weight decay: see `scale_by_adam` and `add_decayed_weights`.

    >>> import numpy as np
    >>> init, update = adamw(0.5, weight_decay=0.1)
    >>> weights = np.array([1.0, 2.0])
    >>> update(np.array([3.0, 4.0]), init(weights), weights)[0]
    array([-0.55, -0.6 ])
    """
    return chain(scale_by_adam(b1, b2, eps, eps_root, nesterov), add_decayed_weights(weight_decay, mask),
                 scale_by_learning_rate(learning_rate))


def rmsprop(learning_rate: Rate, decay: float = 0.9, eps: float = 1e-8, initial_scale: float = 0.0,
            eps_in_sqrt: bool = True, centered: bool = False, momentum: float | None = None,
            nesterov: bool = False) -> GradientTransformation:
    """RMSProp: see `scale_by_rms`; `centered` takes the variance, see `scale_by_stddev`.

    >>> import numpy as np
    >>> init, update = rmsprop(0.5, decay=0.75)
    >>> state = init(np.zeros(2))
    >>> update(np.array([3.0, 4.0]), state)[0]
    array([-1., -1.])
    """
    scaling = scale_by_stddev if centered else scale_by_rms
    return chain(scaling(decay, eps, initial_scale, eps_in_sqrt), scale_by_learning_rate(learning_rate),
                 remembering(momentum, nesterov))


def adagrad(learning_rate: Rate, initial_accumulator_value: float = 0.1, eps: float = 1e-7) -> GradientTransformation:
    """Adagrad: see `scale_by_rss`.

    >>> import numpy as np
    >>> init, update = adagrad(0.5)
    >>> state = init(np.zeros(2))
    >>> update(np.array([3.0, 4.0]), state)[0]
    array([-0.49724516, -0.49844478])
    """
    return chain(scale_by_rss(initial_accumulator_value, eps), scale_by_learning_rate(learning_rate))


def lion(learning_rate: Rate, b1: float = 0.9, b2: float = 0.99, weight_decay: float = 1e-3,
         mask: Any = None) -> GradientTransformation:
    """Lion with weight decay: see `scale_by_lion` and `add_decayed_weights`."""
    return chain(scale_by_lion(b1, b2), add_decayed_weights(weight_decay, mask),
                 scale_by_learning_rate(learning_rate))
