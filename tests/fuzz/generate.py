"""A program drawn by hypothesis."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import arrays, assignments, branches, containers, functions, loops, patterns, renaming, scalars, writes
from .kinds import NUMBER, Floats, Integer, Integers, Kind, Table
from .program import Program
from .templates import expression, statements, text
from .writer import Draw, Writer

FAMILIES: dict[str, list[tuple[int, str, Any]]] = {
    "straight": assignments.STATEMENTS,
    "writes": writes.STATEMENTS,
    "branches": branches.STATEMENTS,
    "loops": loops.STATEMENTS,
    "containers": containers.STATEMENTS,
    "functions": functions.STATEMENTS,
    "patterns": patterns.STATEMENTS,
    "names": renaming.STATEMENTS,
}
PARAMETERS: list[tuple[int, str, Kind]] = [
    (5, "x", Floats((3,))), (3, "x", Floats((4,))), (3, "A", Floats((2, 3))), (2, "A", Floats((3, 2))),
    (1, "A", Floats((2, 2))), (4, "s", NUMBER), (2, "y", Floats((3,))), (1, "y", Floats((2,))),
    (1, "B", Floats((1, 3))), (1, "B", Floats((3, 1))), (2, "n", Integer(3, 3)), (2, "index", Integers(3, 1)),
    (1, "params", Table((("w", Floats((3,))), ("b", NUMBER))))]


@st.composite
def programs(draw: Draw, families: tuple[str, ...] = tuple(FAMILIES), budget: int = 9) -> Program:
    chosen = {name: FAMILIES[name] for name in (*families, "straight")}
    w = Writer(draw, chosen, budget)
    parameters = drawn_parameters(w)
    several = w.chance(12)
    if w.chance(8):
        global_array(w)
    with w.nested(parameters) as body:
        w.results += [] if several else [NUMBER]      # returns before the end are of one kind
        while w.budget > 0:
            w.statement()
        (finish_with_several if several else finish)(w)
    definition = statements(f"def program({', '.join(parameters)}):\n    BODY", BODY=body)
    seed = w.below(1000)
    single = w.chance(6)
    arguments = {name: value_of(kind, np.random.default_rng([seed, k]), w, single)
                 for k, (name, kind) in enumerate(parameters.items())}
    if single:
        w.tags["float32"] += 1
    return Program(text(w.module + definition), arguments, w.tags)


def drawn_parameters(w: Writer) -> dict[str, Kind]:
    parameters: dict[str, Kind] = {}
    for _ in range(w.between(1, 4)):
        _, kind = w.weighted(PARAMETERS)
        name = next(n for _, n, k in PARAMETERS if k == kind)
        if name not in parameters:
            w.used.add(name)
            parameters[name] = kind
    if not any(isinstance(kind, Floats | Table) for kind in parameters.values()):
        w.used.add("x")
        parameters["x"] = Floats((3,))
    return parameters


def value_of(kind: Kind, rng: np.random.Generator, w: Writer, single: bool) -> Any:
    if isinstance(kind, Integer):
        return kind.high
    if isinstance(kind, Integers):
        return rng.integers(0, kind.high + 1, kind.count)
    if isinstance(kind, Table):
        return {key: value_of(item, rng, w, single) for key, item in kind.entries}
    assert isinstance(kind, Floats)
    drawn = np.round(rng.uniform(0.2, 1.3, kind.shape) * rng.choice([-1, 1, 1], kind.shape), 3)
    if kind.shape:
        return drawn.astype(np.float32) if single else drawn
    return np.float32(drawn) if single else float(drawn) if w.chance(50) else np.float64(drawn)


def global_array(w: Writer) -> None:
    """An array of the module, which is read and never written."""
    kind = Floats((3,))
    w.module += statements("TABLE = np.array([0.4, -0.7, 1.1])")
    w.scopes[0]["TABLE"] = kind
    w.constants.add("TABLE")
    w.tags["global array"] += 1


def finish_with_several(w: Writer) -> None:
    """Several results; they may be one array, or share memory."""
    w.tags["several results"] += 1
    names = w.variables(lambda kind: isinstance(kind, Floats)) or ["0.5"]
    parts = {"A": w.of(names[:3]), "B": w.of(names), "C": finished(w)}
    template = w.of(["return A, C", "return A, B, C", "return {'first': A, 'second': C}", "return [A, (B, C)]"])
    w.emit(template, **parts)


def finish(w: Writer) -> None:
    w.emit("return VALUE", VALUE=finished(w))


def finished(w: Writer) -> Any:
    """A number that depends on several variables."""
    names = w.variables(lambda kind: isinstance(kind, Floats))
    chosen = list(dict.fromkeys([*names[:2], *(w.of(names) for _ in range(w.below(3)))])) if names else []
    terms = [term(w, name) for name in chosen] or [scalars.number(w)]
    total = terms[0]
    for other in terms[1:]:
        total = expression("A + B", A=total, B=other)
    return total


def term(w: Writer, name: str) -> Any:
    if w.kind(name).shape:
        return expression(w.of(["np.sum(A)", "np.sum(A * A)", "np.sum(np.sin(A))"]), A=name)
    return expression(w.of(["A", "A * A", "np.sin(A)"]), A=name)


__all__ = ["FAMILIES", "arrays", "programs"]
