"""Loops and branches in print: ranges, conditions, counters, records, values handed over."""

from __future__ import annotations

import numpy as np
from writing import FLOAT, INT, VECTOR, Making, N, assert_right, body_of, load, named, param, written

from transformer import grad, vmap
from transformer.api import pushforward
from transformer.core.grammar import UNDEFINED, Const, If, Loop, Merge, Read, Record, Var
from transformer.core.types import ArrayType, SeqType
from transformer.ops.value import Value

ARRAY = ArrayType(np.dtype(float), (4,))


def summed(trips, index, down=False):
    """`total += x[index(k)] * total` over positions."""
    x = param("x", VECTOR)
    n = param("n", INT)
    with Making(x, n).begin() as making:
        (total,) = making.loop(
            trips, {"total": Const(1.0)}, lambda total, k: (total + index(making, k) * total,), down=down
        )
        return making.function(total)


def test_ranges() -> None:
    def plain(making, k):
        return k * 1.0

    def shifted(making, k):
        return named(k + 2, "i") * 1.0

    def backwards(making, k):
        return named(Value(N) - 1 - k, "i") * 1.0

    def spread(making, k):
        return named(3 * k + 1, "i") * 1.0

    heads = {
        (plain, False): "k in range(len(x))",
        (plain, True): "k in range(len(x) - 1, -1, -1)",
        (shifted, False): "i in range(2, len(x) + 2)",
        (shifted, True): "i in range(len(x) + 1, 1, -1)",
        (backwards, False): "i in range(len(x) - 1, -1, -1)",
        (backwards, True): "i in range(len(x))",
        (spread, False): "i in range(1, 3 * len(x) + 1, 3)",
        (spread, True): "i in range(3 * len(x) - 2, -2, -3)",
    }
    for (index, down), head in heads.items():
        function = summed(N, index, down)
        assert f"for {head}:" in body_of(function)
        assert_right(function, np.ones(5), 3)


def test_a_loop_by_an_argument() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        (y,) = making.loop(n.atom, {"x": x}, lambda x, k: (named(np.sin(x), "x"),))
        function = making.function(y)
    assert body_of(function) == "    for _ in range(n):\n        x = np.sin(x)\n    return x.copy()\n"
    assert_right(function, np.ones(3), 2)


def test_rows_are_iterated() -> None:
    matrix = param("xs", ArrayType(np.dtype(float), (N, 3)))
    row = Value(Var(ArrayType(np.dtype(float), (3,)), "x"))
    with Making(matrix).begin() as making:
        (total,) = making.loop(
            N, {"total": Const(0.0)}, lambda total, k: (total + np.sum(row * row),), reads=[Read(row.atom, matrix.atom)]
        )
        function = making.function(total)
    assert "    for x in xs:\n        total += np.sum(x * x)\n" in body_of(function)
    assert_right(function, np.ones((2, 3)))


def test_values_that_change_together() -> None:
    n = param("n", INT)
    with Making(n).begin() as making:
        a, b = making.loop(n.atom, {"a": Const(0.0), "b": Const(1.0)}, lambda a, b, k: (b, a + b))
        function = making.function(a)
    assert "        a, b = b, a + b\n" in body_of(function)
    assert_right(function, 7)
    with Making(n).begin() as making:
        x, y = making.loop(
            n.atom, {"x": Const(0.0), "y": Const(1.0)}, lambda x, y, k: (named(x * y + 1, "x"), named(x - y, "y"))
        )
        function = making.function(x, y)
    assert "        x, y = x * y + 1, x - y\n" in body_of(function)
    assert_right(function, 4)


def test_a_loop_that_may_end_early() -> None:
    n = param("n", INT)
    count = Var(INT, "count")
    with Making(n).begin() as making:
        (x,) = making.loop(
            n.atom, {"x": Const(1.0)}, lambda x, k: (named(x * 3.0 + k, "x"),), test=lambda x: x < 50.0, count=count
        )
        function = making.function(x, count)
    assert (
        body_of(function)
        == """\
    x = 1.0
    count = 0
    for k in range(n):
        if not x < 50.0:
            break
        x = x * 3.0 + k
        count += 1
    return x, count
"""
    )
    assert_right(function, 3)
    assert_right(function, 30)


