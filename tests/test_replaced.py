"""Functions and methods that are replaced while a program runs, by a test or by who edits a module that is loaded,
are read anew; so are those that were edited between two processes."""

from __future__ import annotations

import enum
import functools
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from transformer import config, grad, jit, vmap
from transformer.ops.registry import registry
from transformer.run.dispatch import Dispatcher
from transformer.run.provenance import mark_of

X = np.array([1.0, 2.0, 3.0])


class Base:
    def scaled(self, x: Any) -> Any:
        return 2.0 * x


class Model(Base):
    def __init__(self) -> None:
        self.w = 3.0

    def __call__(self, x: Any) -> Any:
        return self.w * self.scaled(x)

    @property
    def offset(self) -> float:
        return 1.0

    @functools.cached_property
    def factor(self) -> float:
        return 4.0

    @classmethod
    def shifted(cls, x: Any) -> Any:
        return x + 1.0

    @staticmethod
    def squared(x: Any) -> Any:
        return x * x

    def __add__(self, x: Any) -> Any:
        return 5.0 * x

    def __len__(self) -> int:
        return 6


class Longer(Model):
    def __len__(self) -> int:
        return 9


class Point(NamedTuple):
    x: Any

    def size(self) -> Any:
        return np.sum(self.x**2)


@dataclass
class Line:
    slope: Any

    def at(self, x: Any) -> Any:
        return self.slope * x


def helper(x: Any, k: float = 2.0, *, more: tuple[float, ...] = (1.0,)) -> Any:
    return k * x + more[0]


def total(x):
    both = np.sum(model(x) * helper(x) + model.shifted(x) * model.squared(x) + (model + x))
    return both * (model.offset + model.factor) * len(model) + Point(x).size() * np.sum(Line(x).at(x))



model = Model()
CHANGES: dict[str, Callable[[pytest.MonkeyPatch], Any]] = {
    "method": lambda patch: patch.setattr(Model, "__call__", lambda self, x: x * x * x),
    "method of a base": lambda patch: patch.setattr(Base, "scaled", lambda self, x: x * x),
    "method of an object": lambda patch: patch.setitem(vars(model), "scaled", lambda x: x * x),
    "method of a class in between": lambda patch: patch.setattr(Model, "scaled", lambda self, x: x * x, raising=False),
    "class of an object": lambda patch: patch.setattr(model, "__class__", Longer),
    "property": lambda patch: patch.setattr(Model, "offset", property(lambda self: 7.0)),
    "class method": lambda patch: patch.setattr(Model, "shifted", classmethod(lambda cls, x: x - 1.0)),
    "static method": lambda patch: patch.setattr(Model, "squared", staticmethod(lambda x: x)),
    "operator": lambda patch: patch.setattr(Model, "__add__", lambda self, x: x * x),
    "length": lambda patch: patch.setattr(Model, "__len__", lambda self: 9),
    "method of a tuple made here": lambda patch: patch.setattr(Point, "size", lambda self: np.sum(self.x)),
    "method of a dataclass made here": lambda patch: patch.setattr(Line, "at", lambda self, x: x),
    "code": lambda patch: patch.setattr(helper, "__code__", (lambda x, k, *, more: k * x * x).__code__),
    "default": lambda patch: patch.setattr(helper, "__defaults__", (3.0,)),
    "default by name": lambda patch: patch.setattr(helper, "__kwdefaults__", {"more": (4.0,)}),
}


@pytest.fixture(scope="module")
def transformed() -> list[Any]:
    return [(grad(total), lambda: differences(total, X), X), (vmap(total), lambda: np.array([total(X)]), X[np.newaxis])]


def differences(f: Any, x: Any) -> Any:
    steps = 1e-6 * np.eye(len(x))
    return np.array([(f(x + step) - f(x - step)) / 2e-6 for step in steps])


@pytest.mark.parametrize("change", CHANGES)
def test_replaced(change: str, transformed: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    before = [function(x) for function, _, x in transformed]
    CHANGES[change](monkeypatch)
    for (function, wanted, x), old in zip(transformed, before, strict=True):
        found = function(x)
        np.testing.assert_allclose(found, wanted(), rtol=1e-5)
        assert not np.allclose(found, old)
    monkeypatch.undo()
    for (function, _, x), old in zip(transformed, before, strict=True):
        np.testing.assert_array_equal(function(x), old)


def test_nothing_is_read_again_without_a_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is made anew whenever it is looked up, such as a class method, is no change."""
    reads: list[Any] = []
    generated = Dispatcher._found
    monkeypatch.setattr(Dispatcher, "_found", lambda self, *args: reads.append(args) or generated(self, *args))
    gradient = grad(total)
    for _ in range(3):
        gradient(X)
    assert len(reads) == 1


def test_compiled_functions_are_compiled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = jit(lambda x: np.sum(model(x)))
    assert [compiled(X) for _ in range(3)] == [36.0] * 3
    monkeypatch.setattr(Base, "scaled", lambda self, x: x)
    assert [compiled(X) for _ in range(3)] == [18.0] * 3
    monkeypatch.undo()
    assert [compiled(X) for _ in range(3)] == [36.0] * 3


MODULE = """
import numpy as np
from dataclasses import dataclass

@dataclass
class Line:
    slope: np.ndarray

    def at(self, x):
        return self.slope * x{change}

    @property
    def end(self):
        return np.sum(self.slope){other}

def total(line, x):
    return np.sum(line.at(x)) + line.end
"""


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    before, config.cache = config.cache, tmp_path / "cache"
    ops, registry.by_function = registry.by_function, {}
    yield config.cache
    config.cache, registry.by_function = before, ops


def test_methods_of_arguments_that_were_edited_are_read_anew(tmp_path: Path, cache: Path) -> None:
    """What is kept on disk was made with the methods of a class that only the arguments lead to."""
    path = tmp_path / "edited_lines.py"
    for change in {"change": "", "other": ""}, {"change": " * 2", "other": ""}, {"change": "", "other": " * 3"}:
        module = sys.modules["edited_lines"] = types.ModuleType("edited_lines")
        path.write_text(MODULE.format(**change))
        linecache.checkcache(str(path))
        exec(compile(path.read_text(), str(path), "exec"), vars(module))
        line = module.Line(X)
        for _ in range(2):
            compiled = jit(module.total)
            assert compiled(line, X) == module.total(line, X)
        assert compiled._entry((line, X), {}).generated is None           # of which the second was kept


def test_members_of_enumerations_are_known_in_another_process() -> None:
    first, again, other = (list(enum.Enum("Kind", {"PLAIN": value}, module=__name__))[0] for value in (1, 1, 2))
    assert mark_of(first) == mark_of(again) != mark_of(other)
