"""Derivatives that loops hand on: what a number waits for, from one iteration to the next, is a product and a sum."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from lowered import as_loops, source_of

from transformer import grad, jvp


def logistic_map(x: Any, r: Any) -> Any:
    for _ in range(5):
        x = r * x * (1 - x)
    return x


def along(x: Any, r: Any, dx: Any, dr: Any) -> Any:
    return jvp(logistic_map, (x, r), (dx, dr))


def delayed(growth: Any) -> Any:
    """In its reverse a cotangent is a product of itself, and another one as it is."""
    p = np.zeros(len(growth))
    p[0], p[1] = 0.3, 0.4
    for i in range(2, len(growth)):
        p[i] = growth[i] * p[i - 1] * (1 - p[i - 2])
    return np.sum(p)


def rounded_away(x: Any, large: Any) -> Any:
    """A number of the program is rounded as it says."""
    for _ in range(3):
        x = (x * 0.5 + large - large) * 0.75
    return x


def test_tangents() -> None:
    arguments = 0.3, 3.5, 0.5, -0.25
    source = source_of(along, along, arguments)
    (following,) = re.findall(r"^ {8}dx2 = (.*)$", source, re.MULTILINE)
    assert following.count("dx2") == 1 and "dx2 * (" in following, source
    np.testing.assert_allclose(as_loops(along, along, arguments), along(*arguments), 1e-13)


def test_cotangents_of_elements() -> None:
    arguments = (np.linspace(0.5, 1.5, 6),)
    source = source_of(grad(delayed), delayed, arguments)
    assert re.search(r"_next = dp_before2 \* \([^*]*\*[^*]*\) \+ dp_before\n", source), source
    np.testing.assert_allclose(as_loops(grad(delayed), delayed, arguments), grad(delayed)(*arguments), 1e-13)


def test_numbers_of_a_program() -> None:
    assert as_loops(rounded_away, rounded_away, (1.0, 1e16)) == rounded_away(1.0, 1e16)