def test_records_of_nested_loops_are_one_array() -> None:
    x, n = param("x", VECTOR), param("n", INT)
    with Making(x, n).begin() as making:
        position, inner = Var(INT, "i"), Var(INT, "j")
        with making.nested() as body:
            with making.nested() as row:
                y = np.sin(x[Value(position)]) * (Value(inner) + 1)
            records = [Record(Var(SeqType(y.type)), y.atom)]
            making.emit(Loop(inner, n.atom, [], row, records=records))
        outer = Record(Var(SeqType(SeqType(y.type))), records[0].target)
        making.emit(Loop(position, N, [], body, records=[outer]))
        total = Var(FLOAT, "total")
        read, element = Var(SeqType(y.type)), Var(y.type)
        with making.nested() as body:
            (sums,) = making.loop(
                n.atom,
                {"inner": Value(total)},
                lambda s, j: (s + Value(element) * s,),
                reads=[Read(element, read)],
                down=True,
            )
        from transformer.core.grammar import Carry

        out = Var(FLOAT, "total")
        making.emit(
            Loop(Var(INT), N, [Carry(total, Const(1.0), sums.atom, out)], body, reads=[Read(read, outer.target)])
        )
        function = making.function(out)
    text = body_of(function)
    assert "    scaled_k = np.empty((m, n))\n" in text
    assert "            scaled_k[i, j] = np.sin(x[i]) * (j + 1)\n" in text
    assert "            inner += scaled_k[k, j] * inner\n" in text
    assert_right(function, np.arange(3.0), 2)


def ragged(read_down: bool):
    """An inner loop with as many iterations as the outer one has made."""
    n = param("n", INT)
    with Making(n).begin() as making:
        position, inner = Var(INT, "i"), Var(INT, "j")
        with making.nested() as body:
            with making.nested() as row:
                y = np.sin(Value(position) * 2.0 + Value(inner))
            records = [Record(Var(SeqType(y.type)), y.atom)]
            making.emit(Loop(inner, position, [], row, records=records))
        outer = Record(Var(SeqType(SeqType(y.type))), records[0].target)
        making.emit(Loop(position, n.atom, [], body, records=[outer]))
        read, element = Var(SeqType(y.type)), Var(y.type)

        def back(total, k):
            (inner,) = making.loop(
                k.atom, {"s": total}, lambda s, j: (s * 0.5 + Value(element),), reads=[Read(element, read)]
            )
            return (inner,)

        (total,) = making.loop(n.atom, {"total": Const(1.0)}, back, down=read_down, reads=[Read(read, outer.target)])
        return making.function(total)


def test_rows_of_different_lengths_are_in_a_list() -> None:
    for down in (False, True):
        source = assert_right(ragged(down), 5)
        assert ".append(" in source


def test_what_only_one_branch_records_is_stored_there() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        position, again = Var(INT, "k"), Var(INT, "k")
        with making.nested() as body:
            item = x[Value(position)]
            with making.nested() as then:
                e = named(np.exp(item), "e")
            merge = Merge(Var(e.type), e.atom, UNDEFINED)
            making.emit(If((item > 0.0).atom, then, [], [merge]))
        record = Record(Var(SeqType(e.type)), merge.target)
        making.emit(Loop(position, N, [], body, records=[record]))
        read = Value(Var(e.type))

        def back(total, k):
            return (making.choose(x[k] > 0.0, lambda: total + read * read, lambda: total),)

        (total,) = making.loop(
            N, {"total": Const(0.0)}, back, reads=[Read(read.atom, record.target)], position=again, down=True
        )
        function = making.function(total)
    text = body_of(function)
    assert "        if x[k] > 0.0:\n            e_k[k] = np.exp(x[k])\n" in text or "e_k[k] = e" in text, text
    assert_right(function, np.array([0.5, -1.0, 2.0]))


