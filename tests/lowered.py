"""A program, or a transformation of it, as explicit loops: how the tests call them."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np
from bounds import agree, outcome
from evaluate import match, signature_of
from loop_cases import plain

from transformer import tree
from transformer.api import argument_names
from transformer.lower.lowering import Kernel, lower
from transformer.pipeline import Generated, generate
from transformer.read.interface import Result
from transformer.run.files import load
from transformer.run.generating import on_demand, requested
from transformer.run.signature import describe


def as_loops(target: Any, user: Any, arguments: tuple[Any, ...], threads: bool = False) -> Any:
    """What the loops of a transformation of the user's function give, run as plain Python."""
    made = generated(target, user, arguments)
    return called(made, plain(lower(made.function, made.reading.assumptions, threads=threads)), user, arguments)


def assert_same(function: Any, *arguments: Any) -> None:
    """Asserts that a program's loops give what it gives, or raise what it raises."""
    with np.errstate(all="ignore"):
        want = outcome(lambda: function(*copy.deepcopy(arguments)))
        got = outcome(lambda: as_loops(function, function, arguments))
    assert agree(got, want), f"{function.__name__}{arguments}: {got!r} is not {want!r}"


def source_of(target: Any, user: Any, arguments: tuple[Any, ...]) -> str:
    made = generated(target, user, arguments)
    return lower(made.function, made.reading.assumptions).source


def generated(target: Any, user: Any, arguments: tuple[Any, ...]) -> Generated:
    """Core of a function or of a transformation of it, for a call."""
    names, static = argument_names(user, len(arguments)), set()

    def attempt(described: Any) -> Generated:
        return generate(requested(target, described))

    return on_demand(attempt, arguments, {}, names, static, describe(arguments, {}, names, static))


def printed(made: Generated) -> Any:
    """The function that the source of a transformation defines, with the arrays outside of it that it takes."""
    outside = {hidden.name: hidden.fetch() for hidden in made.interface.hidden}
    return partial(load(made.source, made.interface.name, made.written.namespace), **outside)


def called(made: Generated, kernel: Kernel, user: Any, arguments: tuple[Any, ...]) -> Any:
    """What a kernel gives for a call of the user's function."""
    bound = signature_of(user).bind(*copy.deepcopy(arguments)).arguments
    values = {hidden.var: hidden.fetch() for hidden in made.interface.hidden}
    for parameter in made.interface.parameters:
        if parameter.name in bound:
            match(parameter.tree, bound[parameter.name], values)
    results = kernel(*(values[param] for param in made.function.params))
    return tree.map(lambda leaf: results[leaf.k] if isinstance(leaf, Result) else leaf, made.interface.result)
