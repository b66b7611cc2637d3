"""Functions: of the module, inside a function, lambdas, recursive ones."""

from __future__ import annotations

import ast
from typing import Any

from . import arrays, conditions, scalars
from .kinds import NUMBER, Floats, Integer, Kind, Routine
from .templates import expression, statements
from .writer import Writer

SHAPES = ((), (), (3,), (2,), (3, 2))


def signature(w: Writer) -> tuple[tuple[Floats, ...], Floats]:
    parameters = tuple(Floats(w.of(SHAPES)) for _ in range(w.between(1, 2)))
    return parameters, Floats(w.of([(), (), (3,), parameters[0].shape]))


def of_module(w: Writer) -> None:
    """A function beside the one that is differentiated; it sees nothing of it."""
    parameters, result = signature(w)
    name = w.fresh("other")
    scopes, w.scopes, loops, w.loops = w.scopes, [{}], w.loops, 0
    definition = defined(w, name, parameters, result)
    w.scopes, w.loops = scopes, loops
    w.module += definition
    w.scopes[0][name] = Routine(parameters, result)


def inside(w: Writer) -> None:
    """A function that sees the variables around it, as they are when it is called."""
    parameters, result = signature(w)
    name = w.fresh("other")
    loops, w.loops = w.loops, 0
    w.blocks[-1] += defined(w, name, parameters, result)
    w.loops = loops
    w.bind(name, Routine(parameters, result))


def defined(w: Writer, name: str, parameters: tuple[Floats, ...], result: Floats) -> list[ast.stmt]:
    names = [w.fresh_for(kind) for kind in parameters]
    outside, blocks = w.captured, w.blocks
    w.captured = set(w.variables(lambda kind: True))   # assigning to these would make them local
    w.blocks = []
    w.results.append(result)
    with w.nested(dict(zip(names, parameters))) as body:
        if w.chance(60):
            w.block(2)
        w.emit("return VALUE", VALUE=arrays.array(w, result.shape, 2))
    w.results.pop()
    w.captured, w.blocks = outside, blocks
    return statements(f"def NAME({', '.join(names)}):\n    BODY", NAME=name, BODY=body)


def small(w: Writer) -> None:
    """A lambda."""
    result = Floats(w.of([(), (3,)]))
    name, parameter = w.fresh("other"), w.fresh_for(result)
    with w.nested({parameter: result}):
        body = arrays.array(w, result.shape, 1)
    w.emit(f"NAME = lambda {parameter}: BODY_", NAME=name, BODY_=body)
    w.bind(name, Routine((result,), result))


def counted(w: Writer) -> None:
    """A recursion that ends on an integer."""
    kind = Floats(w.of([(), (3,), (2,)]))
    name, subject, count = w.fresh("other"), w.fresh_for(kind), w.fresh("integer")
    step, last = recursive_bodies(w, kind, subject, {count: Integer(1, 3)})
    again = expression("NAME(STEP, K - 1)", NAME=name, STEP=step, K=count)
    w.module += statements(f"def NAME({subject}, {count}):\n    if {count} <= 0:\n        return LAST\n    return MORE",
                           NAME=name, LAST=last, MORE=more(w, kind, subject, again))
    w.scopes[0][name] = Routine((kind, Integer(1, 3)), kind)


def on_value(w: Writer) -> None:
    """A recursion that ends on a value."""
    kind = Floats(w.of([(), (), (3,)]))
    name, subject, size = w.fresh("other"), w.fresh_for(kind), w.fresh("number")
    step, last = recursive_bodies(w, kind, subject, {size: NUMBER})
    again = expression("NAME(STEP, 0.4 * S)", NAME=name, STEP=step, S=size)
    w.module += statements(f"def NAME({subject}, {size}):\n    if abs({size}) < 0.2:\n        return LAST\n"
                           "    return MORE", NAME=name, LAST=last, MORE=more(w, kind, subject, again))
    w.scopes[0][name] = Routine((kind, NUMBER), kind)


def recursive_bodies(w: Writer, kind: Floats, subject: str, others: dict[str, Kind]) -> tuple[ast.expr, ast.expr]:
    scopes, w.scopes = w.scopes, [{subject: kind, **others}]
    step, last = arrays.array(w, kind.shape, 1), arrays.array(w, kind.shape, 1)
    w.scopes = scopes
    return step, last


def more(w: Writer, kind: Floats, subject: str, again: ast.expr) -> ast.expr:
    scopes, w.scopes = w.scopes, [{subject: kind}]
    template = w.of(["np.sin(A) + B", "A", "A * B", "0.5 * A * A + B", "np.tanh(A + B)"])
    found = expression(template, A=again, B=arrays.leaf(w, kind.shape))
    w.scopes = scopes
    return found


def write_in_call(w: Writer) -> Any:
    """A call for what it does to its argument."""
    names = [name for name in w.arrays((1,)) if name not in w.constants]
    if not names:
        return False
    name, parameter = w.fresh("other"), w.fresh("vector")
    subject = w.of(names)
    kind = w.kind(subject)
    value = scalars.leaf(w)
    scopes, w.scopes = w.scopes, [{parameter: kind}]
    template = w.of(["A[0] = B", "A += B", "A *= np.cos(B)", "A[1:] = A[:-1] * B", "A[:] = B"])
    body = statements(template, A=parameter, B=arrays.partner(w, (), 1) if "[0]" in template else scalars.number(w, 1))
    w.scopes = scopes
    w.module += statements(f"def NAME({parameter}):\n    BODY", NAME=name, BODY=body)
    w.emit("NAME(A)", NAME=name, A=subject)
    w.emit(w.of(["NAME(A[::-1])", "NAME(A * C)", "NAME(A)"]), NAME=name, A=subject, C=value)
    return None


def stops(w: Writer) -> ast.expr:
    return conditions.condition(w, 0)


STATEMENTS = [(3, "function of the module", of_module), (2, "function inside", inside), (1, "lambda", small),
              (2, "recursion on an integer", counted), (1, "recursion on a value", on_value),
              (1, "write in a call", write_in_call)]
