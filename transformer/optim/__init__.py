"""Optimisers: how parameters follow from gradients, as pairs of plain functions over pytrees.

    optimizer = optim.adam(1e-3)                        # or chain(clip_by_global_norm(1.0), sgd(0.1)), …
    state = optimizer.init(params)

    @jit
    def step(params, state, batch):
        loss, grads = value_and_grad(mean_loss)(params, batch)
        updates, state = optimizer.update(grads, state, params)
        return optim.apply_updates(params, updates), state, loss

Names, arguments and defaults are those of optax (https://optax.readthedocs.io), and so are the numbers. Unlike there, a
count of steps is Python's int, so that what follows from it is computed in double precision and does not change the
dtype of parameters.

    sgd momentum nesterov adam adamw rmsprop adagrad lion       optimisers               optimizers.py
    scale_by_… trace add_decayed_weights                        parts of them            scaling.py
    clip clip_by_norm clip_by_global_norm                       parts that limit         clipping.py
    chain apply_updates GradientTransformation                  what they are            transformations.py
    constant_schedule cosine_decay_schedule …                   rates that change        schedules.py
"""

from .clipping import clip, clip_by_global_norm, clip_by_norm, global_norm
from .optimizers import adagrad, adam, adamw, lion, momentum, nesterov, rmsprop, sgd
from .scaling import (
    add_decayed_weights,
    scale,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_lion,
    scale_by_rms,
    scale_by_rss,
    scale_by_schedule,
    scale_by_stddev,
    trace,
)
from .schedules import (
    constant_schedule,
    cosine_decay_schedule,
    cosine_onecycle_schedule,
    exponential_decay,
    join_schedules,
    linear_onecycle_schedule,
    linear_schedule,
    piecewise_constant_schedule,
    piecewise_interpolate_schedule,
    polynomial_schedule,
    warmup_cosine_decay_schedule,
    warmup_exponential_decay_schedule,
)
from .transformations import EmptyState, GradientTransformation, apply_updates, chain, identity

__all__ = [
    "EmptyState",
    "GradientTransformation",
    "adagrad",
    "adam",
    "adamw",
    "add_decayed_weights",
    "apply_updates",
    "chain",
    "clip",
    "clip_by_global_norm",
    "clip_by_norm",
    "constant_schedule",
    "cosine_decay_schedule",
    "cosine_onecycle_schedule",
    "exponential_decay",
    "global_norm",
    "identity",
    "join_schedules",
    "linear_onecycle_schedule",
    "linear_schedule",
    "lion",
    "momentum",
    "nesterov",
    "piecewise_constant_schedule",
    "piecewise_interpolate_schedule",
    "polynomial_schedule",
    "rmsprop",
    "scale",
    "scale_by_adam",
    "scale_by_learning_rate",
    "scale_by_lion",
    "scale_by_rms",
    "scale_by_rss",
    "scale_by_schedule",
    "scale_by_stddev",
    "sgd",
    "trace",
    "warmup_cosine_decay_schedule",
    "warmup_exponential_decay_schedule",
]
