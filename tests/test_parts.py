"""Long compiled functions in parts."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from transformer import grad, jit
from transformer.lower import parts
from transformer.write.layout import Group, Item, Line, lines_of


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions are long from a few statements on."""
    for name, length in (("LONG", 6), ("PART", 8), ("LEAST", 2)):
        monkeypatch.setattr(parts, name, length)


def items_of(text: str) -> list[Item]:
    def item(node: Any) -> Item:
        if not isinstance(node, (ast.For, ast.If, ast.While)):
            return Line(node)
        return Group(node, list(map(item, node.body)), list(map(item, node.orelse)))
    return list(map(item, ast.parse(text).body))


def divided(text: str, params: list[str], kept: frozenset[str] = frozenset(), alike: Any = ()) -> dict[str, str]:
    """The text of each part, and what is left of the function, by their names."""
    found: dict[str, str] = {}

    def share(group: Group, wish: str) -> str:
        name = wish + "_" * sum(known.startswith(wish) for known in found)
        group.head.name = name
        found[name] = "\n".join(line for line, _ in lines_of([group], 0))
        return name

    left = parts.in_parts(params, items_of(text), share, kept, alike)
    return {**found, "rest": "\n".join(line for line, _ in lines_of(left, 0))}


TOTALS = """
n = x.shape[0]
total = 0.0
for i in range(n):
    total += x[i]
    x[i] = total
mean = total / n
for i in range(n):
    last = x[i] - mean
    y[i] = last
for i in range(n):
    y[i] += total
return last
"""


@pytest.mark.usefixtures("short")
def test_parts_take_what_they_read_and_give_what_is_read_later() -> None:
    found = divided(TOTALS, ["x", "y"])
    assert found["rest"].splitlines() == [
        "n, total, mean = compute_x(x)", "for i in range(n):", "    last = x[i] - mean", "    y[i] = last",
        "for i in range(n):", "    y[i] += total", "return last"]
    assert found["compute_x"].splitlines()[0] == "def compute_x(x):"
    assert found["compute_x"].splitlines()[-1] == "    return n, total, mean"


@pytest.mark.usefixtures("short")
def test_what_is_perhaps_not_bound_stays() -> None:
    """`last` is bound by no iteration of a loop over nothing, and no part may be called with it."""
    later = "".join(f"    y[{k}] = last\n" for k in range(3))
    text = TOTALS.replace("return last", f"if last > 0.0:\n{later}return last")
    for part in divided(text, ["x", "y"]).values():
        assert "last" not in part.splitlines()[0]


@pytest.mark.usefixtures("short")
def test_what_leaves_a_loop_stays_in_it() -> None:
    loops = "".join(f"    for k in range({k}):\n        y[k] = {k}\n" for k in range(6))
    text = f"for i in range(9):\n{loops}    if x[0] > 3:\n        break\n    x[2] = 1\n"
    found = divided(text, ["x", "y"])
    assert "break" in found["rest"] and len(found) == 3
    assert all("break" not in part for name, part in found.items() if name != "rest")


@pytest.mark.usefixtures("short")
def test_numbers_stay_together() -> None:
    """No part is a run of plain numbers, gives very many of them, or is called in the innermost of loops."""
    assert list(divided("".join(f"x{k} = x[{k}] * 2.0\n" for k in range(9)) + "y[0] = x8\n", ["x", "y"])) == ["rest"]
    inner = "".join(f"        for k in range(3):\n            y[k] += {j}\n" for j in range(6))
    assert list(divided(f"for i in range(9):\n    for j in range(9):\n{inner}", ["y"])) == ["rest"]


@pytest.mark.usefixtures("short")
def test_no_part_takes_two_names_of_one_array() -> None:
    assert "compute_y" in "".join(divided(TOTALS.replace("return last", "return y"), ["x", "y"]))
    assert list(divided(TOTALS.replace("x[i] = total", "y[i] = total"), ["x", "y"], alike=[{"x", "y"}])) == ["rest"]


@pytest.mark.usefixtures("short")
def test_what_calls_the_function_itself_stays() -> None:
    found = divided(TOTALS.replace("total += x[i]", "total += again(x, i)"), ["x", "y"], frozenset({"again"}))
    assert "again" in found["rest"]


def filtered(x: np.ndarray, places: np.ndarray, rounds: int) -> np.ndarray:
    y = x / x.max()
    for _ in range(rounds):
        smooth = np.zeros_like(y)
        for i in range(1, len(y) - 1):
            smooth[i] = 0.25 * y[i - 1] + 0.5 * y[i] + 0.25 * y[i + 1]
        y = y - 0.1 * (y - smooth) * y.sum()
        y[0] = y[places].sum() / len(places)
    return y


@pytest.mark.usefixtures("short")
def test_compiled_in_parts() -> None:
    def loss(x: np.ndarray, places: np.ndarray) -> Any:
        return np.sum(filtered(x, places, 3) ** 2)

    compiled, gradient = jit(grad(loss)), grad(loss)
    for n in (7, 12):
        x, places = np.random.default_rng(n).normal(size=n), np.array([1, 3, -2])
        np.testing.assert_allclose(compiled(x, places), gradient(x, places), rtol=1e-9)
    assert compiled.stages(x, places)["loops"].count("\ndef compute_") > 1
    for wrong in (np.array([1, 12]), np.array([-13, 0])):
        with pytest.raises(IndexError) as found:
            compiled(x, wrong)
        with pytest.raises(IndexError) as expected:
            filtered(x, wrong, 3)
        assert str(found.value) == str(expected.value)
