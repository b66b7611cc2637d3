"""Objects that the program makes and that meet at the end of branches and loops: those of plain classes, and others."""

import dataclasses
import functools
import operator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np

from .program import Program, fixed, normal


class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return Vector(self.x + other.x, self.y + other.y)

    def __radd__(self, other):
        return Vector(other + self.x, other + self.y)

    def __mul__(self, factor):
        return Vector(self.x * factor, self.y * factor)

    __rmul__ = __mul__

    def __eq__(self, other):
        if not isinstance(other, Vector):
            return NotImplemented
        return self.x == other.x and self.y == other.y

    def square(self):
        return self.x**2 + self.y**2


class Body:
    damping = 0.9

    def __init__(self, position, velocity, name="body"):
        self.position = position
        self.velocity = velocity
        self.name = name
        self.steps = 0

    def step(self, time):
        self.position = self.position + time * self.velocity
        self.velocity = self.velocity * self.damping + self.position * (-time)
        self.steps += 1

    def stepped(self, time):
        position = self.position + self.velocity * time
        return Body(position, self.velocity + position * (-time), self.name)


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side**2


class Link:
    def __init__(self, value, following=None):
        self.value = value
        self.following = following


@dataclass
class Measured:
    """Its `__post_init__` leaves more than the fields."""

    value: float

    def __post_init__(self):
        self.twice = self.value * 2


@dataclass(order=True)
class Ranked:
    key: Any
    value: Any
    label: str = field(default="", compare=False)


def object_of_both_branches(x):
    if x[0] > x[1]:
        body = Body(Vector(x[0], x[1]), Vector(x[2], 1.0))
    else:
        body = Body(Vector(x[1], 0.5), Vector(x[2], x[0]))
    body = body.stepped(0.5)
    return body.position.square() * body.velocity.x


def best_object_so_far(x):
    best = None
    for side in x:
        square = Square(side)
        if best is None or square.area() > best.area():
            best = square
    return best.area() * best.side


def objects_that_swap(x):
    one, other = Square(x[0]), Square(x[1])
    if x[2] > 0:
        one, other = other, one
    return one.area() + 3 * other.area() * x[2]


def objects_carried_by_while(x, end):
    position, velocity = Vector(x[0], x[1]), Vector(x[2], x[0])
    time = 0.0
    while time < end:
        position = position + 0.3 * velocity
        velocity = velocity + position * (-0.3)
        time += 0.3
    return position.square() * velocity.x


def object_changed_by_while(x, end):
    body = Body(Vector(x[0], x[1]), Vector(x[2], x[0]))
    time = 0.0
    while time < end:
        body.step(0.3)
        time += 0.3
    return body.position.square() * body.velocity.x * body.steps


def object_of_shared_parts(x):
    zero = Vector(0.0, 0.0)
    body = Body(zero, zero)
    for i in range(len(x)):
        body = body.stepped(0.2)
        body.position = body.position + Vector(x[i], x[i] ** 2)
    return body.position.square() * body.velocity.x


def object_with_arrays(x, rounds):
    body = Body(x[0].copy(), x[1].copy())
    energies = []
    for _ in range(rounds):
        body = body.stepped(0.1)
        energies.append(np.sum(body.position**2))
    return energies[-1] * energies[0] + body.velocity[0]


def linked_list(x):
    head = None
    for value in x:
        head = Link(value * value, head)
    total = 0.0
    while head is not None:
        total = total * 0.5 + head.value
        head = head.following
    return total


def attributes_beside_fields(x):
    measured = Measured(x[0]) if x[0] < x[1] else Measured(x[1] ** 2)
    for value in x:
        measured = Measured(measured.value * value + measured.twice)
    return measured.twice * measured.value


def dataclasses_compared(x):
    one, other, same = Ranked(x[0], x[1]), Ranked(x[0], x[2]), Ranked(x[0], x[1], "same")
    total = x[0] * (one == x[0])
    if one == same:
        total += x[0] ** 2
    if one != other:
        total += x[1] ** 2
    if one < other:
        total += x[2] ** 2
    if one >= other:
        total += x[2] ** 3
    if same in [other, one]:
        total *= x[1]
    return total * (1 + (other in (one, same)))


def operators_that_decline(x):
    one, other = Vector(x[0], x[1]), Vector(x[1], x[0])
    total = x[2]
    if one == 3:
        total = total * 5
    if one != "vector":
        total = total * 7
    if one != other:
        total = total * x[0]
    return total * sum([one, other]).square()


def equal_to_itself_alone(x):
    one, other = Square(x[0]), Square(x[0])
    total = x[1]
    for factor, squares in (2, [one]), (3, [other, Square(x[0])]), (5, [one, other]):
        if one in squares:
            total = total * factor
    if one != other:
        total = total * x[0]
    return total * 7 if one == other else total


class Candidate:
    """Its order is not that of its attributes."""

    def __init__(self, score, kind="plain"):
        self.score = score
        self.twice = score * 2
        self.kind = kind

    def __lt__(self, other):
        return self.score > other.score


def objects_by_key(x):
    candidates = [Candidate(value) for value in x]
    best = max(candidates, key=operator.attrgetter("score"))
    ranked = sorted(candidates, key=lambda candidate: -candidate.score)
    found = candidates[int(np.argmin(x))]
    return best.score * ranked[1].twice + found.score**2 * (best.kind == found.kind)


