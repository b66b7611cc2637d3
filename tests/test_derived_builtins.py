"""What a class derived from a built-in one makes of its methods, where an object of it comes from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit
from transformer.core.errors import TransformError


class Raised(dict):
    def __getitem__(self, key):
        return dict.__getitem__(self, key) * 2

    def items(self):
        return [("q", 3.0)]


class Shifted(list):
    def __getitem__(self, k):
        return super().__getitem__(k) * 3

    def __len__(self):
        return super().__len__() + 4


class Many(int):
    def __rmul__(self, other):
        return 100.0 * other


class Answers(dict):
    """It has no way to say that an attribute is not there."""

    __getattr__ = dict.__getitem__


RAISED, SHIFTED, MANY = Raised(a=1.0, w=np.ones(3)), Shifted([1.0, 2.0]), Many(3)
ANSWERS = Answers(w=np.array([1.0, 2.0, 3.0]), inner=Answers(rate=0.5))


@pytest.mark.parametrize("function", [
    lambda x: np.sum(x * RAISED["w"]) * RAISED["a"] * sum(value for _, value in RAISED.items()),
    lambda x: np.sum(x) * (SHIFTED[1] + len(SHIFTED)) + sum(x[0] * each for each in SHIFTED),
    lambda x: np.sum(x) * sum(reversed(SHIFTED)) + sum(a * b for a, b in zip(x, SHIFTED)),
    lambda x: np.sum(x) * MANY,
    lambda x: np.sum(x * ANSWERS.w) * ANSWERS.inner.rate,
])
def test_own_methods_are_those_that_run(function: Callable[[Any], Any]) -> None:
    x = np.array([0.5, 1.0, -2.0])
    assert jit(function)(x) == function(x)
    shifts = [function(x + unit) - function(x) for unit in np.eye(3)]             # it is linear
    np.testing.assert_allclose(grad(function)(x), shifts)


def test_an_attribute_that_is_not_there() -> None:
    with pytest.raises((KeyError, TransformError), match="missing"):
        grad(lambda x: np.sum(x) * ANSWERS.missing)(np.ones(2))
