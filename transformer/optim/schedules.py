"""Learning rates that change: functions of how many steps were made, a number or an array of them.

    optimizer = optim.adamw(optim.warmup_cosine_decay_schedule(0.0, 1e-3, warmup_steps=100, decay_steps=2000))
    pyplot.plot(schedule(np.arange(2000)))

Names and arguments are those of optax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Schedule = Callable[[Any], Any]


def constant_schedule(value: float) -> Schedule:
    """The same at any time.

    >>> constant_schedule(0.1)(7)
    0.1
    """
    return lambda count: value


def polynomial_schedule(init_value: float, end_value: float, power: float, transition_steps: int,
                        transition_begin: int = 0) -> Schedule:
    """From `init_value` to `end_value`, of which `(1 - part)**power` is left after a part of the steps.

    >>> polynomial_schedule(1.0, 0.0, 2, 4)(np.arange(6))
    array([1.    , 0.5625, 0.25  , 0.0625, 0.    , 0.    ])
    """
    check_steps("transition_steps", transition_steps)

    def schedule(count: Any) -> Any:
        left = 1 - np.clip(count - transition_begin, 0, transition_steps) / transition_steps
        return (init_value - end_value) * left**power + end_value

    return schedule


def linear_schedule(init_value: float, end_value: float, transition_steps: int, transition_begin: int = 0) -> Schedule:
    """From `init_value` to `end_value`, the same way in each step.

    >>> linear_schedule(1.0, 0.0, 4)(np.arange(6))
    array([1.  , 0.75, 0.5 , 0.25, 0.  , 0.  ])
    """
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def exponential_decay(init_value: float, transition_steps: int, decay_rate: float, transition_begin: int = 0,
                      staircase: bool = False, end_value: float | None = None) -> Schedule:
    """Times `decay_rate` in `transition_steps` steps, all at once if `staircase`, not beyond `end_value`.

    >>> exponential_decay(1.0, 2, 0.25)(np.arange(4))
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    check_steps("transition_steps", transition_steps)

    def schedule(count: Any) -> Any:
        part = np.maximum(count - transition_begin, 0) / transition_steps
        value = init_value * decay_rate ** (np.floor(part) if staircase else part)
        if end_value is None:
            return value
        return np.maximum(value, end_value) if decay_rate < 1 else np.minimum(value, end_value)

    return schedule


