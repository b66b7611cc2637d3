"""Objects of classes that are derived from `dict` and `list`."""

from __future__ import annotations

import numpy as np

from .program import Program, normal


class Options(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__          # type: ignore[assignment]


class Bound(dict):
    def __init__(self, *args, **items):
        super().__init__(*args, **items)
        self.__dict__ = self


class Doubled(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)

    def get(self, key, default=None):
        return self[key] - 1 if key in self else default


class History(list):
    def mean(self):
        return sum(self) / len(self)

    def append(self, value):
        super().append(np.sin(value))


OPTIONS = Options(rate=0.5, scales=np.array([1.0, -2.0]), inner=Bound(power=2))


def attribute_dictionaries(x):
    state, bound = Options(total=0.0, decay=x[0]), Bound(weight=x[1])
    for value in x:
        state.total = OPTIONS.rate * state.total + value**OPTIONS.inner.power * bound.weight
        if state.total > 0.3:
            state["decay"] *= OPTIONS["scales"][1]
        bound.weight = bound["weight"] * 0.5
    return state.total * state.decay * len(state)


def dictionary_with_methods_of_its_own(x):
    table = Doubled()
    table["a"] = x[0]
    table["b"] = x[1] * table.get("a")
    return table["a"] * table.get("b") * table.get("c", 3.0)


def list_with_methods_of_its_own(x):
    history = History()
    for value in x:
        history.append(value * x[0])
    return history.mean() * history[-1] + History([x[1], 2.0]).mean()


PROGRAMS = [
    Program(attribute_dictionaries, normal((4,))),
    Program(dictionary_with_methods_of_its_own, normal((3,))),
    Program(list_with_methods_of_its_own, normal((3,))),
]
