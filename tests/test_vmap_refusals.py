"""What `vmap` refuses: the message, what to do, and the argument it marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from lane_programs import X, x5

from transformer import BadArgument, NotSupported, TransformError, grad, hvp, jit, vmap

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # lanes compute what a program alone would not


def add(a: Any, b: Any) -> Any:
    return a + b


def affine(p: Any, x: Any) -> Any:
    return np.sum(p["w"] * x) + p["b"]


FOUR = np.ones(4)
BAD: dict[str, tuple[Callable[[], Any], type, str, str]] = {       # call, error, message, what to do
    "an axis out of range": (lambda: vmap(add, in_axes=(2, 0))(X, X), BadArgument,
                             "in_axes[0] is 2, but a has 2 axes", "from -2 to 1"),
    "a negative one": (lambda: vmap(add, in_axes=(0, -3))(X, X), BadArgument,
                       "in_axes[1] is -3, but b has 2 axes", "from -2 to 1"),
    "sizes": (lambda: vmap(add)(X, np.ones((4, 3))), BadArgument,
              "vmap maps a over 5 lanes and b over 4", "None in in_axes"),
    "sizes of leaves": (lambda: vmap(affine)({"w": X, "b": FOUR}, X), BadArgument,
                        "vmap maps p['w'] over 5 lanes and p['b'] over 4", "None in in_axes"),
    "a size that is given": (lambda: vmap(add, axis_size=4)(X, X), BadArgument,
                             "axis_size is 4, but vmap maps a over 5 lanes", "as many lanes"),
    "too few axes": (lambda: vmap(add, in_axes=(0,))(X, X), BadArgument,
                     "in_axes has 1 entry for 2 arguments passed by position: a, b", "one axis for each"),
    "too many axes": (lambda: vmap(add, in_axes=(0, 0, 0))(X, X), BadArgument,
                      "in_axes has 3 entries for 2 arguments passed by position: a, b", "one axis for each"),
    "another tree": (lambda: vmap(affine, in_axes=({"w": 0, "c": 0}, 0))({"w": X, "b": FOUR}, X), BadArgument,
                     "in_axes[0] is {'w': 0, 'c': 0}, which does not fit p: {'w': *, 'b': *}",
                     "Pass one axis"),
    "a tuple for a dict": (lambda: vmap(affine, in_axes=((0, 0), 0))({"w": X, "b": FOUR}, X), BadArgument,
                           "in_axes[0] is (0, 0), which does not fit p: {", "Pass one axis"),
    "a word": (lambda: vmap(add, in_axes=("a", 0))(X, X), BadArgument, "in_axes[0] is 'a', which is not an axis",
               "Pass an int or None"),
    "a truth value": (lambda: vmap(add, in_axes=(True, 0))(X, X), BadArgument, "not an axis", "Pass an int"),
    "a number": (lambda: vmap(add)(X, 2.0), BadArgument, "vmap maps b along its axis 0, but it is a number",
                 "None for it in in_axes[1]"),
    "an array without axes": (lambda: vmap(add)(X, np.array(2.0)), BadArgument, "but it is an array without axes",
                              "None for it in in_axes[1]"),
    "a keyword": (lambda: vmap(add, in_axes=(0,))(X, b=3.0), BadArgument,
                  "vmap maps b along its axis 0, but it is a number", "functools.partial"),
    "nothing": (lambda: vmap(add, in_axes=None)(X, X), BadArgument, "vmap has nothing to map over", "axis_size"),
    "a static index": (lambda: vmap(lambda x, k: [np.sin, np.cos][k](x))(FOUR, np.array([0, 1, 1, 0])), BadArgument,
                       "k must be known when the function is transformed, but vmap", "None for it"),
    "a static axis": (lambda: vmap(lambda x, k: np.sum(x, axis=k))(np.ones((4, 2, 2)), np.array([0, 1, 1, 0])),
                      BadArgument, "k must be known", "None for it in in_axes[1]"),
    "a size": (lambda: vmap(lambda n: np.zeros(n))(np.array([1, 2])), NotSupported,
               "the size of an array differs from lane to lane, as n differs", "one size in all lanes"),
    "a shape": (lambda: vmap(lambda x, k: x.reshape(k, 2))(np.ones((4, 4)), np.array([2, 2, 2, 2])), NotSupported,
                "the size of an array differs from lane to lane, as k differs", "one size in all lanes"),
    "a mask returned": (lambda: vmap(lambda x: x[x > 0])(X), NotSupported, "the size of an array differs from",
                        "one size in all lanes"),
    "out_axes out of range": (lambda: vmap(add, out_axes=3)(X, X), BadArgument,
                              "out_axes is 3, but the result has 2 axes", "from -2 to 1"),
    "out_axes of a number": (lambda: vmap(lambda x: (x, 1.0), out_axes=(0, 2))(X), BadArgument,
                             "out_axes[1] is 2, but the result[1] has 1 axis", "from -1 to 0"),
    "out_axes of what differs": (lambda: vmap(add, out_axes=None)(X, X), BadArgument,
                                 "the result differs from lane to lane, but its out_axes is None", "such as 0"),
    "out_axes of a leaf that differs": (lambda: vmap(lambda x: {"a": x, "b": x}, out_axes={"a": 0, "b": None})(X),
                                        BadArgument, "the result['b'] differs from lane to lane", "such as 0"),
    "another tree of out_axes": (lambda: vmap(lambda x: (x, x), out_axes=(0, 0, 0))(X), BadArgument,
                                 "out_axes is (0, 0, 0), which does not fit the result: (*, *)", "Pass one axis"),
    "a word as out_axes": (lambda: vmap(add, out_axes="a")(X, X), BadArgument, "out_axes is 'a', which is not an axis",
                           "Pass an int or None"),
    "branches of two kinds": (lambda: vmap(lambda x: (x, x) if x > 0 else x)(FOUR), NotSupported,
                              "the branches of this `if` give a tuple and f64", "same type"),
    "sizes of what is passed by keyword": (lambda: vmap(add)(X, b=np.ones((4, 3))), BadArgument,
                                           "vmap maps a over 5 lanes and b over 4", "functools.partial"),
    "sizes of further arguments": (lambda: vmap(lambda a, *rest: a)(X, X, FOUR), BadArgument,
                                   "vmap maps a over 5 lanes and rest[1] over 4", "same number of lanes"),
    "sizes where lanes are nested": (lambda: jit(vmap(vmap(add)))(X, X[:, :2]), BadArgument,
                                     "vmap maps a over 3 lanes and b over 2", "same number of lanes"),
    "the size of a direction": (lambda: vmap(hvp(lambda x, y=1.0: np.sum(x ** 3) * y))(X, X[:4]), BadArgument,
                                "vmap maps x over 5 lanes and x_dot over 4", "same number of lanes"),
    "a tree for all arguments": (lambda: vmap(add, in_axes={"a": 0})(X, X), BadArgument,
                                 "in_axes is {'a': 0}, which does not fit a: an array", "one axis for all"),
    "an axis of a leaf": (lambda: vmap(affine, in_axes=({"w": 0, "b": 1}, 0))({"w": X, "b": x5}, X), BadArgument,
                          "in_axes[0]['b'] is 1, but p['b'] has 1 axis", "from -1 to 0"),
    "a word as axis_size": (lambda: vmap(add, axis_size="5")(X, X), BadArgument,
                            "axis_size is '5', which is not a number of lanes", "non-negative int"),
    "an axis_size below 0": (lambda: vmap(add, in_axes=None, axis_size=-1)(X, X), BadArgument,
                             "axis_size is -1, which is not a number of lanes", "non-negative int"),
    "no function": (lambda: vmap(3.0), BadArgument, "vmap expects a function, got a", "vmap(f)(x)"),
    "too few arguments": (lambda: vmap(add)(X), BadArgument, "missing", "add(a, b)"),
    "no number": (lambda: vmap(grad(lambda x: x))(X), BadArgument, "grad needs a function that returns one number",
                  "Reduce it"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    call, error, message, instead = BAD[name]
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, TransformError)
    text = str(caught.value)
    assert message in text.split("\n")[0] and instead in text.split("\n", 1)[1], text
    assert caught.value.origin is not None and caught.value.origin.file == __file__, text


@pytest.mark.parametrize("call, marked", [
    (lambda: vmap(add)(X, FOUR), "b"), (lambda: vmap(add, in_axes=(0, 3))(X, X), "b"), (lambda: vmap(add)(2.0, X), "a"),
    (lambda: vmap(affine)({"w": X, "b": FOUR}, X), "p"), (lambda: vmap(add, in_axes=(0, "c"))(X, X), "b")])
def test_carets_are_under_the_argument(call: Callable[[], Any], marked: str) -> None:
    with pytest.raises(BadArgument) as caught:
        call()
    place = caught.value.origin
    assert place is not None and place.text[place.column:place.end_column] == f"{marked}: Any"


INSIDE: dict[str, tuple[Callable[..., Any], str]] = {
    "an axis": (lambda x: vmap(add, in_axes=(2, 0))(x, x), "in_axes[0] is 2, but a has 2 axes"),
    "sizes": (lambda x: vmap(add)(x, x[:2]), "vmap maps a over 5 lanes and b over 2"),
    "a number": (lambda x: vmap(add)(x, 2.0), "vmap maps b along its axis 0, but it is a number"),
    "what differs": (lambda x: vmap(add, in_axes=(0, None), out_axes=None)(x, 2.0), "but its out_axes is None"),
    "too few axes": (lambda x: vmap(add, in_axes=(0,))(x, 2.0), "in_axes has 1 entry for 2 arguments"),
}


@pytest.mark.parametrize("name", INSIDE)
def test_bad_input_inside_of_a_program(name: str) -> None:
    call, message = INSIDE[name]
    with pytest.raises(BadArgument) as caught:
        grad(lambda x: np.sum(call(x)))(X)
    assert message in str(caught.value) and caught.value.origin is not None


def test_a_call_that_fails_changes_nothing() -> None:
    mapped = vmap(add)
    for _ in range(2):
        with pytest.raises(BadArgument):
            mapped(X, FOUR)
        np.testing.assert_array_equal(mapped(X, x5), X + x5[:, None])
