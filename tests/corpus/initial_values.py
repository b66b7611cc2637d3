"""Differential equations that SciPy solves: states at the end, at given times, of equations with parameters."""

import numpy as np
from scipy.integrate import odeint, solve_ivp

from transformer import vmap

from .program import Program, fixed

TIGHT = {"rtol": 1e-11, "atol": 1e-11}
TIMES = np.array([0.0, 0.1, 0.25, 0.3])


def oscillation(t, y, stiffness):
    return [y[1], -stiffness * y[0] - 0.1 * y[1] * np.cos(t)]


def after_a_time(stiffness, start):
    found = solve_ivp(oscillation, (0.0, 0.3), start, args=(stiffness,), **TIGHT)
    return np.sum(found.y[:, -1] ** 2)


def at_times(stiffness, start):
    found = solve_ivp(oscillation, (0.0, 0.3), start, t_eval=TIMES, args=(stiffness,), **TIGHT)
    return np.sum(found.y**2) * found.t[-1]


def between_times(begin, end):
    return solve_ivp(oscillation, (begin, end), [1.0, 0.3], args=(1.3,), **TIGHT).y[0, -1]


def backwards(w):
    def rate(t, y):
        return np.tanh(w @ y)

    return np.sum(solve_ivp(rate, [0.3, 0.0], np.ones(2), method="RK23", rtol=1e-7, atol=1e-9).y[:, -1])


def turned_rotation(w, start):
    """States are complex where the first one is."""
    found = solve_ivp(lambda t, y: 1j * w * y, (0.0, 0.3), start * np.array([1.0 + 0.5j]), **TIGHT)
    return np.abs(found.y[0, -1] + 1.0) ** 2


def decay_of_many(rates):
    def left(rate):
        return odeint(lambda y, t: -rate * y**2, 1.0, TIMES, rtol=1e-11, atol=1e-11)

    return np.sum(vmap(left)(rates))


def without_a_step(start, time):
    """The end is the beginning."""
    found = solve_ivp(oscillation, (time, time), start, args=(1.3,))
    states = odeint(lambda y, t: -y, start, TIMES[:1])
    return np.sum(found.y**2) * len(found.t) + np.sum(states**2) + odeint(lambda y, t: -y, start, TIMES[:0]).size


def fall(t, y, drag):
    return [y[2], y[3], -drag * y[2], -9.81 - drag * y[3]]


def ground(t, y, drag):
    return y[1]


ground.terminal, ground.direction = True, -1


def thrown(speed, drag):
    """How far, and how high: one event ends the flight, the other one does not."""

    def apex(t, y, drag):
        return y[3]

    apex.direction = -1
    flight = solve_ivp(fall, (0.0, 9.0), [0.0, 0.0, speed, speed], events=[ground, apex], args=(drag,), rtol=1e-8)
    return flight.y[0, -1] * flight.t[-1] + flight.y_events[1][0, 1] + flight.status


def between_steps(stiffness):
    path = solve_ivp(oscillation, (0.0, 0.3), [1.0, 0.3], args=(stiffness,), dense_output=True, rtol=1e-6)
    return np.sum(path.sol(TIMES) ** 2) + path.sol(0.2)[1]


PROGRAMS = [
    Program(thrown, fixed(1.3, 0.2), (0, 1), order=1),
    Program(between_steps, fixed(1.3), order=1),
    Program(without_a_step, fixed(np.array([1.0, 0.3]), 1.0), order=1),
    Program(after_a_time, fixed(1.3, np.array([1.0, 0.3])), (0, 1)),
    Program(at_times, fixed(1.3, np.array([1.0, 0.3])), (0, 1), order=1),
    Program(between_times, fixed(0.2, 0.5), (0, 1), order=1),
    Program(backwards, fixed(np.array([[0.3, 1.0], [-0.5, 0.2]])), order=1),
    Program(turned_rotation, fixed(1.3, 0.7), (0, 1), order=1),
    Program(decay_of_many, fixed(np.array([0.4, 1.1])), order=1),
]
