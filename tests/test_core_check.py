"""The rules of Core: right functions pass, each breach is found."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from transformer.core.check import CoreError, check
from transformer.core.grammar import Const, Function, Let, Loop, Var
from transformer.core.guards import Assumptions
from transformer.core.sizes import Dim, Size
from transformer.core.text import parse
from transformer.core.types import BOOL, FLOAT, INT, ArrayType

OPS = {name: SimpleNamespace(name=name) for name in "add multiply less get put addat sin".split()}


def function(body: str, params: str = "x: f64[n], a: float, c: bool, k: int") -> Function:
    lines = "\n".join("    " + line for line in body.strip("\n").splitlines())
    return parse(f"function f({params})\n{lines}\n", OPS)


RIGHT = """
y: f64[n] = multiply(x, a)
if c
    then
        t: f64 = sin(a)
    merge z: f64 = t, undefined
loop i: int in <n>
    carry s: f64 = 0.0
    carry u: f64[n] = y
    read v: f64 = x
    body
        w: f64 = add(s, v)
    next s_1: f64 = w
    next u_1: f64[n] = u
    record ws: Seq[f64] = w
loop j: int in k
    carry e: float = a
    test
        b: bool = less(e, 1.0)
    while b
    body
        g: float = add(e, e)
    next e_1: float = g
    count m: int
loop p: int in <n> independent
    read q: f64 = ws
    body
        r: f64 = multiply(q, z)
    record rs: Seq[f64] = r
return s_1, u_1, e_1, m, rs, <n + 1>
"""


def test_a_right_function_passes() -> None:
    check(function(RIGHT), linear=True)


BREACHES = [
    ("y: float = add(z, a)\nz: float = sin(a)\nreturn y", "z is used", "y: float = add"),
    ("if c\n    then\n        t: float = sin(a)\nreturn t", "t is used", ""),
    ("if c\n    merge z: float = z, a\nreturn z", "z is used", "merge z"),
    ("if a\nreturn a", "a condition has type float", "if a"),
    ("if x\nreturn a", "a condition has type", ""),
    ("if c\n    merge z: float = x, a\nreturn z", "a merge has type f64[n], not float",
     "merge z: float = x, a"),
    ("if c\n    merge z: int = a, k\nreturn z", "side 'then' of a merge", ""),
    ("loop i: int in a\n    body\nreturn a", "the trip count of a loop has type float", "loop i"),
    ("loop i: float in k\n    body\nreturn a", "the position of a loop has type float", ""),
    ("loop i: int in none\n    body\nreturn a", "neither a condition nor a trip count", ""),
    ("loop i: int in k down\n    test\n    while c\n    body\nreturn a", "runs upwards", ""),
    ("loop i: int in k\n    read v: f64 = x\n    test\n    while c\n    body\nreturn a",
     "reads nothing", ""),
    ("loop i: int in k\n    test\n    while a\n    body\nreturn a", "a condition has type", ""),
    ("loop i: int in k\n    test\n        d: bool = less(a, a)\n    while d\n    body\n"
     "        e: bool = less(d, d)\nreturn a", "d is used", "e: bool = less(d, d)"),
    ("loop i: int in k\n    carry s: f64 = 0.0\n    body\n    next s_1: f64 = x\nreturn s_1",
     "'next' of a carry has type f64[n], not f64", ""),
    ("loop i: int in k\n    carry s: f64 = 0.0\n    body\n    next s_1: f32 = s\nreturn s_1",
     "'out' of a carry", ""),
    ("loop i: int in k\n    carry s: int = 0.5\n    body\n    next s_1: int = s\nreturn s_1",
     "'init' of a carry", ""),
    ("loop i: int in k\n    carry s: f64 = s\n    body\n    next s_1: f64 = s\nreturn s_1",
     "s is used", ""),
    ("loop i: int in k\n    body\n    record ts: f64[n] = a\nreturn ts", "is no sequence", ""),
    ("loop i: int in k\n    body\n    record ts: Seq[int] = a\nreturn ts", "a record has type", ""),
    ("loop i: int in k\n    read v: f64[n] = x\n    body\nreturn a", "a read is not an item", ""),
    ("loop i: int in k\n    read v: f64 = a\n    body\nreturn a", "takes items of a scalar", ""),
    ("loop i: int in k\n    body\n    count m: float\nreturn m", "the count of a loop", ""),
    ("y: float = sin(undefined)\nreturn y", "an undefined value is used", "sin(undefined)"),
]


@pytest.mark.parametrize("body, what, where", BREACHES)
def test_breaches_are_found(body: str, what: str, where: str) -> None:
    with pytest.raises(CoreError) as raised:
        check(function(body))
    message = str(raised.value)
    assert message.startswith("f: ")
    assert what in message
    assert where in message


def test_a_variable_has_one_definition() -> None:
    a, b = Var(FLOAT, "a"), Var(FLOAT, "b")
    lets = [Let((b,), OPS["sin"], (a,)) for _ in range(2)]
    with pytest.raises(CoreError, match="b is defined twice"):
        check(Function("f", [a], lets, [b]))
    with pytest.raises(CoreError, match="a is defined twice"):
        check(Function("f", [a, a], [], []))


def test_results_are_defined() -> None:
    with pytest.raises(CoreError, match="y is used before or outside of its definition"):
        check(Function("f", [], [], [Var(FLOAT, "y")]))


def test_a_statement_stands_in_one_place() -> None:
    loop = Loop(Var(INT), Const(2), [], [])
    with pytest.raises(CoreError, match="stands in the program twice"):
        check(Function("f", [], [loop, loop], []))


def test_python_numbers_fit_where_they_become_what_is_wanted() -> None:
    check(function("if c\n    merge z: f32 = 0.0, 1\n    merge w: c128 = 1.0, 1\nreturn z, w"))
    with pytest.raises(CoreError, match="side 'then'"):
        check(function("if c\n    merge z: f32 = f64(0.0), 1\nreturn z"))


def test_calls_are_followed() -> None:
    text = "function f(x: float)\n    y: float = call g(x{})\n    return y\n\n" \
           "function g(z: float)\n    return {}\n"
    check(parse(text.format("", "z"), OPS))
    with pytest.raises(CoreError, match="g: w is used"):
        wrong = parse(text.format("", "z"), OPS)
        wrong.body[0].function.results = [Var(FLOAT, "w")]
        check(wrong)
    with pytest.raises(CoreError, match="too few or many arguments"):
        check(parse(text.format(", x", "z"), OPS))
    with pytest.raises(CoreError, match="other results"):
        check(parse(text.format("", "z, z"), OPS))


def test_sizes_may_be_equal_by_assumption() -> None:
    params = "x: f64[n], y: f64[m], c: bool"
    body = "if c\n    merge z: f64[n] = x, y\nreturn z"
    with pytest.raises(CoreError, match="side 'orelse'"):
        check(function(body, params))
    check(function("guard n == m\n" + body, params))
    assumptions = Assumptions()
    assert assumptions.equal(Size.of(Dim("n")), Size.of(Dim("m")))
    check(function(body, params), assumptions=assumptions)


def test_dimensions_are_found_in_parameters() -> None:
    stray = Var(ArrayType(np.dtype("f8"), (3,)), "x")
    with pytest.raises(CoreError, match="dimension n"):
        check(Function("f", [], [], [], {Dim("n"): (stray, 0)}))


LINEAR = """
g: f64 = get(x, index=(0,))
if c
    then
        p: f64[n] = put(x, g, index=(1,))
    else
        q: f64[n] = addat(x, g, index=(1,))
    merge y: f64[n] = p, q
