"""What cancels is a constant for derivatives, and what only looks like it is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import assert_close, gradient

from transformer import grad, hessian, jvp

Function = Callable[..., Any]
X = np.random.default_rng(5).normal(size=(3, 3))
LABELS = np.array([2, 0, 1])


def over_columns(x):
    e = np.exp(x - np.max(x, axis=0))
    return np.sum((e / e.sum(axis=0)) ** 2)


def with_new_axis(x):
    e = np.exp(x - x.max(1)[:, None])
    return np.sum((e / e.sum(1)[:, None]) ** 2)


def turned_before(x):
    e = np.exp((x.T - x.max(axis=1)).T)
    return np.sum((e.T / np.sum(e, axis=1)) ** 2)


def logarithm_of_sum(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def of_labels(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(len(z)), LABELS])


def divided_after(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e @ x) / (e @ np.ones((3, 1))))


def scaled(x):
    w = np.abs(x) / np.max(np.abs(x))
    return np.sum(np.sqrt(w / np.sum(w)))


def masked(x):
    z = np.where(x > 0, x - np.max(x), -np.inf)
    return np.log(np.sum(np.exp(z))) + np.max(x)


def distances(x):
    z = 2 * x - np.max(2 * x)
    return np.sum((z[1:] - z[:-1]) ** 2)


def by_the_other_axis(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((e / e.sum(axis=0)) ** 2)


def by_the_other_axis_turned(x):
    e = np.exp(x - np.max(x, axis=1))
    return np.sum((e.T / np.sum(e, axis=0)) ** 2)


def labels_of_columns(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.mean(np.log(np.exp(z).sum(axis=1)) - z[LABELS, np.arange(len(z))])


def rows_exchanged(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum((np.log(np.exp(z).sum(axis=1))[::-1] - z[:, 0]) ** 2)


def not_all_of_it(x):
    top = np.max(x)
    return 0.5 * top + np.log(np.sum(np.exp(x - top)))


def with_a_constant(x):
    e = np.exp(x - np.max(x))
    return np.sum((e / (np.sum(e) + 1)) ** 2)


def with_its_own_sum(x):
    z = x - np.max(x, axis=1, keepdims=True)
    return np.sum((np.sum(z, axis=1) - z[:, 0]) ** 2)


def contracted(x):
    e = np.exp(x - np.max(x, axis=1, keepdims=True))
    return np.sum((x @ e) / e.sum(axis=1, keepdims=True))


def in_a_branch(x):
    top = np.max(x)
    z = x - top
    if z[0, 0] < 0:
        z = z * 2 + top
    return np.log(np.sum(np.exp(z))) + top


def joined_with_others(x):
    last = x[2:, 2]
    e = np.exp(np.concatenate([x[0], last]))
    return np.sum((e / np.sum(e)) ** 2)


CANCEL = [over_columns, with_new_axis, logarithm_of_sum, of_labels, divided_after, scaled, masked, distances]
STAY = [by_the_other_axis, by_the_other_axis_turned, labels_of_columns, rows_exchanged, not_all_of_it, with_a_constant,
        with_its_own_sum, contracted, in_a_branch, turned_before, joined_with_others]


@pytest.mark.parametrize("function", [*CANCEL, *STAY], ids=lambda function: function.__name__)
def test_gradient_is_that_of_differences(function: Function) -> None:
    found = grad(function)(X)
    assert_close(found, gradient(function, (X,)), function.__name__, X.dtype)
    direction = np.random.default_rng(6).normal(size=X.shape)
    np.testing.assert_allclose(jvp(function, (X,), (direction,))[1], np.sum(found * direction))


@pytest.mark.parametrize("function", CANCEL, ids=lambda function: function.__name__)
def test_the_extreme_takes_no_part(function: Function) -> None:
    assert "==" not in grad(function).source_for(X)
    assert "==" not in hessian(function).source_for(X)


@pytest.mark.parametrize("function", STAY[:-2], ids=lambda function: function.__name__)
def test_the_extreme_takes_part(function: Function) -> None:
    assert "==" in grad(function).source_for(X)


def test_a_result_keeps_its_tangent() -> None:
    def shifted(x):
        top = np.max(x)
        return top, np.log(np.sum(np.exp(x - top))) + top

    _, (dtop, _) = jvp(shifted, (X,), (np.ones_like(X),))
    assert dtop == 1.0


def test_what_is_returned_beside_keeps_its_derivative() -> None:
    def share(x):
        top = np.max(x)
        e = np.exp(x - top)
        return np.sum((e / np.sum(e)) ** 2), 3 * top

    def beside(x):
        slope, top = grad(share, has_aux=True)(x)
        return np.sum(slope ** 2) + top

    assert_close(grad(beside)(X[0]), gradient(beside, (X[0],)), "beside", X.dtype)
