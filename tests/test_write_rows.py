"""Rows of records that are written where they are, or that stand for arrays; and those that must not be."""

from __future__ import annotations

import numpy as np
import pytest
from writing import INT, VECTOR, Making, assert_right, body_of, named, param

from transformer import check_grads, grad
from transformer.core.grammar import Carry, Const, Function, Loop, Read, Record, Var
from transformer.core.types import FLOAT, SeqType
from transformer.ops import indexing
from transformer.ops.value import Value


def recorded(making: Making, x: Value, n: Value) -> Var:
    """A record of `x` halved in each iteration, before it is."""
    found = Var(SeqType(x.type))
    entry = Var(VECTOR, "x")
    with making.nested() as body:
        following = named(Value(entry) * 0.5, "x")
    carry = Carry(entry, x.atom, following.atom, Var(VECTOR, "x"))
    making.emit(Loop(Var(INT), n.atom, [carry], body, records=[Record(found, entry)]))
    return found


def written_rows(making: Making, source: Var, n: Value, total: Value) -> Value:
    """Reads each row of a record and writes in it; the sum of what is there then."""
    row = Value(Var(VECTOR, "y"))

    def step(total: Value, k: Value) -> tuple[Value]:
        return (total + np.sum(named(indexing.add_at(row, 1.0, 0), "y") ** 2),)

    return making.loop(n.atom, {"total": total}, step, reads=[Read(row.atom, source)])[0]


def assert_all_right(function: Function) -> str:
    for steps in (0, 1, 3):
        assert_right(function, np.array([0.3, -1.2]), steps)
    return body_of(function)


def test_a_row_that_is_read_once_is_written_where_it_is() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        total = written_rows(making, recorded(making, x, n), n, Value(Const(0.0)))
        function = making.function(total)
    assert "        y = x_k[k]\n        y[0] += 1.0\n" in assert_all_right(function)


def test_a_row_that_a_second_loop_reads_is_copied() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        source = recorded(making, x, n)
        total = written_rows(making, source, n, Value(Const(0.0)))
        function = making.function(written_rows(making, source, n, total))
    assert assert_all_right(function).count(".copy()") == 2


def test_a_row_that_one_loop_reads_twice_is_copied() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        source = recorded(making, x, n)
        row, again = Value(Var(VECTOR, "y")), Value(Var(VECTOR, "z"))

        def step(total, k):
            return (total + np.sum(named(indexing.add_at(row, 1.0, 0), "y")) * np.sum(again),)

        reads = [Read(row.atom, source), Read(again.atom, source)]
        function = making.function(*making.loop(n.atom, {"total": Const(0.0)}, step, reads=reads))
    assert ".copy()" in assert_all_right(function)


def test_a_row_that_an_outer_loop_reads_again_is_copied() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        source = recorded(making, x, n)
        (total,) = making.loop(
            n.atom, {"total": Const(0.0)}, lambda total, k: (written_rows(making, source, n, total),)
        )
        function = making.function(total)
    assert ".copy()" in assert_all_right(function)


def test_a_row_that_is_recorded_and_read_in_one_iteration_is_not_copied() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        (total,) = making.loop(
            n.atom,
            {"total": Const(0.0)},
            lambda total, k: (written_rows(making, recorded(making, x + k, n), n, total),),
        )
        function = making.function(total)
    assert ".copy()" not in assert_all_right(function)


def test_states_that_are_one_array_are_copied() -> None:
    """The state after an iteration is the one before the next: what was written would be read again."""
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        entry, before, after = Var(VECTOR, "x"), Var(SeqType(VECTOR)), Var(SeqType(VECTOR))
        with making.nested() as body:
            following = named(np.sin(Value(entry)), "x")
        carry = Carry(entry, x.atom, following.atom, Var(VECTOR, "x"))
        records = [Record(before, entry), Record(after, following.atom)]
        making.emit(Loop(Var(INT), n.atom, [carry], body, records=records))
        old, new = Value(Var(VECTOR, "y")), Value(Var(VECTOR, "z"))

        def step(total, k):
            z = named(indexing.add_at(new, 1.0, 0), "z")
            return (total * 0.5 + np.sum(old * z),)

        reads = [Read(old.atom, before), Read(new.atom, after)]
        function = making.function(*making.loop(n.atom, {"total": Const(0.0)}, step, reads=reads))
    text = assert_all_right(function)
    assert ".copy()" in text and "np.empty((n + 1," in text


def test_the_whole_record_is_given_back_as_it_was() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        source = recorded(making, x, n)
        total = written_rows(making, source, n, Value(Const(0.0)))
        rows = Var(VECTOR, "rows")

        def step(kept, k):
            return (Value(rows) * 1.0,)

        (last,) = making.loop(n.atom, {"kept": x}, step, reads=[Read(rows, source)])
        function = making.function(total, last)
    assert ".copy()" in assert_all_right(function)


def test_rows_of_rows() -> None:
    """What nested loops record is one array; what reads it in nested loops may write in it, too."""
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        with making.nested() as body:
            inner = recorded(making, x, n)
        outer = Var(SeqType(inner.type))
        making.emit(Loop(Var(INT), n.atom, [], body, records=[Record(outer, inner)]))
        rows, entry, out = Var(inner.type), Var(FLOAT, "total"), Var(FLOAT, "total")
        with making.nested() as body:
            total = written_rows(making, rows, n, Value(entry))
        carry = Carry(entry, Const(0.0), total.atom, out)
        making.emit(Loop(Var(INT), n.atom, [carry], body, reads=[Read(rows, outer)]))
        function = making.function(out)
    text = assert_all_right(function)
    assert ".copy()" not in text and "np.empty((n, n" in text


