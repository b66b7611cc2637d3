"""The exact text of Core: printing, reading and printing again give the same."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from transformer.core.errors import Origin
from transformer.core.grammar import (
    UNDEFINED,
    Call,
    Carry,
    Const,
    Effect,
    Function,
    If,
    Let,
    Loop,
    Merge,
    Read,
    Record,
    Var,
)
from transformer.core.guards import Guard
from transformer.core.sizes import Dim, Floor, Greatest, Least, Size, Unknown, greatest, least
from transformer.core.text import parse, statement_text, text
from transformer.core.types import BOOL, FLOAT, INT, ArrayType, SeqType

NAMES = "add multiply less get put qr fancy sin"
OPS = {name: SimpleNamespace(name=name) for name in NAMES.split()}
F8, F4 = map(np.dtype, ("f8", "f4"))
N, M = Size.of(Dim("n")), Size.of(Dim("m"))
VECTOR = ArrayType(F8, (N,))


@dataclass(frozen=True)
class Slot:
    k: int


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any


CLASSES = {"Slot": Slot, "Pair": Pair}


def again(function: Function) -> str:
    """The text of a function, which must be the same after it was read back."""
    printed = text(function)
    assert text(parse(printed, OPS, CLASSES)) == printed
    return printed


def of_attribute(value: Any) -> Any:
    """An attribute after it was printed and read."""
    x = Var(VECTOR, "x")
    let = Let((Var(VECTOR, "y"),), OPS["fancy"], (x,), {"value": value})
    function = Function("f", [x], [let], [let.target])
    again(function)
    return parse(text(function), OPS, CLASSES).body[0].attrs["value"]


def test_a_whole_function() -> None:
    assert again(everything()) == """\
function f(x: f64[n], k: int, a: float)
    dim n = x, 0
    guard n >= 2
    guard n == m
    x_1: f64[n] = multiply(x, 2.5, spelling='np.multiply')
    q: f64[n, n], r: f64[n, n] = qr(x_1)
    c: bool = less(a, -1.5)
    if c
        then
            t: float = sin(a)
        else
            effect raise(a, text="it's {}")
        merge z: float = t, undefined
    loop i: int in <n - 1> down
        carry s: f64 = 0.0
        read v: f64 = x_1
        body
            loop j: int in <n> independent
                read w: f64 = x
                body
                    t_1: f64 = multiply(w, v)
                record ts: Seq[f64] = t_1
            t_2: f64 = add(s, v)
        next s_1: f64 = t_2
        record tss: Seq[Seq[f64]] = ts saved
    loop p: int in none
        carry e: float = a
        test
            more: bool = less(e, 10)
        while more
        body
            t_3: float = multiply(e, 2)
        next e_1: float = t_3
        count trips: int
    h: f64 = call helper(x_1, k)
    return z, s_1, tss, e_1, h, <2*?trips + n>, 3.141592653589793 as 'np.pi', f32(0.5)

function helper(x: f64[n], k: int)
    y: f64 = get(x, k, index=(Slot(k=0),))
    z: f64 = call helper(x, 1)
    return z
