"""The notation of types on the command line, and what is said of arguments without one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from transformer.__main__ import ensure_command_line
from transformer.core.sizes import Dim, Size
from transformer.core.types import BOOL, COMPLEX, FLOAT, INT, ArrayType

ensure_command_line()
from transformer_cli.failures import NotationError, UsageError  # noqa: E402
from transformer_cli.inputs import chosen, declared_inputs, example_inputs  # noqa: E402
from transformer_cli.notation import parse_declarations, parse_type, shown  # noqa: E402
from transformer_cli.values import parse_sizes, sizes_for, with_values  # noqa: E402

N, M = Size.of(Dim("n")), Size.of(Dim("m"))


def f64(*sizes: Any) -> ArrayType:
    return ArrayType(np.dtype("float64"), sizes)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("f64", f64()),
        ("f64[n]", f64(N)),
        ("f64[n,m]", f64(N, M)),
        (" f64 [ n , 3 ] ", f64(N, 3)),
        ("f64[n+1]", f64(N + 1)),
        ("f64[2*n - m]", f64(2 * N - M)),
        ("f64[0]", f64(0)),
        ("float", FLOAT),
        ("int", INT),
        ("complex", COMPLEX),
        ("bool", BOOL),
        ("(f64, f64[3])", (f64(), f64(3))),
        ("(f64,)", (f64(),)),
        ("(f64)", f64()),
        ("()", ()),
        ("[f64, [f64]]", [f64(), [f64()]]),
        ("{w: f64[n,m], 'b b': f64[m], 0: f64}", {"w": f64(N, M), "b b": f64(M), 0: f64()}),
        ("3", 3),
        ("-2", -2),
        ("1.5e-3", 1.5e-3),
        ("'relu'", "relu"),
        ('"a, b"', "a, b"),
        ("True", True),
        ("None", None),
        ("(2, 3)", (2, 3)),
        ("{kind: 'relu', n: f64}", {"kind": "relu", "n": f64()}),
    ],
)
def test_types(text: str, expected: Any) -> None:
    assert parse_type(text) == expected
    assert parse_type(shown(parse_type(text))) == expected


@pytest.mark.parametrize(
    "short, long",
    [
        ("f16", "float16"),
        ("f32", "float32"),
        ("c64", "complex64"),
        ("c128", "complex128"),
        ("i8", "int8"),
        ("i16", "int16"),
        ("i32", "int32"),
        ("i64", "int64"),
        ("u8", "uint8"),
        ("u16", "uint16"),
        ("u32", "uint32"),
        ("u64", "uint64"),
        ("bool", "bool"),
    ],
)
def test_dtypes(short: str, long: str) -> None:
    assert parse_type(f"{short}[n]") == ArrayType(np.dtype(long), (N,))


def test_declarations() -> None:
    found = parse_declarations("w: f64[n], params: {a: f64, b: (f64,)}, kind: 'relu', n: 3,")
    assert {name: declaration.type for name, declaration in found.items()} == {
        "w": f64(N),
        "params": {"a": f64(), "b": (f64(),)},
        "kind": "relu",
        "n": 3,
    }


@pytest.mark.parametrize(
    "text, message, marked",
    [
        ("w: f65[d]", "f65 is no dtype; did you mean f64", "   ^^^"),
        ("w: float64", "did you mean f64?", "   ^^^^^^^"),
        ("w f64", "expected ':', found 'f64'", "  ^^^"),
        ("w: f64[]", "a size is missing", "       ^"),
        ("w: f64[n", "expected ',' or ']'", "        ^"),
        ("w: f64[n+]", "expected a size", "         ^"),
        ("w: f64[1.5]", "expected a size", "       ^^^"),
        ("w: f64[2-3]", "a size is negative", "       ^"),
        ("w: f64[lambda]", "lambda is a word of Python", "       ^^^^^^"),
        ("w: float[3]", "write f64[…]", "        ^"),
        ("w: f64, w: f32", "w has a type already", "        ^"),
        ("w: {a: f64, a: f64}", "the key 'a' is there already", "            ^"),
        ("w: (f64", "expected ',' or ')'", "       ^"),
        ("w: $", "expected a type, found '$'", "   ^"),
        ("w:", "expected a type, found the end", "  ^"),
        ("w: f64 x: f64", "expected ',', found 'x'", "       ^"),
        ("3: f64", "expected the name of an argument", "^"),
        ("w: 'relu", "expected a type", "   ^"),
        ("w: __import__('os')", "__import__ is no dtype", "   ^^^^^^^^^^"),
        ("w: " + "(" * 2000, "nested too deeply", " " * 43 + "^"),
    ],
)
def test_mistakes_are_located(text: str, message: str, marked: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_declarations(text)
    head, line, carets = str(caught.value).splitlines()
    assert head.startswith("--types: ") and message in head
    assert line == f"    {text}"
    assert carets == f"    {marked}"


@given(st.text(alphabet=st.sampled_from(list("wn:, f64[](){}+-*'\"3.eTrue\n$é"))))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        parse_declarations(text)
    except NotationError as error:
        assert "^" in str(error)


def test_mistake_on_a_later_line() -> None:
    with pytest.raises(NotationError, match=r"(?m)^    x: f65$\n^       \^\^\^$"):
        parse_declarations("w: f64,\nx: f65")


def types(function: Any, text: str = "", wrt: tuple[str, ...] = ()) -> dict[str, Any]:
    return {a.name: a.type for a in declared_inputs(function, text, wrt).arguments}


def test_types_come_from_the_command_line_first() -> None:
    def function(w: "f64[n]", x: "f32[n]"):  # type: ignore  # noqa
        return w, x

    assert types(function, "x: f64[n,m]") == {"w": f64(N), "x": f64(N, M)}


def test_annotations() -> None:
    def function(a: "f64[n]", b: float, c: int, d: np.float32, e: "float", f: "Any"):  # type: ignore  # noqa
        return a

    assert types(function) == {
        "a": f64(N),
        "b": FLOAT,
        "c": INT,
        "d": ArrayType(np.dtype("float32")),
        "e": FLOAT,
        "f": f64(),
    }
    assert declared_inputs(function, "").assumed == ("f",)


def test_annotations_that_are_text_of_text() -> None:
    def function(a):  # type: ignore[no-untyped-def]
        return a

    function.__annotations__["a"] = "'f64[n]'"  # from __future__ import annotations
    assert types(function) == {"a": f64(N)}


@pytest.mark.parametrize(
    "annotation", [np.ndarray, "np.ndarray", dict, "dict[str, float]", "list", str]
)
def test_annotations_that_rule_out_a_number_ask_for_more(annotation: Any) -> None:
    def function(a):  # type: ignore[no-untyped-def]
        return a

    function.__annotations__["a"] = annotation
    with pytest.raises(UsageError, match="a is annotated .*--types"):
        declared_inputs(function, "")
    assert types(function, "a: f64[n]") == {"a": f64(N)}


def test_a_mistake_in_an_annotation_is_located() -> None:
    def function(a: "f64[n"):  # type: ignore  # noqa
        return a

    with pytest.raises(NotationError, match="the annotation of a: expected"):
        declared_inputs(function, "")


def test_arguments_without_a_type_are_assumed() -> None:
    def function(w, x, scale=2.0):  # type: ignore[no-untyped-def]
        return w

    inputs = declared_inputs(function, "x: f64[n]")
    assert inputs.assumed == ("w",)
    assert inputs.types() == ((f64(), f64(N)), {})


def test_defaults_are_known_beforehand_unless_asked_for() -> None:
    def function(w, scale=2.0, x=None, *, power=3, flag=True):  # type: ignore[no-untyped-def]
        return w

    assert declared_inputs(function, "").types() == ((f64(),), {})
    assert declared_inputs(function, "x: f64[n]").types() == ((f64(), 2.0, f64(N)), {})
    assert declared_inputs(function, "", ("power",)).types() == ((f64(),), {"power": FLOAT})
    with pytest.raises(UsageError, match="flag has the default True"):
        declared_inputs(function, "", ("flag",))


def test_spread_arguments() -> None:
    def function(*xs, **options):  # type: ignore[no-untyped-def]
        return xs

    assert declared_inputs(function, "").types() == ((), {})
    inputs = declared_inputs(function, "xs: (f64, f64[n]), options: {scale: f64}")
    assert inputs.types() == ((f64(), f64(N)), {"scale": f64()})
    with pytest.raises(UsageError, match="xs accepts several values; write them as in"):
        declared_inputs(function, "xs: f64")


def test_unknown_arguments() -> None:
    def function(weights, bias):  # type: ignore[no-untyped-def]
        return weights

    with pytest.raises(NotationError, match="no argument wieghts; did you mean weights?"):
        declared_inputs(function, "wieghts: f64")
    inputs = declared_inputs(function, "")
    with pytest.raises(UsageError, match="has no argument biass; did you mean bias?"):
        chosen(inputs, ("biass",), "function")
    with pytest.raises(UsageError, match="twice"):
        chosen(inputs, ("bias", "bias"), "function")


def test_a_size_needs_a_place_of_its_own() -> None:
    def function(w):  # type: ignore[no-untyped-def]
        return w

    with pytest.raises(NotationError, match="n never appears as a size by itself"):
        declared_inputs(function, "w: f64[n+1]")


def test_chosen_are_all_floating_point_arguments() -> None:
    def function(n, x, params, labels, kind):  # type: ignore[no-untyped-def]
        return n

    inputs = declared_inputs(function, "n: int, params: {w: f64[n]}, labels: i64[n], kind: 'a'")
    assert chosen(inputs, (), "function") == ("x", "params")
    assert chosen(inputs, ("params",), "function") == ("params",)
    with pytest.raises(UsageError, match="no floating point argument"):
        chosen(
            declared_inputs(function, "n: 1, x: 1, params: 1, labels: 1, kind: 1"), (), "function"
        )


def test_examples() -> None:
    def function(w, *xs, flag=False):  # type: ignore[no-untyped-def]
        return w

    inputs = example_inputs(function, (np.ones(3), 2.0, np.int64(4)))
    assert [str(a) for a in inputs.arguments] == ["w: f64[3]", "xs: (float, i64)"]
    values, _ = inputs.values()
    assert values[1:] == (2.0, np.int64(4))
    assert [str(a) for a in example_inputs(function, {"a": 1.0}).arguments] == ["w: {a: float}"]
    with pytest.raises(UsageError, match="the example has 0 arguments"):
        example_inputs(function, ())


def test_random_values() -> None:
    def function(w, n, k, labels, params, kind="a"):  # type: ignore[no-untyped-def]
        return w

    inputs = declared_inputs(
        function, "w: f32[n,n+1], n: int, k: bool, labels: i64[m], params: {z: c128[m]}"
    )
    sizes = sizes_for(inputs, "m=5")
    assert sizes == {Dim("n"): 3, Dim("m"): 5}
    (w, n, k, labels, params), _ = with_values(inputs, sizes, None, 0).values()
    assert w.dtype == np.float32 and w.shape == (3, 4)
    assert type(n) is int and type(k) is bool
    assert labels.shape == (5,) and 0 <= labels.min() and labels.max() < 3
    assert params["z"].dtype == np.complex128
    again, _ = with_values(inputs, sizes, None, 0).values()
    assert np.array_equal(w, again[0])
    (positive, *_), _ = with_values(inputs, sizes, (0.1, 0.9), 0).values()
    assert positive.min() > 0


def test_sizes() -> None:
    assert parse_sizes("", ["n"]) == {}
    with pytest.raises(NotationError, match="expected NAME=NUMBER"):
        parse_sizes("n=5,d", ["n", "d"])
    with pytest.raises(NotationError, match="no size is called e; there are n, d"):
        parse_sizes("n=5, e=3", ["n", "d"])
