"""Simplification, rule by rule: what it changes, and what it has to leave alone."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from transformer.core.builder import Builder
from transformer.core.check import check
from transformer.core.grammar import Const, Function, Let, Loop, Var
from transformer.core.guards import Assumptions
from transformer.core.text import parse, text
from transformer.core.types import INT
from transformer.ops.regions import Slot
from transformer.ops.table import ops
from transformer.simplify import simplify
from transformer.simplify.dead import Before

PARAMS = ("a: float, b: float, s: f64, t: f64, x: f64[n], y: f64[n], w: f64[n, m], z: f32[n], "
          "k: int, j: int, c: bool, u: u8[n], p: i64[n], mask: bool[n], v: f64[n - 1]")


def made(body: str, params: str = PARAMS) -> Function:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return parse(f"function f({params})\n{lines}\n", ops(), {"Slot": Slot})


def simplified(body: str, params: str = PARAMS) -> str:
    """The body of a function after simplification."""
    function = made(body, params)
    check(function)
    simplify(function)
    check(function, linear=True)
    lines = text(function).splitlines()[1:]
    return "\n".join(line[4:] for line in lines)


def result(expression: str, type: str, before: str = "", params: str = PARAMS) -> str:
    """What an expression is in the end: its right hand side, or the atom that stands for it."""
    lines = simplified(f"{before}\nq: {type} = {expression}\nreturn q", params).splitlines()
    name = lines[-1].removeprefix("return ")
    found = [line.split(" = ", 1)[1] for line in lines if line.startswith(f"{name}: ")]
    return found[0] if found else name


RULES = [
    # neutral elements
    ("multiply(s, 1)", "f64", "s"), ("multiply(1.0, s)", "f64", "s"), ("divide(s, 1)", "f64", "s"),
    ("add(k, 0)", "int", "k"), ("subtract(s, 0)", "f64", "s"),
    ("power(s, 1)", "f64", "s"), ("multiply(-1, s)", "f64", "negative(s)"),
    ("positive(s)", "f64", "s"), ("where(c, s, s)", "f64", "s"),
    ("where(True, s, t)", "f64", "s"),
    ("cast(s, dtype=dtype(f64))", "f64", "s"), ("real(s)", "f64", "s"),
    ("conjugate(s)", "f64", "s"),
    # known numbers
    ("multiply(2, 3)", "int", "6"), ("add(0.5, 0.25)", "float", "0.75"),
    ("negative(2)", "int", "-2"),
    ("multiply(f64(2.0), 3)", "f64", "f64(6.0)"), ("less(1, 2)", "bool", "True"),
    ("logical_not(False)", "bool", "True"), ("add(<n>, 1)", "int", "<n + 1>"),
    ("multiply(<n>, <n>)", "int", "<n*n>"), ("subtract(<n>, <n - 3>)", "int", "3"),
    # sums and differences
    ("add(s, s)", "f64", "multiply(2, s)"), ("add(x, x)", "f64[n]", "multiply(2, x)"),
    ("add(s, -2)", "f64", "subtract(s, 2)"), ("subtract(s, -2.0)", "f64", "add(s, 2.0)"),
]


@pytest.mark.parametrize("expression, type, expected", RULES)
def test_one_statement(expression: str, type: str, expected: str) -> None:
    assert result(expression, type) == expected


CHAINS = [
    ("r: f64 = negative(s)", "negative(r)", "f64", "s"),
    ("r: f64 = negative(s)", "add(t, r)", "f64", "subtract(t, s)"),
    ("r: f64 = negative(s)", "add(r, t)", "f64", "subtract(t, s)"),
    ("r: f64 = negative(s)", "subtract(t, r)", "f64", "add(t, s)"),
    ("r: f64 = negative(s)\no: f64 = negative(t)", "multiply(r, o)", "f64", "multiply(s, t)"),
    ("r: f64 = negative(s)", "multiply(2, r)", "f64", "multiply(-2, s)"),
    ("r: f64 = multiply(2, s)", "negative(r)", "f64", "multiply(-2, s)"),
    ("r: f64 = multiply(2, s)", "multiply(r, 3)", "f64", "multiply(6, s)"),
    ("r: f64 = multiply(0.1, s)", "multiply(r, 2)", "f64", "multiply(0.2, s)"),
    ("r: f64 = multiply(0.1, s)", "multiply(r, 0.7)", "f64", "multiply(r, 0.7)"),
    ("r: f64 = multiply(2, s)", "multiply(0.5, r)", "f64", "s"),
    ("r: f64 = divide(3, s)", "multiply(r, 2)", "f64", "divide(6, s)"),
    ("r: int = add(k, 3)", "subtract(r, 1)", "int", "add(k, 2)"),
    ("r: int = add(1, k)", "subtract(r, 1)", "int", "k"),
    ("r: int = subtract(k, 2)", "add(r, <n>)", "int", "add(k, <n - 2>)"),
    ("r: f64[m, n] = transpose(w)", "transpose(r)", "f64[n, m]", "w"),
    ("r: f64[m*n] = ravel(w)", "reshape(r, shape=(<n>, <m>))", "f64[n, m]", "w"),
    ("r: f64[n, m] = broadcast_to(s, shape=(<n>, <m>))", "add(r, w)", "f64[n, m]", "add(s, w)"),
    ("r: f64[n] = full(s, shape=(<n>,))", "sin(r)", "f64[n]", "sin(r)"),
    ("r: f64[n] = ones(shape=(<n>,))", "multiply(r, x)", "f64[n]", "copy(x)"),
    ("r: f64[n] = zeros(shape=(<n>,))", "put(r, 0, index=(0,))", "f64[n]", "zeros(shape=(<n>,))"),
    ("r: f64[n] = zeros(shape=(<n>,))", "addat(r, s, index=(0,))", "f64[n]",
     "put(r, s, index=(0,))"),
    ("r: f64[n] = zeros(shape=(<n>,))", "addat(r, 1.0, mask, index=(Slot(k=0),))", "f64[n]",
     "put(r, 1.0, mask, index=(Slot(k=0),))"),
    ("r: f64[n] = zeros(shape=(<n>,))\no: f64[n] = sin(x)",
     "put(r, o, index=(slice(None, None, None),))", "f64[n]", "sin(x)"),
    ("r: f64[n] = zeros(shape=(<n>,))", "put(r, 2.0, index=(slice(None, None, None),))", "f64[n]",
     "full(2.0, shape=(<n>,))"),
    ("r: f64[n] = put(x, s, index=(0,))", "put(r, t, index=(0,))", "f64[n]",
     "put(x, t, index=(0,))"),
]


@pytest.mark.parametrize("before, expression, type, expected", CHAINS)
def test_chains(before: str, expression: str, type: str, expected: str) -> None:
    assert result(expression, type, before) == expected


REVERSE = "effect comment(text='reverse')\n"

GENERATED = [
    # transposes of products
    ("h: f64[m, n] = transpose(w)\nr: f64[m, m] = matmul(h, w)", "transpose(r)", "f64[m, m]", "matmul(t_1, w)"),
    ("h: f64[m, n] = transpose(w)\nr: f64[m, i] = matmul(h, g)", "transpose(r)", "f64[i, m]", "matmul(t_1, w)"),
    ("r: f64[m, n] = transpose(w)", "sum(r, axis=0)", "f64[n]", "sum(w, axis=1)"),
    ("r: f64[n, n] = eye(N=<n>)", "matmul(r, w)", "f64[n, m]", "copy(w)"),
    # zeros
    ("r: f64 = add(0.0, t)", "sin(r)", "f64", "sin(t)"),
    ("r: f64[n] = zeros(shape=(<n>,))\no: f64[n] = add(r, x)", "sin(o)", "f64[n]", "sin(x)"),
    # signs
    ("r: f64[n] = negative(x)\no: f64[n] = roll(r, shift=1)", "add(y, o)", "f64[n]", "subtract(y, t_1)"),
    ("r: f64[n] = negative(x)\no: f64[n] = multiply(r, y)", "sum(o)", "f64", "negative(t_2)"),
    ("r: f64 = subtract(s, t)", "negative(r)", "f64", "subtract(t, s)"),
    # choices
    ("r: f64[n] = where(mask, x, 0.0)\no: f64[n] = where(mask, 0.0, y)", "add(r, o)", "f64[n]", "where(mask, x, y)"),
    ("r: f64[n] = where(mask, x, 0.0)\no: f64[n] = where(mask, 0, 2.0)", "subtract(o, r)", "f64[n]",
     "where(mask, t_1, 2.0)"),
    ("r: f64[n] = where(mask, x, 0.0)\no: f64[n] = where(mask, 1.0, y)", "add(r, o)", "f64[n]", "add(r, o)"),
    ("r: f64[n] = where(mask, x, 0.0)\no: f64[n] = where(mask, y, 0.0)", "add(r, o)", "f64[n]",
     "where(mask, t_1, 0.0)"),
    ("", "equal(0, x)", "bool[n]", "equal(x, 0)"),
    ("r: f64[n] = full(a, shape=(<n>,))", "where(mask, r, 0.0)", "f64[n]", "where(mask, a, 0.0)"),
    # axes of size 1
    ("r: f64[n] = sum(w, axis=1)", "expand_dims(r, axis=1)", "f64[n, 1]", "sum(w, axis=1, keepdims=True)"),
    ("r: f64[m] = sum(w, axis=0)", "expand_dims(r, axis=0)", "f64[1, m]", "expand_dims(r, axis=0)"),
    ("o: f64[n] = squeeze(column, axis=1)\nh: f64[n] = multiply(2, o)", "expand_dims(h, axis=1)", "f64[n, 1]",
     "multiply(2, column)"),
]


@pytest.mark.parametrize("before, expression, type, expected", GENERATED)
def test_generated_code(before: str, expression: str, type: str, expected: str) -> None:
    body = f"{before}\nq: {type} = {expression}\nreturn q, last"
    generated = simplified(f"last: f64 = sin(s)\n{REVERSE}{body}", f"{PARAMS}, g: f64[n, i], column: f64[n, 1]")
    assert f"q: {type} = {expected}" in generated.splitlines()


@pytest.mark.parametrize("name, trips, looks_in", [(None, "n - 1", "x, t_"), ("rest", "n - 1", "rest, i"),
                                                   (None, "n - 2", "t_1, i")])
def test_rows_of_a_part_are_rows_of_the_whole(name: str | None, trips: str, looks_in: str) -> None:
    function = made(f"""