def test_a_result_does_not_keep_a_record_in_memory() -> None:
    """The last row that was written is returned as an array of its own."""
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        row = Value(Var(VECTOR, "y"))

        def step(kept, k):
            return (named(indexing.add_at(row, 1.0, 0), "y"),)

        source = recorded(making, x, n)
        (last,) = making.loop(n.atom, {"kept": x * 1.0}, step, reads=[Read(row.atom, source)])
        function = making.function(last)
    assert "return kept.copy()" in assert_all_right(function)


def sum_of_rows(making: Making, source: Var, n: Value, total: Value) -> Value:
    row = Value(Var(VECTOR, "row"))
    return making.loop(
        n.atom, {"total": total}, lambda total, k: (total * 0.5 + np.sum(row),), reads=[Read(row.atom, source)]
    )[0]


@pytest.mark.parametrize("view", [lambda array: array[1:], lambda array: array[::-1], lambda array: array.T])
def test_a_row_is_not_written_through_a_view_of_the_array_that_was_recorded(view) -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        found, total, out = Var(SeqType(VECTOR)), Var(FLOAT, "total"), Var(FLOAT, "total")
        position = Var(INT, "k")
        with making.nested() as body:
            array = np.sin(x) + Value(position)
            turned = indexing.write(view(array), 2.0, 0)
            following = Value(total) + np.sum(turned)
        carry = Carry(total, Const(0.0), following.atom, out)
        making.emit(Loop(position, n.atom, [carry], body, records=[Record(found, array.atom)]))
        function = making.function(sum_of_rows(making, found, n, Value(out)))
    assert_all_right(function)


def test_a_row_is_not_handed_on_to_who_writes_in_it() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        found, entry = Var(SeqType(VECTOR)), Var(VECTOR, "y")
        total, out = Var(FLOAT, "total"), Var(FLOAT, "total")
        with making.nested() as body:
            changed = named(indexing.add_at(Value(entry), 1.0, 0), "y")
            array = np.sin(changed)
            following = Value(total) + np.sum(array)
        carries = [
            Carry(entry, (x * 1.0).atom, array.atom, Var(VECTOR, "y")),
            Carry(total, Const(0.0), following.atom, out),
        ]
        making.emit(Loop(Var(INT, "k"), n.atom, carries, body, records=[Record(found, array.atom)]))
        function = making.function(sum_of_rows(making, found, n, Value(out)))
    assert_all_right(function)


def heat(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += c * np.sin(u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def used_twice(u, c, steps):
    for _ in range(steps):
        d = c * np.cos(u)
        u = u + d * np.sin(d) - d
    return np.sum(u**2)


def handed_on(u, c, steps):
    v = u * 1.0
    for _ in range(steps):
        u, v = v * c, np.sin(v * c) * u
    return np.sum(u * v)


@pytest.mark.parametrize("program", [heat, used_twice, handed_on])
@pytest.mark.parametrize("size", [4, 7])
def test_gradients(program, size) -> None:
    u = np.random.default_rng(size).normal(size=size)
    check_grads(program, (u, 0.3, 3), order=2)


def test_an_array_that_is_recorded_and_used_once_more_is_its_row() -> None:
    source = grad(heat, (0, 1)).source_for(np.ones(5), 0.3, 3)
    assert "        total_k[k] = u[2:] - 2 * u[1:-1] + u[:-2]\n        u[1:-1] += c * np.sin(total_k[k])\n" in source


def only_read(x, seen):
    m = x
    for t in range(len(x)):
        part = np.outer(x[seen[t]], x)
        r = np.tanh(part @ m)
        m = m + part.T @ r
    return m.sum()


def written_afterwards(x, seen):
    total = 0.0
    for t in range(len(x)):
        r = np.tanh(x[seen[t]])
        total += np.sum(r ** 3)
        r += 1.0
        r[:1] *= total
        total += np.sum(r ** 2)
    return total


def written_in_the_next_iteration(x, seen):
    total, kept = 0.0, np.tanh(x[seen[0]])
    for t in range(len(x)):
        total += np.sum(kept ** 3)
        kept[:1] *= total
        r = np.sin(x[seen[t]])
        total += np.sum(r ** 2)
        kept = r
    return total + kept.sum()


SEEN = np.array([[True, False, True, True], [False, True, False, True], [False] * 4, [True] * 4])


@pytest.mark.parametrize("program", [only_read, written_afterwards, written_in_the_next_iteration],
                         ids=lambda program: program.__name__)
def test_rows_of_lists_are_copied_where_something_writes(program) -> None:
    check_grads(program, (np.array([0.3, -0.7, 1.1, 0.4]), SEEN), order=2)


def test_rows_of_lists_that_are_only_read_are_not_copied() -> None:
    source = grad(only_read).source_for(np.ones(4), SEEN)
    assert "r_k[t] = r\n" in source or "r_k.append(r)" in source, source
