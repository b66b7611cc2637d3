"""Classes that the function defines, as notebooks and tests have them."""

import abc
import enum
import functools
import math
from dataclasses import dataclass, field
from typing import NamedTuple

from .program import Program, fixed, normal


def class_with_everything(x):
    class State:
        unit = 2.0

        def __init__(self, a):
            self.a = a

        def step(self):
            if self.a > 100:
                return
            self.a = math.sin(self.a) * self.unit * x

        @property
        def twice(self):
            return 2 * self.a

        @twice.setter
        def twice(self, value):
            self.a = value / 2

        @staticmethod
        def made_of(value):
            return State(value)

        @classmethod
        def scaled(cls, value):
            return cls(value * cls.unit)

    class Pair(State):
        def __init__(self, a, b):
            super().__init__(a)
            self.b = b

        def __add__(self, other):
            return Pair(self.a + other.a, self.b * other.b)

        def __call__(self, z):
            return self.a * z

    state = State.scaled(State.made_of(x).a)
    for _ in range(3):
        state.step()
    state.twice = state.twice * 3
    both = Pair(x, 2.0) + Pair(state.a, x)
    return state.a + both(x) * both.b


def records_and_members(x):
    @dataclass
    class Point:
        a: float
        b: float = 2.0
        kept: list = field(default_factory=list)

        def moved(self, by):
            return Point(self.a + by, self.b)

    class Pair(NamedTuple):
        u: float
        v: float = 1.0

        def product(self):
            return self.u * self.v

    class Side(enum.Enum):
        LEFT = 1
        RIGHT = 2

    start = Point(x[0])
    start.kept.append(x[1])
    point = start
    for k in range(3):
        point = point.moved(x[k])
    factor = 2 if Side.LEFT is Side(1) else 1
    return point.a * point.b + Pair(x[1], x[2]).product() * factor + start.kept[0] * Pair(x[2]).v


def class_made_in_each_iteration(x):
    total = 0.0
    for value in x:
        class Holder:
            def __init__(self, factor):
                self.factor = factor

            def product(self):
                return self.factor * value

        total += Holder(value).product()
    return total


def abstract_classes(x):
    class Base(abc.ABC):
        @abc.abstractmethod
        def of(self, y): ...

        @functools.cached_property
        def first(self):
            return self.of(x[0])

    class Double(Base):
        def of(self, y):
            return y * 2

    class Square(Base):
        def of(self, y):
            return y**2

    return sum(made.of(x).sum() for made in (Double(), Square())) + Square().first


PROGRAMS = [
    Program(class_with_everything, fixed(0.7)),
    Program(records_and_members, normal((3,))),
    Program(class_made_in_each_iteration, normal((3,))),
    Program(abstract_classes, normal((3,))),
]