part: f64[n - 1] = get(x, index=(slice(1, None, None),))
loop i: int in <{trips}>
    carry d: f64 = s
    body
        e: f64 = get(part, i, index=(Slot(k=0),))
        q: f64 = multiply(e, d)
    next r: f64 = q
return r
""")
    function.body[0].target.name = name                                              # type: ignore[union-attr]
    simplify(function)
    assert f"get({looks_in}" in text(function)


KEPT = [
    ("", "multiply(k, 1.0)", "float"), ("", "divide(k, 1)", "float"), ("", "power(s, 0)", "f64"),
    ("", "add(s, 0.0)", "f64"), ("", "subtract(s, -0.0)", "f64"), ("", "add(s, 0)", "f64"),
    ("", "add(s, 0.0 as 'ZERO')", "f64"), ("", "multiply(2.0 as 'G', 3)", "float"),
    ("", "divide(1, 3)", "float"), ("", "multiply(0.1, 3)", "float"), ("", "subtract(s, s)", "f64"),
    ("", "multiply(0, s)", "f64"), ("", "add(mask, mask)", "bool[n]"), ("", "sin(2.0)", "float"),
    ("", "add(z, f64(0.0))", "f64[n]"), ("", "cast(s, dtype=dtype(f32))", "f32"),
    ("r: f64[n] = zeros(shape=(<n>,))", "add(r, s)", "f64[n]"),
    ("r: u8[n] = negative(u)", "multiply(r, x)", "f64[n]"),
    ("r: f64[n] = zeros(shape=(<n>,))", "addat(r, 1.0, p, index=(Slot(k=0),))", "f64[n]"),
    ("r: f64[n] = put(x, 0, k, index=(Slot(k=0),))", "addat(r, s, j, index=(Slot(k=0),))",
     "f64[n]"),
    ("r: f32[n] = full(0.1, shape=(<n>,), dtype=dtype(f32))", "multiply(r, x)", "f64[n]"),
    ("r: f64[n] = full(s, shape=(<n>,))", "multiply(r, t)", "f64[n]"),
    ("r: f64 = multiply(s, t)", "negative(r)", "f64"),
    ("r: f64 = add(s, t)", "negative(r)", "f64"),
]


@pytest.mark.parametrize("before, expression, type", KEPT)
def test_what_has_to_stay(before: str, expression: str, type: str) -> None:
    assert result(expression, type, before) == expression


def test_wrapping_integers_keep_their_signs() -> None:
    before = "r: u8[n] = negative(u)\no: i64[n] = add(r, p)"
    assert "negative(u)" in simplified(f"{before}\nreturn o")
    same = simplified("r: u8[n] = negative(u)\no: u8[n] = add(u, r)\nreturn o")
    assert same == "o: u8[n] = subtract(u, u)\nreturn o"


def test_a_float64_that_met_an_array_of_float32_stays_one() -> None:
    found = simplified("r: f64 = multiply(f64(2.0), 3.0)\no: f64[n] = multiply(r, z)\nreturn o")
    assert found == "o: f64[n] = multiply(f64(6.0), z)\nreturn o"
    found = simplified("r: f64 = multiply(f64(2.0), 3.0)\no: f64[n] = multiply(r, x)\nreturn o")
    assert found == "o: f64[n] = multiply(6.0, x)\nreturn o"


def test_seeds_become_whole_numbers_where_floats_are_met() -> None:
    found = simplified("r: float = multiply(1.0, 2)\no: f64[n] = multiply(r, x)\nreturn o")
    assert found == "o: f64[n] = multiply(2, x)\nreturn o"
    assert simplified("r: float = multiply(1.0, 2)\nreturn r") == "return 2.0"


def test_signs_pass_through_what_nothing_else_uses() -> None:
    before = "r: f64[n] = negative(x)\no: f64[n] = multiply(r, y)\ng: f64 = sum(o)\n"
    assert simplified(before + "q: f64 = add(s, g)\nreturn q") == (
        "t_1: f64[n] = multiply(x, y)\nt_2: f64 = sum(t_1)\nq: f64 = subtract(s, t_2)\nreturn q")
    kept = simplified(before + "q: f64 = add(s, g)\nreturn q, g")
    assert "add(s, g)" in kept


def test_what_gets_another_value_loses_its_name() -> None:
    assert simplified("q: f64 = multiply(2, s)\nr: f64 = multiply(q, 3)\nreturn r") == (
        "r: f64 = multiply(6, s)\nreturn r")
    assert simplified("q: f64 = multiply(2, s)\np_1: f64 = multiply(q, t)\nr: f64 = multiply(3, p_1)\nreturn r") == (
        "t_1: f64 = multiply(6, s)\nr: f64 = multiply(t_1, t)\nreturn r")


def test_equal_products_are_doubled_in_front() -> None:
    found = simplified("q: f64[n] = multiply(t, x)\nr: f64[n] = multiply(x, t)\n"
                       "o: f64[n] = add(q, r)\nreturn o")
    assert found == "t_1: f64 = multiply(2, t)\no: f64[n] = multiply(t_1, x)\nreturn o"


def test_constants_come_first_in_generated_code_only() -> None:
    body = "q: f64 = multiply(s, 2)\nr: f64 = sin(q)\n{}o: f64 = multiply(r, 3)\nreturn o"
    assert "multiply(r, 3)" in simplified(body.format(""))
    assert "multiply(3, r)" in simplified(body.format("effect comment(text='reverse')\n"))


def test_writes_that_do_not_touch_each_other() -> None:
    loop = """
