"""Classes, objects, and what stands outside of the function."""

from __future__ import annotations

import enum
import functools
import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.interpolate
import scipy.sparse

from transformer.core.errors import NotSupported, TransformError

from .rows import VECTOR, Section

SECTION = Section("Classes, objects, names from outside")
supported, refused = SECTION.supported, SECTION.refused

RATE = 0.1
POLYNOMIAL = np.poly1d([1.0, 2.0])
WEIGHTS = np.array([1.0, 2.0, 3.0])
SPARSE = scipy.sparse.csr_array(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0], [1.5, 0.0, 0.0]]))
SETTINGS = {"power": 3, "weights": WEIGHTS}


class Line:
    unit = 2.0

    def __init__(self, slope: Any, offset: Any) -> None:
        self.slope = slope
        self.offset = offset

    def __call__(self, x: Any) -> Any:
        return self.slope * x + self.offset

    def __add__(self, other: Line) -> Line:
        return Line(self.slope + other.slope, self.offset + other.offset)

    def __abs__(self) -> Any:
        return abs(self.slope) + abs(self.offset)

    def __round__(self, digits: int) -> Line:
        return Line(self.slope * digits, self.offset)

    def __float__(self) -> Any:
        return float(self.slope)

    def __reversed__(self) -> Any:
        return reversed([self.slope, self.offset])

    def __invert__(self) -> Line:
        return Line(1 / self.slope, self.offset)

    def __rshift__(self, other: Line) -> Any:
        return self.slope * other.slope

    def steeper(self, by: Any) -> Line:
        return type(self)(self.slope * by, self.offset)

    @property
    def root(self) -> Any:
        return -self.offset / self.slope

    @staticmethod
    def through(x: Any) -> Any:
        return x * x

    @classmethod
    def unit_line(cls) -> Line:
        return cls(cls.unit, 0.0)


class Parabola(Line):
    def __call__(self, x: Any) -> Any:
        return super().__call__(x) * x


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass(frozen=True)
class Pair:
    left: Any
    right: Any = 1.0


class Kind(enum.Enum):
    SQUARE = 1
    CUBE = 2


class Lazy:
    def __init__(self, x: Any) -> None:
        self.x = x

    @functools.cached_property
    def square(self) -> Any:
        return self.x * self.x

    def __getattr__(self, name: str) -> Any:
        return self.x * len(name)


class Options(dict):
    __getattr__ = dict.__getitem__


LINE = Line(2.0, 1.0)


@supported("an object made in the function, its attributes and methods")
def made(x):
    line = Line(x, 1.0).steeper(3.0)
    line.offset = x * x
    return line(2.0) + line.offset


@supported("an object made before", "numbers in it become constants, arrays hidden arguments; changes are seen")
def made_before(x):
    return LINE(x) * x


@supported("a class derived from `dict` or `list`", "its own methods are read; as an argument a leaf, or registered")
def derived_from_dict(x):
    options = Options(rate=2.0, value=x)
    return options.rate * options["value"]


@supported("a callable object (`__call__`)")
def callable_object(x):
    return Parabola(x, 1.0)(x)


@supported("`super()`, inheritance")
def inherited(x):
    return Parabola(x, x)(2.0)


@supported("properties, static and class methods")
def properties(x):
    return Line(x, 1.0).root + Line.through(x) + Line.unit_line()(x)


@supported("attributes of an object of NumPy or SciPy made before: `polynomial.coeffs`, `spline.c`",
           "arrays and numbers, also where they are properties")
def of_a_library(x):
    return x * np.sum(POLYNOMIAL.coeffs) * POLYNOMIAL.order


@refused("the class of an object of SciPy made in the function, and what there is no rule for: `spline.roots`",
         NotSupported, "create it outside", args=(VECTOR,))
def roots_of_a_spline(x):
    spline = scipy.interpolate.CubicSpline(np.arange(float(len(x))), x)
    return x if hasattr(spline, "roots") else 2 * x


@supported("products with a matrix of `scipy.sparse` made before: `a @ x`, `a.T @ x`", args=(VECTOR,))
def sparse_products(x):
    return np.sum((SPARSE @ x) ** 2) + np.sum(SPARSE.T @ x)


@supported("`functools.cached_property`, `__getattr__`")
def lazily(x):
    return Lazy(x).square * Lazy(x).anything


