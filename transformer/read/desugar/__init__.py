"""Rewrites of a function's tree into one without `break`, `continue`, loop `else`, early `return`, caught `raise`.

Each is a file with a before and an after in its docstring. They run in the order of `REWRITES`:
an early `return` becomes a `break`, so breaks come after it. What evaluation handles as it stands
(unpacking, augmented assignment, comprehensions, `with`, `match`, ...) is left as it is.

>>> print(gast.unparse(desugar(gast.parse('''
... def root(a, x):
...     for i in range(9):
...         step = (x * x - a) / (2 * x)
...         if abs(step) < 1e-9:
...             return x
...         x = x - step
...     return x
... ''').body[0])).strip())
def root(a, x):
    returned = False
    for i in range(9):
        step = (x * x - a) / (2 * x)
        if abs(step) < 1e-09:
            returned = True
        else:
            x = x - step
    return x
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache, partial
from typing import Any

import gast

from ...core.errors import NotSupported
from . import (
    asking,
    attempts,
    breaks,
    continues,
    finals,
    forks,
    loop_else,
    raises,
    returns,
    suppressed,
    ways_out,
    yields,
)
from .blocks import Block, changed, map_blocks
from .scope import Names, Rewrite, Scope

REWRITES: tuple[Rewrite, ...] = (
    ways_out.rewrite,
    loop_else.rewrite,
    raises.rewrite,
    returns.rewrite,
    breaks.rewrite,
    continues.rewrite,
)


Places = Collection[tuple[int, int]]
Forks = Collection[forks.Fork]


def desugar(tree: Any, file: str = "<unknown>", attempting: bool = False, ended: Places = (),
            forking: Forks = (), asked: Places = ()) -> Any:
    """The tree of a function without jumps; functions within it are rewritten too.

    `tree` is a `gast.FunctionDef`, which is left as it was, and `file` is named in errors.
    Afterwards no function contains `break`, `continue`, or an `else` of a loop, and a `return` is
    its last statement. A `raise` that a `try` around it may catch is a flag, and a `try` behind that
    one, with an attribute `raised`, is where the exception is certain. Each `gast.For` has an attribute
    `stop`: the name of a flag that ends the loop if it is true before an iteration, or None. Each
    `gast.With` has an attribute `way_out`: the first jump out of its block, or None. Generators and
    coroutines stay as they are. With `attempting`, what may raise in a `try` by itself becomes an `Attempt`.
    `ended` are the lines and columns of managers under `with` that are `contextlib.suppress`, `forking` those of `if`s
    behind which names differ, with the names, `asked` those of tests of `while` that write something.

    Raises NotSupported for an exit out of `try`.
    """
    if not isinstance(tree, gast.FunctionDef):
        return tree
    try:
        return _desugar_function(tree, Names(tree), file, _first_rewrites(attempting, ended, forking, asked))
    except RecursionError:
        raise NotSupported(
            f"`{tree.name}` is nested too deeply",
            Scope(Names(tree), file, tree.name).origin(tree),
            "Each early exit, and each `elif`, adds a level of nesting.",
            "Split it into several functions.",
        ) from None


def _first_rewrites(attempting: bool, ended: Places, forking: Forks, asked: Places) -> tuple[Rewrite, ...]:
    """What reading has asked for."""
    endings = [partial(suppressed.rewrite, ended=ended)] if ended else []
    parting = [partial(forks.rewrite, forks=forking)] if forking else []
    trying = [finals.rewrite, attempts.rewrite] if attempting else []
    return (*parting, *endings, *trying, partial(asking.rewrite, asked=asked))


def _desugar_function(function: Any, names: Names, file: str, first: tuple[Rewrite, ...]) -> Any:
    body = _desugar_inner_functions(function.body, names, file, first)
    scope = Scope(names, file, function.name)
    for rewrite in (*first, *REWRITES):
        body = rewrite(body, scope)
    return changed(function, body=body, written=function, first=first)


@lru_cache(maxsize=512)
def ending_early(generator: Any, file: str, with_result: bool) -> Any:
    """The tree of a generator that ends where no further item is wanted, for one that has been desugared; it may have
    to give no result."""
    if not hasattr(generator, "written"):
        return generator
    body = generator.written.body
    written = changed(generator.written, body=yields.with_ends(body if with_result else yields.without_results(body)))
    made = _desugar_function(written, Names(written), file, generator.first)
    del made.written
    return made


def _desugar_inner_functions(block: Block, names: Names, file: str, first: tuple[Rewrite, ...]) -> Block:
    return [
        _desugar_function(statement, names, file, first)
        if isinstance(statement, gast.FunctionDef | gast.ClassDef)
        else map_blocks(statement, lambda inner: _desugar_inner_functions(inner, names, file, first))
        for statement in block
    ]