loop i: int in <n - 1>
    carry d: f64[n] = x
    body
        e: int = add(i, 1)
        g: f64 = get(d, e, index=(Slot(k=0),))
        d_1: f64[n] = put(d, 0, e, index=(Slot(k=0),))
        d_2: f64[n] = addat(d_1, s, {}, index=(Slot(k=0),))
        d_3: f64[n] = addat(d_2, g, e, index=(Slot(k=0),))
    next o: f64[n] = d_3
return o"""
    apart = simplified(loop.format("i"))
    assert "put(d, 0" not in apart
    assert "d_3: f64[n] = put(d_2, g, e, index=(Slot(k=0),))" in apart
    assert "put(d, 0" in simplified(loop.format("k"))


def test_halves_of_zeros_are_set() -> None:
    found = simplified("r: f64[n] = zeros(shape=(<n>,))\n"
                       "q: f64[n] = put(r, v, index=(slice(1, None, None),), sizes=(<n - 1>,))\n"
                       "o: f64[n] = addat(q, s, index=(0,))\nreturn o")
    assert "o: f64[n] = put(q, s, index=(0,))" in found
    over = simplified("r: f64[n] = zeros(shape=(<n>,))\n"
                      "q: f64[n] = put(r, v, index=(slice(1, None, None),), sizes=(<n - 1>,))\n"
                      "o: f64[n] = addat(q, s, index=(-1,))\nreturn o")
    assert "o: f64[n] = addat(q, s, index=(-1,))" in over


COUNTED = """
r: f64[n, m] = zeros(shape=(<n>, <m>))
i: i64[{0}] = arange({1})
o: f64[n, m] = addat(r, s, i, p, index=(Slot(k=0), Slot(k=1)))
return o"""


@pytest.mark.parametrize("size, attrs, once", [
    ("n", "stop=<n>", True), ("n", "start=2, stop=<n + 2>", True),
    ("n", "start=-2, stop=<n - 2>", False),
    ("n", "start=<n>, stop=0, step=-1", False), ("1", "stop=1", False)])
def test_an_index_that_counts_up_means_no_element_twice(size: str, attrs: str, once: bool) -> None:
    printed = simplified(COUNTED.format(size, attrs))
    assert ("put(r, s, i, p" in printed) == once


def test_positions_of_nested_loops_are_compared() -> None:
    body = """