def cosine_decay_schedule(init_value: float, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0) -> Schedule:
    """Half a period of a cosine, from `init_value` to `alpha` times it. Source: Loshchilov and Hutter,
    https://arxiv.org/abs/1608.03983.

    >>> cosine_decay_schedule(1.0, 4)(np.array([0, 2, 4, 8]))
    array([1. , 0.5, 0. , 0. ])
    """
    check_steps("decay_steps", decay_steps)

    def schedule(count: Any) -> Any:
        wave = 0.5 * (1 + np.cos(np.pi * np.minimum(count, decay_steps) / decay_steps))
        return init_value * ((1 - alpha) * wave**exponent + alpha)

    return schedule


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Schedules one after the other, each of them beginning to count where it takes over.

    >>> join_schedules([constant_schedule(1.0), linear_schedule(0.5, 0.0, 2)], [2])(np.arange(5))
    array([1.  , 1.  , 0.5 , 0.25, 0.  ])
    """
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(f"{len(schedules)} schedules need {len(schedules) - 1} boundaries, "
                         f"got {len(boundaries)}")
    first, rest = schedules[0], tuple(zip(boundaries, schedules[1:]))

    def schedule(count: Any) -> Any:
        value = first(count)
        for boundary, following in rest:
            value = np.where(count < boundary, value, following(count - boundary))
        return value

    return schedule


def warmup_cosine_decay_schedule(init_value: float, peak_value: float, warmup_steps: int, decay_steps: int,
                                 end_value: float = 0.0, exponent: float = 1.0) -> Schedule:
    """A straight line up, then a cosine down: `decay_steps` steps together.

    >>> warmup_cosine_decay_schedule(0.0, 1.0, 2, 6)(np.arange(7)).round(2)
    array([0.  , 0.5 , 1.  , 0.85, 0.5 , 0.15, 0.  ])
    """
    alpha = end_value / peak_value if peak_value else 0.0
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps),
                           cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent)],
                          [warmup_steps])


def warmup_exponential_decay_schedule(
    init_value: float, peak_value: float, warmup_steps: int, transition_steps: int, decay_rate: float,
    transition_begin: int = 0, staircase: bool = False, end_value: float | None = None,
) -> Schedule:
    """A straight line up, then an exponential decay.

    >>> warmup_exponential_decay_schedule(0.0, 1.0, 2, 2, 0.25)(np.arange(5))
    array([0.  , 0.5 , 1.  , 0.5 , 0.25])
    """
    decay = exponential_decay(peak_value, transition_steps, decay_rate, transition_begin, staircase, end_value)
    return join_schedules([linear_schedule(init_value, peak_value, warmup_steps), decay], [warmup_steps])


def piecewise_constant_schedule(init_value: float, boundaries_and_scales: Mapping[int, float]) -> Schedule:
    """From each boundary on times its scale.

    >>> piecewise_constant_schedule(1.0, {2: 0.5, 4: 0.1})(np.array([0, 2, 4]))
    array([1.  , 0.5 , 0.05])
    """
    pieces = sorted_pieces(boundaries_and_scales)

    def schedule(count: Any) -> Any:
        value: Any = init_value
        for boundary, scale in pieces:
            value = value * np.where(count < boundary, 1.0, scale)
        return value

    return schedule


def piecewise_interpolate_schedule(interpolate_type: str, init_value: float,
                                   boundaries_and_scales: Mapping[int, float]) -> Schedule:
    """At each boundary the value before it times its scale; in between ``"linear"``, or half a period of a
    ``"cosine"``.

    >>> piecewise_interpolate_schedule("linear", 1.0, {2: 0.5, 4: 0.0})(np.arange(6))
    array([1.  , 0.75, 0.5 , 0.25, 0.  , 0.  ])
    """
    if interpolate_type not in ("linear", "cosine"):
        raise ValueError(f"interpolate_type is {interpolate_type!r}, expected 'linear' or 'cosine'")
    pieces = sorted_pieces(boundaries_and_scales)

    def schedule(count: Any) -> Any:
        begin, value = 0, init_value
        result: Any = value * np.ones(np.shape(count))
        for boundary, scale in pieces:
            part = np.clip((count - begin) / max(boundary - begin, 1), 0, 1)
            way = part if interpolate_type == "linear" else 0.5 * (1 - np.cos(np.pi * part))
            result = result + value * (scale - 1) * way
            begin, value = boundary, value * scale
        return result

    return schedule


def linear_onecycle_schedule(transition_steps: int, peak_value: float, pct_start: float = 0.3, pct_final: float = 0.85,
                             div_factor: float = 25.0, final_div_factor: float = 1e4) -> Schedule:
    """Up from a part of the peak, down to it, and down to nearly nothing, by straight lines. Source: Smith and Topin,
    https://arxiv.org/abs/1708.07120.

    >>> linear_onecycle_schedule(10, 1.0)(np.arange(0, 11, 5)).round(4)
    array([0.04 , 0.616, 0.   ])
    """
    check_steps("transition_steps", transition_steps)
    return piecewise_interpolate_schedule("linear", peak_value / div_factor, {
        int(pct_start * transition_steps): div_factor, int(pct_final * transition_steps): 1 / div_factor,
        transition_steps: 1 / final_div_factor})


def cosine_onecycle_schedule(transition_steps: int, peak_value: float, pct_start: float = 0.3, div_factor: float = 25.0,
                             final_div_factor: float = 1e4) -> Schedule:
    """Up from a part of the peak and down to nearly nothing, each half a period of a cosine. Source as for
    `linear_onecycle_schedule`.

    >>> cosine_onecycle_schedule(10, 1.0)(np.arange(0, 11, 5)).round(4)
    array([0.04  , 0.8117, 0.    ])
    """
    check_steps("transition_steps", transition_steps)
    return piecewise_interpolate_schedule("cosine", peak_value / div_factor, {
        int(pct_start * transition_steps): div_factor, transition_steps: 1 / (div_factor * final_div_factor)})


def sorted_pieces(boundaries_and_scales: Mapping[int, float]) -> tuple[tuple[int, float], ...]:
    return tuple(sorted(boundaries_and_scales.items()))


def check_steps(name: str, steps: int) -> None:
    """Raises ValueError unless there is a step."""
    if steps <= 0:
        raise ValueError(f"{name} is {steps}, expected at least 1")
