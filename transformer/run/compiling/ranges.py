"""Machine code of loops over ranges: two counters, of how many iterations are left and of the loop's variable.

numba makes three records for each loop and divides by its step, a hundred instructions in all. What is written here
is what is left of them where the step is 1 or -1: the same counters, which change in the same places. In any other
form, even one that is shorter, LLVM chooses other vectors, for which some programs take twice their time.

`for i in range(n)` is six statements to numba:

    r = range(n)
    y = getiter(r)
    x = y
    each time:  p = iternext(x)
                i = pair_first(p)
                more = pair_second(p)

Where r, y, x and p are assigned once, and used for nothing else, they are not kept in memory: what is known of them is
kept here. This module imports numba, and is imported when something is compiled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from llvmlite import ir as llvm
from numba.core import cgutils, ir, types
from numba.core.lowering import Lower

from .parallel import MOST

base: Any = Lower


class Range(NamedTuple):
    """Values of a range. The step is a number of Python's."""

    start: Any
    stop: Any
    step: int


class Counters(NamedTuple):
    """Where the loop's next value is, and how many iterations are left."""

    value: Any
    left: Any
    step: int


class Item(NamedTuple):
    """What an iteration begins with."""

    value: Any
    is_there: Any


class RangeLoops(base):
    """Loops over ranges with steps that are written as numbers."""

    def init(self) -> None:
        super().init()
        self.of_loops: dict[str, Range | Counters | Item] = {}
        self.loops = set() if self._disable_sroa_like_opt else set(self._names_of_loops())

    def _names_of_loops(self) -> Iterator[str]:
        uses = Counter(var.name for block in self.func_ir.blocks.values() for each in block.body
                       for var in each.list_vars())
        for name, value in self.assigned.items():
            if name in self._singly_assigned_vars and _is(value, "iternext") and uses[name] == 3:
                names = list(self._behind(value.value.name))
                if names and all(uses[each] == 2 for each in names):
                    yield from (name, *names)

    def _behind(self, name: str) -> Iterator[str]:
        """The variables of an iterator that is one of a range: x, y and r."""
        names = [name]
        while isinstance(self.assigned.get(names[-1]), ir.Var):
            names.append(self.assigned[names[-1]].name)
        made: Any = self.assigned.get(names[-1])
        if _is(made, "getiter"):
            called = self.assigned.get(made.value.name)
            if made.value.name in self._singly_assigned_vars and _is(called, "call") and self._is_plain_range(called):
                yield from (*names, made.value.name)

    def _is_plain_range(self, call: Any) -> bool:
        function = self.typeof(call.func.name)
        is_range = isinstance(function, types.Function) and function.typing_key is range
        if not (is_range or _gives_places(function)) or call.kws or call.vararg:
            return False
        return self.fndesc.calltypes[call].return_type.dtype.signed and self._step_of(call) in (1, -1)

    def _step_of(self, call: Any) -> int | None:
        """The step of a range, if it is written as a number."""
        if len(call.args) < 3:
            return 1
        step = self.assigned.get(call.args[2].name)
        return step.value if isinstance(step, ir.Const) and type(step.value) is int else None

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        if name not in self.loops:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        if name not in self.loops:
            super().delvar(name)

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        if inst.target.name not in self.loops:
            return super().lower_assign(ty, inst)
        self.of_loops[inst.target.name] = self._of_loop(inst.value)
        return None

    def _of_loop(self, value: Any) -> Range | Counters | Item:
        if isinstance(value, ir.Var):
            return self.of_loops[value.name]
        if value.op == "call":
            return self._range(value)
        known: Any = self.of_loops[value.value.name]
        return _counters(self.builder, known) if isinstance(known, Range) else _next(self.builder, known)

    def _range(self, call: Any) -> Range:
        kind = self.fndesc.calltypes[call].args
        values = [self._cast_var(arg, each) for arg, each in zip(call.args, kind, strict=True)]
        if _gives_places(self.typeof(call.func.name)):
            return _places(self.builder, *values)
        step = self._step_of(call)
        assert step is not None
        return Range(values[0].type(0), values[0], step) if len(values) == 1 else Range(values[0], values[1], step)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        if expr.op in ("pair_first", "pair_second") and expr.value.name in self.loops:
            return self.of_loops[expr.value.name][expr.op == "pair_second"]
        return super().lower_expr(resty, expr)


def _gives_places(function: Any) -> bool:
    """Whether it is `places` of what threads share (`parallel`)."""
    return isinstance(function, types.Dispatcher) and hasattr(function.dispatcher.py_func, "gives_places")


def _places(builder: Any, first: Any, count: Any) -> Range:
    """The same as it says."""
    first, count = (builder.and_(value, value.type(MOST)) for value in (first, count))
    return Range(first, builder.add(first, count, flags=["nsw"]), 1)


def _counters(builder: Any, over: Range) -> Counters:
    """Before the first iteration."""
    zero = over.start.type(0)
    made = Counters(cgutils.alloca_once(builder, zero.type), cgutils.alloca_once(builder, zero.type), over.step)
    builder.store(over.start, made.value)
    times = builder.sub(over.stop, over.start) if over.step > 0 else builder.sub(over.start, over.stop)
    with builder.if_else(builder.icmp_signed(">", times, zero)) as (some, none):
        with some:
            builder.store(times, made.left)
        with none:
            builder.store(zero, made.left)
    return made


def _next(builder: Any, counters: Counters) -> Item:
    """The next iteration, if there is one."""
    left = builder.load(counters.left)
    is_there = builder.icmp_signed(">", left, left.type(0))
    before = builder.block
    with builder.if_then(is_there):
        value = builder.load(counters.value)
        builder.store(builder.sub(left, left.type(1), flags=["nsw"]), counters.left)
        builder.store(builder.add(value, value.type(counters.step)), counters.value)
        inside = builder.block
    either = builder.phi(value.type)
    either.add_incoming(value, inside)
    either.add_incoming(llvm.Constant(value.type, llvm.Undefined), before)
    return Item(either, is_there)


def _is(value: Any, op: str) -> bool:
    return isinstance(value, ir.Expr) and value.op == op