def test_an_unbound_name_is_not_handed_over() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        with making.nested() as then:
            y = named(np.exp(x), "y")
        merge = Merge(Var(VECTOR, "y"), y.atom, UNDEFINED)
        making.emit(If((np.sum(x) > 0.0).atom, then, [], [merge]))
        (z,) = making.loop(
            Const(2),
            {"z": Value(merge.target)},
            lambda z, k: (making.choose(np.sum(x) > 0.0, lambda: z * 2.0, lambda: z),),
        )
        result = making.choose(np.sum(x) > 0.0, lambda: np.sum(z), lambda: np.sum(x))
        function = making.function(result)
    assert_right(function, np.ones(3))
    assert_right(function, -np.ones(3))


def test_recorded_python_numbers_are_python_numbers_again() -> None:
    x, a = param("x", ArrayType(np.dtype(np.float32), (3,))), param("a", FLOAT)
    with Making(x, a).begin() as making:
        record = Record(Var(SeqType(FLOAT), "a_k"), Var(FLOAT))

        def step(a, k):
            record.value = a.atom
            return (named(a * 1.5, "a"),)

        making.loop(Const(2), {"a": a}, step, records=[record])
        a_k = Value(Var(FLOAT, "a"))
        (y,) = making.loop(
            Const(2), {"y": x}, lambda y, k: (named(y * a_k, "y"),), reads=[Read(a_k.atom, record.target)]
        )
        function = making.function(y)
    assert "        a = float(a_k[k])\n" in body_of(function)
    assert load(written(function))(np.ones(3, np.float32), 2.0).dtype == np.float32


def test_conditional_expressions() -> None:
    a, b = param("a", FLOAT), param("b", FLOAT)
    with Making(a, b).begin() as making:
        y = making.choose(a > 0.0, lambda: a * b, lambda: -b)
        function = making.function(y * 2.0)
    assert body_of(function) == "    return (a * b if a > 0.0 else -b) * 2.0\n"
    assert_right(function, 1.0, 2.0)
    with Making(a, b).begin() as making:
        test = a > 0.0
        with making.nested() as rest:
            other = b / a > 1.0
        merge = Merge(Var(other.type), other.atom, test.atom)
        making.emit(If(test.atom, rest, [], [merge]))
        y = making.choose(Value(merge.target), lambda: a, lambda: b)
        function = making.function(y)
    assert "a > 0.0" in body_of(function)
    assert_right(function, 0.0, 2.0)
    assert_right(function, 1.0, 2.0)


def test_branches_keep_the_users_names() -> None:
    a = param("a", FLOAT)
    with Making(a).begin() as making:
        y = making.choose(a > 0.0, lambda: named(a * 2.0, "y"), lambda: named(-a, "y"), "y")
        function = making.function(y, named(y * y, "z"))
    assert (
        body_of(function)
        == """\
    if a > 0.0:
        y = a * 2.0
    else:
        y = -a
    z = y * y
    return y, z
"""
    )
    assert_right(function, -2.0)


def test_chains_of_branches() -> None:
    a = param("a", FLOAT)
    with Making(a).begin() as making:

        def other():
            return making.choose(a > -1.0, lambda: named(a * 3.0, "y"), lambda: named(-a, "y"), "y")

        y = making.choose(a > 0.0, lambda: named(a * 2.0, "y"), other, "y")
        function = making.function(y)
    assert "    elif a > -1.0:\n        y = a * 3.0\n    else:\n" in body_of(function)
    for value in (1.0, -0.5, -2.0):
        assert_right(function, value)


