"""The reader: what its Core computes is what Python computes; what it refuses, it refuses with a place."""

from __future__ import annotations

import contextlib
import copy
import io
import math
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from differences import leaves
from evaluate import evaluate_call, read_call
from reading import PROGRAMS, VECTOR

from transformer import tree
from transformer.core.check import check
from transformer.core.errors import TransformError
from transformer.core.grammar import Let, Loop, Var
from transformer.core.sizes import Dim, Size
from transformer.core.types import INT, ArrayType
from transformer.core.walk import all_statements
from transformer.read.raising.demand import Demand
from transformer.read.readings import read


def assert_same(found: Any, wanted: Any, where: str) -> None:
    """Equal trees of equal numbers."""
    found_leaves, wanted_leaves = leaves(found), leaves(wanted)
    assert len(found_leaves) == len(wanted_leaves), f"{where}: {found} is not {wanted}"
    assert tree.structure(found) == tree.structure(wanted), where
    for one, other in zip(found_leaves, wanted_leaves):
        if isinstance(other, str | type(None)):
            assert one == other, where
        else:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14, err_msg=where)
            if isinstance(other, np.ndarray):
                assert np.asarray(one).dtype == other.dtype, where


@pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case[0].__name__)
def test_core_computes_what_python_computes(case: Any) -> None:
    function, args, kwargs = case
    reading = read_call(function, *args, **kwargs)
    check(reading.function)
    outcome = evaluate_call(reading, function, *args, **kwargs)
    given, printed = copy.deepcopy(args), io.StringIO()
    with contextlib.redirect_stdout(printed):
        wanted = function(*given, **copy.deepcopy(kwargs))
    assert_same(outcome.result, wanted, function.__name__)
    assert outcome.printed == printed.getvalue()
    assert_written(reading, outcome, given, args)


def assert_written(reading: Any, outcome: Any, given: Any, args: Any) -> None:
    """The arguments that Python wrote to are those the reading says, with the same contents."""
    for parameter, value, before in zip(reading.interface.parameters, given, args):
        if isinstance(value, np.ndarray):
            written = outcome.written.get(parameter.name, before)
            np.testing.assert_allclose(written, value, err_msg=f"the argument {parameter.name}")


# What Core looks like.


def statements(function: Any, *args: Any, **kwargs: Any) -> list[Any]:
    return list(all_statements(read_call(function, *args, **kwargs).function.body))


def count(kind: type, found: list[Any]) -> int:
    return sum(isinstance(stmt, kind) for stmt in found)


def test_range_loops_stay_loops() -> None:
    def f(x):
        total = 0.0
        for i in range(3):
            for v in x:
                total += v * i
        return total

    assert count(Loop, statements(f, VECTOR)) == 2


def test_loops_over_containers_are_unrolled() -> None:
    def f(x):
        for scale in (1.0, 2.0, 3.0):
            x = x * scale
        return x

    found = statements(f, VECTOR)
    assert count(Loop, found) == 0 and count(Let, found) == 3


def test_loop_is_unrolled_where_its_index_must_be_known() -> None:
    def f(x, n):
        parts = [x, 2 * x, 3 * x]
        for i in range(n):
            x = x + parts[i]
        return x

    assert count(Loop, statements(f, VECTOR, 3)) == 0


def test_carries_are_what_the_body_changes() -> None:
    def f(x):
        total, same = 0.0, 1.0
        for v in x:
            t = v * same
            total = total + t
        return total * same

    (loop,) = (stmt for stmt in statements(f, VECTOR) if isinstance(stmt, Loop))
    assert [carry.entry.name for carry in loop.carries] == ["total"]
    assert repr(loop.carries[0].entry.type) == "f64"


def test_unchanged_names_are_no_carries() -> None:
    def f(x, verbose=False):
        count = 0
        total = 0.0
        for v in x:
            if verbose:
                count += 1
            total += v
        return total + count

    (loop,) = (stmt for stmt in statements(f, VECTOR) if isinstance(stmt, Loop))
    assert [carry.entry.name for carry in loop.carries] == ["total"]


