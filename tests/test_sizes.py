"""Sizes and what is assumed of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.core.equations import guardable, single_atom, value_of
from transformer.core.exact import divided_out
from transformer.core.factoring import factored, sums_in
from transformer.core.grammar import Const, Var
from transformer.core.guards import Assumptions, Guard
from transformer.core.sizes import (
    Dim,
    Extent,
    Floor,
    Greatest,
    Least,
    Size,
    Unknown,
    degree,
    divided,
    greatest,
    least,
    leaves,
    product,
    quotient,
    replaced,
)
from transformer.core.types import INT
from transformer.core.walk import atom_of_size, size_of_atom

N, M, K = (Size.of(Dim(name)) for name in "nmk")
VALUES: dict[Any, int] = {Dim("n"): 7, Dim("m"): 4, Dim("k"): 3}


def test_polynomials_fold_to_numbers() -> None:
    assert (N + 2) * M - M * N == 2 * M
    assert (N + 2) - N == 2
    assert type((N + 2) - N) is int
    assert N * 0 == 0
    assert N - N == 0
    assert 3 - N + N == 3
    assert (N + 1) * (N - 1) == N * N - 1


def test_order_does_not_matter() -> None:
    assert N * M + K == K + M * N
    assert hash(N * M + K) == hash(K + M * N)
    assert N != M
    assert N != 7


def test_division() -> None:
    assert (N * M) // M == N
    assert (2 * N * M + 4 * M) // (2 * M) == N + 2
    assert (N * N - 1) // (N + 1) == N - 1
    assert N // 2 == Size.of(Floor(N, 2))
    assert 7 // Size.of(Dim("n")) == Size.of(Floor(7, N))
    assert divided(7, 2) == 3
    assert quotient(N * M, K) is None
    assert quotient(N, 0) is None
    assert quotient(0, N) == 0


def test_least_and_greatest() -> None:
    assert least(N, N + 1) == N
    assert greatest(N, N + 1) == N + 1
    assert least(N, M) == Size.of(Least(N, M))
    assert greatest(N, 0) == Size.of(Greatest(N, 0))
    assert least(3, 5) == 3


def test_products_of_shapes() -> None:
    assert product(()) == 1
    assert product((N, 3)) == 3 * N
    assert product((2, 3)) == 6


def test_text() -> None:
    shown = {N: "n", -N: "-n", 2 * N - 1: "2*n - 1", 1 - N: "-n + 1", N * M: "m*n"}
    assert {size: str(size) for size in shown} == shown
    assert str(least(N, M // 2)) == "min(n, m//2)"


def test_replacing_reaches_into_atoms() -> None:
    inner = least(N // 2, greatest(M, K * K))
    assert list(leaves(inner)) == [Dim("n"), Dim("m"), Dim("k"), Dim("k")]
    assert value_of(inner, VALUES) == 3
    assert replaced(inner, {Dim("n"): 2 * M, Dim("k"): Size.of(Dim("m"))}.get) == least(
        M, greatest(M, M * M))
    assert value_of(N + M, {Dim("n"): 1}) is None


numbers = st.integers(-4, 4)
sizes: st.SearchStrategy[Extent] = st.recursive(
    st.one_of(numbers, st.sampled_from([N, M, K])),
    lambda inner: st.one_of(
        st.builds(lambda a, b: a + b, inner, inner), st.builds(lambda a, b: a - b, inner, inner),
        st.builds(lambda a, b: a * b, inner, inner), st.builds(least, inner, inner),
        st.builds(greatest, inner, inner), st.builds(lambda a: a // 3, inner)),
    max_leaves=8)


def at(size: Extent) -> int:
    value = value_of(size, VALUES)
    assert value is not None
    return value


@given(sizes, sizes)
def test_arithmetic_is_that_of_integers(a: Extent, b: Extent) -> None:
    assert at(a + b) == at(a) + at(b)
    assert at(a - b) == at(a) - at(b)
    assert at(a * b) == at(a) * at(b)
    assert at(least(a, b)) == min(at(a), at(b))
    assert at(greatest(a, b)) == max(at(a), at(b))
    if at(b):
        assert at(divided(a, b)) == at(a) // at(b)


@given(sizes, sizes)
def test_an_exact_quotient_is_exact(a: Extent, b: Extent) -> None:
    found = quotient(a * b, b)
    if found is not None:
        assert found * b == a * b


@given(sizes)
def test_a_division_that_comes_out_even_changes_no_value(size: Extent) -> None:
    """Of dimensions that 2 or 3 divide."""
    values = {Dim("n"): 8, Dim("m"): 6, Dim("k"): 3}
    for floor in (Floor(N, 2), Floor(M, 3), Floor(N + 1, 3), Floor(M + N, 2)):
        assert value_of(divided_out(size, [floor]), values) == value_of(size, values)


@pytest.mark.parametrize("size, expected", [
    (N - 2 * (N // 3), N // 3), (N - N // 3, 2 * (N // 3)), (2 * N - 3 * (N // 3), N), (N + M, N + M),
    (N * M - 3 * (N // 3) * M, 0), (N - 2 * (N // 3) - K, N // 3 - K), (4 * (N // 3), 4 * (N // 3)),
])
def test_what_is_left_of_an_axis_cut_evenly_is_a_part(size: Extent, expected: Extent) -> None:
    assert divided_out(size, [Floor(N, 3)]) == expected


def test_a_part_of_an_axis_ends_within_it() -> None:
    """Also of a dimension of a function that is called, which may be anything, 0 among it."""
    known = Assumptions()
    n = Size.of(Dim("n", inner=True))
    assert known.lower_bound(2 * (n // 3)) == 0
    assert known.lower_bound(n - 2 * (n // 3)) == 0
    assert known.lower_bound(5 * (n // 3) + (n // 2) + 1) == 1
    assert known.lower_bound(-(n // 3)) is None


@given(sizes, sizes, sizes)
def test_factors_are_those_of_the_size(a: Extent, b: Extent, c: Extent) -> None:
    assert product(factored(a * b * c, sums_in([a, b]))) == a * b * c


@given(sizes)
def test_what_is_certain_holds(size: Extent) -> None:
    low = Assumptions(smallest=2).lower_bound(size)
    assert low is None or at(size) >= low


def test_atoms_and_sizes() -> None:
    var = Var(INT, "k")
    assert size_of_atom(var) == Size.of(Unknown(var))
    assert atom_of_size(Size.of(Unknown(var))) is var
    assert size_of_atom(Const(3)) == 3
    assert size_of_atom(N) is N
    three = atom_of_size(3)
    assert isinstance(three, Const) and three.value == 3
    assert atom_of_size(N + 1) == N + 1


# -- assumptions ---------------------------------------------------------------------------------

def test_equal_sizes_need_no_guard() -> None:
    assumptions = Assumptions()
    assert assumptions.equal(N, N)
    assert not assumptions.equal(N, N + 1)
    assert assumptions.guards == []


def test_hints_decide_and_leave_a_guard() -> None:
    assumptions = Assumptions({Dim("n"): 5, Dim("m"): 5, Dim("k"): 4})
    assert assumptions.equal(N, M)
    assert not assumptions.equal(N, K)
    assert assumptions.guards == [Guard("equal", N, M)]
    assert assumptions.normal(M) == assumptions.normal(N)
    assert assumptions.equal(2 * M, N + M)
    assert len(assumptions.guards) == 1


def test_without_hints_sizes_are_assumed_to_be_equal() -> None:
    assumptions = Assumptions()
    assert assumptions.equal(N, 3)
    assert assumptions.normal(N * 2) == 6
    assert not assumptions.equal(N, 4)


def test_classes_of_equal_sizes_grow() -> None:
    assumptions = Assumptions()
    assert assumptions.equal(N, M)
    assert assumptions.equal(M, K)
    assert assumptions.normal(N) == assumptions.normal(M) == assumptions.normal(K)


def test_integers_of_the_program_are_never_assumed_to_be_equal() -> None:
    inner, argument = Var(INT, "k"), Var(INT, "j", is_parameter=True)
    assumptions = Assumptions()
    assert not assumptions.equal(N, Size.of(Unknown(inner)))
    assert not guardable(Size.of(Unknown(inner)))
    assert assumptions.equal(N, Size.of(Unknown(argument)))


def test_lower_bounds() -> None:
    assumptions = Assumptions({Dim("n"): 5, Dim("m"): 9}, smallest=2)
    assert assumptions.lower_bound(2 * N - 1) == 3
    assert assumptions.certainly_at_least(N, 2)
    assert not assumptions.certainly_at_least(N, 3)
    assert assumptions.at_least(N, 2) and assumptions.guards == []
    assert assumptions.at_least(N, 3)
    assert not assumptions.at_least(N, M)
    assert assumptions.guards == [Guard("at least", N, 3)]


def test_ranges_of_integers() -> None:
    assumptions = Assumptions(smallest=2)
    position = Var(INT, "i")
    assumptions.within(position, 0, N - 1)
    i = Size.of(Unknown(position))
    assert assumptions.certainly_at_least(i, 0)
    assert assumptions.certainly_at_least(N, i + 1)
    assert not assumptions.certainly_at_least(N, i + 2)
    assert assumptions.certainly_at_least(N // 2, 1)


def test_guards() -> None:
    assert Guard("equal", N, M + 3).holds(VALUES)
    assert not Guard("equal", N, M).holds(VALUES)
    assert Guard("at least", N, M).holds(VALUES)
    assert not Guard("at least", M, N).holds(VALUES)
    assert repr(Guard("at least", N, 2)) == "n >= 2"


@pytest.mark.parametrize("size, atom", [(N, Dim("n")), (2 * N, None), (N + 1, None), (3, None),
                                        (N * M, None), (N // 2, None)])
def test_single_atoms(size: Extent, atom: Any) -> None:
    assert single_atom(size) == atom


def test_powers_of_a_dimension() -> None:
    n, m = Dim("n"), Dim("m")
    square = Size.of(n) * (Size.of(n) - 1)
    assert degree(square // 2, n) == degree(square * Size.of(m) + Size.of(n), n) == 2
    assert degree(square, m) == degree(7, n) == degree(Size.of(Unknown(Var(INT))), n) == 0
    assert degree(Size.of(Least(square, Size.of(m))), n) == 0 and degree(Size.of(Greatest(square, Size.of(m))), m) == 1


def test_slices_cut_short_are_bounded() -> None:
    """``x[8*i:8*i + 8]`` has 1 to 8 elements where i is below ``cdiv(n, 8)``; two such sizes are seen to be equal."""
    n, i = Size.of(Dim("n")), Size.of(Unknown("i"))
    assumptions = Assumptions()
    assumptions.within("i", 0, -((-n) // 8) - 1)
    short = least(8, n - 8 * i)
    assert assumptions.lower_bound(short) == 1 and assumptions.lower_bound(8 - short) == 0
    assert assumptions.certainly_at_least(n, 8 * i + short)
    assert not assumptions.certainly_at_least(short, 2) and not assumptions.certainly_at_least(7, short)
    again = greatest(short, 0)
    assert assumptions.lower_bound(short - again) == assumptions.lower_bound(again - short) == 0
