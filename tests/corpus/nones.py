"""None on some paths and a value on others: a best so far, the one before, a search without a result."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .program import Program, apart, fixed

FOUR = np.array([0.6, 1.3, -0.4, 2.1])


def best_or_none(x):
    best = None
    for k, v in enumerate(x):
        score = np.sin(v) * v
        if best is None or score > best[0]:
            best = score, v, k
    score, v, k = best
    return score * v + k


def steps_from_the_one_before(x):
    before, total = None, 0.0
    for v in x:
        if v < 0:
            continue
        if before is not None:
            total += (v - before) ** 3
        before = v
    return total


def found_by_newton(a):
    x = a
    for _ in range(50):
        step = (x * x - a) / (2.0 * x)
        x -= step
        if abs(step) < 1e-12:
            return x


class Hit(NamedTuple):
    distance: float
    normal: np.ndarray


def hit_of_sphere(ray, center):
    along = center @ ray
    inside = along * along - center @ center + 1.0
    if inside < 0:
        return None
    distance = along - math.sqrt(inside)
    return Hit(distance, distance * ray - center) if distance > 0.1 else None


def nearest_hit(ray, centers):
    nearest = None
    for center in centers:
        hit = hit_of_sphere(ray, center)
        if hit is not None and (nearest is None or hit.distance < nearest.distance):
            nearest = hit
    return 0.0 if nearest is None else nearest.normal @ np.array([0.0, 0.6, -0.8]) * nearest.distance


@dataclass
class Search:
    x: np.ndarray
    least: float | None = None
    best: np.ndarray | None = None


def state_of_a_search(x):
    state = Search(x * 1.0)
    for k in range(4):
        loss = np.sum((state.x - 1.0) ** 2)
        if state.least is None or loss < state.least:
            state.least, state.best = loss, state.x
        state.x = state.x - 0.4 * k * (state.x - 1.0)
    state.best = state.best * x
    return state.least + state.best @ state.best


def roots_that_there_are(x):
    roots = [math.sqrt(v) if v > 0 else None for v in x]
    found = []
    for root in roots:
        match root:
            case None:
                found.append(0.5)
            case r:
                found.append(r * r * r)
    return sum(found) + sum(root for root in roots if root)


def found_by_halves(x, limit):
    def find(low, high):
        if low >= high:
            return None
        middle = (low + high) // 2
        if x[middle] > limit:
            return x[middle]
        found = find(low, middle)
        return found if found is not None else find(middle + 1, high)

    found = find(0, len(x))
    return 0.0 if found is None else found * found


def first_that_fits(x):
    first = next((v for v in x if v > 1.0), None)
    place = next(k for k, v in enumerate(x) if v < 0)
    return x[place] ** 2 if first is None else first * x[place]


def written_where_it_is(x):
    total = None
    for v in x:
        if v > 1.0 and total is None:
            total = np.zeros(2)
        if total is not None:
            total[0] += v * v
            total[1] = total[0] * v
    total *= x[0]
    return np.sum(total)


def part_or_none(x):
    part = None
    if x[0] > 0:
        part = x[x > 0.2]
    return x[1] if part is None else np.sum(part * part)


def all_but_the_largest(x):
    """A place that may be None is compared with numbers."""
    best, place = None, None
    for i in range(len(x)):
        if best is None or x[i] > best:
            best, place = x[i], i
    total = best * best
    for i in range(len(x)):
        if i != place:
            total = total * x[i]
    return total


def kinds_compared(x):
    """None is equal to nothing else, in no tuple without it, and no object."""
    mark = "stop" if x[0] < -1 else None
    other = None if x[1] > 0 else "stop"
    pair = (x[0], 2) if x[2] > 0 else None
    total = x[0] ** 2 if mark == other else x[1] ** 2
    if mark == "stop":
        total = total * x[2]
    if mark not in {"stop": 1.0} and mark in ("go", None):
        total = total + x[2] ** 3
    if pair == (x[0], 2) and other != "stop":
        total = total * x[0]
    return total if x[1] in (mark, 0.5) else total * 2


PROGRAMS = [
    Program(kinds_compared, fixed(np.array([-1.5, 0.3, 0.7]))),
    Program(kinds_compared, fixed(np.array([0.5, 0.3, -0.7])), name="kinds_compared_of_none"),
    Program(kinds_compared, fixed(np.array([-1.5, -0.3, -0.7])), name="kinds_compared_alike"),
    Program(part_or_none, fixed(FOUR)),
    Program(part_or_none, fixed(-FOUR), name="no_part"),
    Program(best_or_none, fixed(FOUR)),
    Program(steps_from_the_one_before, fixed(FOUR)),
    Program(found_by_newton, fixed(2.0)),
    Program(nearest_hit, fixed(np.array([0.0, 0.1, 1.0]), np.array([[0, 0, 3.0], [0, 3.0, 4.0], [0.5, 0, 2.5]]))),
    Program(state_of_a_search, fixed(FOUR)),
    Program(roots_that_there_are, fixed(FOUR)),
    Program(found_by_halves, fixed(FOUR, 1.5)),
    Program(first_that_fits, fixed(FOUR)),
    Program(written_where_it_is, fixed(FOUR)),
    Program(all_but_the_largest, apart(("n",))),
]
