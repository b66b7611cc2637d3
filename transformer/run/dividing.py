"""A function of which a part cannot be compiled: that part runs as Python, and what is around it is compiled.

    def model(x):                                   def model(x):
        y = np.exp(x) @ x.T                             y = part(x)
        w = median_filter(y[0], 3)                      w = median_filter(y[0], 3)
        for k in range(len(w)):                         return part2(w)
            w[k] += w[k - 1]
        return np.sum(w)

Statements become functions of the names that they need, in the user's file and at the same lines; they are
compiled when they are called, and divided further if they are refused. Where NumPy gives arrays that share memory
with others, which compiled code does not, statements run as Python.
"""

from __future__ import annotations

import ast
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast

from ..core.errors import Origin, TransformError
from ..read.sources.convert import convert
from ..read.sources.source import Source, find_source, register
from .flow import COMPREHENSIONS, NOTHING, Around, Names, captured, definite, live_before, needed, stores, within
from .remade import argument, function_like

MOST_FORMS = 8                         # of a part, as its arguments may be other ones in every iteration
LEAST, LEAST_IN_LOOPS = 2, 6           # operations for which a call of compiled code pays
STAY = ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Try, ast.With
BLOCKS = ast.For, ast.While, ast.If
NEVER = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.AsyncFunctionDef, ast.NamedExpr, ast.Match,
         ast.Delete)
Lines = tuple[int, int]                # the first and the last one
REFLECTION = frozenset({"locals", "vars", "eval", "exec", "super", "globals", "__class__"})


_handing_back: weakref.WeakSet[types.FunctionType] = weakref.WeakSet()    # parts that end with what they give


class Part:
    """Statements as a function. It is compiled for its arguments when it is called, if that is possible; `is_last` says
    that they give the result of the whole function, and that nothing follows."""

    def __init__(self, function: types.FunctionType, lines: Lines, is_last: bool) -> None:
        from .calling import Calls
        self.function, self.lines, self.is_last = function, lines, is_last
        names = list(function.__code__.co_varnames[:function.__code__.co_argcount])
        options = {"static_argnames": (), "static_argnums": (), "donate": (), "fallback": True}
        self.calls = Calls(function, function, lambda count: names[:count], options)
        self.reason = ""

    def __call__(self, *args: Any) -> Any:
        reason = self._against(args)
        if reason is None:
            return self.calls.call(args, {})
        self.reason = reason
        return self.function(*args)

    def _against(self, args: tuple[Any, ...]) -> str | None:
        """Why compiled code might not give what Python does; nothing has run by then."""
        calls = self.calls
        if any(type(arg) is int and not -2**63 <= arg < 2**63 for arg in args):
            return "an integer of more than 64 bits"
        if len(calls.entries()) >= MOST_FORMS and calls.key(args, {}) not in calls.exact:
            return "its arguments are other ones in every call"
        try:
            entry = calls.entry(args, {})
            entry.memory.check(args, {}, calls.names(len(args)), entry.hidden)
        except (TransformError, ValueError) as error:
            return str(getattr(error, "message", error))
        if entry.memory.gives_views and not self.is_last:
            return "it gives arrays that share memory with others"
        return None

    def states(self) -> Iterator[tuple[Lines, str]]:
        """What has become of its lines."""
        entries = self.calls.entries()
        divided = next((each.generated for each in entries if isinstance(each.generated, Divided)), None)
        if divided is not None:
            yield from divided.states()
        elif self.reason or entries and entries[-1].refusal is not None:
            yield self.lines, f"as Python: {self.reason or entries[-1].refusal.message}"        # type: ignore[union-attr]
        else:
            yield self.lines, "compiled" if entries else "to be compiled when it is reached"


@dataclass
class Divided:
    """A function that calls parts. `statements` are the lines of the others, among them `refused`, for which
    `refusal` is the reason."""

    function: Callable[..., Any]
    parts: list[Part]
    statements: list[Lines]
    refused: Lines
    refusal: TransformError

    def states(self) -> Iterator[tuple[Lines, str]]:
        """Lines, and what has become of them: compiled, or why not."""
        told = f"as Python: {self.refusal.message}"
        refused = self.statements if len(self.statements) == 1 else [self.refused]
        found = [(lines, told if lines in refused else "as Python") for lines in self.statements]
        yield from sorted([*found, *(state for part in self.parts for state in part.states())])