def known_objects_by_key(x):
    candidates = [Candidate(x[0]), Candidate(x[1]), Candidate(x[2])]
    least = min(candidates, key=operator.attrgetter("score"))
    ranked = sorted(candidates, key=lambda candidate: candidate.score**2)
    found = candidates[int(np.argmax(x[:3]))]
    return least.score * ranked[0].twice + found.score**3


@dataclass
class Turn:
    cos: float
    sin: float

    def __mul__(self, other):
        return Turn(self.cos * other.cos - self.sin * other.sin, self.sin * other.cos + self.cos * other.sin)


@dataclass
class Pose:
    turn: Turn
    at: np.ndarray
    labels: tuple[Any, ...] = ("a", 2)


def taken_apart(x):
    turn = Turn(1.0, 0.0)
    for angle in x:
        turn = turn * Turn(np.cos(angle), 2 * np.sin(angle))
    pose = Pose(turn, x * 2)
    (cos, sin), at, (label, count) = dataclasses.astuple(pose)
    at[0] = 3.0                                              # a copy
    found = dataclasses.asdict(pose)
    return cos * sin ** 2 + found["turn"]["cos"] * at @ pose.at + count * sum(vars(turn).values()) * len(label)


class Length:
    def __init__(self, value):
        self.value = value

    def __sub__(self, other):
        return type(self)(self.value - 2 * other.value)

    def __rsub__(self, other):
        return Length(other - self.value)

    def __lt__(self, other):
        return self.value < other.value

    def __gt__(self, other):
        return True


class Inherits(Length):
    pass


class Overrides(Length):
    def __rsub__(self, other):
        return Length(5 * other.value - self.value)


def derived_on_the_right(x):
    """The class on the right comes first if it compares, or has a mirrored method of its own."""
    one, same, own = Length(x[0]), Inherits(x[1]), Overrides(x[2])
    total = (one - same).value * (one - own).value + (x[0] - same).value ** 2
    return total * (2 if one < own else 3) * (5 if one < Length(x[0] - 1) else 7)


class Longer(Vector):
    __hash__ = None

    def __lt__(self, other):
        return self.square() < other.square()


def objects_by_their_own_order(x):
    one, other = Longer(x[0], x[1]), Longer(x[1], x[2])
    long, short = max(one, other), min([one, other, Longer(x[2], x[0])])
    return 3 * long.x + long.y + 5 * short.x * short.y


def fields_of_a_namespace(x):
    state = SimpleNamespace(total=0.0, inner=SimpleNamespace(w=x))
    inner = state.inner
    for i in range(len(x)):
        inner.w = inner.w * x[i]
        state.total += inner.w[0] * i
    if x[0] > 0:
        state.scale = 2.0
    else:
        state.scale = x[0]
    return state.total * state.scale + np.sum(state.inner.w)


class Remembering:
    factor = 2.0

    def __init__(self, values):
        self.values = values

    @functools.cached_property
    def total(self):
        return np.sum(self.values**2)

    @property
    def first(self):
        return self._first

    @first.setter
    def first(self, value):
        self._first = value

    @first.deleter
    def first(self):
        del self._first


def attributes_deleted(x):
    """What was computed once is computed anew, and the class's value is there again."""
    measured = Remembering(x)
    measured.first, measured.factor = x[0], x[1]
    result = measured.total * measured.first * measured.factor
    measured.values = x[1:]
    del measured.total, measured.first
    delattr(measured, "factor")
    for v in x:
        measured.part = v * 2
        result += measured.part**2
        del measured.part
    has_parts = hasattr(measured, "_first") or hasattr(measured, "part")
    return result * measured.total * measured.factor * (5.0 if has_parts else 1.0)


PROGRAMS = [
    Program(attributes_deleted, normal(("n",))),
    Program(derived_on_the_right, normal((3,))),
    Program(taken_apart, normal(("n",))),
    Program(object_of_both_branches, fixed(np.array([0.7, 0.3, -0.4]))),
    Program(object_of_both_branches, fixed(np.array([0.3, 0.7, -0.4])), name="object_of_the_other_branch"),
    Program(best_object_so_far, fixed(np.array([0.3, -1.2, 0.7, 1.1]))),
    Program(objects_that_swap, normal((3,))),
    Program(objects_carried_by_while, lambda rng: (rng.standard_normal(3), 1.0)),
    Program(object_changed_by_while, lambda rng: (rng.standard_normal(3), 1.0)),
    Program(object_of_shared_parts, normal(("n",))),
    Program(object_with_arrays, normal((2, 3), then=(3,))),
    Program(linked_list, normal((4,))),
    Program(attributes_beside_fields, normal((3,))),
    Program(dataclasses_compared, fixed(np.array([0.3, -1.2, 0.7]))),
    Program(dataclasses_compared, fixed(np.array([0.3, 1.2, 0.7])), name="dataclasses_compared_otherwise"),
    Program(operators_that_decline, normal((3,))),
    Program(equal_to_itself_alone, normal((2,))),
    Program(objects_by_key, normal(("n",))),
    Program(known_objects_by_key, normal((4,))),
    Program(objects_by_their_own_order, fixed(np.array([0.3, -1.2, 0.7]))),
    Program(fields_of_a_namespace, normal(("n",))),
]