"""


def everything() -> Function:
    x, k, a = params = [Var(VECTOR, "x"), Var(INT, "k"), Var(FLOAT, "a")]
    y, q, r = Var(VECTOR, "x"), Var(ArrayType(F8, (N, N)), "q"), Var(ArrayType(F8, (N, N)), "r")
    c, t, z, h = Var(BOOL, "c"), Var(FLOAT), Var(FLOAT, "z"), Var(ArrayType(F8), "h")
    counted, last, records = counted_loop(x, y)
    searching, end, trips = open_loop(a)
    body = [
        Let((y,), OPS["multiply"], (x, Const(2.5)), {"spelling": "np.multiply"}),
        Let((q, r), OPS["qr"], (y,)),
        Let((c,), OPS["less"], (a, Const(-1.5))),
        If(c, [Let((t,), OPS["sin"], (a,))], [Effect("raise", (a,), {"text": "it's {}"})],
           [Merge(z, t, UNDEFINED)]),
        counted, searching, Call((h,), helper(), (y, k))]
    results = [z, last, records, end, h, N + Size.of(Unknown(trips)) * 2,
               Const(np.pi, name="np.pi"), Const(np.float32(0.5))]
    guards = [Guard("at least", N, 2), Guard("equal", N, M)]
    return Function("f", params, body, results, {Dim("n"): (x, 0)}, guards)


def counted_loop(x: Var, y: Var) -> tuple[Loop, Var, Var]:
    number = ArrayType(F8)
    s, out, v, w = (Var(number, name) for name in ("s", "s", "v", "w"))
    inner, total = Var(number), Var(number)
    ts, tss = Var(SeqType(number), "ts"), Var(SeqType(SeqType(number)), "tss")
    lanes = Loop(Var(INT, "j"), N, [], [Let((inner,), OPS["multiply"], (w, v))], [Read(w, x)],
                 [Record(ts, inner)], independent=True)
    body = [lanes, Let((total,), OPS["add"], (s, v))]
    carry = Carry(s, Const(0.0), total, out)
    loop = Loop(Var(INT, "i"), N - 1, [carry], body, [Read(v, y)], [Record(tss, ts, saved=True)], down=True)
    return loop, out, tss


def open_loop(a: Var) -> tuple[Loop, Var, Var]:
    e, out, more, t = Var(FLOAT, "e"), Var(FLOAT, "e"), Var(BOOL, "more"), Var(FLOAT)
    trips = Var(INT, "trips")
    test = [Let((more,), OPS["less"], (e, Const(10)))]
    body = [Let((t,), OPS["multiply"], (e, Const(2)))]
    loop = Loop(Var(INT, "p"), None, [Carry(e, a, t, out)], body, test=test, cond=more, count=trips)
    return loop, out, trips


def helper() -> Function:
    x, k, y, z = (Var(type, name) for type, name in zip(
        (VECTOR, INT, ArrayType(F8), ArrayType(F8)), "xkyz"))
    get = Let((y,), OPS["get"], (x, k), {"index": (Slot(0),)})
    function = Function("helper", [x, k], [get], [z])
    function.body.append(Call((z,), function, (x, Const(1))))
    return function


@pytest.mark.parametrize("value", [
    None, True, 3, -3, 2.5, 1e-30, float("inf"), -float("inf"), 2 - 3j, "", "it's \"so\"\n", ...,
    (), (1,), (1, (2, "x")), [1, [2.0]], {"a": 1, "b c": (None,)}, {},
    slice(None), slice(1, None, -2), (0, slice(1, -1), None, Slot(0), slice(Slot(1), None, None)),
    np.dtype("f4"), np.dtype("bool"), float, complex, np.float32, ValueError,
    Pair(1, Pair((), None)), np.float32(0.1), np.int8(-3), np.complex64(1 - 2j),
    ArrayType(F4, (2, N)), SeqType(INT), N, N * 2 - 1, (N, 3), slice(N - 1, None),
    {"sizes": (N * M,)}, Origin("model.py", 3),
])
def test_attributes(value: Any) -> None:
    found = of_attribute(value)
    assert found == value
    assert type(found) is type(value)


def test_attributes_that_do_not_compare() -> None:
    assert np.isnan(of_attribute(float("nan")))
    array = np.array([[1.5, 2.0], [0.0, -1.0]], "f4")
    found = of_attribute(array)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array)
    const = of_attribute((Const(2.5, name="LR"),))[0]
    assert (const.value, const.name, const.type) == (2.5, "LR", FLOAT)


def test_an_attribute_without_text_is_refused() -> None:
    with pytest.raises(TypeError, match="has no text"):
        of_attribute(object())


@pytest.mark.parametrize("constant, shown", [
    (Const(2), "2"), (Const(-2.0), "-2.0"), (Const(True), "True"),
    (Const(np.float64(2)), "f64(2.0)"),
    (Const(np.float32(0.1)), "f32(0.10000000149011612)"), (Const(1j), "complex(0.0, 1.0)"),
    (Const(np.complex64(1 + 2j)), "c64(complex(1.0, 2.0))"), (Const(float("nan")), "nan"),
    (Const(-float("inf")), "-inf"), (Const(2, FLOAT), "float(2)"),
    (Const(0.1, name="LR"), "0.1 as 'LR'"),
    (Const(np.float64(2.5), name="cfg['a']"), "f64(2.5) as \"cfg['a']\""),
])
def test_constants(constant: Const, shown: str) -> None:
    printed = again(Function("f", [], [], [constant]))
    assert printed.splitlines()[1] == f"    return {shown}"
    read, = parse(printed, OPS).results
    assert isinstance(read, Const)
    assert repr(read.value) == repr(constant.value)
    assert (read.type, read.name) == (constant.type, constant.name)


UNKNOWN = Size.of(Unknown(Var(INT, "k")))


@pytest.mark.parametrize("size, shown", [
    (N, "n"), (-N, "-n"), (2 * N * M - 3, "2*m*n - 3"), (N - 2 * M, "n - 2*m"),
    ((N + 1) // 2, "(n + 1)//(2)"), (least(N, M), "min(n, m)"), (greatest(N * N, 3), "max(n*n, 3)"),
    (UNKNOWN + 1, "?k + 1"), (least(UNKNOWN, N // 2) * 3 + N, "3*min(?k, (n)//(2)) + n"),
    (Size.of(Dim("x.shape[0]")), "'x.shape[0]'"),
    (Size.of(Dim("min")) + Size.of(Dim("max")), "'max' + 'min'"),
    (Size.of(Floor(4, 2)), "(4)//(2)"),
    (Size.of(Greatest(1, Size.of(Least(N, 2)))), "max(1, min(n, 2))"),
])
def test_sizes(size: Size, shown: str) -> None:
    (unknown,) = next(iter(UNKNOWN.terms))
    function = Function("f", [unknown.var], [], [size])
    assert again(function).splitlines()[1] == f"    return <{shown}>"


def test_names_are_unique_and_stable() -> None:
    names = [None, "x", None, "x", "x_1", "inf", "nan", "loop", "if_", "t", "undefined"]
    params = [Var(FLOAT, name) for name in names]
    printed = again(Function("f", params, [], []))
    assert printed.splitlines()[0] == ("function f(t: float, x: float, t_1: float, x_1: float, "
                                       "x_1_1: float, inf_1: float, nan_1: float, loop: float, "
                                       "if_: float, t_2: float, undefined_1: float)")


def test_lines_that_begin_with_a_word_of_the_text() -> None:
    words = "if loop effect carry read merge record next count test body then dim guard".split()
    x = Var(FLOAT, "x")
    body = [Let((Var(FLOAT, word),), OPS["sin"], (x,)) for word in words]
    again(Function("f", [x], body, [let.target for let in body]))


def test_functions_of_one_name_are_told_apart() -> None:
    x = Var(FLOAT, "x")
    inner = [Function("f", [p], [], [p]) for p in (Var(FLOAT, "x"), Var(FLOAT, "x"))]
    calls = [Call((Var(FLOAT, "y"),), function, (x,)) for function in inner]
    printed = again(Function("f", [x], calls, []))
    assert "y: float = call f_1(x)" in printed
    assert "y_1: float = call f_2(x)" in printed


def test_a_statement_alone_has_the_names_of_its_function() -> None:
    function = everything()
    assert statement_text(function.body[5].body[0], function) == "t_3: float = multiply(e, 2)"


def test_effects_of_the_engine() -> None:
    origin = Origin("model.py", 7)
    attrs = [{"text": "reverse"}, {"reverse of": origin}, {"reverse of": None}]
    again(Function("f", [], [Effect("comment", (), each) for each in attrs], []))


@pytest.mark.parametrize("wrong, message", [
    ("", "there is no function"),
    ("function f()\n    return y", "does not define y"),
    ("function f(x: float)\n    y: float = cosine(x)\n    return y", "2: there is no op 'cosine'"),
    ("function f(x: float, x: int)\n    return x", "defined once"),
    ("function f(x: float)\n    y: float = sin(x\n    return y", "line 2: expected ','"),
    ("function f(x: float)\n    return x $", "what is"),
    ("function f(x: float)\n    y: float = call g(x)\n    return y", "a function of this text"),
])
def test_what_is_not_core_is_refused(wrong: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse(wrong, OPS, CLASSES)
