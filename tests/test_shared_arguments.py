"""Arguments that the function writes: the caller's stay as they are, and none may share memory with others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from transformer import grad, jvp, linearize, value_and_grad, vjp
from transformer.core.errors import NotSupported

WEIGHTS = np.arange(4.0) + 1


def shifted(x, y):
    x[1:] += y[:-1]
    return np.sum(x * y)


def doubled(x):
    x *= 2
    return np.sum(x * WEIGHTS)


def in_dict(d):
    d["a"] *= 2
    return np.sum(d["a"] * d["b"])


def only_read(x, y):
    return np.sum(x * y)


def vectors() -> tuple[np.ndarray, np.ndarray]:
    return np.arange(4.0), np.ones(4) * 3


Call = Callable[[np.ndarray, np.ndarray], Any]
CALLS: dict[str, Call] = {
    "grad": lambda x, y: grad(shifted, argnums=(0, 1))(x, y),
    "value_and_grad": lambda x, y: value_and_grad(shifted)(x, y),
    "jvp": lambda x, y: jvp(shifted, (x, y), (y, x)),
    "vjp": lambda x, y: vjp(shifted, x, y)[1](1.0),
    "linearize": lambda x, y: linearize(shifted, x, y)[1](y, y),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_arrays_of_the_caller_stay_as_they_are(call: Call) -> None:
    x, y = vectors()
    call(x, y)
    assert np.array_equal(x, vectors()[0]) and np.array_equal(y, vectors()[1])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_one_array_twice_is_refused_where_it_is_written(call: Call) -> None:
    x, _ = vectors()
    with pytest.raises(NotSupported, match="write to 'x', which shares memory with 'y'") as caught:
        call(x, x)
    assert caught.value.origin is not None and caught.value.origin.text.strip() == "x[1:] += y[:-1]"
    assert np.array_equal(x, vectors()[0])


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_overlapping_views_are_refused(call: Call) -> None:
    whole = np.arange(5.0)
    with pytest.raises(NotSupported, match="shares memory"):
        call(whole[1:], whole[:-1])


def test_views_that_share_no_element_are_two_arrays() -> None:
    whole = np.arange(8.0)
    apart = grad(shifted)(whole[::2], whole[1::2])
    assert np.array_equal(apart, grad(shifted)(whole[::2].copy(), whole[1::2].copy()))


def test_what_is_only_read_may_share_memory() -> None:
    x, _ = vectors()
    assert np.array_equal(grad(only_read)(x, x), x)
    gradient = grad(shifted)
    gradient(*vectors())
    assert gradient._entry(vectors(), {}).memory.written and not grad(only_read)._entry((x, x), {}).memory.written


def test_a_tangent_may_be_the_array_itself() -> None:
    x, y = vectors()
    assert jvp(shifted, (x, y), (x, None))[1] == pytest.approx(np.sum(x * y))


def test_an_array_from_outside_is_refused_where_it_is_written_as_an_argument() -> None:
    for array in (WEIGHTS, WEIGHTS[::-1]):
        with pytest.raises(NotSupported, match="shares memory with 'WEIGHTS'"):
            grad(doubled)(array)
    assert np.array_equal(grad(doubled)(WEIGHTS.copy()), 2 * WEIGHTS)


def test_leaves_of_containers_are_told_by_their_paths() -> None:
    x, y = vectors()
    grad(in_dict)({"a": x, "b": y})
    with pytest.raises(NotSupported) as caught:
        grad(in_dict)({"a": x, "b": x})
    assert "write to \"d['a']\"" in str(caught.value)


def test_what_numpy_does_not_write_is_not_written() -> None:
    x, y = vectors()
    x.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        grad(shifted)(x, y)
    with pytest.raises(ValueError, match="read-only"):
        grad(shifted)(np.broadcast_to(1.0, (4,)), y)
    y.flags.writeable = False
    assert np.array_equal(grad(shifted)(x.copy(), y), y)


def test_elements_that_are_one_are_refused() -> None:
    repeated = np.lib.stride_tricks.as_strided(np.arange(4.0), (4,), (0,))
    with pytest.raises(NotSupported, match="whose elements overlap in memory"):
        grad(shifted)(repeated, np.ones(4))


def test_inside_of_another_function_the_same_holds() -> None:
    x, y = vectors()
    expected = grad(lambda a: np.sum((a * 0 + y) * a))(x)
    assert np.array_equal(grad(lambda a: np.sum(grad(shifted)(a, y) * a))(x), expected)
    for shared in (
        lambda a: np.sum(grad(shifted)(a, a)),
        lambda a: np.sum(grad(shifted)(a[1:], a[:-1])),
        lambda a: np.sum(grad(lambda b: shifted(b, a))(a)),
        lambda a: np.sum(grad(lambda b: shifted(b, a[1:]))(a[:-1])),
    ):
        with pytest.raises(NotSupported, match="shares memory"):
            grad(shared)(x)


def test_an_emitted_file_tests_it_in_its_first_lines(tmp_path: Path) -> None:
    x, y = vectors()
    path = tmp_path / "shifted_grad.py"
    grad(shifted).save(path, x, y)
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert np.array_equal(names["shifted_grad"](x, y), grad(shifted)(x, y))
    with pytest.raises(ValueError, match="x is written, and shares memory with y"):
        names["shifted_grad"](x, x)
    grad(only_read).save(tmp_path / "other.py", x, y)
    assert "shares_memory" not in (tmp_path / "other.py").read_text()


def test_an_emitted_file_compares_lengths_of_which_parts_are_equal(tmp_path: Path) -> None:
    x, y = vectors()
    path = tmp_path / "shifted_grad.py"
    grad(shifted).save(path, x, y)
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    with pytest.raises(ValueError, match="must be"):
        names["shifted_grad"](x, np.ones(5))
