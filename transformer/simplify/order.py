"""Loops of derivatives that count down, and may as well count up: their iterations hand on nothing but sums.

>>> from .examples import shown
>>> shown(order, '''
... function f(n_1: int, x: f64[n])
...     effect comment(text='reverse')
...     z: f64[n] = zeros(shape=(<n>,))
...     loop k: int in n_1 down
...         carry a: f64[n] = z
...         carry s: f64 = 0.0
...         body
...             t: f64 = get(x, k, index=(Slot(k=0),))
...             b: f64[n] = addat(a, t, k, index=(Slot(k=0),))
...             r: f64 = add(s, t)
...         next c: f64[n] = b
...         next q: f64 = r
...     return c, q
... ''')
function f(n_1: int, x: f64[n])
    effect comment(text='reverse')
    z: f64[n] = zeros(shape=(<n>,))
    loop k: int in n_1
        carry a: f64[n] = z
        carry s: f64 = 0.0
        body
            t: f64 = get(x, k, index=(Slot(k=0),))
            b: f64[n] = addat(a, t, k, index=(Slot(k=0),))
            r: f64 = add(s, t)
        next c: f64[n] = b
        next q: f64 = r
    return c, q
"""

from __future__ import annotations

from collections import Counter

from ..core.grammar import Atom, Block, Call, Effect, Function, If, Let, Loop, Stmt, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.walk import all_statements, counted_uses, has_effects

SUMS = {"add": (0, 1), "subtract": (0,), "addat": (0,)}     # ops, and which operand may be the sum so far


def order(function: Function, assumptions: Assumptions) -> bool:
    """Turns such loops round, in place; says whether there were any."""
    uses = counted_uses(function)
    found = [stmt for stmt in of_derivative(function)
             if isinstance(stmt, Loop) and stmt.down and _in_any_order(stmt, uses)]
    for loop in found:
        loop.down = False
    return bool(found)


def _in_any_order(loop: Loop, uses: Counter[Var]) -> bool:
    if any(map(_acts, all_statements(loop.body))):
        return False
    return all(_only_adds(carry.entry, carry.next, loop.body, uses) for carry in loop.carries)


def _acts(stmt: Stmt) -> bool:
    if isinstance(stmt, Call):
        return has_effects(stmt.function)
    return isinstance(stmt, Effect) and stmt.kind != "comment"


def _only_adds(var: Var, end: Atom, block: Block, uses: Counter[Var]) -> bool:
    """Whether a block does nothing with a value but to add to it, and gives the sum."""
    for stmt in block:
        if var is end:
            break
        found = _sum(var, stmt, uses)
        var = var if found is None else found
    return var is end and uses[var] == 1


def _sum(var: Var, stmt: Stmt, uses: Counter[Var]) -> Var | None:
    """What a statement makes of a value by adding to it, if all that uses the value is in there."""
    if isinstance(stmt, Let):
        places = [k for k in SUMS.get(stmt.op.name, ()) if stmt.args[k] is var]
        return stmt.target if len(places) == 1 == uses[var] else None
    if isinstance(stmt, Loop):
        carried = [carry for carry in stmt.carries if carry.init is var]
        sums = [carry.out for carry in carried if _only_adds(carry.entry, carry.next, stmt.body, uses)]
        return sums[0] if len(sums) == 1 == uses[var] else None
    if isinstance(stmt, If) and uses[var] == 2:             # once on either side
        once = Counter(uses)
        once[var] = 1
        return next((m.target for m in stmt.merges if _only_adds(var, m.then, stmt.then, once)
                     and _only_adds(var, m.orelse, stmt.orelse, once)), None)
    return None