z: f64[n] = put(y, g, index=(0,))
h: f64 = get(z, index=(0,))
return z, h
"""


def test_versions_are_used_in_order() -> None:
    check(function(LINEAR), linear=True)
    late = "z: f64[n] = put(x, a, index=(0,))\ng: f64 = get(x, index=(0,))\nreturn z, g"
    check(function(late))
    with pytest.raises(CoreError, match="elements are read after the write"):
        check(function(late), linear=True)
    twice = "z: f64[n] = put(x, a, index=(0,))\ny: f64[n] = addat(x, a, index=(0,))\nreturn z, y"
    check(function(twice))
    with pytest.raises(CoreError, match="written twice"):
        check(function(twice), linear=True)
    inside = ("z: f64[n] = put(x, a, index=(0,))\nif c\n    then\n"
              "        g: f64 = get(x, index=(0,))\nreturn z")
    with pytest.raises(CoreError, match="elements are read after the write"):
        check(function(inside), linear=True)
    carried = ("z: f64[n] = put(x, a, index=(0,))\nloop i: int in <n>\n    carry w: f64[n] = x\n"
               "    body\n        g: f64 = get(w, index=(0,))\n    next v: f64[n] = w\nreturn z, v")
    check(function(carried))
    with pytest.raises(CoreError, match="a loop begins with an array after its write"):
        check(function(carried), linear=True)


def test_conditions_may_be_constants() -> None:
    assert Const(True).type == BOOL
    check(function("if True\n    merge z: float = a, 1.0\nreturn z"))
