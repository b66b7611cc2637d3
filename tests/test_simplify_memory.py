"""Simplification keeps apart what is written in place, and what is handed to the caller."""

from __future__ import annotations

from test_simplify import made, simplified

from transformer.core.text import text
from transformer.simplify import simplify


def test_results_are_memory_of_their_own() -> None:
    assert simplified("q: f64[n] = multiply(x, 1)\nreturn q") == "q: f64[n] = copy(x)\nreturn q"
    inner = "q: f64[n] = multiply(x, 1)\nr: f64[n] = sin(q)\nreturn r"
    assert simplified(inner) == "r: f64[n] = sin(x)\nreturn r"
    twice = simplified("q: f64[n] = sin(x)\nr: f64[n] = multiply(q, 1)\nreturn q, r")
    assert twice == "q: f64[n] = sin(x)\nr: f64[n] = copy(q)\nreturn q, r"
    merged = ("if c\n    then\n        q: f64[n] = multiply(x, 1)\n"
              "    merge r: f64[n] = q, y\nreturn r")
    assert "copy(x)" in simplified(merged)


def test_arrays_that_are_written_are_not_shared() -> None:
    found = simplified("q: f64[n] = multiply(x, 1)\nr: f64[n] = put(q, s, index=(0,))\n"
                       "o: f64 = get(x, index=(0,))\ng: f64 = sum(r)\nreturn o, g")
    assert "q: f64[n] = copy(x)" in found
    equal = simplified("q: f64[n] = sin(x)\nr: f64[n] = sin(x)\no: f64[n] = put(q, s, index=(0,))\n"
                       "g: f64 = get(r, index=(0,))\nreturn o, g")
    assert equal.count("sin(x)") == 2


def test_parts_are_not_shared_across_a_write() -> None:
    body = ("q: f64[n - 1] = get(x, index=(slice(1, None, None),), sizes=(<n - 1>,))\n"
            "o: f64 = sum(q)\ny_1: f64[n] = put(x, s, index=(0,))\n"
            "r: f64[n - 1] = get(x, index=(slice(1, None, None),), sizes=(<n - 1>,))\n"
            "g: f64 = sum(r)\nreturn o, g, y_1")
    function = made(body)
    simplify(function)
    assert text(function).count("get(x") == 2


def test_elements_are_shared() -> None:
    get = "get(x, k, index=(Slot(k=0),))"
    found = simplified(f"q: f64 = {get}\nr: f64 = {get}\no: f64 = multiply(q, r)\nreturn o")
    assert found.count("get(x") == 1
