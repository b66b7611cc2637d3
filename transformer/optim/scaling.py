"""The parts of which optimisers are made: each scales updates in its way.

    adam(1e-3)                  is chain(scale_by_adam(), scale_by_learning_rate(1e-3))
    sgd(0.1, momentum=0.9)      is chain(trace(0.9), scale_by_learning_rate(0.1))

Arguments are Python numbers, so that updates of f32 stay f32, and so do the averages that the states keep.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import tree
from .transformations import GradientTransformation, check_alike, stateless

Schedule = Callable[[Any], Any]
OWN = "the parameters of the state"


class CountState(NamedTuple):
    """How many steps were made."""

    count: Any


class TraceState(NamedTuple):
    """The sum of updates, each time decayed."""

    trace: Any


class AdamState(NamedTuple):
    """How many steps were made; averages of updates and of their squares."""

    count: Any
    mu: Any
    nu: Any


class MomentState(NamedTuple):
    """The average of updates."""

    mu: Any


class RmsState(NamedTuple):
    """The average of squares of updates."""

    nu: Any


class RssState(NamedTuple):
    """The sum of squares of updates."""

    sum_of_squares: Any


class StddevState(NamedTuple):
    """Averages of updates and of their squares."""

    mu: Any
    nu: Any


def filled(params: Any, value: float) -> Any:
    """Arrays like the leaves of a pytree, filled with a number."""
    return tree.map(lambda param: np.full_like(param, value), params)


def averaged(average: Any, values: Any, decay: float) -> Any:
    """The exponential moving average after one more value."""
    return tree.map(lambda mean, value: decay * mean + (1 - decay) * value, average, values)


def squares(updates: Any) -> Any:
    return tree.map(np.square, updates)


def unbiased(average: Any, decay: float, count: Any) -> Any:
    """An average that began with 0, as if it had not (section 3 of https://arxiv.org/abs/1412.6980)."""
    share = float(1 - decay**count)
    return tree.map(lambda mean: mean / share, average)


def scale(factor: float) -> GradientTransformation:
    """Updates times a number."""
    return stateless(lambda updates, params: tree.map(lambda update: factor * update, updates))


def scale_by_schedule(schedule: Schedule) -> GradientTransformation:
    """Updates times a number that depends on how many steps were made before."""

    def init(params: Any) -> CountState:
        return CountState(0)

    def update(updates: Any, state: CountState, params: Any = None) -> tuple[Any, CountState]:
        factor = float(schedule(state.count))
        return tree.map(lambda update: factor * update, updates), CountState(state.count + 1)

    return GradientTransformation(init, update)


def scale_by_learning_rate(learning_rate: float | Schedule) -> GradientTransformation:
    """Updates times `-learning_rate`, which is a number, or a function of how many steps were made before."""
    if callable(learning_rate):
        return scale_by_schedule(lambda count: -learning_rate(count))
    return stateless(lambda updates, params: tree.map(lambda update: -float(learning_rate) * update, updates))


def trace(decay: float, nesterov: bool = False) -> GradientTransformation:
    """The sum of all updates so far, each time decayed: momentum. With `nesterov` it looks one step ahead."""

    def init(params: Any) -> TraceState:
        return TraceState(filled(params, 0))

    def update(updates: Any, state: TraceState, params: Any = None) -> tuple[Any, TraceState]:
        check_alike(updates, state.trace, OWN)
        new = tree.map(lambda update, before: update + decay * before, updates, state.trace)
        ahead = tree.map(lambda update, after: update + decay * after, updates, new) if nesterov else new
        return ahead, TraceState(new)

    return GradientTransformation(init, update)


def scale_by_adam(b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0,
                  nesterov: bool = False) -> GradientTransformation:
    """The average of updates over the root of the average of their squares. A derivative *through* an update needs
    `eps_root` > 0, as a root has none at 0. Source: Kingma and Ba, https://arxiv.org/abs/1412.6980; with `nesterov`
    Dozat, https://openreview.net/pdf?id=OM0jvwB8jIp57ZJjtNEZ."""

    def init(params: Any) -> AdamState:
        return AdamState(0, filled(params, 0), filled(params, 0))

    def update(updates: Any, state: AdamState, params: Any = None) -> tuple[Any, AdamState]:
        check_alike(updates, state.mu, OWN)
        count = state.count + 1
        mu, nu = averaged(state.mu, updates, b1), averaged(state.nu, squares(updates), b2)
        if nesterov:
            mean = averaged(unbiased(mu, b1, count + 1), unbiased(updates, b1, count), b1)
        else:
            mean = unbiased(mu, b1, count)
        scaled = tree.map(lambda m, v: m / (np.sqrt(v + eps_root) + eps), mean, unbiased(nu, b2, count))
        return scaled, AdamState(count, mu, nu)

    return GradientTransformation(init, update)


def scale_by_rms(decay: float = 0.9, eps: float = 1e-8, initial_scale: float = 0.0,
                 eps_in_sqrt: bool = True) -> GradientTransformation:
    """Updates over the root of the average of their squares. Source: Hinton,
    https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf."""

    def init(params: Any) -> RmsState:
        return RmsState(filled(params, initial_scale))

    def update(updates: Any, state: RmsState, params: Any = None) -> tuple[Any, RmsState]:
        check_alike(updates, state.nu, OWN)
        nu = averaged(state.nu, squares(updates), decay)
        return tree.map(lambda update, v: update / rooted(v, eps, eps_in_sqrt), updates, nu), RmsState(nu)

    return GradientTransformation(init, update)


def scale_by_stddev(decay: float = 0.9, eps: float = 1e-8, initial_scale: float = 0.0,
                    eps_in_sqrt: bool = True) -> GradientTransformation:
    """Updates over the root of their average variance. Source: Graves, section 4.2 of
    https://arxiv.org/abs/1308.0850."""

    def init(params: Any) -> StddevState:
        return StddevState(filled(params, 0), filled(params, initial_scale))

    def update(updates: Any, state: StddevState, params: Any = None) -> tuple[Any, StddevState]:
        check_alike(updates, state.mu, OWN)
        mu, nu = averaged(state.mu, updates, decay), averaged(state.nu, squares(updates), decay)
        scaled = tree.map(lambda update, m, v: update / rooted(v - m * m, eps, eps_in_sqrt), updates, mu, nu)
        return scaled, StddevState(mu, nu)

    return GradientTransformation(init, update)


def rooted(squared: Any, eps: float, inside: bool) -> Any:
    """A root that is not 0, by a small number inside of it or beside it."""
    return np.sqrt(squared + eps) if inside else np.sqrt(squared) + eps


def scale_by_rss(initial_accumulator_value: float = 0.1, eps: float = 1e-7) -> GradientTransformation:
    """Updates over the root of the sum of their squares. Source: Duchi et al.,
    https://jmlr.org/papers/v12/duchi11a.html."""

    def init(params: Any) -> RssState:
        return RssState(filled(params, initial_accumulator_value))

    def update(updates: Any, state: RssState, params: Any = None) -> tuple[Any, RssState]:
        check_alike(updates, state.sum_of_squares, OWN)
        total = tree.map(lambda update, before: before + update * update, updates, state.sum_of_squares)
        scaled = tree.map(lambda update, s: np.where(s > 0, update / np.sqrt(s + eps), 0), updates, total)
        return scaled, RssState(total)

    return GradientTransformation(init, update)


def scale_by_lion(b1: float = 0.9, b2: float = 0.99) -> GradientTransformation:
    """The sign of an average of updates. Source: Chen et al., https://arxiv.org/abs/2302.06675."""

    def init(params: Any) -> MomentState:
        return MomentState(filled(params, 0))

    def update(updates: Any, state: MomentState, params: Any = None) -> tuple[Any, MomentState]:
        check_alike(updates, state.mu, OWN)
        signs = tree.map(np.sign, averaged(state.mu, updates, b1))
        return signs, MomentState(averaged(state.mu, updates, b2))

    return GradientTransformation(init, update)


def add_decayed_weights(weight_decay: float = 0.0, mask: Any = None) -> GradientTransformation:
    """Updates and `weight_decay` times the parameters: behind what scales gradients it is decoupled from them, as in
    https://arxiv.org/abs/1711.05101. `mask` is a pytree of truth values like the parameters, or a function that makes
    it of them: which of them decay."""

    def update(updates: Any, params: Any) -> Any:
        if params is None:
            raise ValueError("weight decay needs the parameters: call update(grads, state, params)")
        check_alike(updates, params, "params")
        chosen = mask(params) if callable(mask) else tree.map(lambda param: True, params) if mask is None else mask
        return tree.map(lambda param, update, decays: update + weight_decay * param if decays else update,
                        params, updates, chosen)

    return stateless(update)