def test_independent_iterations() -> None:
    x = param("x", VECTOR)
    with Making(x).begin() as making:
        item, position = Value(Var(ArrayType(np.dtype(float)), "item")), Var(INT, "k")
        with making.nested() as body:
            y = named(np.sin(item), "y")
        record = Record(Var(SeqType(y.type)), y.atom)
        making.emit(Loop(position, N, [], body, [Read(item.atom, x.atom)], [record], independent=True))
        element = Value(Var(y.type))
        (total,) = making.loop(
            N,
            {"total": Const(0.0)},
            lambda total, k: (total * 2.0 + element,),
            reads=[Read(element.atom, record.target)],
        )
        function = making.function(total)
    assert "for k in range(n):" in body_of(function)
    assert_right(function, np.arange(4.0))


def test_a_range_up_to_the_position_of_another() -> None:
    gradient = grad(triangle)
    gradient(np.ones(4))
    assert "for j in range(1, i):" in gradient.source


def test_a_constant_that_begins_a_loop_is_assigned_once() -> None:
    gradient = grad(greatest)
    gradient(np.ones(4))
    assert "m = -np.inf" in gradient.source and "m = m\n" not in gradient.source


def test_a_loop_over_items_is_written_as_one() -> None:
    made = grad(bag)
    table, ids = np.arange(6.0).reshape(3, 2), np.array([2, 0, 2])
    np.testing.assert_allclose(made(table, ids), grad(bag_by_places)(table, ids))
    source = made.source_for(table, ids)
    assert "    for i in ids[1:]:\n" in source and source.count("    for i in ids:\n") == 2
    assert "for k in range" in grad(bag_by_places).source_for(table, ids)


def test_names_that_a_loop_without_an_end_binds_need_no_first_value() -> None:
    a = np.array([2.0, 9.0])
    moved = pushforward(root, (0,))
    np.testing.assert_allclose(moved(a[0], 1.0), (np.sqrt(2), 0.5 / np.sqrt(2)))
    assert "new = 0.0" not in moved.source
    np.testing.assert_allclose(vmap(root)(a), [np.sqrt(2), 3.0])
    assert "is_bound" not in vmap(root).source_for(a)


def root(a):
    x = 1.0
    while True:
        new = 0.5 * (x + a / x)
        if abs(new - x) < 1e-12:
            break
        x = new
    return new


def test_a_table_for_all_lanes_is_made_at_once() -> None:
    source = vmap(paths).source_for(np.ones((2, 3)))
    assert "total = np.zeros((x.shape[0], n + 1))\n" in source and "total[:, 0] = 1.0\n" in source
    np.testing.assert_allclose(vmap(paths)(np.ones((2, 3))), [4.0, 4.0])


def test_the_first_value_of_all_lanes_is_one_line() -> None:
    source = vmap(greatest).source_for(np.ones((2, 3)))
    assert "m = np.full(n, -np.inf)\n" in source and "m = -np.inf\n" not in source


def paths(x):
    total = np.zeros(len(x) + 1)
    total[0] = 1.0
    for i in range(len(x)):
        total[i + 1] = total[i] + x[i]
    return total[-1]


def bag(table, ids):
    total = np.zeros(2)
    for i in ids[1:]:
        total = 0.5 * total + table[i]
    for i in ids:
        total += table[i]
    return np.sum(np.sin(total))


def bag_by_places(table, ids):
    total = np.zeros(2)
    for k in range(1, len(ids)):
        total = 0.5 * total + table[ids[k]]
    for k in range(len(ids)):
        total += table[ids[k]]
    return np.sum(np.sin(total))


def greatest(x):
    m, total = -np.inf, 0.0
    for item in x:
        new = max(m, item)
        total = total * np.exp(m - new) + np.exp(item - new)
        m = new
    return total


def triangle(x):
    y = x * 1
    for i in range(1, len(x)):
        for j in range(1, i):
            y[i] = y[i] + y[j] * x[i - j]
    return np.sum(y)


def test_a_list_made_an_array_is_that_array() -> None:
    def scanned(x):
        rows, t = [], 0.0
        for v in x:
            t = t * 0.5 + v
            rows.append(t)
        sums = np.array(rows)
        return np.sum(sums ** 2)

    text = grad(scanned).source_for(np.ones(3))
    assert "sums[k] = t" in text and "dsums = 2 * sums" in text and "rows" not in text