def divided(function: Any, refusal: TransformError) -> Divided | None:
    """The function with what was refused as Python, and other statements in parts; None where that is not possible."""
    if not isinstance(function, types.FunctionType):
        return None
    try:
        source = find_source(function)
        tree: Any = gast.gast_to_ast(source.tree)
    except (TransformError, OSError):
        return None
    if not isinstance(tree, ast.FunctionDef) or not _may_be_divided(function, tree):
        return None
    division = _Division(function, source, tree, _place(refusal.origin, source))
    last = tree.body[-1:] if function in _handing_back else []
    block, around = tree.body[:len(tree.body) - len(last)], Around(live_before(last, Around(NOTHING)))
    body = division.block(block, frozenset(_parameters(tree)), around, False, division.line) + last
    if not division.parts:
        return None
    whole = ast.copy_location(ast.FunctionDef(tree.name, tree.args, body, [], None), tree)
    made = function_like(function, whole, division.parts)
    made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return Divided(made, list(division.parts.values()), division.statements, division.guilty, refusal)


def _place(origin: Origin | None, source: Source) -> int:
    """The line of what was refused; 0 where it is in another function."""
    tree = source.tree
    inside = origin is not None and origin.file == source.file and tree.lineno <= origin.line <= tree.end_lineno
    return origin.line if inside and origin is not None else 0


def _may_be_divided(function: types.FunctionType, tree: ast.FunctionDef) -> bool:
    names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
    names |= {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
    private = any(name.startswith("__") and not name.endswith("__") for name in names)
    return not (private or names & REFLECTION or any(isinstance(each, NEVER) for each in ast.walk(tree))
                or "__class__" in function.__code__.co_freevars)


def _parameters(tree: ast.FunctionDef) -> list[str]:
    args = tree.args
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *([args.vararg] if args.vararg else []),
             *([args.kwarg] if args.kwarg else [])]
    return [each.arg for each in every]