def test_element_updates_are_one_op() -> None:
    def f(x):
        y = np.zeros(5)
        y[0] += x[0]
        y[1:] -= x[1:]
        y[x > 0] += 1.0
        y[2] *= 3.0
        return y

    names = [stmt.op.name for stmt in statements(f, VECTOR) if isinstance(stmt, Let)]
    assert names.count("addat") == 3 and names.count("put") == 1


def test_lists_that_loops_fill_are_records() -> None:
    def f(x):
        values, rows = [], []
        for v in x:
            values.append(v * 2)
        for k in range(len(x)):
            rows.append((x[k], [v * k for v in x]))
        return np.array(values), rows[0][0], np.array([row[1] for row in rows])

    loops = [stmt for stmt in statements(f, VECTOR) if isinstance(stmt, Loop)]
    assert [len(loop.records) for loop in loops] == [1, 2, 1, 1]
    outcome = evaluate_call(read_call(f, VECTOR), f, VECTOR)
    assert_same(outcome.result, f(VECTOR), "records")


def test_names_are_kept() -> None:
    def f(x, rate=0.5):
        velocity = x * 2
        position = velocity + np.pi
        dt = 0.125
        return position * dt * SCALE * rate

    reading = read_call(f, VECTOR)
    lets = [stmt for stmt in reading.function.body if isinstance(stmt, Let)]
    assert [stmt.target.name for stmt in lets[:2]] == ["velocity", "position"]
    assert {repr(arg) for stmt in lets for arg in stmt.args} >= {"np.pi", "dt", "SCALE"}


SCALE = 1.5
GLOBAL = np.ones(3)


def test_every_statement_knows_its_line() -> None:
    def f(x):
        y = x * 2
        for k in range(3):
            y = y + k
        return y if y[0] > 0 else -y

    first = f.__code__.co_firstlineno
    lines = {stmt.origin.line - first for stmt in statements(f, VECTOR)}
    assert lines == {1, 2, 3, 4}


def test_spellings_are_kept() -> None:
    def f(x, t):
        return np.sin(x) + math.sin(t) + abs(t)

    spelled = [stmt.attrs.get("spelling") for stmt in statements(f, VECTOR, 0.5) if isinstance(stmt, Let)]
    assert spelled[:2] == ["np.sin", "math.sin"] and "abs" in spelled


def test_arrays_from_outside_are_hidden_arguments() -> None:
    captured = np.array([1.0, 2.0])
    holder = SimpleNamespace(table=np.array([3.0, 4.0]))

    def f(x):
        return x * captured + GLOBAL[0] + holder.table + captured

    reading = read_call(f, np.ones(2))
    assert [hidden.name for hidden in reading.interface.hidden] == ["captured", "GLOBAL", "table"]
    assert reading.interface.hidden[0].fetch() is captured
    assert len(reading.function.params) == 4


def test_what_is_static_is_watched() -> None:
    options = SimpleNamespace(mode="a")
    factor = 3

    def f(x):
        return x * factor if options.mode == "a" else x

    reading = read_call(f, 1.0)
    assert all(holder(key) is value for holder, key, value in reading.watched)
    options.mode = "b"
    assert not all(holder(key) is value for holder, key, value in reading.watched)


def test_demand_names_what_it_needs() -> None:
    def f(params, n):
        return [params["w"], 2.0][n], "ab" * len(params["w"])

    hints = {Dim("params['w'].shape[0]"): 4}
    kind = ArrayType(np.dtype(float), (Size.of(Dim("params['w'].shape[0]")),))
    with pytest.raises(Demand) as caught:
        read(f, ({"w": kind}, INT), {}, hints=hints, smallest=2)
    assert caught.value.paths == {"n"}
    assert "index of a list" in caught.value.error().message
    with pytest.raises(Demand) as caught:
        read(f, ({"w": kind}, 1), {}, hints=hints, smallest=2)
    assert caught.value.paths == {"params['w'].shape[0]"}


def test_sizes_stay_symbolic_and_guards_say_what_they_rest_on() -> None:
    n, m = (Size.of(Dim(name)) for name in "nm")
    x, y = (ArrayType(np.dtype(float), (size,)) for size in (n, m))

    def f(x, y):
        return np.sum(x * y) / len(x)

    reading = read(f, (x, y), {}, hints={}, smallest=0)
    assert [repr(guard) for guard in reading.function.guards] == ["n == m"]
    assert reading.function.dims[Dim("m")][0].name == "y"