loop j: int in <n>
    carry d: f64[n, n] = w
    body
        e: int = add(j, 1)
        loop k: int in <n - 1>
            carry q: f64[n, n] = d
            body
                i: int = add({}, k)
                g: f64 = get(q, i, j, index=(Slot(k=0), Slot(k=1)))
                q_1: f64[n, n] = put(q, 0, i, j, index=(Slot(k=0), Slot(k=1)))
                q_2: f64[n, n] = addat(q_1, g, j, j, index=(Slot(k=0), Slot(k=1)))
                q_3: f64[n, n] = addat(q_2, g, i, j, index=(Slot(k=0), Slot(k=1)))
            next d_1: f64[n, n] = q_3
    next o: f64[n, n] = d_1
return o"""
    assert "put(q, 0" not in simplified(body.format("e"), "w: f64[n, n]")
    assert "put(q, 0" in simplified(body.format("j"), "w: f64[n, n]")


# -- branches, loops, effects ----------------------------------------------------------------------

def test_branches_on_known_conditions_open_up() -> None:
    body = """
if c
    then
        effect print(s)
        if c
            then
                q: f64 = sin(s)
            merge r: f64 = q, t
    merge o: f64 = r, s
if False
    then
        effect print(t)
return o"""
    assert simplified(body) == ("if c\n    then\n        effect print(s)\n        q: f64 = sin(s)\n"
                                "    merge o: f64 = q, s\nreturn o")


def test_a_branch_with_equal_sides_is_none() -> None:
    body = ("if c\n    then\n        q: f64 = sin(s)\n        effect print(q)\n"
            "    else\n        r: f64 = sin(s)\n        effect print(r)\nreturn s")
    assert simplified(body).startswith("if c")
    pure = ("if c\n    then\n        q: f64 = sin(s)\n    else\n        r: f64 = sin(s)\n"
            "    merge o: f64 = q, r\nreturn o")
    assert simplified(pure) == "q: f64 = sin(s)\nreturn q"


LOOP = """
loop i: int in k
    carry e: f64 = s
    carry d: f64[n] = r
    carry g: f64 = s
    body
        h: f64 = {}
        o: f64[n] = {}
    next e_1: f64 = e
    next d_1: f64[n] = o
    next g_1: f64 = h
