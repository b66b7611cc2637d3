"""Quotients of a derivative, of which one is another one times a factor: it is divided once.

>>> from .examples import shown
>>> shown(shared_quotients, '''
... function f(a: f64[n], b: f64[n], s: f64[n])
...     effect comment(text='reverse')
...     t: f64[n] = multiply(a, b)
...     y: f64[n] = divide(t, s)
...     q: f64[n] = divide(a, s)
...     return y, q
... ''')
function f(a: f64[n], b: f64[n], s: f64[n])
    effect comment(text='reverse')
    t: f64[n] = multiply(a, b)
    q: f64[n] = divide(a, s)
    y: f64[n] = multiply(q, b)
    return y, q

While terms of derivatives are still put together, quotients have to be where the rules for them look.
"""

from __future__ import annotations

from ..core.grammar import Atom, Block, Function, Let, Var
from ..core.guards import Assumptions
from ..core.headings import of_derivative
from ..core.walk import all_statements, blocks_of, counted_uses
from ..ops.arithmetic import Divide, Multiply
from .fold import Fold
from .rewriter import array_type, joined
from .shapes import certainly_meet


def shared_quotients(function: Function, assumptions: Assumptions) -> bool:
    """Rewrites such quotients of a function in place; says whether there were any."""
    return _SharedQuotients(function, assumptions).block(function.body)


class _SharedQuotients:
    def __init__(self, function: Function, assumptions: Assumptions) -> None:
        self.fold = Fold(function, assumptions)
        self.count = counted_uses(function)
        self.products = {stmt.target: stmt for stmt in all_statements(function.body)
                         if isinstance(stmt, Let) and stmt.op is Multiply and not stmt.attrs}
        self.ours = {id(stmt) for stmt in of_derivative(function)}

    def block(self, block: Block) -> bool:
        changed = False
        quotients = {stmt.args: stmt for stmt in block if isinstance(stmt, Let) and stmt.op is Divide
                     and not stmt.attrs and id(stmt) in self.ours}
        for inner in [inner for stmt in block for inner in blocks_of(stmt)]:
            changed |= self.block(inner)
        for stmt in quotients.values():
            changed |= self._multiplied(block, stmt, quotients)
        return changed

    def _multiplied(self, block: Block, stmt: Let, quotients: dict[tuple[Atom, ...], Let]) -> bool:
        """Makes a quotient the product of another one, which is put in front of it, and a factor."""
        terms, divisor = stmt.args
        product = self.products.get(terms) if isinstance(terms, Var) and self.count[terms] == 1 else None
        for factor, other in () if product is None else (product.args, product.args[::-1]):
            quotient = quotients.get((factor, divisor))
            if quotient is None or quotient.op is not Divide or not isinstance(other, Var):
                continue
            types = array_type(quotient.target), array_type(other)
            if certainly_meet(self.fold, *types) and self.fold.same_type(joined(Multiply, *types), stmt.target.type):
                stmt.op, stmt.args = Multiply, (quotient.target, other)
                if block.index(quotient) > block.index(stmt):
                    block.remove(quotient)
                    block.insert(block.index(stmt), quotient)
                return True
        return False