def test_guards_of_what_was_read_in_vain_are_dropped() -> None:
    def f(x, y, n):
        total = 0
        for _ in range(n):
            total = total + x[0] + y[0]
        return total

    assert read_call(f, np.ones(3), np.ones(4), 2).function.guards == []


def test_numpy_functions_partials_and_methods_can_be_read() -> None:
    class Scaled:
        def __init__(self) -> None:
            self.factor = np.array([1.0, 2.0])

        def scale(self, x):
            return self.factor * x

        __call__ = scale

    for function, args in (
        (np.sin, (0.5,)),
        (partial(np.power, 2.0), (0.5,)),
        (Scaled().scale, (3.0,)),
        (Scaled(), (3.0,)),
        (partial(lambda a, b: a - b, b=1.0), (0.5,)),
    ):
        outcome = evaluate_call(read_call(function, *args), function, *args)
        np.testing.assert_allclose(outcome.result, function(*args))


def test_lambdas_on_one_line_are_told_apart() -> None:
    square, cube = lambda x: x**2, lambda x: x**3
    assert evaluate_call(read_call(cube, 2.0), cube, 2.0).result == 8.0
    assert evaluate_call(read_call(square, 3.0), square, 3.0).result == 9.0


def test_parameters_of_containers_get_short_names() -> None:
    def f(params, w):
        return params["w"] * params["layers"][0] + w

    reading = read_call(f, {"w": 1.0, "layers": [2.0, 3.0]}, 3.0)
    assert [var.name for var in reading.function.params] == ["params_w", "layers_0", "layers_1", "w"]


def test_written_arguments_are_named() -> None:
    def f(params, x):
        params["w"][0] = x[0]
        return params["w"].sum()

    reading = read_call(f, {"w": np.ones(3), "b": np.ones(2)}, VECTOR)
    assert [argument.path for argument in reading.written] == ["params['w']"]


# Transformations inside of user code.


class Doubled:
    """A transformation of the simplest kind: twice the result of a function read on its own."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __transformer_read__(self, reader: Any, args: Any, kwargs: Any) -> Any:
        function, interface = reader.subfunction(self.function, args, kwargs)
        assert len(function.params) == sum(
            isinstance(leaf, Var) for leaf in tree.leaves([p.tree for p in interface.parameters])
        )
        first = reader.inlined(function, interface, args, kwargs)
        second = reader.inlined(function, interface, args, kwargs)
        return first + second

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return 2 * self.function(*args, **kwargs)


def doubled(function: Any) -> Any:
    return Doubled(function)


doubled.__transformer_read__ = lambda reader, args, kwargs: Doubled(*args)  # type: ignore[attr-defined]


def test_functions_inside_are_read_on_their_own_and_put_back() -> None:
    def f(x, t):
        def inner(params, k=3):
            return np.sum(params["w"] * t**k) + x[0]

        return doubled(inner)({"w": x}) + doubled(np.sin)(t) + doubled(lambda a: a * t)(0.5)

    def plain(x, t):
        return 2 * (np.sum(x * t**3) + x[0]) + 2 * np.sin(t) + t

    reading = read_call(f, VECTOR, 0.5)
    check(reading.function)
    np.testing.assert_allclose(evaluate_call(reading, f, VECTOR, 0.5).result, plain(VECTOR, 0.5))


def test_a_transformed_function_writes_to_nothing_around_it() -> None:
    def f(x):
        y = x.copy()

        def inner(v):
            y[0] = v
            return v

        return doubled(inner)(x[0]) + y

    with pytest.raises(TransformError, match="a transformed function writes to an outside"):
        read_call(f, VECTOR)


def test_containers_in_new_containers_stay_the_same() -> None:
    def f(x):
        config = {"rate": x[0]}
        pair = (x[1], config)
        for v in x:
            pair = (pair[0] + v, config)
        if x[0] > 0:
            pair = (2.0, config)
        config["rate"] = x[2]
        return pair[1]["rate"] * pair[0]

    assert_same(evaluate_call(read_call(f, VECTOR), f, VECTOR).result, f(VECTOR), "containers")
