"""`vmap` of programs whose lanes take different branches and numbers of steps, and of those that print and raise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lane_loops import check_vmap
from lane_programs import COUNTS, P5, PARTING, W, X, halved, x5, zero_trips

from transformer import grad, value_and_grad, vmap

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # lanes compute what a program alone would not


@pytest.mark.parametrize("name", PARTING)
def test_lanes_that_part(name: str) -> None:
    program, args, axes, wrt = PARTING[name]
    check_vmap(program, *args, in_axes=axes)
    check_vmap(grad(program, argnums=wrt), *args, in_axes=axes)


def counted(x: Any) -> Any:
    above, below = x[x > 0], x[x < 0.5]
    count = len(above) + len(below) if x[0] > 0 else len(above) * len(below)
    for v in x:
        count = count + (1 if v > 0 else len(above))
    return np.sum(above) / (len(above) // 2 + 1) + min(len(above), 2) * np.sum(x) * count


def test_sizes_of_lanes_are_computed_with() -> None:
    check_vmap(counted, X)
    check_vmap(grad(counted), X)
    check_vmap(lambda x: (len(x[x > 0]) + len(x[x < 1]), len(x[x > 0]) // 2), X)
    check_vmap(lambda x: np.mean(x[x > 0]) if len(x[x > 0]) + 1 > 2 else x[0] * (x.shape[0] - len(x[x > 0])), X)


def cut(x: Any) -> Any:
    return np.sum((x[1:] if x[0] > 0 else x) ** 2) * np.sum(x if x[0] > 0 else x[1:])


def test_sides_of_other_sizes() -> None:
    check_vmap(cut, X)
    check_vmap(grad(cut), X)


def test_other_results_of_lanes_that_part() -> None:
    check_vmap(halved, np.array([0.5, 3.0, 100.0, 7.0]))
    check_vmap(lambda x, n: (zero_trips(x, n), n), x5, COUNTS)


def test_statements_that_part_between_others() -> None:
    """Only what parts runs lane by lane: the products stay whole."""
    def mixed(x: Any) -> Any:
        y = W @ x
        while y[0] > 0.1:
            y = y * 0.5
        return W @ y
    assert check_vmap(mixed, X).source.count("for lane") == 1
    found = check_vmap(mixed, X).source
    assert "W.T" in found or "@ W" in found, found


# -- effects ------------------------------------------------------------------------------------


def test_prints_are_in_the_order_of_lanes(capsys: pytest.CaptureFixture[str]) -> None:
    def program(x: Any) -> Any:
        print("x is", x)
        return x * 2
    vmap(program)(np.array([1.5, 2.5]))
    assert capsys.readouterr().out == "x is 1.5\nx is 2.5\n"


def test_raise_and_assert_are_those_of_a_lane() -> None:
    def raising(x: Any) -> Any:
        if x < 0:
            raise ValueError(f"bad {x:.1f}")
        return x * 2

    def asserting(x: Any) -> Any:
        assert x > 0, "positive"
        return x * 2
    for program, error, text in ((raising, ValueError, "bad -3.0"), (asserting, AssertionError, "positive")):
        check_vmap(program, P5)
        check_vmap(grad(program), P5)
        for derived in (vmap(program), vmap(grad(program))):
            with pytest.raises(error, match=text):
                derived(np.array([1.0, -3.0, -4.0]))


def test_unbound_names_are_those_of_a_lane() -> None:
    def program(x: Any) -> Any:
        if x > 0:
            y = x
        return y  # noqa: F821
    check_vmap(program, P5)
    for lanes in (-P5, np.array([1.0, -1.0, 2.0])):                # also where the lane before has bound it
        with pytest.raises(UnboundLocalError):
            vmap(program)(lanes)

    def in_a_loop(x: Any) -> Any:
        for i in range(3):
            if x > i:
                y = x * i
        return y * 2  # noqa: F821
    check_vmap(in_a_loop, np.array([0.5, 1.5, 7.0]))
    check_vmap(grad(in_a_loop), np.array([0.5, 1.5, 7.0]))
    with pytest.raises(UnboundLocalError):
        vmap(in_a_loop)(np.array([0.5, -1.5, 7.0]))

    def called(xs: Any) -> Any:
        return sum([program(x) for x in xs], 0.0)
    with pytest.raises(UnboundLocalError):
        value_and_grad(called)(np.array([1.0, -1.0, 2.0]))


@pytest.mark.parametrize("k", [3, -4])
def test_indices_out_of_bounds(k: int) -> None:
    with pytest.raises(IndexError):
        vmap(lambda x, k: x[k])(X, np.array([0, 1, k, 0, 0]))
