"""Functions through points: splines that a program makes, and those that were made before."""

import numpy as np
from scipy.interpolate import CubicSpline, PchipInterpolator, interp1d

from .program import Program, fixed

PLACES = np.array([0.0, 0.7, 1.1, 2.0, 3.3])
VALUES = np.array([0.3, 1.0, -0.4, 0.2, 0.9])
INSIDE = np.array([0.5, 1.05, 3.1])
WIDE = np.array([-0.2, 0.5, 1.05, 3.5])
PROFILE = CubicSpline(PLACES, VALUES)
TABLE = interp1d(PLACES, np.stack([VALUES, VALUES[::-1]]))
ENDING = interp1d(PLACES, VALUES, bounds_error=False, fill_value=(0.5, 2.0))
CUBIC = interp1d(PLACES, VALUES, kind="cubic")


def spline_through_points(x, y, t):
    return np.sum(CubicSpline(x, y)(t) ** 2)


def spline_with_ends(y, t, slope):
    curve = CubicSpline(PLACES, y, axis=1, bc_type=((1, slope), (2, np.ones(2))))
    return np.sum(curve(t, 1) * curve(t))


def natural_area(y):
    curve = CubicSpline(PLACES, y, bc_type="natural")
    return curve.integrate(0.2, 3.0) + curve.derivative()(1.0) ** 2


def of_few_points(y, t):
    return CubicSpline(PLACES[:3], y)(t) + CubicSpline(PLACES[:2], y[:2])(t) ** 2


def monotone(x, y, t):
    return np.sum(PchipInterpolator(x, y)(t) ** 2)


def by_lines(x, y, t):
    inside = interp1d(x, y)(t)
    return np.sum(inside**2) + interp1d(x, y, bounds_error=False, fill_value=(0.5, 2.0))(4.0) * y[0]


def by_kinds(y, t):
    found = [interp1d(PLACES, y, kind=kind, axis=0)(t) for kind in ("cubic", "nearest", "previous", "next")]
    return np.sum(found[0] * found[1] + found[2] * found[3])


def beyond_steps(y, t):
    """Steps go on to one side only: on the other there is nothing."""
    steps = [interp1d(PLACES, y, kind=kind, fill_value="extrapolate")(t) for kind in ("previous", "next")]
    return np.sum(np.where(np.isnan(steps[0]), 3.0, steps[0]) * np.where(np.isnan(steps[1]), 5.0, steps[1]))


def of_splines_made_before(t):
    return np.sum(PROFILE(t) * TABLE(t)) + PROFILE(t[0], 1) * CUBIC(t[1]) + PROFILE.derivative()(t[1])


def with_what_a_spline_holds(t):
    """Attributes of a spline, which are properties in newer versions of SciPy."""
    highest, widths = PROFILE.c[0], np.diff(PROFILE.x)
    return np.sum(highest * widths**3) * t[0] + np.sum(ENDING(t)) * t[1]


def along_a_profile(x, n):
    for _ in range(n):
        x = x + 0.1 * PROFILE(x)
    return x


def at_the_only_point(x, y):
    return interp1d(x, y)(x[0]) ** 2 + interp1d(x, y, kind="previous", bounds_error=False)(x)[0] * y[0]


PROGRAMS = [
    Program(at_the_only_point, fixed(PLACES[:1], VALUES[:1]), (1,)),
    Program(spline_through_points, fixed(PLACES, VALUES, WIDE), (0, 1, 2), order=1),
    Program(spline_with_ends, fixed(np.stack([VALUES, VALUES[::-1]]), WIDE, np.array([0.3, 0.1])), (0, 1, 2), order=1),
    Program(natural_area, fixed(VALUES)),
    Program(of_few_points, fixed(VALUES[:3], 0.4), (0, 1)),
    Program(monotone, fixed(PLACES, VALUES, INSIDE), (0, 1, 2), order=1),
    Program(by_lines, fixed(PLACES, VALUES, INSIDE), (0, 1, 2)),
    Program(by_kinds, fixed(VALUES, INSIDE), (0, 1), order=1),
    Program(beyond_steps, fixed(VALUES, WIDE), (0, 1), order=1),
    Program(of_splines_made_before, fixed(INSIDE)),
    Program(with_what_a_spline_holds, fixed(WIDE)),
    Program(along_a_profile, fixed(0.4, 3)),
]