return e_1, d_1, g_1"""


def test_carries_that_do_not_change() -> None:
    found = simplified("r: f64[n] = sin(x)" + LOOP.format("multiply(g, e)", "multiply(d, e)"))
    assert "carry e" not in found
    assert "h: f64 = multiply(g, s)" in found
    assert found.endswith("return s, d_1, g_1")


def test_carries_that_stay_zero() -> None:
    zeros = "zeros(shape=(<n>,))"
    found = simplified(f"r: f64[n] = {zeros}" + LOOP.format("multiply(g, e)", zeros))
    assert "carry d" not in found
    assert "d_1: f64[n] = zeros(shape=(<n>,))" in found


def test_elements_of_rows_that_a_loop_reads_are_no_array() -> None:
    """`[row[i] for i, row in enumerate(x)]` is a diagonal, and no copy of a row."""
    body = """
xs: Seq[f64[n]] = unstacked(x)
loop i: int in <n>
    read row: f64[n] = xs
    body
        e: f64 = get(row, i, index=(Slot(k=0),))
    record es: Seq[f64] = e
d: f64[n] = stacked(es, shape=(<n>,))
return d"""
    assert "stacked(es" in simplified(body, "x: f64[n, n]")


def test_a_loop_without_results_goes_with_its_comment() -> None:
    body = """
