"""Functions through points: splines that a program makes, and those that were made before."""

import numpy as np
from scipy.interpolate import (
    Akima1DInterpolator,
    BSpline,
    CubicHermiteSpline,
    CubicSpline,
    InterpolatedUnivariateSpline,
    PchipInterpolator,
    RegularGridInterpolator,
    UnivariateSpline,
    interp1d,
    interpn,
    make_interp_spline,
    splev,
    splint,
    splrep,
)

from .program import Program, fixed

PLACES = np.array([0.0, 0.7, 1.1, 2.0, 3.3])
VALUES = np.array([0.3, 1.0, -0.4, 0.2, 0.9])
INSIDE = np.array([0.5, 1.05, 3.1])
WIDE = np.array([-0.2, 0.5, 1.05, 3.5])
PROFILE = CubicSpline(PLACES, VALUES)
TABLE = interp1d(PLACES, np.stack([VALUES, VALUES[::-1]]))
ENDING = interp1d(PLACES, VALUES, bounds_error=False, fill_value=(0.5, 2.0))
CUBIC = interp1d(PLACES, VALUES, kind="cubic")

KNOTS = splrep(PLACES, VALUES)
SMOOTHED = UnivariateSpline(PLACES, VALUES, k=2, s=0.1, ext="const")
LINES = PLACES, np.array([-1.0, 0.2, 1.0])
FIELD = RegularGridInterpolator(LINES, np.outer(VALUES, [0.3, 1.0, 2.0]))


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


def by_knots(c, t):
    """A quadratic spline of these coefficients, and what belongs to it."""
    curve = BSpline(np.array([0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 3.0, 3.0]), c, 2)
    return np.sum(curve(t) ** 2) + np.sum(curve.derivative()(t)) * curve.integrate(0.3, 2.0)


def with_other_degrees(x, y, t):
    return np.sum(make_interp_spline(x, y, k=2)(t) * InterpolatedUnivariateSpline(x, y, k=1)(t))


def with_knots(x, y, t):
    """By the functions of FITPACK."""
    knots = splrep(x, y)
    return np.sum(splev(t, knots, ext=3) * splev(t, knots, der=1)) + splint(0.3, 1.7, knots)


def on_a_grid(line, values, places):
    field = RegularGridInterpolator((line, LINES[1]), values, bounds_error=False, fill_value=0.5)
    nearest = interpn((line, LINES[1]), values, places[:2], method="nearest")
    return np.sum(field(places) ** 2) + np.sum(nearest * field((places[:2, 0], 0.3)))


def around(y, t):
    """A curve that begins again where it ends."""
    closed = np.append(y, y[0])
    return np.sum(CubicSpline(np.append(PLACES, 4.0), closed, bc_type="periodic")(t) ** 2)


def with_other_slopes(x, y, s, t):
    rounded = Akima1DInterpolator(x, y)(t) * Akima1DInterpolator(x, y, method="makima")(t)
    return np.sum(rounded * CubicHermiteSpline(x, y, s)(t))


def of_fields_made_before(t):
    heights = FIELD(np.stack([t, np.cos(t)], axis=1))
    return np.sum(heights * splev(t, KNOTS)) + SMOOTHED(t[0]) * SMOOTHED.derivative()(t[1])


PROGRAMS = [
    Program(by_knots, fixed(VALUES, INSIDE), (0, 1), order=1),
    Program(with_other_degrees, fixed(PLACES, VALUES, INSIDE), (0, 1, 2), order=1),
    Program(with_knots, fixed(PLACES, VALUES, INSIDE), (0, 1, 2), order=1),
    Program(on_a_grid, fixed(PLACES, np.outer(VALUES, [0.3, 1.0, 2.0]),
                             np.array([[0.5, 0.1], [3.1, 0.4], [0.3, 7.0]])), (0, 1, 2), order=1),
    Program(around, fixed(VALUES, WIDE), (0, 1), order=1),
    Program(with_other_slopes, fixed(PLACES, VALUES, VALUES[::-1].copy(), INSIDE), (0, 1, 2, 3), order=1),
    Program(of_fields_made_before, fixed(INSIDE), order=1),
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