@supported("operators of a class (`__add__`, …)")
def overloaded(x):
    return (Line(x, 1.0) + Line(1.0, x))(2.0)


@supported("`abs`, `round`, `float`, `divmod`, `reversed`, … of an object whose class has the method for them")
def answering(x):
    line = Line(x, 2.0)
    first, last = reversed(line)
    return abs(round(line, 3)) * float(line) + first * last + (~line >> line + line)


@supported("NamedTuple", "also as argument and result")
def named_tuple(x):
    point = Point(x, y=2.0)
    point = point._replace(y=point.x * point.y)
    return point.x + point.y


@supported("dataclass", "also as argument and result")
def data_class(x):
    pair = replace(Pair(x), right=x * x)
    return pair.left * pair.right


@supported("objects of one class, from both branches or from each iteration", "merged by attributes", args=(VECTOR,))
def joined_objects(x):
    line = Line(x[0], 1.0) if x[0] > x[1] else Line(x[1], x[2])
    for slope in x:
        line = line + Line(slope, line.offset)
    return line(2.0)


@supported("objects of several classes in the branches", "what follows is read for each of them", args=(VECTOR,))
def joined_classes(x):
    line = Line(x[0], 1.0) if x[0] > x[1] else Parabola(x[1], x[2])
    return line(2.0)


@supported("`==`, `<`, `in` of dataclasses and other objects", "by fields, or identity", args=(VECTOR,))
def compared_objects(x):
    one, other = Pair(x[0], x[1]), Pair(x[0], x[2])
    return x[0] ** 2 if one == Pair(x[0], x[1]) and one != other else x[1]


@refused("`is`, or `==` of `object`, of objects that a branch chose", NotSupported, "keep a flag", args=(VECTOR,))
def chosen_object(x):
    one, other = Line(x[0], 1.0), Line(x[1], 2.0)
    line = one if x[0] > x[1] else other
    return x[0] ** 2 if line is one else line(x[1])


@supported("enum members", "static", args=(1.3, Kind.CUBE))
def enumeration(x, kind):
    return x**3 if Kind(kind.value) is Kind.CUBE else x * x


@supported("`isinstance`, `type`, `hasattr`, `getattr`, `callable`, `len`", args=(VECTOR,))
def questions(x):
    size = len(x) if isinstance(x, np.ndarray) and hasattr(x, "sum") else 1
    return x.sum() * size


@supported("a global number or option", "it keeps its name in the generated source; a change is seen")
def global_number(x):
    return RATE * x ** SETTINGS["power"] * math.pi


@supported("a global array", "a hidden argument", args=(VECTOR,))
def global_array(x):
    return np.sum(WEIGHTS * x) + SETTINGS["weights"] @ x


@supported("`import` in the function")
def importing(x):
    import math as m
    from math import sin

    return sin(x) * m.cos(x)


@supported("`import scipy.special` functions", "see the table of functions")
def special(x):
    from scipy.special import erf

    return erf(x)


@supported("a class defined in the function", "also dataclasses, NamedTuples and members of `enum`")
def local_class(x):
    class Local:
        scale = 2.0

        def __init__(self, value):
            self.value = value

        def scaled(self):
            return self.value * self.scale * x

    return Local(x).scaled()


@refused("`global`", NotSupported, "return the new value")
def global_statement(x):
    global RATE
    RATE = 0.2
    return RATE * x


@supported("an attribute of a function that is defined in the function: `hit.terminal = True`")
def function_with_an_attribute(x):
    def power(v):
        return v**power.exponent

    power.exponent = 3
    return power(x) * getattr(power, "scale", 2.0)


@refused("assignment to an attribute of an object made before", NotSupported, "make the object in the function")
def changed_object(x):
    LINE.offset = x
    return LINE(x)


@refused("writing to a global array", NotSupported, "copy it first", args=(VECTOR,))
def changed_array(x):
    WEIGHTS[0] = x[0]
    return np.sum(WEIGHTS * x)


@refused("`append` to a global list", NotSupported)
def changed_list(x, log=[]):  # noqa: B006
    log.append(x)
    return x * x


@refused("a name that is not defined", TransformError)
def undefined(x):
    return x * unknown  # noqa: F821