q: f64 = sin(s)
effect comment(text='reverse')
effect comment('reverse of'=None)
loop i: int in none
    carry e: f64 = s
    test
        g: bool = less(e, 10.0)
    while g
    body
        o: f64 = multiply(e, e)
    next e_1: f64 = o
return q"""
    assert simplified(body) == "q: f64 = sin(s)\nreturn q"
    loud = body.replace("        o: f64", "        effect print(e)\n        o: f64")
    assert simplified(loud).count("effect") == 3


def test_calls_with_effects_stay() -> None:
    text_of = ("function f(x: float)\n    y: float = call g(x)\n    return x\n\n"
               "function g(x: float)\n{}    z: float = multiply(x, 1)\n    return z\n")
    quiet = simplify(parse(text_of.format(""), ops()))
    assert quiet.body == []
    loud = simplify(parse(text_of.format("    effect print(x)\n"), ops()))
    assert "call g(x)" in text(loud)
    assert "multiply" not in text(loud)


def test_the_last_pass_drops_what_only_types_need() -> None:
    body = ("q: int = count_nonzero(mask)\n"
            "r: f64[?q] = get(x, mask, index=(Slot(k=0),), sizes=(<n>,))\n"
            "o: f64 = sum(r)\nreturn o")
    function = made(body)
    assert "count_nonzero" in text(simplify(function))
    assert "count_nonzero" not in text(simplify(function, before=Before.SOURCE))


def test_ranges_follow_the_integers_that_stand_for_others() -> None:
    assumptions = Assumptions()
    k, i, j = Var(INT, "k", True), Var(INT, "i"), Var(INT, "j")
    add = ops()["add"]
    body = [Let((i,), add, (k, Const(1))), Let((j,), add, (k, Const(1)))]
    assumptions.within(j, 0, 3)
    simplify(Function("f", [k], body, [i, j]), assumptions)
    assert list(assumptions.ranges.values()) == [(0, 3)] * 2


def test_names_of_copies_go_to_what_has_none() -> None:
    nameless, kept = Var(INT), Var(INT, "total")
    k = Var(INT, "k", True)
    body = [Let((nameless,), ops()["add"], (k, Const(1))), Let((kept,), ops()["same"], (nameless,))]
    function = simplify(Function("f", [k], body, [kept]))
    assert text(function) == "function f(k: int)\n    total: int = add(k, 1)\n    return total\n"


def test_long_products_do_not_run_out_of_stack() -> None:
    a = Var(INT, "a", True)
    body, last = [], a
    with Builder().active():
        for _ in range(3000):
            body.append(Let((Var(INT),), ops()["multiply"], (last, a)))
            last = body[-1].target
    function = simplify(Function("f", [a], body, [last]))
    assert len(function.body) == 3000


@pytest.mark.parametrize("module", ["branches", "copies", "cse", "dead", "elision", "fold", "loops"])
def test_every_rewrite_shows_before_and_after(module: str) -> None:
    found = importlib.import_module(f"transformer.simplify.{module}")
    assert re.search(r">>> shown\(", found.__doc__ or "")
    assert Path(found.__file__ or "").name == f"{module}.py"


def test_a_loop_is_not_entered_for_nothing() -> None:
    loop = Loop(Var(INT), Const(3), [], [Let((Var(INT, "q"),), ops()["add"], (Const(1), Const(2)))])
    assert simplify(Function("f", [], [loop], [])).body == []
