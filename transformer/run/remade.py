"""Functions made of trees: in the file, with the globals and the captured names of another one.

    def around(scale):              # what the other one captured, in the cells that it has
        def <part>(x):
            return scale * x        # at the line where it stands in the file
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator, Mapping
from typing import Any

INNER = "<part>"                       # no name, so that what is called like the function is what it is elsewhere


def function_like(like: types.FunctionType, tree: ast.FunctionDef, given: Mapping[str, Any]) -> types.FunctionType:
    """The function of a tree, which sees what another one captured, and what is given by name."""
    cells = dict(zip(like.__code__.co_freevars, like.__closure__ or ()))
    cells |= {name: types.CellType(value) for name, value in given.items()}
    arguments = ast.arguments([], [argument(name) for name in cells], None, [], [], None, [])
    plain = ast.copy_location(ast.FunctionDef(INNER, _without_defaults(tree.args), tree.body, [], None), tree)
    outer = ast.copy_location(ast.FunctionDef("around", arguments, [plain], [], None), tree)
    module = ast.fix_missing_locations(ast.Module([outer], []))
    flags = like.__code__.co_flags & _FUTURE
    code: Any = compile(module, like.__code__.co_filename, "exec", flags=flags, dont_inherit=True)
    for name in ("around", INNER):
        code = next(const for const in code.co_consts if isinstance(const, types.CodeType) and const.co_name == name)
    code = _with_inner(code, like.__code__).replace(co_name=like.__name__, co_qualname=like.__qualname__)
    return types.FunctionType(code, like.__globals__, like.__name__, None, tuple(cells[n] for n in code.co_freevars))


def _with_inner(code: types.CodeType, original: types.CodeType) -> types.CodeType:
    """The code with the functions inside of it as they were: their source is found by their code."""
    known = {_place_of(inner): inner for inner in _codes(original)}
    consts = tuple(known[place] if isinstance(const, types.CodeType) and (place := _place_of(const)) in known else const
                   for const in code.co_consts)
    return code.replace(co_consts=consts)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from _codes(const)


def _place_of(code: types.CodeType) -> Any:
    """What tells the functions in a function apart: the name, the part of the text, what is captured."""
    places: list[Any] = [place for place in code.co_positions() if None not in place and place[2] != place[3]]
    ends = (min((p[0], p[2]) for p in places), max((p[1], p[3]) for p in places)) if places else (id(code),)
    return code.co_name, code.co_firstlineno, *ends, code.co_freevars


def argument(name: str) -> ast.arg:
    """A parameter."""
    return ast.arg(name, None, None)


def _without_defaults(args: ast.arguments) -> ast.arguments:
    """Defaults are values by now; a parameter with one needs none here."""
    def plain(arg: ast.arg | None) -> ast.arg | None:
        return None if arg is None else argument(arg.arg)

    positional, usual, named = ([argument(each.arg) for each in some]
                                for some in (args.posonlyargs, args.args, args.kwonlyargs))
    return ast.arguments(positional, usual, plain(args.vararg), named, [None for _ in named], plain(args.kwarg), [])


def _future_flags() -> int:
    import __future__ as future
    return sum(getattr(future, name).compiler_flag for name in future.all_feature_names)


_FUTURE = _future_flags()
