"""What reaches outside: texts, clocks, files, random numbers."""

from __future__ import annotations

import logging
import math
import random
import time
import warnings

import numpy as np

from transformer.core.errors import NotSupported

from .rows import VECTOR, Section

SECTION = Section("Effects")
supported, refused = SECTION.supported, SECTION.refused


@supported("`print`", "kept; once per call, in the forward sweep")
def printing(x):
    print("x is", x, sep=": ")
    return x * x


class Shown:
    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"Shown({self.value})"


@supported("the string of an object whose class has `__str__`, `__repr__` or `__format__`, or is a dataclass")
def printing_objects(x):
    print(Shown(x), f"{[Shown(x * x)]}")
    return x * x


@supported("`warnings.warn`", "kept")
def warning(x):
    if x > 100:
        warnings.warn("x is large", stacklevel=2)
    return x * x


@supported("messages to a logger of `logging`", "kept")
def logged(x):
    logging.getLogger(__name__).debug("x is %.3f", x)
    logging.debug(f"{x} again")
    return x * x


@refused("`print(…, file=…)`", NotSupported)
def print_to_file(x):
    import sys

    print(x, file=sys.stderr)
    return x * x


@supported("a clock, for what is not used", "left out")
def unused_clock(x, full=False):
    started = time.perf_counter()
    total = 0.0
    for _ in range(3):
        before = time.time()
        x = math.sin(x)
        total += time.time() - before
    took = time.perf_counter() - started
    return (x, took, total) if full else x


@refused("a clock", NotSupported, "pass the time in")
def clock(x):
    started = time.time()
    if time.time() - started < 1:
        x = 2 * x
    return x


@refused("`random`", NotSupported, "draw the numbers outside")
def python_random(x):
    return x * random.random()


@refused("`np.random`, also generators", NotSupported, "draw the numbers outside", args=(VECTOR,))
def numpy_random(x):
    return np.sum(x * np.random.default_rng(0).normal(size=3))


@refused("files", NotSupported, "read the file outside")
def file(x):
    return x * len(open(__file__).read())


@refused("`input`", NotSupported)
def person(x):
    return x * float(input())


@refused("`eval`, `exec`", NotSupported)
def evaluation(x):
    return eval("x * x")


@refused("`id`, `hash` of dynamic values", NotSupported)
def identity(x):
    return x * id(x)