class _Division:
    """Makes parts of the statements of a function. `line` is that of what was refused, or 0."""

    def __init__(self, function: types.FunctionType, source: Source, tree: ast.FunctionDef, line: int) -> None:
        self.function, self.source, self.line = function, source, line
        self.variables = frozenset(_parameters(tree)) | NOTHING.union(*map(stores, tree.body))
        self.always = captured(tree) & self.variables
        self.taken = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)} | self.variables
        self.parts: dict[str, Part] = {}
        self.statements: list[Lines] = []
        self.guilty: Lines = (0, 0)

    def block(self, block: list[ast.stmt], bound: Names, around: Around, in_loop: bool, line: int) -> list[ast.stmt]:
        """Statements among which there is the refused one; where its line is not known, in two halves."""
        places = [k for k, stmt in enumerate(block) if stmt.lineno <= line <= (stmt.end_lineno or stmt.lineno)]
        if not places and len(block) > 1:
            middle = len(block) // 2
            first, second = block[:middle], block[middle:]
            return [*self.runs(first, bound, around.before(second), in_loop),
                    *self.runs(second, bound | definite(first), around, in_loop)]
        k = places[0] if places else 0
        before, stmt, after = block[:k], block[k], block[k + 1:]
        made = self.runs(before, bound, around.before(block[k:]), in_loop)
        bound |= definite(before)
        made += self.opened(stmt, bound, around.before(after), in_loop, line)
        self.guilty = self.guilty if self.guilty[0] else head_of(stmt)
        return [*made, *self.runs(after, bound | definite([stmt]), around, in_loop)]

    def opened(self, stmt: Any, bound: Names, around: Around, in_loop: bool, line: int = 0) -> list[ast.stmt]:
        """A statement that runs as Python, with parts in the blocks inside of it; `line` is of what was refused."""
        self.statements.append(head_of(stmt))
        if not isinstance(stmt, BLOCKS):
            return [stmt]
        made = _copy(stmt)
        is_loop = not isinstance(stmt, ast.If)
        own = bound | stores(stmt.target) if isinstance(stmt, ast.For) else bound
        inner = around.inside(stmt) if is_loop else around
        for name, known, after, loops in (("body", own, inner, in_loop or is_loop), ("orelse", bound, around, in_loop)):
            block = getattr(stmt, name)
            inside = bool(block) and block[0].lineno <= line <= (block[-1].end_lineno or 0)
            divide = self.block if inside else self.runs
            if block:
                setattr(made, name, divide(block, known, after, loops, *([line] if inside else [])))
        return [made]

    def runs(self, block: Sequence[ast.stmt], bound: Names, around: Around, in_loop: bool) -> list[ast.stmt]:
        """Statements that may be compiled: as many at once as possible."""
        made: list[ast.stmt] = []
        run: list[ast.stmt] = []
        for k, stmt in enumerate(block):
            if _may_leave(stmt) and not (isinstance(stmt, ast.Return) and stmt is block[-1]) or isinstance(stmt, STAY):
                made += self.part(run, bound, around.before(block[k:]), in_loop)
                made += self.opened(stmt, bound | definite(run), around.before(block[k + 1:]), in_loop)
                bound, run = bound | definite([*run, stmt]), []
            else:
                run.append(stmt)
        return [*made, *self.part(run, bound, around, in_loop)]

    def part(self, run: list[ast.stmt], bound: Names, around: Around, in_loop: bool) -> list[ast.stmt]:
        """The call of a function of these statements; they themselves where it has no sense."""
        if not run:
            return []
        gives = sorted(NOTHING.union(*map(stores, run)) & (live_before([], around) | self.always))
        certain = definite(run)
        takes = sorted((needed(run) | (set(gives) - certain)) & self.variables)
        worth = _operations(run) >= (LEAST_IN_LOOPS if in_loop else LEAST)
        if not worth or not bound.issuperset(takes) or self.always & NOTHING.union(*map(stores, run)):
            self.statements.append((run[0].lineno, run[-1].end_lineno or run[-1].lineno))
            return list(run)
        name = self._name()
        returns = isinstance(run[-1], ast.Return)
        self.parts[name] = self._made(run, takes, [] if returns else gives)
        call = ast.Call(ast.Name(name, ast.Load()), [ast.Name(each, ast.Load()) for each in takes], [])
        targets: list[Any] = [ast.Name(each, ast.Store()) for each in gives]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        stmt: ast.stmt = ast.Return(call) if returns else ast.Assign([target], call) if gives else ast.Expr(call)
        return [ast.fix_missing_locations(ast.copy_location(stmt, run[0]))]

    def _name(self) -> str:
        number = len(self.parts) + 1
        name = f"part{number}"
        while name in self.taken:
            name += "_"
        return name

    def _made(self, run: list[ast.stmt], takes: list[str], gives: list[str]) -> Part:
        body = [_copy(stmt) for stmt in run]
        if gives:
            names: list[ast.expr] = [ast.Name(each, ast.Load()) for each in gives]
            value = names[0] if len(names) == 1 else ast.Tuple(names, ast.Load())
            body.append(ast.copy_location(ast.Return(value), run[-1]))
        arguments = ast.arguments([], [argument(each) for each in takes], None, [], [], None, [])
        tree = ast.copy_location(ast.FunctionDef(self.function.__name__, arguments, body, [], None, None), run[0])
        tree.end_lineno, tree.end_col_offset = run[-1].end_lineno, run[-1].end_col_offset
        function = function_like(self.function, ast.fix_missing_locations(tree), {})
        if gives:
            _handing_back.add(function)
        register(function, replace(self.source, function=None, tree=convert(tree)))
        is_last = isinstance(run[-1], ast.Return)
        return Part(function, (run[0].lineno, run[-1].end_lineno or run[-1].lineno), is_last)


def _operations(run: list[ast.stmt]) -> int:
    """How much there is to compute, as far as that can be seen; loops may do anything."""
    nodes = [node for stmt in run for node in within(stmt)]
    if any(isinstance(node, (ast.For, ast.While, *COMPREHENSIONS)) for node in nodes):
        return LEAST_IN_LOOPS
    return sum(isinstance(node, (ast.BinOp, ast.Call, ast.Compare, ast.AugAssign)) for node in nodes)


def head_of(stmt: Any) -> Lines:
    """The lines of a statement, without those of the blocks in it."""
    last = stmt.body[0].lineno - 1 if isinstance(stmt, BLOCKS) else stmt.end_lineno
    return stmt.lineno, max(stmt.lineno, last)


def _may_leave(stmt: ast.stmt, in_loop: bool = False) -> bool:
    """Whether a statement may end the function, or an iteration of a loop around it."""
    if isinstance(stmt, ast.Return) or isinstance(stmt, (ast.Break, ast.Continue)) and not in_loop:
        return True
    inside = in_loop or isinstance(stmt, (ast.For, ast.While))
    return isinstance(stmt, BLOCKS) and any(_may_leave(each, inside) for each in (*stmt.body, *stmt.orelse))


def _copy(node: Any) -> Any:
    return ast.copy_location(type(node)(**{name: getattr(node, name, None) for name in node._fields}), node)
