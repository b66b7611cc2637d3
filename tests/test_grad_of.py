"""Lines in the reverse sweep: where they stand, what they see and change, and that they run once."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from transformer import (
    NotSupported,
    ShapeError,
    check_grads,
    checkpoint,
    checkpoint_loop,
    config,
    grad,
    grad_of,
    jvp,
)

X = np.array([0.5, 2.0, -3.0])


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setattr(config, "check", True)


def clipped(x, w):
    y = x * x
    with grad_of(y) as dy:
        print("dy", dy)
        assert np.all(np.isfinite(dy)), "not finite"
        dy = np.clip(dy * w, -1, 1)
    return np.sum(y * w * y)


def in_a_loop(x, n):
    for k in range(n):
        x = np.sin(x) * x
        with grad_of(x) as dx:
            print("step", k, dx.shape)
            dx *= 0.5
            if np.max(dx) > 0.4:
                dx[0] = 0.0
    return np.sum(x)


def test_the_cotangent_is_replaced(capsys):
    np.testing.assert_array_equal(grad(clipped)(X, 2.0), np.clip(2 * X**2 * 2 * 2, -1, 1) * 2 * X)
    assert capsys.readouterr().out.strip() == f"dy {4 * X**2}"


def test_lines_that_change_nothing_change_nothing():
    def f(x):
        y = np.sin(x)
        with grad_of(y) as dy:
            assert np.all(np.isfinite(dy))
        return np.sum(y * y) + np.sum(y)

    check_grads(f, (X,), order=2)


def test_writes_to_the_cotangent():
    def f(x):
        y = np.sin(x)
        with grad_of(y) as dy:
            dy[0] = 0.0
            dy *= 2
        return np.sum(y * y) + np.sum(y)

    want = 2 * (2 * np.sin(X) + 1) * np.cos(X)
    want[0] = 0.0
    np.testing.assert_allclose(grad(f)(X), want, rtol=1e-14)


def test_in_a_loop_backwards(capsys):
    found = grad(in_a_loop)(X, 3)
    assert capsys.readouterr().out.splitlines() == [f"step {k} (3,)" for k in (2, 1, 0)]
    xs = [X]
    for _ in range(3):
        xs.append(np.sin(xs[-1]) * xs[-1])
    d = np.ones(3)
    for x in xs[-2::-1]:
        d = d * 0.5
        if np.max(d) > 0.4:
            d[0] = 0.0
        d = d * (np.sin(x) + x * np.cos(x))
    np.testing.assert_allclose(found, d, rtol=1e-13)


def test_nothing_happens_without_a_derivative(capsys):
    trace = sys.gettrace()
    assert clipped(X, 1.0) == np.sum(X**4) and in_a_loop(X, 1) == np.sum(np.sin(X) * X)

    def in_one_line(x):
        with grad_of(x) as dx: print("never", dx)  # noqa: E701
        with grad_of(x): raise ValueError  # noqa: E701
        return 2 * x

    assert in_one_line(1.5) == 3.0
    assert sys.gettrace() is trace
    assert capsys.readouterr().out == ""


def test_forward_mode_passes_by(capsys):
    value, tangent = jvp(clipped, (X, 1.0), (X, 0.0))
    assert np.isclose(value, np.sum(X**4)) and np.isclose(tangent, 4 * np.sum(X**4))
    assert capsys.readouterr().out == ""


def test_second_order(capsys):
    def squared(x):
        with grad_of(x) as dx:
            print("once")
            dx = dx * dx
        return x * x * x

    for second in (grad(grad(squared)), lambda x: jvp(grad(squared), (x,), (1.0,))[1]):
        assert np.isclose(second(2.0), 36 * 2.0**3)
        assert capsys.readouterr().out == "once\n"
    assert np.isclose(grad(lambda x: jvp(squared, (x,), (1.0,))[1])(2.0), (6 * 2.0) ** 2)


def test_branches_checkpoints_blocks_and_recursion(capsys):
    def branch(x):
        y = x
        if x > 0:
            with grad_of(x) as dx:
                dx = dx * 2
            y = x * x
        return y * x

    assert np.isclose(grad(branch)(2.0), 2 * 12.0) and np.isclose(grad(branch)(-2.0), -4.0)

    def part(x, w):
        @checkpoint
        def f(x):
            y = np.sin(x) * x
            with grad_of(y) as dy:
                print("in")
                dy = dy * w
            return y * y

        return np.sum(f(x))

    np.testing.assert_allclose(grad(part)(X, 2.0), 2 * grad(lambda x: np.sum((np.sin(x) * x) ** 2))(X))
    assert capsys.readouterr().out == "in\n"

    def blocks(x, n):
        with checkpoint_loop(blocks=2):
            for k in range(n):
                with grad_of(x) as dx:
                    print(k)
                    dx = np.clip(dx, -k - 1, k + 1 + x * x)
                x = np.sin(x) * x
        return np.sum(x)

    assert np.all(np.isfinite(grad(blocks)(X, 5)))
    assert capsys.readouterr().out.split() == ["4", "3", "2", "1", "0"]

    def recursive(x, n):
        if n == 0:
            return x
        y = recursive(x, n - 1) * x
        with grad_of(y) as dy:
            print(n, float(dy))
        return y

    assert grad(recursive)(2.0, 3) == 32.0
    assert capsys.readouterr().out.splitlines() == ["3 1.0", "2 2.0", "1 4.0"]


def test_lines_raise_and_break():
    def raising(x):
        with grad_of(x) as dx:
            if dx > 3:
                raise ValueError("large")
        return x * x

    assert raising(2.0) == 4.0 and grad(raising)(1.0) == 2.0
    with pytest.raises(ValueError, match="large"):
        grad(raising)(2.0)

    def stopping(x):
        with grad_of(x):
            breakpoint()
        return x * x

    assert "    dx = 2 * x\n    breakpoint()\n" in grad(stopping).source_for(3.0)


def test_they_stand_in_the_source():
    source = grad(clipped).source_for(X, 2.0)
    lines = [line.strip() for line in source.splitlines()]
    at = lines.index('print("dy", dy)')
    assert lines[at - 1].startswith("dy = ") and lines[at + 1].startswith("assert ")
    assert lines[at + 2] == "dx = 2 * np.clip(dy * w, -1, 1) * x"


def returning(x):
    with grad_of(x) as dx:
        return x * dx
    return x


def breaking(x):
    for _ in range(3):
        with grad_of(x) as dx:
            dx = dx * 2
            break
        x = x * x
    return x


def used_below(x):
    with grad_of(x) as dx:
        norm = dx * dx
    return x * norm


def of_an_expression(x):
    with grad_of(x * 2) as dx:
        print(dx)
    return x


def of_a_container(x):
    pair = (x, x)
    with grad_of(pair) as dpair:
        print(dpair)
    return pair[0] * pair[1]


def writing_around(x):
    log = [1.0]
    with grad_of(x) as dx:
        log.append(dx)
    return x * x * len(log)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (returning, "the block under grad_of cannot be left"),
        (breaking, "the block under grad_of cannot be left"),
        (used_below, "the block under grad_of assigns 'norm', which is"),
        (of_an_expression, "this form of grad_of is not supported"),
        (of_a_container, "an array or a number"),
        (writing_around, "writes to"),
    ],
)
def test_what_is_refused(function, text):
    with pytest.raises(NotSupported, match=text) as caught:
        grad(function)(2.0)
    assert "test_grad_of.py" in str(caught.value)


def test_other_refusals():
    def wrong_shape(x):
        with grad_of(x) as dx:
            dx = np.sum(dx)
        return np.sum(x * x)

    def write_below(x):
        with grad_of(x) as dx:
            dx = dx * 2
        x[0] = 1.0
        return np.sum(x * x)

    with pytest.raises(ShapeError, match="the cotangent of x has shape"):
        grad(wrong_shape)(X)
    with pytest.raises(NotSupported, match="may be shared"):
        grad(write_below)(X)
