"""What the programs that are read have around them: constants, arrays, classes, decorators."""

import functools
from collections import namedtuple
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

VECTOR = np.array([0.5, -1.25, 2.0, 0.75, -0.3])
MATRIX = np.arange(12.0).reshape(4, 3) / 7 - 0.6
PROGRAMS = []


def program(*args, **kwargs):
    def note(function):
        PROGRAMS.append((function, args, kwargs))
        return function

    return note


RATE = 0.25
STEPS = 3
TABLE = np.array([2.0, 3.0, 5.0])
LAYERS = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
OPTIONS = {"mode": "tanh", "scale": 1.5, "weights": np.array([0.5, 0.25])}


class Point(NamedTuple):
    x: float
    y: float = 2.0


Pair = namedtuple("Pair", "first second")


@dataclass
class Config:
    rate: float = 0.5
    size: int = 3
    name: str = "cubic"
    history: list = field(default_factory=list)


@dataclass
class Checked:
    value: float
    double: float = 0.0

    def __post_init__(self):
        self.double = 2 * self.value


class Model:
    scale = 3.0

    def __init__(self, weights, bias=0.5):
        self.weights = weights
        self.bias = bias
        self.calls = 0

    @property
    def total(self):
        return np.sum(self.weights) + self.bias

    @staticmethod
    def square(v):
        return v * v

    @classmethod
    def made(cls, v):
        return cls(v, bias=cls.scale)

    def __call__(self, x):
        self.calls += 1
        return self.weights * x + self.bias

    def __add__(self, other):
        return Model(self.weights + other.weights, self.bias)

    def __getitem__(self, k):
        return self.weights[k]

    def __len__(self):
        return 7


class Deeper(Model):
    def __init__(self, weights):
        super().__init__(weights, bias=0.125)
        self.depth = 2

    @property
    def total(self):
        return super().total * self.depth


OUTER = Model(np.array([1.5, -0.5]), bias=0.75)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return wrapper


@twice
def decorated(x, power=2):
    return x**power


@functools.cache
def cached(x):
    return x * 3


@program(0.5)
def objects_shown(x):
    """As Python shows dataclasses and named tuples, whose parts are known when the program runs."""
    print(Point(x, 2.0 * x), Checked(3.0 * x), f"{Pair(x, Point(x))!r}", [Config(x)])
    return x


class Named:
    def __init__(self, name):
        self.name = name

    def __str__(self):
        return self.name


@program(0.5)
def objects_that_show_themselves(x):
    print(Named("a"), str(Named("b")))
    return x
