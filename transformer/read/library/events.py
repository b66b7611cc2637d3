"""Events of `solve_ivp`: when functions of time and state are zero. Their times have the derivatives of roots."""

from __future__ import annotations

import numpy as np

from ..calls.given_functions import of_numbers, solved
from .refusing import refused
from .roots import brentq


class Event:
    """A function of time and state, in which direction it has to cross zero, and whether that ends the integration."""

    def __init__(self, function, further):
        terminal = getattr(function, "terminal", False)
        if terminal not in (None, False, True, 0, 1):
            refused("a terminal event that stops after several occurrences is not supported",
                    "Count the occurrences in the event function.")
        self.function, self.further = function, further
        self.is_terminal, self.direction = bool(terminal), getattr(function, "direction", 0)

    def level(self, t, y):
        return float(np.asarray(self.function(t, y, *self.further)).item())


def watching(events, further):
    if events is None:
        return []
    return [Event(each, further) for each in ([events] if callable(events) else events)]


def crosses(before, after, direction):
    """Whether a number has come to zero or to the other side of it; of arrays, where."""
    up, down = (before <= 0) & (after >= 0), (before >= 0) & (after <= 0)
    return up if direction > 0 else down if direction < 0 else up | down


def time_of(event, sol, place):
    """When it comes in a step."""
    def level(t):
        return event.level(t, sol(t))

    near = 8.881784197001252e-16
    return solved(brentq, of_numbers(level), float(sol.ts[place]), float(sol.ts[place + 1]), near, near, 100)


def cut(sol, events, is_stopped):
    """The times and states after the steps, up to the first event that ended them."""
    ts, ys = sol.ts, sol.ys
    if is_stopped:
        last = len(ts) - 2
        end = ts[-1]
        for event in events:
            if event.is_terminal:
                before, after = event.level(ts[-2], ys[-2]), event.level(ts[-1], ys[-1])
                if crosses(before, after, event.direction):
                    time = time_of(event, sol, last)
                    end = time if sol.way * time < sol.way * end else end
        ts = np.append(ts[:-1], end)
        ys = np.concatenate((ys[:-1], sol(end)[None]))
    return ts, ys


def reported(result, sol, events, is_stopped, end):
    """The result with the times of all events and the states then."""
    result.t_events, result.y_events = [], []
    for event in events:
        levels = np.array([event.level(t, y) for t, y in zip(sol.ts, sol.ys)])
        places = np.flatnonzero(crosses(levels[:-1], levels[1:], event.direction))
        times = np.array([time_of(event, sol, place) for place in places])
        times = times[sol.way * times <= sol.way * end]
        result.t_events.append(times)
        result.y_events.append(sol.at(times))
    if any([event.is_terminal for event in events]):
        result.status = np.where(is_stopped, 1, 0)
        result.message = f"Status {result.status}. 0: the end of the range was reached, 1: an event ended it."
    return result
